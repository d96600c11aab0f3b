//! Names and files of recordings: `%p %t %n{MAX} %%`, and creation that neither follows a link nor destroys what is not ours.
//!
//! Plain room: no `unsafe`. Assumptions and guarantees:
//!
//! 1. The folder is opened once; everything after that happens inside the folder that was opened (through `/proc/self/fd`), whatever
//!    its name means by then. Without `/proc` the folder's name is used.
//! 2. A new file is made with `O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC`, mode 0600.
//! 3. An existing name is replaced only if it is a regular file, not a link, that belongs to us, is empty or begins like a recording,
//!    and is not being written by a process that still runs (each recording is locked by its writer). It is replaced by `rename` of a new one
//!    that can be read (`FileStorage`): until then it is there, whatever fails, and a reader of the old one keeps it.
//! 4. Anything else is refused with the reason.

use crate::os::files::above_standard;
use crate::os::user;
use jfr_format::planted;
use std::ffi::OsString;
use std::fmt;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// First bytes of every recording.
const MAGIC: [u8; 4] = *b"FLR\0";
/// Longest name, in bytes: what Linux takes for a path.
const MAX_NAME_BYTES: usize = 4095;
/// Largest `MAX` of `%n{MAX}`.
const MAX_FILES: u32 = 1_000_000;
/// Names tried for a temporary file before giving up: only files left by a killed process of our own id can be in the way.
const TEMP_TRIES: u32 = 16;

/// A file name with `%p %t %n{MAX} %%`, checked.
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
                "'{what}' is no pattern; allowed: %p, %t, %n, %n{{MAX}}, %%"
            ),
            Self::Max(what) => write!(
                f,
                "'{what}' is no number of files; allowed: %n{{1}} to %n{{{MAX_FILES}}}"
            ),
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
            piece?;
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

    /// The name for these facts. No expansion contains a `/`.
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

/// Claims the name of a recording for `FileStorage::over`: by a new, empty file, or by the older recording of ours that has the name, as it is. Locked
/// until it is closed.
///
/// # Errors
/// The reason it was refused; nothing was changed then.
pub fn claim(path: &Path) -> Result<File, OutputError> {
    let fail = |reason| OutputError {
        path: path.to_owned(),
        reason,
    };
    let folder = Folder::of(path).map_err(fail)?;
    let place = folder.place(&folder.name);
    match new_file(&place) {
        Ok(file) => {
            // A file system without locks is no reason to refuse: the lock only protects against our own second process.
            let _unlocked = file.try_lock();
            Ok(file)
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            replaceable(&folder, &place).map_err(fail)
        }
        Err(error) => Err(fail(Refusal::Io(error))),
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
    let folder = Folder::of(path).map_err(fail)?;
    let place = folder.place(&folder.name);
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

/// The opened folder of a file.
struct Folder {
    /// Keeps the descriptor in `path` valid.
    _handle: File,
    /// The folder by its descriptor, or by its name where `/proc` is missing.
    path: PathBuf,
    /// The file's own name.
    name: OsString,
}

impl Folder {
    fn of(path: &Path) -> Result<Self, Refusal> {
        let name = path.file_name().ok_or(Refusal::NoName)?.to_owned();
        let parent = match path.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        let handle = OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_DIRECTORY)
            .open(parent)
            .and_then(above_standard)
            .map_err(Refusal::Folder)?;
        let by_descriptor = PathBuf::from(format!("/proc/self/fd/{}", handle.as_raw_fd()));
        let path = if by_descriptor.is_dir() {
            by_descriptor
        } else {
            parent.to_owned()
        };
        Ok(Self {
            _handle: handle,
            path,
            name,
        })
    }

    fn place(&self, name: &std::ffi::OsStr) -> PathBuf {
        self.path.join(name)
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
    if facts.is_symlink() && !planted::is("link-replaced") {
        Err(Refusal::Link)
    } else if facts.is_file() {
        Ok(facts)
    } else {
        Err(Refusal::NotRegular)
    }
}

/// The user to whom new files in this folder belong: a file server may make them another one's than who runs the process.
fn user_in(folder: &Folder) -> Result<u32, Refusal> {
    let (temp, file) = temp_file(folder)?;
    let facts = file.metadata();
    // Nothing better to do if it stays: it is empty and named like a temporary file of ours.
    let _left = fs::remove_file(&temp);
    Ok(facts.map_err(Refusal::Io)?.uid())
}

fn temp_file(folder: &Folder) -> Result<(PathBuf, File), Refusal> {
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
fn replaceable(folder: &Folder, place: &Path) -> Result<File, Refusal> {
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
