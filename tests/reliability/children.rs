//! Child processes are as they would be without us: signal mask, ignored signals, timers, open files, exit codes.

use e2e::{Jdk, Jvm, Room};

#[test]
fn they_inherit_nothing_however_they_are_started() {
    for jdk in Jdk::all() {
        for mechanism in ["POSIX_SPAWN", "VFORK", "FORK"] {
            let room = Room::new();
            let jvm = || {
                Jvm::new(jdk, &room)
                    .flag(&format!("-Djdk.lang.Process.launchMechanism={mechanism}"))
                    .main("Children", &["25"])
            };
            let plain = jvm().run().success();
            let run = jvm()
                .agent("start,event=cpu+wall,interval=1ms,wall=5ms,file=app.jfr,log=app.log")
                .run()
                .success();
            println!("JDK {} {mechanism}: {}", jdk.version, run.stdout);
            assert!(run.stdout.ends_with("bad 0\n"), "{}", run.stdout);
            assert_eq!(run.stdout, plain.stdout, "JDK {} {mechanism}", jdk.version);
            assert!(!room.recording().samples(Jdk::main()).is_empty());
        }
    }
}
