//! The files of a process: names by the pattern, claimed by the rules of [`output`](crate::output),
//! numbered for `%n`, at least a second apart for `%t`.

use crate::log;
use crate::options::Options;
use crate::output::{
    self, ExistingFile, OutputError, Pattern, PatternValues, RecordingTarget, Refusal,
};
use jfr_format::write::{Directory, FileStorage};
use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

/// The names given so far.
#[derive(Debug)]
struct UsedNames {
    /// Number of files with a number.
    numbers: AtomicU32,
    /// Second of the last `%t`. The wall clock may step back, and two files may start in one
    /// second: a repeated name would replace a finished recording.
    second: AtomicU64,
}

impl UsedNames {
    const fn new() -> Self {
        Self {
            numbers: AtomicU32::new(0),
            second: AtomicU64::new(0),
        }
    }
}

/// The names of this process.
static USED_NAMES: UsedNames = UsedNames::new();

/// A claimed file that is not a recording yet: an older file of that name still exists.
#[derive(Debug)]
pub(crate) struct NewFile {
    pub(crate) path: PathBuf,
    pub(crate) storage: FileStorage,
    pub(crate) number: Option<FileNumber>,
    /// The final name, if the file does not have it yet.
    pub(crate) final_name: Option<FinalName>,
}

/// See [`NewFile`].
#[derive(Debug)]
pub(crate) struct FinalName {
    pub(crate) path: PathBuf,
    pub(crate) existing: ExistingFile,
}

impl FinalName {
    /// The same name, in the directory of `other`.
    pub(super) fn moved_beside(self, other: &Path) -> Self {
        let name = self.path.file_name().unwrap_or_default();
        Self {
            path: other.with_file_name(name),
            ..self
        }
    }
}

/// The purpose of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// A recording started by a command: a name that cannot be claimed is an error of the command.
    Start,
    /// The next file of a recording: a name that cannot be claimed must not end the recording.
    NextFile,
    /// A copy of a recording.
    Dump,
}

/// The directory of a recording, opened for its first file. Later files go there, too, even if its
/// name then leads elsewhere.
#[derive(Debug, Default)]
pub(crate) struct RecordingDir(Option<(PathBuf, Arc<Directory>)>);

impl RecordingDir {
    /// The directory and the name of this file, and its path for messages.
    fn target(
        &mut self,
        path: &Path,
        in_parts: bool,
    ) -> Result<(RecordingTarget, PathBuf), OutputError> {
        let parent = Directory::parent_name(path);
        if let Some((known, directory)) = &self.0
            && known == parent
            && let Some(name) = path.file_name()
        {
            let path = if directory.is_called(parent) {
                path.to_owned()
            } else {
                directory.path().unwrap_or_default().join(name)
            };
            let (name, directory) = (name.to_owned(), directory.clone());
            return Ok((
                RecordingTarget {
                    directory,
                    name,
                    in_parts,
                },
                path,
            ));
        }
        let (directory, name) = output::directory_of(path)?;
        self.0 = Some((parent.to_owned(), directory.clone()));
        Ok((
            RecordingTarget {
                directory,
                name,
                in_parts,
            },
            path.to_owned(),
        ))
    }
}

/// The `%n` of a file, and its `%t` if it has one. They are returned if the file does not become a
/// recording and no later one was given: else repeated failures would claim the names of older
/// recordings.
#[derive(Debug)]
pub(crate) struct FileNumber {
    of: &'static UsedNames,
    value: u32,
    second: Option<FileSecond>,
    is_used: bool,
}

#[derive(Debug)]
struct FileSecond {
    given: u64,
    before: u64,
}

impl FileSecond {
    fn next(of: &UsedNames, now: u64) -> Self {
        let after = |before: u64| now.max(before.saturating_add(1));
        let change = |before| Some(after(before));
        // The update always returns a value.
        let before = of
            .second
            .fetch_update(Relaxed, Relaxed, change)
            .unwrap_or_default();
        Self {
            given: after(before),
            before,
        }
    }
}

impl FileNumber {
    fn next(of: &'static UsedNames, pattern: &Pattern, now: u64) -> Self {
        Self {
            of,
            value: of.numbers.fetch_add(1, Relaxed),
            second: pattern.timed().then(|| FileSecond::next(of, now)),
            is_used: false,
        }
    }

    /// Confirms that the file is a recording.
    pub(crate) fn confirm(mut self) {
        self.is_used = true;
    }
}

impl Drop for FileNumber {
    fn drop(&mut self) {
        if !self.is_used {
            let UsedNames { numbers, second } = self.of;
            let (given, before) = (self.value.wrapping_add(1), self.value);
            let _newer_exists = numbers.compare_exchange(given, before, Relaxed, Relaxed);
            if let Some(FileSecond { given, before }) = self.second {
                let _newer_exists = second.compare_exchange(given, before, Relaxed, Relaxed);
            }
        }
    }
}

