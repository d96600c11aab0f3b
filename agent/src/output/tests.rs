//! Sentences about names and files of recordings.
#![expect(clippy::unwrap_used, reason = "a test reports by panicking")]

use jfr_format::write::{FileStorage, Storage};
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::os::unix::net::UnixListener;

use super::*;

const FACTS: Facts = Facts {
    pid: 42,
    unix_secs: 1_795_228_275,
    number: 7,
};

fn expanded(text: &str) -> String {
    Pattern::parse(text)
        .unwrap()
        .expand(&FACTS)
        .into_os_string()
        .into_string()
        .unwrap()
}

#[test]
fn patterns_stand_for_process_time_and_number() {
    for (text, name) in [
        ("app.jfr", "app.jfr"),
        ("app-%p-%t.jfr", "app-42-20261121-023115.jfr"),
        ("%p/%n.jfr", "42/7.jfr"),
        ("a-%n{5}.jfr", "a-2.jfr"),
        ("a-%n{1}", "a-0"),
        ("100%%.jfr", "100%.jfr"),
        ("%%p", "%p"),
        ("ü%pü", "ü42ü"),
        ("%n}", "7}"),
    ] {
        assert_eq!(expanded(text), name);
    }
}

#[test]
fn other_patterns_are_refused() {
    for text in ["%", "a%", "%x", "%P", "% p", "%ü", "%-5p", "a%\u{202e}"] {
        assert!(
            matches!(Pattern::parse(text), Err(PatternError::Unknown(_))),
            "{text}"
        );
    }
    for text in [
        "%n{",
        "%n{}",
        "%n{0}",
        "%n{-1}",
        "%n{+1}",
        "%n{1000001}",
        "%n{99999999999}",
        "%n{5",
        "%n{a}",
        "%n{5 }",
    ] {
        assert!(
            matches!(Pattern::parse(text), Err(PatternError::Max(_))),
            "{text}"
        );
    }
    for text in ["%{", "%{}", "%{1A}", "%{A-B}", "%{A", "%{A B}"] {
        assert!(
            matches!(Pattern::parse(text), Err(PatternError::Variable(_))),
            "{text}"
        );
    }
    let unset = Pattern::parse("%{CTXAGENT_NO_SUCH_VARIABLE}.jfr").unwrap_err();
    assert_eq!(
        unset.to_string(),
        "the environment variable of '%{CTXAGENT_NO_SUCH_VARIABLE}' is not set"
    );
    assert_eq!(Pattern::parse(""), Err(PatternError::Empty));
    assert_eq!(Pattern::parse("a\nb"), Err(PatternError::Control));
    assert_eq!(Pattern::parse("a\0b"), Err(PatternError::Control));
    for text in ["/", "a/", "..", ".", "a/..", "a/."] {
        assert_eq!(Pattern::parse(text), Err(PatternError::Folder), "{text}");
    }
    assert!(Pattern::parse(&"x".repeat(4095)).is_ok());
    assert_eq!(
        Pattern::parse(&"x".repeat(4096)),
        Err(PatternError::TooLong)
    );
}

#[test]
fn expansions_contain_no_slash() {
    for unix_secs in [0, 951_782_400, 4_102_444_800, u64::from(u32::MAX) * 1000] {
        let facts = Facts {
            pid: u32::MAX,
            unix_secs,
            number: u32::MAX,
        };
        let name = Pattern::parse("%p%t%n%n{3}%%").unwrap().expand(&facts);
        assert!(!name.to_str().unwrap().contains('/'), "{}", name.display());
    }
}

#[test]
fn time_is_written_as_a_utc_date() {
    for (secs, text) in [
        (0, "19700101-000000"),
        (951_782_399, "20000228-235959"),
        (951_782_400, "20000229-000000"),
        (951_868_800, "20000301-000000"),
        (1_709_164_800, "20240229-000000"),
        (4_107_542_400, "21000301-000000"),
        (1_735_689_599, "20241231-235959"),
    ] {
        assert_eq!(utc(secs), text);
    }
}

#[test]
fn a_new_file_is_private_empty_and_writable() {
    let handler = tempfile::tempdir().unwrap();
    let path = handler.path().join("a.jfr");
    let mut file = claim(&path).unwrap();
    file.write_all(b"FLR\0rest").unwrap();
    let facts = fs::metadata(&path).unwrap();
    assert_eq!((facts.len(), facts.mode() & 0o777), (8, 0o600));
    assert_eq!(fs::read_dir(handler.path()).unwrap().count(), 1);
}

