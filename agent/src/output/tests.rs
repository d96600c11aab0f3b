//! Tests of the creation of files.
#![expect(clippy::unwrap_used, reason = "a test reports by panicking")]

use jfr_format::write::{FileStorage, Storage};
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::os::unix::net::UnixListener;

use super::*;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

#[test]
fn a_new_file_is_private_empty_and_writable() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.jfr");
    let mut file = claim(&path).unwrap();
    file.write_all(b"FLR\0rest").unwrap();
    let facts = fs::metadata(&path).unwrap();
    assert_eq!((facts.len(), facts.mode() & 0o777), (8, 0o600));
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
}

#[test]
fn a_bare_name_is_created_in_the_working_directory() {
    let name = format!("ctxagent-output-test-{}.jfr", std::process::id());
    drop(claim(Path::new(&name)).unwrap());
    fs::remove_file(&name).unwrap();
}

fn target_of(path: &Path) -> Result<RecordingTarget, OutputError> {
    let (directory, name) = directory_of(path)?;
    Ok(RecordingTarget {
        directory,
        name,
        in_parts: false,
    })
}

/// With the option `overwrite`.
fn claim(path: &Path) -> Result<File, OutputError> {
    target_of(path)?.claim(ExistingFile::Replace, path)
}

/// Without it.
fn claim_new(path: &Path) -> Result<File, OutputError> {
    target_of(path)?.claim(ExistingFile::Keep, path)
}

#[test]
fn a_recording_is_replaced_only_on_request() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("app-1.jfr");
    let mut running = claim_new(&path).unwrap();
    running.write_all(b"FLR\0").unwrap();
    let in_use = claim_new(&path).unwrap_err();
    assert!(matches!(in_use.reason(), Refusal::Exists), "{in_use}");
    drop(running);
    let error = claim_new(&path).unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("app-1.jfr' exists; it is replaced only with the option overwrite"),
        "{error}"
    );
    let mut target = target_of(&path).unwrap();
    fs::write(directory.path().join("app-1-2.jfr"), b"text").unwrap();
    let free = target.claim_next_free(&path).unwrap();
    assert_eq!(target.name, "app-1-3.jfr");
    assert_eq!(free.metadata().unwrap().len(), 0);
    assert_eq!(fs::read(&path).unwrap(), b"FLR\0");
    claim(&path).unwrap();
}

#[test]
fn alternative_names_end_at_a_thousand() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a");
    for number in 2..=1000 {
        fs::write(directory.path().join(format!("a-{number}")), b"").unwrap();
    }
    let error = target_of(&path)
        .unwrap()
        .claim_next_free(&path)
        .unwrap_err();
    assert!(matches!(error.reason(), Refusal::NoFreeName), "{error}");
}

#[test]
fn a_part_file_claims_no_name_in_use_in_either_form() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.jfr");
    let mut target = target_of(&path).unwrap();
    target.in_parts = true;
    drop(target.claim(ExistingFile::Keep, &path).unwrap());
    assert!(directory.path().join("a.part.jfr").exists() && !path.exists());
    fs::write(&path, b"FLR\0").unwrap();
    fs::write(directory.path().join("a-2.part.jfr"), b"FLR\0").unwrap();
    assert!(target.claim(ExistingFile::Keep, &path).is_err());
    target.claim_next_free(&path).unwrap();
    assert_eq!(target.first_name(), "a-3.part.jfr");
}

/// Replaces the claimed file by a new recording, as `recorder::files` does.
fn over(path: &Path, claimed: File) -> FileStorage {
    let (directory, name) = directory_of(path).unwrap();
    FileStorage::over(directory, &name, claimed).unwrap()
}

fn recorded(path: &Path, content: &[u8]) -> FileStorage {
    let mut recording = over(path, claim(path).unwrap());
    recording.write_at(0, content).unwrap();
    recording.publish().unwrap();
    recording
}

#[test]
fn an_old_recording_is_replaced_and_its_reader_keeps_it() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.jfr");
    fs::write(&path, b"FLR\0old recording").unwrap();
    let mut reader = File::open(&path).unwrap();
    let _recording = recorded(&path, b"FLR\0new");
    assert_eq!(fs::read(&path).unwrap(), b"FLR\0new");
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
    let mut old = Vec::new();
    reader.read_to_end(&mut old).unwrap();
    assert_eq!(old, b"FLR\0old recording");
    assert_eq!(
        fs::read_dir(directory.path()).unwrap().count(),
        1,
        "no temporary file is left"
    );
}

#[test]
fn an_old_recording_stays_until_the_new_one_can_be_read() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.jfr");
    fs::write(&path, b"FLR\0old recording").unwrap();
    drop(claim(&path).unwrap());
    let mut storage = over(&path, claim(&path).unwrap());
    storage.write_at(0, b"FLR\0new").unwrap();
    drop(storage);
    assert_eq!(fs::read(&path).unwrap(), b"FLR\0old recording");
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
}

#[test]
fn an_empty_file_of_ours_is_replaced() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.jfr");
    fs::write(&path, b"").unwrap();
    claim_new(&path).unwrap();
}

#[test]
fn a_foreign_file_keeps_every_byte() {
    for content in [&b"important"[..], b"F", b"FLR", b"FLRx", b"\0FLR\0"] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.jfr");
        fs::write(&path, content).unwrap();
        let error = claim(&path).unwrap_err();
        assert!(matches!(error.reason(), Refusal::Foreign), "{error}");
        assert!(
            error
                .to_string()
                .contains("a.jfr' exists and is not a JFR recording"),
            "{error}"
        );
        assert_eq!(fs::read(&path).unwrap(), content);
        assert_eq!(
            fs::read_dir(directory.path()).unwrap().count(),
            1,
            "no temporary file is left"
        );
    }
}

