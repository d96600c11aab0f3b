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
struct Given {
    /// Number of files with a number.
    numbers: AtomicU32,
    /// Second of the last `%t`. The wall clock may step back, and two files may start in one
    /// second: a repeated name would replace a finished recording.
    second: AtomicU64,
}

impl Given {
    const fn new() -> Self {
        Self {
            numbers: AtomicU32::new(0),
            second: AtomicU64::new(0),
        }
    }
}

/// The names of this process.
static GIVEN: Given = Given::new();

/// A claimed file that is not a recording yet: an older file of that name still exists.
#[derive(Debug)]
pub(crate) struct NewFile {
    pub(crate) path: PathBuf,
    pub(crate) storage: FileStorage,
    pub(crate) number: Option<Number>,
    /// The final name, if the file does not have it yet.
    pub(crate) last_name: Option<LastName>,
}

/// See [`NewFile`].
#[derive(Debug)]
pub(crate) struct LastName {
    pub(crate) path: PathBuf,
    pub(crate) existing: ExistingFile,
}

/// The purpose of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// A recording started by a command: a name that cannot be claimed is an error of the command.
    Start,
    /// The next file of a recording: a name that cannot be claimed must not end the recording.
    GoOn,
    /// A copy of a recording.
    Dump,
}

/// The directory of a recording, opened for its first file. Later files go there, too, even if its
/// name then leads elsewhere.
#[derive(Debug, Default)]
pub(crate) struct Home(Option<(PathBuf, Arc<Directory>)>);

