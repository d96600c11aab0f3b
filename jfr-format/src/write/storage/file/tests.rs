#![expect(clippy::unwrap_used, reason = "tests")]

use super::*;
use crate::write::storage::contract::PAGE;
use std::fs::TryLockError;
use std::os::unix::fs::symlink;

fn over(path: &Path, claimed: File) -> FileStorage {
    let directory = Directory::open(Directory::parent_name(path)).unwrap();
    let name = path.file_name().unwrap();
    FileStorage::over(Arc::new(directory), name, claimed).unwrap()
}

fn published(path: &Path) -> FileStorage {
    let mut storage = FileStorage::create(path).unwrap();
    storage.write_at(0, b"hello").unwrap();
    storage.publish().unwrap();
    storage
}

#[test]
fn state_reports_what_others_did() {
    let dir = tempfile::tempdir().unwrap();
    let dir = fs::canonicalize(dir.path()).unwrap();
    let (path, other) = (dir.join("a.jfr"), dir.join("b.jfr"));
    let mut storage = published(&path);
    assert_eq!(storage.poll_state().unwrap(), FileState::Same);
    storage.append(5, b" world").unwrap();
    assert_eq!(storage.poll_state().unwrap(), FileState::Same);
    fs::rename(&path, &other).unwrap();
    assert_eq!(
        storage.poll_state().unwrap(),
        FileState::Moved(Some(other.clone()))
    );
    assert_eq!(
        storage.poll_state().unwrap(),
        FileState::Same,
        "reported once"
    );
    let there = storage.rename(OsStr::new("c.jfr"), false).unwrap_err();
    assert_eq!(there.kind(), io::ErrorKind::NotFound);
    fs::write(&other, b"x").unwrap();
    assert_eq!(storage.poll_state().unwrap(), FileState::Overwritten);
    fs::remove_file(&other).unwrap();
    assert_eq!(storage.poll_state().unwrap(), FileState::Deleted);
}

#[test]
fn rename_replaces_only_on_request() {
    let dir = tempfile::tempdir().unwrap();
    let part = dir.path().join("a.part.jfr");
    let whole = dir.path().join("a.jfr");
    let mut storage = published(&part);
    fs::write(&whole, b"someone else's").unwrap();
    let taken = storage.rename(OsStr::new("a.jfr"), false).unwrap_err();
    assert_eq!(taken.kind(), io::ErrorKind::AlreadyExists);
    assert_eq!(fs::read(&whole).unwrap(), b"someone else's");
    storage.rename(OsStr::new("a-2.jfr"), false).unwrap();
    assert_eq!(storage.poll_state().unwrap(), FileState::Same);
    assert_eq!(storage.name(), "a-2.jfr");
    storage.rename(OsStr::new("a.jfr"), true).unwrap();
    assert_eq!(fs::read(&whole).unwrap(), b"hello");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn replaced_directory_is_not_followed() {
    let dir = tempfile::tempdir().unwrap();
    let (home, away, other) = ["home", "away", "other"]
        .map(|name| dir.path().join(name))
        .into();
    fs::create_dir(&home).unwrap();
    fs::create_dir(&other).unwrap();
    let directory = Arc::new(Directory::open(&home).unwrap());
    assert!(directory.is_called(&home));
    fs::rename(&home, &away).unwrap();
    symlink(&other, &home).unwrap();
    assert!(!directory.is_called(&home));
    let claimed = new_file(&directory.place(OsStr::new("a.jfr"))).unwrap();
    let mut storage = FileStorage::over(directory, OsStr::new("a.jfr"), claimed).unwrap();
    storage.write_at(0, b"hello").unwrap();
    storage.publish().unwrap();
    assert_eq!(fs::read(away.join("a.jfr")).unwrap(), b"hello");
    assert!(storage.is_in_place());
    fs::rename(away.join("a.jfr"), away.join("b.jfr")).unwrap();
    assert!(!storage.is_in_place());
    assert_eq!(fs::read_dir(&other).unwrap().count(), 0);
}

#[test]
fn file_is_private_and_complete_when_published() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.jfr");
    let mut storage = FileStorage::create(&path).unwrap();
    storage.set_len(8192).unwrap();
    storage.write_at(0, b"hello").unwrap();
    assert!(!path.exists());
    storage.publish().unwrap();
    let meta = fs::metadata(&path).unwrap();
    assert_eq!((meta.len(), meta.mode() & 0o777), (8192, 0o600));
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn nothing_that_is_there_is_overwritten() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.jfr");
    let victim = dir.path().join("victim");
    symlink(&victim, &path).unwrap();
    assert!(FileStorage::create(&path).is_err());
    fs::remove_file(&path).unwrap();

    let mut storage = FileStorage::create(&path).unwrap();
    fs::write(&path, b"someone else's").unwrap();
    assert_eq!(
        storage.publish().unwrap_err().kind(),
        io::ErrorKind::AlreadyExists
    );
    drop(storage);
    assert_eq!(fs::read(&path).unwrap(), b"someone else's");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn unpublished_claim_is_removed_but_no_other_file() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("a.jfr");
    let over = || over(&path, new_file(&path).expect("claimed"));
    drop(over());
    assert_eq!(fs::read_dir(dir.path()).expect("a directory").count(), 0);

    let storage = over();
    fs::remove_file(&path).expect("ours goes");
    fs::write(&path, "").expect("another empty one comes");
    drop(storage);
    assert!(path.exists());
}