#[test]
fn a_link_is_never_followed() {
    let directory = tempfile::tempdir().unwrap();
    let target = directory.path().join("target");
    let link = directory.path().join("a.jfr");
    for content in [None, Some(&b""[..]), Some(b"FLR\0"), Some(b"text")] {
        if let Some(content) = content {
            fs::write(&target, content).unwrap();
        }
        symlink(&target, &link).unwrap();
        let error = claim(&link).unwrap_err();
        assert!(matches!(error.reason(), Refusal::Link), "{error}");
        assert!(matches!(
            open_log(&link).unwrap_err().reason(),
            Refusal::Link
        ));
        assert_eq!(fs::read(&target).ok().as_deref(), content);
        fs::remove_file(&link).unwrap();
    }
}

#[test]
fn directories_and_sockets_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let subdirectory = directory.path().join("directory.jfr");
    fs::create_dir(&subdirectory).unwrap();
    let socket = directory.path().join("socket.jfr");
    let _listener = UnixListener::bind(&socket).unwrap();
    for path in [&subdirectory, &socket] {
        for result in [claim(path), open_log(path)] {
            let error = result.unwrap_err();
            assert!(matches!(error.reason(), Refusal::NotRegular), "{error}");
        }
    }
}

#[test]
fn devices_are_refused() {
    let error = claim(Path::new("/dev/null")).unwrap_err();
    assert!(
        matches!(error.reason(), Refusal::NotRegular | Refusal::Io(_)),
        "{error}"
    );
}

#[test]
fn a_recording_that_is_being_written_is_not_replaced() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.jfr");
    let mut first = claim(&path).unwrap();
    first.write_all(b"FLR\0").unwrap();
    let error = claim(&path).unwrap_err();
    assert!(matches!(error.reason(), Refusal::InUse), "{error}");
    drop(first);
    let _second = recorded(&path, b"FLR\0");
    // Also the file that took the old one's place is locked.
    assert!(matches!(claim(&path).unwrap_err().reason(), Refusal::InUse));
}

#[test]
fn a_recording_is_locked_until_it_is_closed() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.jfr");
    let is_in_use = || matches!(claim(&path).unwrap_err().reason(), Refusal::InUse);
    let mut recording = over(&path, claim(&path).unwrap());
    recording.write_at(0, b"FLR\0 this is a recording").unwrap();
    assert!(is_in_use(), "claimed");
    recording.publish().unwrap();
    assert!(is_in_use(), "published");
    recording.set_len(8).unwrap();
    assert!(is_in_use(), "cut");
    drop(recording);
    claim(&path).unwrap();
}

#[test]
fn a_missing_or_wrong_directory_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let missing = directory.path().join("no/such/a.jfr");
    let error = claim(&missing).unwrap_err();
    assert!(matches!(error.reason(), Refusal::Directory(_)), "{error}");
    let text = error.to_string();
    assert!(
        text.contains("no/such/a.jfr") && text.contains("directory cannot be opened"),
        "{text}"
    );
    let file = directory.path().join("file");
    fs::write(&file, b"x").unwrap();
    assert!(matches!(
        claim(&file.join("a.jfr")).unwrap_err().reason(),
        Refusal::Directory(_)
    ));
    assert!(matches!(
        claim(Path::new("/")).unwrap_err().reason(),
        Refusal::NoName
    ));
}

#[test]
fn a_read_only_directory_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o500)).unwrap();
    // Root may write everywhere: then a directory that no user can write to replaces it.
    let path = if fs::write(directory.path().join("probe"), b"").is_ok() {
        PathBuf::from("/proc/ctxagent-test.jfr")
    } else {
        directory.path().join("a.jfr")
    };
    let error = claim(&path).unwrap_err();
    assert!(matches!(error.reason(), Refusal::Io(_)), "{error}");
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn left_over_temporary_files_do_not_block() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.jfr");
    fs::write(&path, b"FLR\0").unwrap();
    for attempt in 0..3 {
        fs::write(
            directory
                .path()
                .join(format!(".ctxagent-{}-{attempt}.tmp", std::process::id())),
            b"",
        )
        .unwrap();
    }
    claim(&path).unwrap();
}

#[test]
fn a_log_is_appended_to() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.log");
    open_log(&path).unwrap().write_all(b"one\n").unwrap();
    open_log(&path).unwrap().write_all(b"two\n").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"one\ntwo\n");
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
}

#[test]
fn files_of_another_user_are_neither_replaced_nor_appended_to() {
    let directory = tempfile::tempdir().unwrap();
    let mut paths = Vec::new();
    for (name, content) in [("empty", &b""[..]), ("a.jfr", b"FLR\0"), ("a.log", b"text")] {
        let path = directory.path().join(name);
        fs::write(&path, content).unwrap();
        // Only root may give files away. For others there is one that is root's.
        if chown(&path, Some(12345), None).is_ok() {
            paths.push(path);
        }
    }
    if paths.is_empty() {
        paths.push(PathBuf::from("/etc/passwd"));
    } else {
        for path in &paths {
            let error = claim(path).unwrap_err();
            assert!(matches!(error.reason(), Refusal::NotOurs), "{error}");
        }
    }
    for path in &paths {
        let error = open_log(path).unwrap_err();
        assert!(matches!(error.reason(), Refusal::NotOurs), "{error}");
    }
}

#[test]
fn a_name_is_escaped_in_messages() {
    let error = claim(Path::new("/no\u{1b}[2J\n/x")).unwrap_err();
    assert!(!error.to_string().contains(char::is_control), "{error}");
}
