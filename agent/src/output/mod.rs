//! Names and files of recordings: `%p %t %n{MAX} %h %{NAME} %%`, and creation that neither follows a link nor destroys what is not ours.
//!
//! Plain room: no `unsafe`. Assumptions and guarantees:
//!
//! 1. The folder is opened once; everything after that happens inside the folder that was opened (through `/proc/self/fd`), whatever
//!    its name means by then. Without `/proc` the folder's name is used.
//! 2. A new file is made with `O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC`, mode 0600.
//! 3. An existing name is replaced only if that was asked for ([`Existing::Replace`]) or it is empty, and only if it is a regular file, not a link, that belongs to
//!    us, is empty or begins like a recording, and is not being written by a process that still runs (each recording is locked by its writer). It is
//!    replaced by `rename` of a new one that can be read (`FileStorage`): until then it is there, whatever fails, and a reader of the old one keeps it.
//! 4. Anything else is refused with the reason; the caller may take the next free name.

use crate::os::files::above_standard;
use crate::os::user;
use fault_injection::Fault;
use jfr_format::write::Directory;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// First bytes of every recording.
const MAGIC: [u8; 4] = *b"FLR\0";
/// Longest name, in bytes: what Linux takes for a path.
const MAX_NAME_BYTES: usize = 4095;
/// Largest `MAX` of `%n{MAX}`.
const MAX_FILES: u32 = 1_000_000;
/// Names tried for a temporary file before giving up: only files left by a killed process of our own id can be in the way.
const TEMP_TRIES: u32 = 16;
/// Highest number of a name that stands in for one that is taken: `app-2.jfr` to `app-1000.jfr`.
const MAX_STAND_INS: u32 = 1000;
/// What `%h` stands for where the system does not tell.
const UNKNOWN_HOST: &str = "localhost";

/// A file name with `%p %t %n{MAX} %h %{NAME} %%`, checked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pattern {
    text: String,
}

/// What the patterns stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// `%p`: process id.
    pub pid: u32,
    /// `%t`: seconds since 1970, written as UTC `20261121-023115`.
    pub unix_secs: u64,
    /// `%n`: how many files came before this one.
    pub number: u32,
}

/// Why a name is no [`Pattern`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PatternError {
    /// Nothing.
    Empty,
    /// Longer than a path can be.
    TooLong,
    /// A control character.
    Control,
    /// Ends with `/`, or is `.` or `..`.
    Folder,
    /// `%` with something that is not a pattern.
    Unknown(String),
    /// `%n{…}` with something that is no number from 1 to 1000000.
    Max(String),
    /// `%{…}` with something that is no name of an environment variable.
    Variable(String),
    /// `%{NAME}` of an environment variable that is not set.
    Unset(String),
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("the name is empty"),
            Self::TooLong => write!(f, "the name is longer than {MAX_NAME_BYTES} bytes"),
            Self::Control => f.write_str("the name has a control character"),
            Self::Folder => f.write_str("the name is that of a folder, a file is needed"),
            Self::Unknown(what) => write!(
                f,
                "'{what}' is no pattern; allowed: %p, %t, %n, %n{{MAX}}, %h, %{{NAME}}, %%"
            ),
            Self::Max(what) => write!(
                f,
                "'{what}' is no number of files; allowed: %n{{1}} to %n{{{MAX_FILES}}}"
            ),
            Self::Variable(what) => write!(
                f,
                "'%{{{what}' is no environment variable; allowed: %{{NAME}} with letters, digits and _"
            ),
            Self::Unset(name) => write!(f, "the environment variable of '%{{{name}}}' is not set"),
        }
    }
}

impl std::error::Error for PatternError {}