/// Claims the next file of `options`.
pub(crate) fn next(
    options: &Options,
    directory: &mut RecordingDir,
    purpose: Purpose,
) -> Result<NewFile, String> {
    let pattern = options.recording_file();
    let existing = if pattern.is_ring() {
        ExistingFile::Replace
    } else {
        options.existing
    };
    let settings = CreationSettings {
        existing,
        in_parts: options.loop_time.is_some() && purpose != Purpose::Dump,
        purpose,
    };
    named(&USED_NAMES, &pattern, log::facts(0), directory, settings)
}

/// Settings for the creation of a file.
#[derive(Clone, Copy, Debug)]
struct CreationSettings {
    existing: ExistingFile,
    in_parts: bool,
    purpose: Purpose,
}

fn named(
    given: &'static UsedNames,
    pattern: &Pattern,
    now: PatternValues,
    directory: &mut RecordingDir,
    settings: CreationSettings,
) -> Result<NewFile, String> {
    let number = FileNumber::next(given, pattern, now.unix_secs);
    let second = number.second.as_ref();
    let path = pattern.expand(&PatternValues {
        number: number.value,
        unix_secs: second.map_or(now.unix_secs, |second| second.given),
        ..now
    });
    let mut file = at(&path, directory, settings)?;
    file.number = Some(number);
    Ok(file)
}

/// Claims the same name again for a recording that has lost its file; the next free one if the name
/// is in use.
pub(crate) fn again(
    path: &Path,
    directory: &mut RecordingDir,
    options: &Options,
) -> Result<NewFile, String> {
    let settings = CreationSettings {
        existing: ExistingFile::Keep,
        in_parts: options.loop_time.is_some(),
        purpose: Purpose::NextFile,
    };
    at(path, directory, settings)
}

fn at(
    path: &Path,
    directory: &mut RecordingDir,
    settings: CreationSettings,
) -> Result<NewFile, String> {
    let (mut target, path) = directory
        .target(path, settings.in_parts)
        .map_err(|error| error.to_string())?;
    let claimed = claim(&mut target, &path, settings)?;
    let first_name = target.first_name();
    let called = |name: &OsString| path.with_file_name(name);
    let storage = FileStorage::over(target.directory.clone(), &first_name, claimed);
    let storage = storage.map_err(|error| {
        format!(
            "file '{}' cannot be created: {error}",
            called(&first_name).display().to_string().escape_debug()
        )
    })?;
    let final_name = settings.in_parts.then(|| FinalName {
        path: called(&target.name),
        existing: settings.existing,
    });
    Ok(NewFile {
        path: called(&first_name),
        storage,
        number: None,
        final_name,
    })
}

/// Claims the name, or the next free one with a warning.
fn claim(
    target: &mut RecordingTarget,
    path: &Path,
    settings: CreationSettings,
) -> Result<File, String> {
    let error = match target.claim(settings.existing, path) {
        Ok(file) => return Ok(file),
        Err(error) => error,
    };
    let is_in_use = matches!(error.reason(), Refusal::Exists)
        || settings.purpose == Purpose::NextFile
            && matches!(
                error.reason(),
                Refusal::Link
                    | Refusal::NotRegular
                    | Refusal::NotOurs
                    | Refusal::Foreign
                    | Refusal::InUse
            );
    if !is_in_use {
        return Err(error.to_string());
    }
    let file = target
        .claim_next_free(path)
        .map_err(|error| error.to_string())?;
    let instead = path.with_file_name(&target.name);
    log::warn(&format!(
        "{error}; recording to '{}' instead",
        instead.display().to_string().escape_debug()
    ));
    Ok(file)
}

/// Gives a finished file its final name; the next free one if that is in use. Returns its path.
pub(crate) fn complete(storage: &mut FileStorage, last: &FinalName) -> Result<PathBuf, String> {
    let name = last.path.file_name().unwrap_or_default().to_owned();
    let replace = last.existing == ExistingFile::Replace;
    let mut last_error = None;
    for number in 1..=1000 {
        let wanted = if number == 1 {
            name.clone()
        } else {
            output::numbered(&name, number)
        };
        match storage.rename(&wanted, replace) {
            Ok(()) => return Ok(last.path.with_file_name(wanted)),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                last_error = Some(error);
            }
            Err(error) => return Err(not_renamed(storage, last, &error)),
        }
    }
    let error = last_error.unwrap_or_else(|| std::io::ErrorKind::AlreadyExists.into());
    Err(not_renamed(storage, last, &error))
}

fn not_renamed(storage: &FileStorage, last: &FinalName, error: &std::io::Error) -> String {
    format!(
        "file '{}' is whole, but cannot be renamed to '{}': {error}",
        storage.name().display().to_string().escape_debug(),
        last.path.display().to_string().escape_debug()
    )
}

#[cfg(test)]
mod tests;
