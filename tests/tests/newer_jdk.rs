//! A JVM that is newer than those known: JDK 25 with another version in its `libjvm.so`. The number
//! refuses nothing; a table without what the walker needs switches it off, in one line.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use e2e::{Jdk, Jvm, TestDir, record};
use memchr::memmem;

const LIBRARY: &str = "lib/server/libjvm.so";

/// Links to the files of a directory, without those named.
fn link(from: &Path, to: &Path, without: &[&str]) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let name = entry.unwrap().file_name();
        if !without.iter().any(|other| name == *other) {
            symlink(from.join(&name), to.join(&name)).unwrap();
        }
    }
}

fn replace(bytes: &mut [u8], old: &str, new: &str) {
    assert_eq!(old.len(), new.len());
    let places: Vec<usize> = memmem::find_iter(bytes, old).collect();
    assert!(!places.is_empty(), "libjvm.so has no {old}");
    for at in places {
        bytes[at..at + old.len()].copy_from_slice(new.as_bytes());
    }
}

/// JDK 25 that says to be 27, and with one more text of its library replaced.
fn of_27(test_dir: &TestDir, altered: Option<(&str, &str)>) -> Option<Jdk> {
    let jdk = Jdk::find(25)?;
    let (home, copy) = (jdk.home(), test_dir.file("jdk"));
    link(home, &copy, &["bin", "lib"]);
    link(&home.join("bin"), &copy.join("bin"), &["java"]);
    link(&home.join("lib"), &copy.join("lib"), &["server"]);
    link(
        &home.join("lib/server"),
        &copy.join("lib/server"),
        &["libjvm.so"],
    );
    // The launcher finds its home by its own place, the library likewise.
    fs::copy(home.join("bin/java"), copy.join("bin/java")).unwrap();
    let version = jdk.runtime_version()?;
    let mut bytes = fs::read(home.join(LIBRARY)).unwrap();
    replace(&mut bytes, &version, &version.replacen("25", "27", 1));
    if let Some((old, new)) = altered {
        replace(&mut bytes, old, new);
    }
    fs::write(copy.join(LIBRARY), bytes).unwrap();
    Some(jdk.linked(copy))
}

/// JDKs that are newer than those of the suite. No registry that the scripts use has one, so they
/// are tried where the environment names them.
fn newer_jdks() -> impl Iterator<Item = Jdk> {
    let homes = [26, 27].map(|version| std::env::var_os(format!("JAVA_HOME_{version}")));
    let homes = homes.into_iter().flatten();
    homes.filter_map(|home| Some(Jdk::find(25)?.linked(home.into())))
}

#[test]
fn newer_version_alone_refuses_nothing() {
    let test_dir = TestDir::new();
    for jdk in of_27(&test_dir, None).into_iter().chain(newer_jdks()) {
        assert_walked(jdk);
    }
}

fn assert_walked(jdk: Jdk) {
    let (run, recording) = record(jdk, "", "Labelled 1 500");
    let lines = run.start_lines();
    assert!(
        matches!(lines[..], [line] if line.ends_with("; walker: vm")),
        "{lines:?}"
    );
    assert_eq!(run.agent_lines(), [""; 0]);
    let samples = recording.samples();
    let labelled: Vec<_> = samples
        .iter()
        .filter(|sample| sample.text("who").is_some())
        .collect();
    assert!(labelled.len() > 25, "{}", labelled.len());
    let walked = labelled
        .iter()
        .filter(|sample| sample.frames().iter().any(|f| f.contains("Labelled.work")));
    assert!(walked.count() * 10 > labelled.len() * 9);
}

#[test]
fn table_without_a_field_switches_stacks_off() {
    let test_dir = TestDir::new();
    let renamed = ("_scopes_pcs_offset\0", "_scopes_pcs_0ffset\0");
    let Some(jdk) = of_27(&test_dir, Some(renamed)) else {
        return;
    };
    let run = Jvm::new(jdk, &test_dir)
        .agent("start,file=app.jfr")
        .program("Labelled 1 500")
        .may_warn("no stacks: ")
        .stop_recording_at_end()
        .run_ok();
    let lines = run.agent_lines();
    assert!(
        matches!(lines[..], [line] if line.contains("no stacks")
            && line.contains("_scopes_pcs_offset")),
        "{lines:?}"
    );
    let samples = test_dir.recording().samples();
    let labelled = samples.iter().filter(|s| s.text("who").is_some());
    assert!(labelled.count() > 25);
}