/// A piece of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Piece<'a> {
    Text(&'a str),
    Percent,
    Pid,
    Time,
    Number { max: Option<u32> },
    Host,
    Variable(&'a str),
}

impl Pattern {
    /// Checks `text`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        if text.is_empty() {
            return Err(PatternError::Empty);
        }
        if text.len() > MAX_NAME_BYTES {
            return Err(PatternError::TooLong);
        }
        if text.chars().any(char::is_control) {
            return Err(PatternError::Control);
        }
        if matches!(text.rsplit('/').next(), None | Some("" | "." | "..")) {
            return Err(PatternError::Folder);
        }
        for piece in pieces(text) {
            if let Piece::Variable(name) = piece?
                && std::env::var_os(name).is_none()
            {
                return Err(PatternError::Unset(name.to_owned()));
            }
        }
        Ok(Self {
            text: text.to_owned(),
        })
    }

    /// A name of our own, known to be a pattern.
    pub(crate) fn known(text: &'static str) -> Self {
        Self {
            text: text.to_owned(),
        }
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether files of one process get different names: there is a `%t` or a `%n` that is not always 0.
    pub fn varies(&self) -> bool {
        pieces(&self.text).any(|piece| match piece {
            Ok(Piece::Time) => true,
            Ok(Piece::Number { max }) => max != Some(1),
            _ => false,
        })
    }

    /// Whether there is a `%t`.
    pub fn timed(&self) -> bool {
        pieces(&self.text).any(|piece| piece == Ok(Piece::Time))
    }

    /// Whether there is a `%n`.
    pub fn numbered(&self) -> bool {
        pieces(&self.text).any(|piece| matches!(piece, Ok(Piece::Number { .. })))
    }

    /// Whether files replace each other in turn: there is a `%n{MAX}`.
    pub fn is_ring(&self) -> bool {
        pieces(&self.text).any(|piece| matches!(piece, Ok(Piece::Number { max: Some(_) })))
    }

    /// The name for these facts. No expansion contains a `/`, or is `..`.
    pub fn expand(&self, facts: &Facts) -> PathBuf {
        let mut out = String::with_capacity(self.text.len() + 16);
        for piece in pieces(&self.text).flatten() {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Percent => out.push('%'),
                Piece::Pid => out.push_str(&facts.pid.to_string()),
                Piece::Time => out.push_str(&utc(facts.unix_secs)),
                Piece::Number { max } => {
                    let number = max
                        .and_then(|max| facts.number.checked_rem(max))
                        .unwrap_or(facts.number);
                    out.push_str(&number.to_string());
                }
                Piece::Host => out.push_str(&in_a_name(&host())),
                Piece::Variable(name) => {
                    out.push_str(&in_a_name(&std::env::var(name).unwrap_or_default()));
                }
            }
        }
        PathBuf::from(out)
    }
}

/// Cuts a pattern into pieces; ends after the first that is wrong.
fn pieces(text: &str) -> impl Iterator<Item = Result<Piece<'_>, PatternError>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let Some(after) = rest.strip_prefix('%') else {
            let (head, tail) = rest.split_at(rest.find('%').unwrap_or(rest.len()));
            rest = tail;
            return Some(Ok(Piece::Text(head)));
        };
        let (piece, tail) = match after.chars().next() {
            Some('%') => (Ok(Piece::Percent), &after[1..]),
            Some('p') => (Ok(Piece::Pid), &after[1..]),
            Some('t') => (Ok(Piece::Time), &after[1..]),
            Some('h') => (Ok(Piece::Host), &after[1..]),
            Some('{') => variable(&after[1..]),
            Some('n') => match after[1..].strip_prefix('{') {
                None => (Ok(Piece::Number { max: None }), &after[1..]),
                Some(inner) => {
                    let (max, tail) = inner.split_once('}').unwrap_or((inner, ""));
                    let closed = inner.contains('}') && max.bytes().all(|b| b.is_ascii_digit());
                    match max.parse::<u32>() {
                        Ok(max @ 1..=MAX_FILES) if closed => {
                            (Ok(Piece::Number { max: Some(max) }), tail)
                        }
                        _ => (Err(PatternError::Max(max.chars().take(20).collect())), ""),
                    }
                }
            },
            Some(other) => (Err(PatternError::Unknown(format!("%{other}"))), ""),
            None => (Err(PatternError::Unknown("%".to_owned())), ""),
        };
        rest = tail;
        Some(piece)
    })
}

