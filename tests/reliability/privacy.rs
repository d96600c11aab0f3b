//! Nothing is recorded that was not asked for: no environment variable, system property or argument of the application.

use e2e::{Jdk, Jvm, Room};
use std::fs;

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|w| w == text.as_bytes())
}

#[test]
fn secrets_of_the_process_are_in_no_file() {
    for jdk in Jdk::all() {
        let room = Room::new();
        Jvm::new(jdk, &room)
            .environment("DATABASE_PASSWORD", "hunter2-environment")
            .flag("-Dpassword=hunter2-property")
            .agent("start,event=cpu+wall+alloc+lock,interval=1ms,file=app.jfr,log=app.log")
            .main("Churn", &["platform", "1000", "8", "hunter2-argument"])
            .run()
            .success();
        let mut found_context = false;
        for entry in fs::read_dir(room.path()).unwrap() {
            let path = entry.unwrap().path();
            let bytes = fs::read(&path).unwrap();
            assert!(!contains(&bytes, "hunter2"), "in {}", path.display());
            found_context |= contains(&bytes, "tenant-3");
        }
        // What was asked for is there in plain bytes, so the search would have found the rest.
        assert!(found_context, "JDK {}", jdk.version);
    }
}