impl Home {
    /// The directory and the name of this file, and its path for messages.
    fn wanted(
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
pub(crate) struct Number {
    of: &'static Given,
    value: u32,
    second: Option<Second>,
    is_used: bool,
}

#[derive(Debug)]
struct Second {
    given: u64,
    before: u64,
}

impl Second {
    fn next(of: &Given, now: u64) -> Self {
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

impl Number {
    fn next(of: &'static Given, pattern: &Pattern, now: u64) -> Self {
        Self {
            of,
            value: of.numbers.fetch_add(1, Relaxed),
            second: pattern.timed().then(|| Second::next(of, now)),
            is_used: false,
        }
    }

    /// Confirms that the file is a recording.
    pub(crate) fn used(mut self) {
        self.is_used = true;
    }
}

impl Drop for Number {
    fn drop(&mut self) {
        if !self.is_used {
            let Given { numbers, second } = self.of;
            let (given, before) = (self.value.wrapping_add(1), self.value);
            let _later_one_was_given = numbers.compare_exchange(given, before, Relaxed, Relaxed);
            if let Some(Second { given, before }) = self.second {
                let _later_one_was_given = second.compare_exchange(given, before, Relaxed, Relaxed);
            }
        }
    }
}

/// Claims the next file of `options`.
pub(crate) fn next(
    options: &Options,
    home: &mut Home,
    purpose: Purpose,
) -> Result<NewFile, String> {
    let pattern = options.recording_file();
    let existing = if pattern.is_ring() {
        ExistingFile::Replace
    } else {
        options.existing
    };
    let how = How {
        existing,
        in_parts: options.loop_time.is_some() && purpose != Purpose::Dump,
        purpose,
    };
    named(&GIVEN, &pattern, log::facts(0), home, how)
}

/// Settings for the creation of a file.
#[derive(Clone, Copy, Debug)]
struct How {
    existing: ExistingFile,
    in_parts: bool,
    purpose: Purpose,
}

fn named(
    given: &'static Given,
    pattern: &Pattern,
    now: PatternValues,
    home: &mut Home,
    how: How,
) -> Result<NewFile, String> {
    let number = Number::next(given, pattern, now.unix_secs);
    let second = number.second.as_ref();
    let path = pattern.expand(&PatternValues {
        number: number.value,
        unix_secs: second.map_or(now.unix_secs, |second| second.given),
        ..now
    });
    let mut file = at(&path, home, how)?;
    file.number = Some(number);
    Ok(file)
}

/// Claims the same name again for a recording that has lost its file; the next free one if the name
/// is in use.
pub(crate) fn again(path: &Path, home: &mut Home, options: &Options) -> Result<NewFile, String> {
    let how = How {
        existing: ExistingFile::Keep,
        in_parts: options.loop_time.is_some(),
        purpose: Purpose::GoOn,
    };
    at(path, home, how)
}

fn at(path: &Path, home: &mut Home, how: How) -> Result<NewFile, String> {
    let (mut wanted, path) = home
        .wanted(path, how.in_parts)
        .map_err(|error| error.to_string())?;
    let claimed = claimed(&mut wanted, &path, how)?;
    let first_name = wanted.first_name();
    let called = |name: &OsString| path.with_file_name(name);
    let storage = FileStorage::over(wanted.directory.clone(), &first_name, claimed);
    let storage = storage.map_err(|error| {
        format!(
            "file '{}' cannot be created: {error}",
            called(&first_name).display().to_string().escape_debug()
        )
    })?;
    let last_name = how.in_parts.then(|| LastName {
        path: called(&wanted.name),
        existing: how.existing,
    });
    Ok(NewFile {
        path: called(&first_name),
        storage,
        number: None,
        last_name,
    })
}

/// Claims the name, or the next free one with a warning.
fn claimed(wanted: &mut RecordingTarget, path: &Path, how: How) -> Result<File, String> {
    let error = match wanted.claim(how.existing, path) {
        Ok(file) => return Ok(file),
        Err(error) => error,
    };
    let is_taken = matches!(error.reason(), Refusal::Exists)
        || how.purpose == Purpose::GoOn
            && matches!(
                error.reason(),
                Refusal::Link
                    | Refusal::NotRegular
                    | Refusal::NotOurs
                    | Refusal::Foreign
                    | Refusal::InUse
            );
    if !is_taken {
        return Err(error.to_string());
    }
    let file = wanted
        .claim_next_free(path)
        .map_err(|error| error.to_string())?;
    let instead = path.with_file_name(&wanted.name);
    log::warn(&format!(
        "{error}; recording to '{}' instead",
        instead.display().to_string().escape_debug()
    ));
    Ok(file)
}

/// Gives a finished file its final name; the next free one if that is in use. Returns its path.
pub(crate) fn complete(storage: &mut FileStorage, last: &LastName) -> Result<PathBuf, String> {
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

fn not_renamed(storage: &FileStorage, last: &LastName, error: &std::io::Error) -> String {
    format!(
        "file '{}' is whole, but cannot be renamed to '{}': {error}",
        storage.name().display().to_string().escape_debug(),
        last.path.display().to_string().escape_debug()
    )
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use jfr_format::write::Storage;
    use std::fs;

    const HOW: How = How {
        existing: ExistingFile::Replace,
        in_parts: false,
        purpose: Purpose::Start,
    };

    fn whole(mut file: NewFile) -> PathBuf {
        file.storage.write_at(0, b"FLR\0").unwrap();
        file.storage.publish().unwrap();
        file.number.take().unwrap().used();
        match &file.last_name {
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
            let how = How {
                existing: ExistingFile::Keep,
                in_parts,
                purpose: Purpose::GoOn,
            };
            let next = |given| named(given, &pattern, now, &mut Home::default(), how).unwrap();
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
        let refused = named(given(), &pattern, now, &mut Home::default(), HOW);
        assert!(refused.unwrap_err().contains("not a JFR recording"));
        let how = How {
            purpose: Purpose::GoOn,
            ..HOW
        };
        let file = named(given(), &pattern, now, &mut Home::default(), how).unwrap();
        assert!(whole(file).ends_with("19700101-012321-2.jfr"));
        assert_eq!(fs::read(&foreign).unwrap(), b"a novel");
    }

    #[test]
    fn later_files_stay_in_the_directory_of_the_first() {
        let dir = tempfile::tempdir().unwrap();
        let [home, away, other] = ["home", "away", "other"].map(|name| dir.path().join(name));
        fs::create_dir(&home).unwrap();
        fs::create_dir(&other).unwrap();
        let pattern = Pattern::parse(&format!("{}/%n.jfr", home.display())).unwrap();
        let (given, mut kept) = (given(), Home::default());
        let mut next = || named(given, &pattern, log::facts(0), &mut kept, HOW).unwrap();
        assert_eq!(whole(next()), home.join("0.jfr"));
        fs::rename(&home, &away).unwrap();
        std::os::unix::fs::symlink(&other, &home).unwrap();
        let there = fs::canonicalize(&away).unwrap();
        assert_eq!(whole(next()), there.join("1.jfr"));
        assert_eq!(fs::read_dir(&other).unwrap().count(), 0);
    }

    #[test]
    fn a_part_file_gets_its_final_name_when_complete() {
        let dir = tempfile::tempdir().unwrap();
        let pattern = Pattern::parse(&format!("{}/%n.jfr", dir.path().display())).unwrap();
        let how = How {
            existing: ExistingFile::Keep,
            in_parts: true,
            purpose: Purpose::GoOn,
        };
        let file = named(given(), &pattern, log::facts(0), &mut Home::default(), how).unwrap();
        assert_eq!(file.path, dir.path().join("0.part.jfr"));
        fs::write(dir.path().join("0.jfr"), b"came meanwhile").unwrap();
        assert_eq!(whole(file), dir.path().join("0-2.jfr"));
        let content = fs::read(dir.path().join("0.jfr")).unwrap();
        assert_eq!(content, b"came meanwhile");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
    }

    /// Names of their own: tests run in parallel.
    fn given() -> &'static Given {
        Box::leak(Box::new(Given::new()))
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
            named(given, &pattern, now, &mut Home::default(), HOW).unwrap()
        };
        // Two in one second, a step back by an hour, and forward.
        let seconds = [5000, 5000, 1400, 1401, 5002, 6000];
        let recorded = seconds.map(|second| {
            let mut file = named_at(second);
            file.storage.write_at(0, b"FLR\0").unwrap();
            file.storage.publish().unwrap();
            file.number.unwrap().used();
            // A file that became no recording uses no second.
            drop(named_at(second));
            file.path
        });
        let names =
            recorded.map(|path| path.file_stem().unwrap().to_str().unwrap()[9..].to_owned());
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
        let next = || named(given, &pattern, log::facts(0), &mut Home::default(), HOW).unwrap();
        let recorded = |content: &[u8]| {
            let mut file = next();
            file.storage.write_at(0, content).unwrap();
            file.storage.publish().unwrap();
            file.number.unwrap().used();
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
        used.number.unwrap().used();
        drop(lost);
        assert_eq!(next().path, third);
    }
}