/// `NAME}` and what follows.
fn variable(text: &str) -> (Result<Piece<'_>, PatternError>, &str) {
    let is_name = |name: &str| {
        let is_word = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        is_word && name.bytes().next().is_some_and(|b| !b.is_ascii_digit())
    };
    match text.split_once('}') {
        Some((name, tail)) if is_name(name) => (Ok(Piece::Variable(name)), tail),
        _ => (
            Err(PatternError::Variable(text.chars().take(20).collect())),
            "",
        ),
    }
}

/// Name of this machine, or of the container.
fn host() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    match name.trim() {
        "" => UNKNOWN_HOST.to_owned(),
        name => name.to_owned(),
    }
}

/// A text from outside as a part of a file's name: it leads to no other directory.
fn in_a_name(text: &str) -> String {
    let plain = |c: char| {
        if c == '/' || c.is_control() { '_' } else { c }
    };
    let name: String = text.chars().map(plain).collect();
    match name.strip_prefix('.') {
        Some(rest) => format!("_{rest}"),
        None => name,
    }
}

/// `20261121-023115`. Days are turned into a date as in H. Hinnant's "chrono-compatible low-level date algorithms".
fn utc(unix_secs: u64) -> String {
    let (days, secs) = (unix_secs / 86_400, unix_secs % 86_400);
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    format!(
        "{year:04}{month:02}{day:02}-{:02}{:02}{:02}",
        secs / 3600,
        secs / 60 % 60,
        secs % 60
    )
}

/// Why a file could not be made; `Display` is one line that names it.
#[derive(Debug)]
pub struct OutputError {
    path: PathBuf,
    reason: Refusal,
}

/// The reasons.
#[derive(Debug)]
#[non_exhaustive]
pub enum Refusal {
    /// The name ends with no file name.
    NoName,
    /// The folder cannot be opened.
    Folder(io::Error),
    /// There is a link of that name.
    Link,
    /// There is something of that name that is not a regular file.
    NotRegular,
    /// There is a file of another user.
    NotOurs,
    /// There is a file that is neither empty nor a recording.
    Foreign,
    /// There is a recording that a running process writes.
    InUse,
    /// There is a file, and replacing it was not asked for.
    Exists,
    /// The names that could stand in for it are taken too.
    NoFreeName,
    /// The system said no.
    Io(io::Error),
}

impl OutputError {
    /// The reason.
    pub const fn reason(&self) -> &Refusal {
        &self.reason
    }
}

impl fmt::Display for OutputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Escaped: the name must not act in a terminal, and stay one line.
        write!(
            f,
            "file '{}' ",
            self.path.display().to_string().escape_debug()
        )?;
        match &self.reason {
            Refusal::NoName => f.write_str("has no file name"),
            Refusal::Folder(error) => write!(f, "cannot be created: its folder cannot be opened: {error}"),
            Refusal::Link => f.write_str("is a symbolic link, which is never followed; remove it or choose another name"),
            Refusal::NotRegular => f.write_str("exists and is not a regular file; choose another name"),
            Refusal::NotOurs => f.write_str("exists and belongs to another user; choose another name"),
            Refusal::Foreign => {
                f.write_str("exists and is not a JFR recording; it is not overwritten, remove it or choose another name")
            }
            Refusal::InUse => f.write_str("is being written by a running recording; choose another name, for example with %p"),
            Refusal::Exists => f.write_str("exists; it is replaced only with the option overwrite"),
            Refusal::NoFreeName => write!(f, "exists, and so do all names up to '-{MAX_STAND_INS}'; remove some, or choose another name"),
            Refusal::Io(error) => write!(f, "cannot be created: {error}"),
        }
    }
}

impl std::error::Error for OutputError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.reason {
            Refusal::Folder(error) | Refusal::Io(error) => Some(error),
            _ => None,
        }
    }
}

/// What is to be done with a file that has the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// It stays.
    Keep,
    /// An older recording of ours is replaced.
    Replace,
}

/// A name in a directory that a recording is to have.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// The directory, opened.
    pub directory: Arc<Directory>,
    /// The name that a reader finds in the end.
    pub name: OsString,
    /// Whether the file is called [`part_of`] that until it is whole.
    pub in_parts: bool,
}

