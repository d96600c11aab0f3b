//! Tests of the files of a recording.
#![expect(clippy::unwrap_used, reason = "tests")]

use super::*;
use jfr_format::write::Storage;
use std::fs;

const SETTINGS: CreationSettings = CreationSettings {
    existing: ExistingFile::Replace,
    in_parts: false,
    purpose: Purpose::Start,
};

fn whole(mut file: NewFile) -> PathBuf {
    file.storage.write_at(0, b"FLR\0").unwrap();
    file.storage.publish().unwrap();
    file.number.take().unwrap().confirm();
    match &file.final_name {
        Some(last) => complete(&mut file.storage, last).unwrap(),
        None => file.path.clone(),
    }
}

#[test]
fn two_processes_and_a_foreign_file_keep_their_names() {
    let dir = tempfile::tempdir().unwrap();
    let pattern = Pattern::parse(&format!("{}/%t.jfr", dir.path().display())).unwrap();
    let now = PatternValues {
        unix_secs: 5000,
        ..log::facts(0)
    };
    for in_parts in [false, true] {
        let settings = CreationSettings {
            existing: ExistingFile::Keep,
            in_parts,
            purpose: Purpose::NextFile,
        };
        let next =
            |given| named(given, &pattern, now, &mut RecordingDir::default(), settings).unwrap();
        // Both are written at the same time.
        let (first, second) = (next(given()), next(given()));
        let (first, second) = (whole(first), whole(second));
        assert_ne!(first, second);
        assert!(first.exists() && second.exists());
    }
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 4);
    let foreign = dir.path().join("19700101-012321.jfr");
    fs::write(&foreign, b"a novel").unwrap();
    let now = PatternValues {
        unix_secs: 5001,
        ..now
    };
    let refused = named(
        given(),
        &pattern,
        now,
        &mut RecordingDir::default(),
        SETTINGS,
    );
    assert!(refused.unwrap_err().contains("not a JFR recording"));
    let settings = CreationSettings {
        purpose: Purpose::NextFile,
        ..SETTINGS
    };
    let file = named(
        given(),
        &pattern,
        now,
        &mut RecordingDir::default(),
        settings,
    )
    .unwrap();
    assert!(whole(file).ends_with("19700101-012321-2.jfr"));
    assert_eq!(fs::read(&foreign).unwrap(), b"a novel");
}

#[test]
fn later_files_stay_in_the_directory_of_the_first() {
    let dir = tempfile::tempdir().unwrap();
    let [directory, away, other] = ["directory", "away", "other"].map(|name| dir.path().join(name));
    fs::create_dir(&directory).unwrap();
    fs::create_dir(&other).unwrap();
    let pattern = Pattern::parse(&format!("{}/%n.jfr", directory.display())).unwrap();
    let (given, mut kept) = (given(), RecordingDir::default());
    let mut next = || named(given, &pattern, log::facts(0), &mut kept, SETTINGS).unwrap();
    assert_eq!(whole(next()), directory.join("0.jfr"));
    fs::rename(&directory, &away).unwrap();
    std::os::unix::fs::symlink(&other, &directory).unwrap();
    let there = fs::canonicalize(&away).unwrap();
    assert_eq!(whole(next()), there.join("1.jfr"));
    assert_eq!(fs::read_dir(&other).unwrap().count(), 0);
}

#[test]
fn a_part_file_gets_its_final_name_when_complete() {
    let dir = tempfile::tempdir().unwrap();
    let pattern = Pattern::parse(&format!("{}/%n.jfr", dir.path().display())).unwrap();
    let settings = CreationSettings {
        existing: ExistingFile::Keep,
        in_parts: true,
        purpose: Purpose::NextFile,
    };
    let file = named(
        given(),
        &pattern,
        log::facts(0),
        &mut RecordingDir::default(),
        settings,
    )
    .unwrap();
    assert_eq!(file.path, dir.path().join("0.part.jfr"));
    fs::write(dir.path().join("0.jfr"), b"came meanwhile").unwrap();
    assert_eq!(whole(file), dir.path().join("0-2.jfr"));
    let content = fs::read(dir.path().join("0.jfr")).unwrap();
    assert_eq!(content, b"came meanwhile");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
}

/// Names of their own: tests run in parallel.
fn given() -> &'static UsedNames {
    Box::leak(Box::new(UsedNames::new()))
}

#[test]
fn names_by_time_are_unique_and_ordered() {
    let dir = tempfile::tempdir().unwrap();
    let pattern = Pattern::parse(&format!("{}/%t.jfr", dir.path().display())).unwrap();
    let given = given();
    let named_at = |unix_secs| {
        let now = PatternValues {
            unix_secs,
            ..log::facts(0)
        };
        named(given, &pattern, now, &mut RecordingDir::default(), SETTINGS).unwrap()
    };
    // Two in one second, a step back by an hour, and forward.
    let seconds = [5000, 5000, 1400, 1401, 5002, 6000];
    let recorded = seconds.map(|second| {
        let mut file = named_at(second);
        file.storage.write_at(0, b"FLR\0").unwrap();
        file.storage.publish().unwrap();
        file.number.unwrap().confirm();
        // A file that became no recording uses no second.
        drop(named_at(second));
        file.path
    });
    let names = recorded.map(|path| path.file_stem().unwrap().to_str().unwrap()[9..].to_owned());
    let seconds = ["012320", "012321", "012322", "012323", "012324", "014000"];
    assert_eq!(names, seconds);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), seconds.len());
}

#[test]
fn a_file_that_became_no_recording_returns_its_number() {
    let dir = tempfile::tempdir().unwrap();
    let pattern = format!("{}/%n{{3}}.jfr", dir.path().display());
    let pattern = Pattern::parse(&pattern).unwrap();
    let given = given();
    let next = || {
        named(
            given,
            &pattern,
            log::facts(0),
            &mut RecordingDir::default(),
            SETTINGS,
        )
        .unwrap()
    };
    let recorded = |content: &[u8]| {
        let mut file = next();
        file.storage.write_at(0, content).unwrap();
        file.storage.publish().unwrap();
        file.number.unwrap().confirm();
        file.path
    };
    let first = recorded(b"FLR\0 first");
    let (second, third) = (recorded(b"FLR\0 second"), recorded(b"FLR\0 third"));
    for _ in 0..3 {
        assert_eq!(next().path, first);
    }
    assert_eq!(fs::read(&first).unwrap(), b"FLR\0 first");
    assert_eq!(fs::read(&second).unwrap(), b"FLR\0 second");
    // Of two at the same time the later one is kept: its number is not given again.
    let (lost, used) = (next(), next());
    assert_eq!((&lost.path, &used.path), (&first, &second));
    used.number.unwrap().confirm();
    drop(lost);
    assert_eq!(next().path, third);
}
