//! P15: a stop leaves nothing behind.

use std::time::Duration;

use e2e::{Jdk, Jvm, env_number};

#[test]
fn restarts_leave_no_file_thread_or_timer() {
    let rounds = env_number("CTXAGENT_RESTARTS").unwrap_or(300).to_string();
    let engines = Jdk::all().into_iter().map(|jdk| (jdk, "auto"));
    for (jdk, engine) in engines.chain([(Jdk::main(), "tick")]) {
        let options =
            format!("event=cpu+wall,interval=1ms,wall=5ms,engine={engine},file=app.jfr,overwrite");
        let run = Jvm::alone(jdk)
            .agent("")
            .fixed_memory()
            // Else the compilers' memory would be what grows: 3 to 4 MiB.
            .flag("-Xint")
            .limit(Duration::from_mins(10))
            .main("Restarts", &[&rounds, &options])
            .run_ok();
        println!("{jdk} {engine}: {}", run.stdout);
        let held: Vec<Vec<i64>> = run
            .lines_after("held ")
            .map(|line| line.split(' ').map(|n| n.parse().unwrap()).collect())
            .collect();
        let [_, early, half, late] = &held[..] else {
            panic!("{}", run.stdout)
        };
        assert_eq!(late[0], early[0], "open files");
        // The JVM's own threads come and go; a thread of each recording would be 280 more.
        assert!(late[1] < early[1] + 10, "threads: {early:?}, {late:?}");
        assert_eq!((early[2], late[2]), (0, 0), "timers");
        let grown = late[3] - half[3];
        println!(
            "resident memory: {:+} KiB in the first half, {grown:+} KiB in the second",
            half[3] - early[3],
        );
        assert!(grown <= 256, "resident memory: {held:?}");
        assert!(run.stdout.ends_with(&format!("rounds {rounds}\n")));
    }
}