impl Wanted {
    /// The name that the file has while it is written.
    pub fn first_name(&self) -> OsString {
        if self.in_parts {
            part_of(&self.name)
        } else {
            self.name.clone()
        }
    }

    /// The file as a user calls it.
    fn error(&self, reason: Refusal, path: &Path) -> OutputError {
        let path = path.with_file_name(&self.name);
        OutputError { path, reason }
    }

    /// Claims the name for `FileStorage::over`: by a new, empty file, or by the older recording of ours that has the name, as it is. Locked until it is closed.
    /// `path` is for messages.
    ///
    /// # Errors
    /// The reason it was refused; nothing was changed then.
    pub fn claim(&self, existing: Existing, path: &Path) -> Result<File, OutputError> {
        let fail = |reason| self.error(reason, path);
        if self.in_parts && fs::symlink_metadata(self.directory.place(&self.name)).is_ok() {
            // What has the last name must be replaceable by then.
            claim_in(&self.directory, &self.name, existing).map_err(fail)?;
        }
        claim_in(&self.directory, &self.first_name(), existing).map_err(fail)
    }

    /// Claims the next free name, for one that is taken: `app-2.jfr` and so on.
    ///
    /// # Errors
    /// The reason it was refused; nothing was changed then.
    pub fn claim_next_free(&mut self, path: &Path) -> Result<File, OutputError> {
        let taken = self.name.clone();
        for number in 2..=MAX_STAND_INS {
            self.name = numbered(&taken, number);
            if self.in_parts && fs::symlink_metadata(self.directory.place(&self.name)).is_ok() {
                continue;
            }
            match new_file(&self.directory.place(&self.first_name())) {
                Ok(file) => {
                    let _unlocked = file.try_lock();
                    return Ok(file);
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(self.error(Refusal::Io(error), path)),
            }
        }
        self.name = taken;
        Err(self.error(Refusal::NoFreeName, path))
    }
}

/// `app-0.part.jfr` for `app-0.jfr`: a file that is not whole yet.
pub fn part_of(name: &OsStr) -> OsString {
    with_suffix(name, ".part")
}

/// `app-2.jfr` for `app.jfr` and 2.
pub fn numbered(name: &OsStr, number: u32) -> OsString {
    with_suffix(name, &format!("-{number}"))
}

fn with_suffix(name: &OsStr, suffix: &str) -> OsString {
    let path = Path::new(name);
    let mut whole = path.file_stem().unwrap_or(name).to_owned();
    whole.push(suffix);
    if let Some(extension) = path.extension() {
        whole.push(".");
        whole.push(extension);
    }
    whole
}

/// The directory of `path`, opened, and the name in it.
///
/// # Errors
/// The reason it was refused.
pub fn directory_of(path: &Path) -> Result<(Arc<Directory>, OsString), OutputError> {
    let fail = |reason| OutputError {
        path: path.to_owned(),
        reason,
    };
    let name = path.file_name().ok_or_else(|| fail(Refusal::NoName))?;
    let directory = Directory::open(Directory::parent_name(path))
        .map_err(|error| fail(Refusal::Folder(error)))?;
    Ok((Arc::new(directory), name.to_owned()))
}

fn claim_in(directory: &Directory, name: &OsStr, existing: Existing) -> Result<File, Refusal> {
    let place = directory.place(name);
    match new_file(&place) {
        Ok(file) => {
            // A file system without locks is no reason to refuse: the lock only protects against our own second process.
            let _unlocked = file.try_lock();
            Ok(file)
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let old = replaceable(directory, &place);
            if existing == Existing::Replace {
                return old;
            }
            match old {
                // There is nothing in it that could be lost.
                Ok(old) if old.metadata().is_ok_and(|facts| facts.len() == 0) => Ok(old),
                Ok(_) | Err(Refusal::InUse | Refusal::NotOurs | Refusal::Io(_)) => {
                    Err(Refusal::Exists)
                }
                Err(other) => Err(other),
            }
        }
        Err(error) => Err(Refusal::Io(error)),
    }
}

/// Opens a log file to append to: new with mode 0600, or an existing regular file of ours.
///
/// # Errors
/// The reason it was refused.
pub fn open_log(path: &Path) -> Result<File, OutputError> {
    let fail = |reason| OutputError {
        path: path.to_owned(),
        reason,
    };
    let (directory, name) = directory_of(path)?;
    let place = directory.place(&name);
    match OpenOptions::new()
        .append(true)
        .create_new(true)
        .mode(0o600)
        .custom_flags(libc::O_NOFOLLOW)
        .open(&place)
    {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            existing_log(&place).map_err(fail)
        }
        other => other
            .and_then(above_standard)
            .map_err(|error| fail(Refusal::Io(error))),
    }
}

