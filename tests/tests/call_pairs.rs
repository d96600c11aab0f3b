//! Stacks of real programs: each caller invokes, at its bytecode index, a method of the callee's
//! name.

use e2e::recording::SAMPLES;
use e2e::{Jdk, Jvm, Recording, TestDir};
use std::collections::BTreeMap;
use std::fs;

/// The first JDK that runs the program which reads class files.
const READER: u32 = 25;

/// Each caller with its callee and how often they were met, as the checker reads it.
fn pairs(recording: &Recording) -> String {
    let mut pairs: BTreeMap<String, usize> = BTreeMap::new();
    for kind in [SAMPLES, "profiler.WallClockSample"] {
        for event in recording.events(kind) {
            for two in event.placed_frames().windows(2) {
                let [below, caller] = two else { continue };
                let Some(index) = caller.bytecode_index else {
                    continue;
                };
                let (class, method) = caller.name.rsplit_once('.').unwrap();
                let (_, name) = below.name.rsplit_once('.').unwrap();
                let (class, descriptor) = (class.replace('.', "/"), &caller.descriptor);
                let pair = format!("{class}\t{method}\t{descriptor}\t{index}\t{name}");
                *pairs.entry(pair).or_default() += 1;
            }
        }
    }
    let lines = pairs
        .iter()
        .map(|(pair, count)| format!("{pair}\t{count}\n"));
    lines.collect()
}

#[test]
fn each_caller_invokes_its_callee() {
    let jdks = Jdk::every();
    let Some(reader) = jdks.iter().find(|jdk| jdk.version >= READER) else {
        return println!("SKIP: no JDK {READER} or newer");
    };
    for jdk in &jdks {
        let test_dir = TestDir::new();
        let tool = "jdk.jfr/jdk.jfr.internal.tool.Main";
        let programs: [(&str, &[&str]); 2] = [
            ("http.jfr", &["HttpLoop", "6000"]),
            ("tool.jfr", &["-m", tool, "print", "--json", "http.jfr"]),
        ];
        for (file, program) in programs {
            Jvm::new(*jdk, &test_dir)
                .agent(&format!("start,interval=1ms,wall=2ms,file={file}"))
                .main(program[0], &program[1..])
                .run_ok();
            let pairs = pairs(&Recording::new(test_dir.file(file)));
            fs::write(test_dir.file("pairs"), pairs).unwrap();
            let home = jdk.home().display().to_string();
            let said = Jvm::new(*reader, &test_dir)
                .main("CallPairs", &[&home, "pairs"])
                .run_ok();
            println!("{jdk}, {program:?}: {}", said.stdout);
            let (right, wrong) = (said.counter("right"), said.counter("wrong"));
            assert!(right > 10_000, "{right} pairs");
            // One in ten thousand, and a stack by chance: a guess may meet what an earlier call left.
            assert!(wrong * 10_000 <= right + 50_000, "{}", said.stdout);
        }
    }
}
