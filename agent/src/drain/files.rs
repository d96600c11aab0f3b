//! The files of a process: names by the pattern, claimed by our rules, counted for `%n`, each a second later at least for `%t`.

use crate::log;
use crate::options::Options;
use crate::output::{self, Facts, Pattern};
use jfr_format::write::FileStorage;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

/// What names were given so far.
#[derive(Debug)]
struct Given {
    /// How many files have a number.
    numbers: AtomicU32,
    /// Second of the last `%t`. The wall clock may step back, and two files may be made in one second: a name that was given must not come again, it would
    /// replace a recording that is finished.
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

/// To files of this process.
static GIVEN: Given = Given::new();

/// A file whose name is ours, and that is not yet a recording: what had the name before is still there.
#[derive(Debug)]
pub(crate) struct NewFile {
    pub(crate) path: PathBuf,
    pub(crate) storage: FileStorage,
    pub(crate) number: Number,
}

/// What `%n` of a file is, and `%t` if it has one. Given back, unless a later one was given meanwhile, if the file does not become a recording: else each failure in a row would
/// claim the name of an older recording.
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
        // The change always has a value.
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

    /// The file is a recording.
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
pub(crate) fn next(options: &Options) -> Result<NewFile, String> {
    named(&GIVEN, &options.recording_file(), log::facts(0))
}

fn named(given: &'static Given, pattern: &Pattern, now: Facts) -> Result<NewFile, String> {
    let number = Number::next(given, pattern, now.unix_secs);
    let second = number.second.as_ref();
    let path = pattern.expand(&Facts {
        number: number.value,
        unix_secs: second.map_or(now.unix_secs, |second| second.given),
        ..now
    });
    let claimed = output::claim(&path).map_err(|error| error.to_string())?;
    let storage = FileStorage::over(&path, claimed).map_err(|error| {
        format!(
            "file '{}' cannot be created: {error}",
            path.display().to_string().escape_debug()
        )
    })?;
    Ok(NewFile {
        path,
        storage,
        number,
    })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use jfr_format::write::Storage;
    use std::fs;

    /// Of a process of its own: tests run at once.
    fn given() -> &'static Given {
        Box::leak(Box::new(Given::new()))
    }

    #[test]
    fn names_by_time_never_come_again_and_are_in_the_order_of_their_files() {
        let dir = tempfile::tempdir().unwrap();
        let pattern = Pattern::parse(&format!("{}/%t.jfr", dir.path().display())).unwrap();
        let given = given();
        let named_at = |unix_secs| {
            let now = Facts {
                unix_secs,
                ..log::facts(0)
            };
            named(given, &pattern, now).unwrap()
        };
        // Two in one second, a step back by an hour, and on.
        let seconds = [5000, 5000, 1400, 1401, 5002, 6000];
        let recorded = seconds.map(|second| {
            let mut file = named_at(second);
            file.storage.write_at(0, b"FLR\0").unwrap();
            file.storage.publish().unwrap();
            file.number.used();
            // One that became no recording takes no second.
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
    fn a_file_that_became_no_recording_leaves_its_number_to_the_next() {
        let dir = tempfile::tempdir().unwrap();
        let pattern = format!("{}/%n{{3}}.jfr", dir.path().display());
        let pattern = Pattern::parse(&pattern).unwrap();
        let given = given();
        let next = || named(given, &pattern, log::facts(0)).unwrap();
        let recorded = |content: &[u8]| {
            let mut file = next();
            file.storage.write_at(0, content).unwrap();
            file.storage.publish().unwrap();
            file.number.used();
            file.path
        };
        let first = recorded(b"FLR\0 first");
        let (second, third) = (recorded(b"FLR\0 second"), recorded(b"FLR\0 third"));
        for _ in 0..3 {
            assert_eq!(next().path, first);
        }
        assert_eq!(fs::read(&first).unwrap(), b"FLR\0 first");
        assert_eq!(fs::read(&second).unwrap(), b"FLR\0 second");
        // Of two at once the later one is used: its number is not given again.
        let (lost, used) = (next(), next());
        assert_eq!((&lost.path, &used.path), (&first, &second));
        used.number.used();
        drop(lost);
        assert_eq!(next().path, third);
    }
}
