//! Recordings that are kept, and what the example `dump` makes of them. `GOLDEN=write cargo test -p
//! jfr-format --test golden` writes the dumps anew; look at the difference before you commit it.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Once;

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures");

/// An example. `cargo test` alone has built it, `cargo test --test golden` has not.
fn example(name: &str) -> PathBuf {
    static BUILT: Once = Once::new();
    let test = std::env::current_exe().unwrap();
    let profile = test.ancestors().nth(2).unwrap();
    BUILT.call_once(|| {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut build = Command::new(cargo);
        build.args(["build", "--quiet", "--examples", "-p", "jfr-format"]);
        if profile.ends_with("release") {
            build.arg("--release");
        }
        build.env("CARGO_TARGET_DIR", profile.parent().unwrap());
        let status = build.current_dir(env!("CARGO_MANIFEST_DIR")).status();
        assert!(status.unwrap().success());
    });
    profile.join("examples").join(name)
}

fn dump(file: &Path) -> String {
    let output = Command::new(example("dump")).arg(file).output().unwrap();
    assert!(output.status.success(), "{}: {output:?}", file.display());
    String::from_utf8(output.stdout).unwrap()
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