fn existing_log(place: &Path) -> Result<File, Refusal> {
    // Not by a new file in the folder, as for a recording: one may append to a log in a folder that one may not write.
    let user = user::effective_id();
    if regular(place)?.uid() != user {
        return Err(Refusal::NotOurs);
    }
    let file = OpenOptions::new()
        .append(true)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
        .open(place)
        .and_then(above_standard)
        .map_err(Refusal::Io)?;
    judge(&file, user)?;
    Ok(file)
}

/// Whether an opened file is a regular one of this user: the name may have been another file's when it was looked at.
fn judge(file: &File, user: u32) -> Result<fs::Metadata, Refusal> {
    let facts = file.metadata().map_err(Refusal::Io)?;
    if !facts.is_file() {
        Err(Refusal::NotRegular)
    } else if facts.uid() != user {
        Err(Refusal::NotOurs)
    } else {
        Ok(facts)
    }
}

fn new_file(place: &Path) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create_new(true)
        .mode(0o600)
        .custom_flags(libc::O_NOFOLLOW)
        .open(place)
        .and_then(above_standard)
}

/// Facts about what has the name, if it is a regular file and no link.
fn regular(place: &Path) -> Result<fs::Metadata, Refusal> {
    let facts = fs::symlink_metadata(place).map_err(Refusal::Io)?;
    if facts.is_symlink() && !fault_injection::is(Fault::LinkReplaced) {
        Err(Refusal::Link)
    } else if facts.is_file() {
        Ok(facts)
    } else {
        Err(Refusal::NotRegular)
    }
}

/// The user to whom new files in this folder belong: a file server may make them another one's than who runs the process.
fn user_in(folder: &Directory) -> Result<u32, Refusal> {
    let (temp, file) = temp_file(folder)?;
    let facts = file.metadata();
    // Nothing better to do if it stays: it is empty and named like a temporary file of ours.
    let _left = fs::remove_file(&temp);
    Ok(facts.map_err(Refusal::Io)?.uid())
}

fn temp_file(folder: &Directory) -> Result<(PathBuf, File), Refusal> {
    let mut last = io::Error::from(io::ErrorKind::AlreadyExists);
    for attempt in 0..TEMP_TRIES {
        let name = format!(".ctxagent-{}-{attempt}.tmp", std::process::id());
        let place = folder.place(name.as_ref());
        match new_file(&place) {
            Ok(file) => return Ok((place, file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = error,
            Err(error) => return Err(Refusal::Io(error)),
        }
    }
    Err(Refusal::Io(last))
}

/// What has the name, opened and locked, if guarantee 3 allows to replace it.
fn replaceable(folder: &Directory, place: &Path) -> Result<File, Refusal> {
    regular(place)?;
    let user = user_in(folder)?;
    if regular(place)?.uid() != user {
        return Err(Refusal::NotOurs);
    }
    // Not blocking: between the look and this line a pipe may have taken the name.
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let mut old = OpenOptions::new()
        .read(true)
        .custom_flags(flags)
        .open(place)
        .and_then(above_standard)
        .map_err(Refusal::Io)?;
    let facts = judge(&old, user)?;
    if matches!(old.try_lock(), Err(TryLockError::WouldBlock)) {
        return Err(Refusal::InUse);
    }
    let mut head = [0; MAGIC.len()];
    if facts.len() == 0 || (old.read_exact(&mut head).is_ok() && head == MAGIC) {
        Ok(old)
    } else {
        Err(Refusal::Foreign)
    }
}

#[cfg(test)]
mod tests;
