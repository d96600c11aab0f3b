//! A start that fails is one line and no more; a stop leaves nothing behind.

use e2e::{Jdk, Jvm, Room};

#[test]
fn three_hundred_recordings_leave_no_file_thread_or_timer() {
    for jdk in Jdk::all() {
        let room = Room::new();
        let run = Jvm::new(jdk, &room)
            .agent("")
            .main(
                "Restarts",
                &["300", "event=cpu+wall,interval=1ms,wall=5ms,file=app.jfr"],
            )
            .run()
            .success();
        println!("JDK {}: {}", jdk.version, run.stdout);
        let held: Vec<Vec<i64>> = run
            .told("held ")
            .map(|line| line.split(' ').map(|n| n.parse().unwrap()).collect())
            .collect();
        let [_, early, late] = &held[..] else {
            panic!("{}", run.stdout)
        };
        assert_eq!(late[0], early[0], "open files");
        // The JVM's own threads come and go; a thread of each recording would be 280 more.
        assert!(late[1] < early[1] + 10, "threads: {early:?}, {late:?}");
        assert_eq!((early[2], late[2]), (0, 0), "timers");
        assert!(run.stdout.ends_with("rounds 300\n"));
    }
}

#[test]
fn any_call_of_a_start_may_be_denied() {
    let run = |nth: u64, kind: &str| {
        let room = Room::new();
        let run = Jvm::new(Jdk::main(), &room)
            .preload("faults")
            .environment("FAULT_NTH", &nth.to_string())
            .environment("FAULT_KIND", kind)
            .agent("start,interval=5ms,file=app.jfr")
            .main("Hello", &["50"])
            .run()
            .success();
        let what = format!("{kind} in call {nth}");
        for file in room.recordings() {
            file.jfr(Jdk::main(), &["summary"]).success();
        }
        (what, run)
    };
    let plain = Jvm::new(Jdk::main(), &Room::new())
        .main("Hello", &["50"])
        .run()
        .success();
    let kinds = ["EACCES", "ENOMEM", "EIO"];
    for (nth, kind) in (1..=60).step_by(3).zip(kinds.into_iter().cycle()) {
        let (what, run) = run(nth, kind);
        let lines = run.agent_lines();
        println!("{what}: {lines:?}");
        assert_eq!(run.stdout, plain.stdout, "{what}");
        assert!(lines.len() <= 2, "{what}: {lines:?}");
    }
}
