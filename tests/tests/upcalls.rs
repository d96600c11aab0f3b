//! Stacks through Java that C calls by `java.lang.foreign`.

use e2e::recording::distinct;
use e2e::{Jdk, Jvm, TestDir};
use std::collections::BTreeMap;

use crate::stacks::collectors;

/// The release that the program is compiled for; `java.lang.foreign` is final there.
const FOREIGN: u32 = 25;

/// The method at which the stacks of a way begin.
fn root_of(way: &str) -> String {
    let root = match way {
        "virtual" => "java.lang.VirtualThread.run",
        "thread of C" => "Upcalls.threadOfC",
        _ => "Upcalls.main",
    };
    root.to_owned()
}

#[test]
fn stacks_through_upcalls_reach_the_root() {
    let jdks = Jdk::every();
    let mut jdks = jdks.into_iter().filter(|jdk| jdk.version >= FOREIGN);
    let Some(jdk) = jdks.next() else {
        return println!("SKIP: no JDK {FOREIGN} or newer");
    };
    for collector in collectors(jdk) {
        let test_dir = TestDir::new();
        let jvm = Jvm::new(jdk, &test_dir)
            .agent("start,interval=1ms,file=app.jfr")
            .flag("--enable-native-access=ALL-UNNAMED");
        let jvm = collector.iter().fold(jvm, |jvm, flag| jvm.flag(flag));
        let run = jvm.main("Upcalls", &["1000"]).run_ok();
        assert!(run.stdout.ends_with("done\n"), "{}", run.stdout);
        let mut counts: BTreeMap<String, (usize, usize, usize)> = BTreeMap::new();
        let samples = test_dir.recording().samples();
        for sample in distinct(samples.iter().collect()) {
            let frames = sample.frames();
            let Some(way) = sample.text("way") else {
                continue;
            };
            let (whole, cut, none) = counts.entry(way.to_owned()).or_default();
            if frames[0].starts_with("ctxagent.NoStack.") {
                *none += 1;
            } else if !sample.is_truncated().unwrap() && frames.contains(&root_of(way)) {
                *whole += 1;
            } else {
                println!("{way}: {frames:?}");
                *cut += 1;
            }
        }
        println!("{collector:?}: {counts:?}");
        assert_eq!(counts.len(), 4);
        for (way, (whole, cut, none)) in counts {
            assert!(whole > 20, "{way}: {whole} samples");
            // One in a thousand, and one by chance.
            assert!(cut * 1000 <= whole + 1000, "{way}: {cut} beside {whole}");
            // The code is rebuilt as it warms up.
            assert!(none * 100 <= whole + 200, "{way}: {none} beside {whole}");
        }
    }
}