#[test]
fn unpublished_storage_keeps_the_older_recording() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("a.jfr");
    fs::write(&path, b"the old one").expect("written");
    let claim = || File::open(&path).expect("the old one");
    let mut storage = over(&path, claim());
    storage.write_at(0, b"new").expect("written");
    drop(storage);
    assert_eq!(fs::read(&path).expect("still there"), b"the old one");
    let mut storage = over(&path, claim());
    storage.write_at(0, b"new").expect("written");
    storage.publish().expect("published");
    drop(storage);
    assert_eq!(fs::read(&path).expect("the new one"), b"new");
    assert_eq!(fs::read_dir(dir.path()).expect("a directory").count(), 1);
}

#[test]
fn append_and_cut_leave_the_rest() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.jfr");
    let mut storage = FileStorage::create(&path).unwrap();
    storage.set_len(4096).unwrap();
    storage.write_at(0, b"hello world").unwrap();
    storage.publish().unwrap();
    storage.append(4096, &[7; PAGE]).unwrap();
    let content = fs::read(&path).unwrap();
    assert_eq!(content.len(), 8192);
    assert_eq!(
        (&content[..6], &content[4095..4097]),
        (&b"hello "[..], &[0, 7][..])
    );
    storage.set_len(5).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"hello");
}

#[test]
fn what_has_the_name_is_locked_until_it_is_closed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.jfr");
    let is_locked = || {
        let other = File::open(&path).unwrap();
        matches!(other.try_lock(), Err(TryLockError::WouldBlock))
    };
    let mut storage = over(&path, new_file(&path).unwrap());
    storage.write_at(0, b"hello").unwrap();
    storage.publish().unwrap();
    assert!(is_locked(), "published");
    storage.append(5, b"more").unwrap();
    assert!(is_locked(), "longer");
    drop(storage);
    assert!(!is_locked(), "closed");
}

#[test]
fn moved_file_is_still_written() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.jfr");
    let mut storage = FileStorage::create(&path).unwrap();
    storage.write_at(0, b"hello").unwrap();
    storage.publish().unwrap();
    fs::rename(&path, dir.path().join("b.jfr")).unwrap();
    fs::write(&path, b"other").unwrap();
    storage.append(5, b" world").unwrap();
    storage.set_len(8).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"other");
    assert_eq!(fs::read(dir.path().join("b.jfr")).unwrap(), b"hello wo");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
}