#[test]
fn a_name_without_folder_is_made_in_the_working_directory() {
    let name = format!("ctxagent-output-test-{}.jfr", std::process::id());
    drop(claim(Path::new(&name)).unwrap());
    fs::remove_file(&name).unwrap();
}

#[test]
fn patterns_stand_for_host_and_environment() {
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    assert_eq!(expanded("a-%h.jfr"), format!("a-{}.jfr", host.trim()));
    // Cargo sets it for tests.
    assert_eq!(expanded("%{CARGO_PKG_NAME}-%p.jfr"), "ctxagent-42.jfr");
    assert!(!expanded("%{CARGO_MANIFEST_DIR}").contains('/'));
    for (text, name) in [("..", "_."), ("a/b\n", "a_b_"), ("", ""), (".x", "_x")] {
        assert_eq!(in_a_name(text), name);
    }
}

fn wanted(path: &Path) -> Result<Wanted, OutputError> {
    let (directory, name) = directory_of(path)?;
    Ok(Wanted {
        directory,
        name,
        in_parts: false,
    })
}

/// With the option `overwrite`.
fn claim(path: &Path) -> Result<File, OutputError> {
    wanted(path)?.claim(Existing::Replace, path)
}

/// Without it.
fn claim_new(path: &Path) -> Result<File, OutputError> {
    wanted(path)?.claim(Existing::Keep, path)
}

#[test]
fn a_recording_is_replaced_only_where_that_is_asked_for() {
    let handler = tempfile::tempdir().unwrap();
    let path = handler.path().join("app-1.jfr");
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
    let mut wanted = wanted(&path).unwrap();
    fs::write(handler.path().join("app-1-2.jfr"), b"text").unwrap();
    let free = wanted.claim_next_free(&path).unwrap();
    assert_eq!(wanted.name, "app-1-3.jfr");
    assert_eq!(free.metadata().unwrap().len(), 0);
    assert_eq!(fs::read(&path).unwrap(), b"FLR\0");
    claim(&path).unwrap();
}

#[test]
fn a_name_stands_in_for_one_that_is_taken_a_thousand_times_at_most() {
    let handler = tempfile::tempdir().unwrap();
    let path = handler.path().join("a");
    for number in 2..=1000 {
        fs::write(handler.path().join(format!("a-{number}")), b"").unwrap();
    }
    let error = wanted(&path).unwrap().claim_next_free(&path).unwrap_err();
    assert!(matches!(error.reason(), Refusal::NoFreeName), "{error}");
}

#[test]
fn a_file_in_parts_takes_no_name_that_is_taken_in_either_form() {
    let handler = tempfile::tempdir().unwrap();
    let path = handler.path().join("a.jfr");
    let mut wanted = wanted(&path).unwrap();
    wanted.in_parts = true;
    drop(wanted.claim(Existing::Keep, &path).unwrap());
    assert!(handler.path().join("a.part.jfr").exists() && !path.exists());
    fs::write(&path, b"FLR\0").unwrap();
    fs::write(handler.path().join("a-2.part.jfr"), b"FLR\0").unwrap();
    assert!(wanted.claim(Existing::Keep, &path).is_err());
    wanted.claim_next_free(&path).unwrap();
    assert_eq!(wanted.first_name(), "a-3.part.jfr");
}

/// What `files` does: the name, then a new recording in the place of what has it.
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
fn an_old_recording_of_ours_is_replaced_and_its_reader_keeps_it() {
    let handler = tempfile::tempdir().unwrap();
    let path = handler.path().join("a.jfr");
    fs::write(&path, b"FLR\0old recording").unwrap();
    let mut reader = File::open(&path).unwrap();
    let _recording = recorded(&path, b"FLR\0new");
    assert_eq!(fs::read(&path).unwrap(), b"FLR\0new");
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
    let mut old = Vec::new();
    reader.read_to_end(&mut old).unwrap();
    assert_eq!(old, b"FLR\0old recording");
    assert_eq!(
        fs::read_dir(handler.path()).unwrap().count(),
        1,
        "no temporary file is left"
    );
}

