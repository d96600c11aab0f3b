//! Nothing is recorded that was not asked for: no environment variable, system property or argument
//! of the application.

use super::contains;
use e2e::{Jdk, Jvm, Recording, TestDir, build, record};
use std::collections::BTreeSet;
use std::fs;

#[test]
fn process_secrets_are_in_no_file() {
    for jdk in Jdk::all() {
        let test_dir = TestDir::new();
        Jvm::new(jdk, &test_dir)
            .environment("DATABASE_PASSWORD", "hunter2-environment")
            .flag("-Dpassword=hunter2-property")
            .agent("start,event=cpu+wall+alloc+lock,interval=1ms,file=app.jfr,log=app.log")
            .program("Churn platform 1000 8 hunter2-argument")
            .stop_recording_at_end()
            .run_ok();
        let mut found_context = false;
        for entry in fs::read_dir(test_dir.path()).unwrap() {
            let path = entry.unwrap().path();
            let bytes = fs::read(&path).unwrap();
            assert!(!contains(&bytes, "hunter2"), "in {}", path.display());
            found_context |= contains(&bytes, "tenant-3");
        }
        // What was asked for is there in plain bytes, so the search would have found the rest.
        assert!(found_context, "{jdk}");
    }
}

/// The threads of `Churn` have `tenant`, one of seven, and `request`, one of a thousand.
#[test]
fn redacted_values_are_in_no_file() {
    let hashes = || {
        let test_dir = TestDir::new();
        Jvm::new(Jdk::main(), &test_dir)
            .agent(
                "start,event=cpu+wall+alloc,interval=1ms,wall=10ms,file=app-%n.jfr,loop=1s,redact=tenant:hash+request:drop,\
                 filter=tenant,log=app.log,loglevel=debug",
            )
// 430 ms of CPU time for each tenant.
            .program("Churn platform 3000 8 1")
            .stop_recording_at_end()
            .run_ok();
        for entry in fs::read_dir(test_dir.path()).unwrap() {
            let path = entry.unwrap().path();
            let bytes = fs::read(&path).unwrap();
            for secret in ["tenant-", "request-"] {
                assert!(!contains(&bytes, secret), "{secret} in {}", path.display());
            }
        }
        let recordings = test_dir.recordings();
        let samples = recordings.iter().flat_map(Recording::samples);
        let mut tenants = BTreeSet::new();
        for sample in samples {
            assert_eq!(sample.text("request"), None);
            tenants.extend(sample.text("tenant").map(str::to_owned));
        }
        println!("{} files, tenants {tenants:?}", recordings.len());
        assert!(
            tenants
                .iter()
                .all(|t| t.len() == 16 && t.bytes().all(|b| b.is_ascii_hexdigit()))
        );
        tenants
    };
    let (first, second) = (hashes(), hashes());
    // Seven in all files together: a value has one hash, from file to file too.
    assert_eq!((first.len(), second.len()), (7, 7));
    assert!(first.is_disjoint(&second));
}

/// A key that is used for the first time while the writer is at work: its first values come to the
/// writer before, with or after its name.
#[test]
fn late_keys_are_redacted_from_first_value() {
    let redact: Vec<String> = (0..7).map(|key| format!("late{key}:drop")).collect();
    for _ in 0..3 {
        let options = format!(
            "start,event=alloc,alloc=1k,file=app.jfr,redact={}",
            redact.join("+")
        );
        let (_, recording) = Jvm::alone(Jdk::main())
            .agent(&options)
            .program("LateKeys")
            .record_to_exit();
        let bytes = fs::read(recording.path()).unwrap();
        assert!(!contains(&bytes, "secret-"));
        assert!(contains(&bytes, "found"));
    }
}

/// The command line was asked for; the agent's own options in it name a value that is redacted.
#[test]
fn recorded_command_line_lacks_agent_options() {
    let (_, recording) = record(
        Jdk::main(),
        "interval=1ms,sysinfo=true,redact=tenant:drop,filter=tenant=tenant-3",
        "Churn platform 1000 8 asked-for",
    );
    let bytes = fs::read(recording.path()).unwrap();
    assert!(contains(&bytes, "Churn platform 1000 8 asked-for"));
    let library = format!("-agentpath:{} -cp", build::agent().display());
    assert!(contains(&bytes, &library));
    assert!(!contains(&bytes, "tenant-3"));
}
