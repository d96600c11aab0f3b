//! Recordings that are kept, and what the example `dump` makes of them. `GOLDEN=write cargo test -p
//! jfr-format --test golden` writes the dumps anew; look at the difference before you commit it.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::path::{Path, PathBuf};

#[allow(dead_code, reason = "an example has a main function")]
#[path = "../examples/dump.rs"]
mod example;

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures");

fn dump(file: &Path) -> String {
    let mut text = Vec::new();
    let dumped = example::dump(&std::fs::read(file).unwrap(), None, &mut text);
    assert!(dumped.is_ok(), "{}: {dumped:?}", file.display());
    String::from_utf8(text).unwrap()
}

#[test]
fn kept_recordings_dump_as_ever() {
    let directory = Path::new(FIXTURES).read_dir().unwrap();
    let files = directory.map(|entry| entry.unwrap().path());
    let files: Vec<PathBuf> = files
        .filter(|p| p.extension().is_some_and(|e| e == "jfr"))
        .collect();
    assert!(files.len() >= 4, "{files:?}");
    for file in files {
        let expected = file.with_extension("dump");
        let found = dump(&file);
        if std::env::var_os("GOLDEN").is_some_and(|v| v == "write") {
            std::fs::write(&expected, &found).unwrap();
        }
        let expected = std::fs::read_to_string(expected).unwrap();
        for (n, (found, expected)) in found.lines().zip(expected.lines()).enumerate() {
            assert_eq!(found, expected, "{} line {}", file.display(), n + 1);
        }
        assert_eq!(
            found.lines().count(),
            expected.lines().count(),
            "{}",
            file.display()
        );
    }
}