#[test]
fn an_old_recording_stays_until_the_new_one_can_be_read() {
    let handler = tempfile::tempdir().unwrap();
    let path = handler.path().join("a.jfr");
    fs::write(&path, b"FLR\0old recording").unwrap();
    drop(claim(&path).unwrap());
    let mut storage = over(&path, claim(&path).unwrap());
    storage.write_at(0, b"FLR\0new").unwrap();
    drop(storage);
    assert_eq!(fs::read(&path).unwrap(), b"FLR\0old recording");
    assert_eq!(fs::read_dir(handler.path()).unwrap().count(), 1);
}

#[test]
fn an_empty_file_of_ours_is_replaced() {
    let handler = tempfile::tempdir().unwrap();
    let path = handler.path().join("a.jfr");
    fs::write(&path, b"").unwrap();
    claim_new(&path).unwrap();
}

#[test]
fn a_foreign_file_keeps_every_byte() {
    for content in [&b"important"[..], b"F", b"FLR", b"FLRx", b"\0FLR\0"] {
        let handler = tempfile::tempdir().unwrap();
        let path = handler.path().join("a.jfr");
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
            fs::read_dir(handler.path()).unwrap().count(),
            1,
            "no temporary file is left"
        );
    }
}

#[test]
fn a_link_is_never_followed_and_its_target_stays_as_it_is() {
    let handler = tempfile::tempdir().unwrap();
    let target = handler.path().join("target");
    let link = handler.path().join("a.jfr");
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
fn what_is_no_regular_file_is_refused() {
    let handler = tempfile::tempdir().unwrap();
    let folder = handler.path().join("folder.jfr");
    fs::create_dir(&folder).unwrap();
    let socket = handler.path().join("socket.jfr");
    let _listener = UnixListener::bind(&socket).unwrap();
    for path in [&folder, &socket] {
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
    let handler = tempfile::tempdir().unwrap();
    let path = handler.path().join("a.jfr");
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
fn a_recording_is_not_replaced_while_it_is_written_whatever_file_has_its_name_by_then() {
    let handler = tempfile::tempdir().unwrap();
    let path = handler.path().join("a.jfr");
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
fn a_missing_or_wrong_folder_is_named() {
    let handler = tempfile::tempdir().unwrap();
    let missing = handler.path().join("no/such/a.jfr");
    let error = claim(&missing).unwrap_err();
    assert!(matches!(error.reason(), Refusal::Folder(_)), "{error}");
    let text = error.to_string();
    assert!(
        text.contains("no/such/a.jfr") && text.contains("folder cannot be opened"),
        "{text}"
    );
    let file = handler.path().join("file");
    fs::write(&file, b"x").unwrap();
    assert!(matches!(
        claim(&file.join("a.jfr")).unwrap_err().reason(),
        Refusal::Folder(_)
    ));
    assert!(matches!(
        claim(Path::new("/")).unwrap_err().reason(),
        Refusal::NoName
    ));
}

#[test]
fn a_folder_we_may_not_write_is_refused() {
    let handler = tempfile::tempdir().unwrap();
    fs::set_permissions(handler.path(), fs::Permissions::from_mode(0o500)).unwrap();
    // Root may write everywhere: then a folder that nobody can write in stands in.
    let path = if fs::write(handler.path().join("probe"), b"").is_ok() {
        PathBuf::from("/proc/ctxagent-test.jfr")
    } else {
        handler.path().join("a.jfr")
    };
    let error = claim(&path).unwrap_err();
    assert!(matches!(error.reason(), Refusal::Io(_)), "{error}");
    fs::set_permissions(handler.path(), fs::Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn left_over_temporary_files_are_not_in_the_way() {
    let handler = tempfile::tempdir().unwrap();
    let path = handler.path().join("a.jfr");
    fs::write(&path, b"FLR\0").unwrap();
    for attempt in 0..3 {
        fs::write(
            handler
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
    let handler = tempfile::tempdir().unwrap();
    let path = handler.path().join("a.log");
    open_log(&path).unwrap().write_all(b"one\n").unwrap();
    open_log(&path).unwrap().write_all(b"two\n").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"one\ntwo\n");
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
}

#[test]
fn files_of_another_user_are_neither_replaced_nor_appended_to() {
    let handler = tempfile::tempdir().unwrap();
    let mut paths = Vec::new();
    for (name, content) in [("empty", &b""[..]), ("a.jfr", b"FLR\0"), ("a.log", b"text")] {
        let path = handler.path().join(name);
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
fn a_name_cannot_act_in_a_terminal() {
    let error = claim(Path::new("/no\u{1b}[2J\n/x")).unwrap_err();
    assert!(!error.to_string().contains(char::is_control), "{error}");
}
