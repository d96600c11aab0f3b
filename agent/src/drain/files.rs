//! The files of a process: names by the pattern, claimed by our rules, counted for `%n`.

use crate::log;
use crate::options::Options;
use crate::output::{self, Pattern};
use jfr_format::write::FileStorage;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Numbers given so far to files of this process.
static GIVEN: AtomicU32 = AtomicU32::new(0);

/// A file whose name is ours, and that is not yet a recording: what had the name before is still there.
#[derive(Debug)]
pub(crate) struct NewFile {
    pub(crate) path: PathBuf,
    pub(crate) storage: FileStorage,
    pub(crate) number: Number,
}

/// What `%n` of a file is. Given back, unless a later one was given meanwhile, if the file does not become a recording: else each failure in a row would
/// claim the name of an older recording.
#[derive(Debug)]
pub(crate) struct Number {
    number: u32,
    is_used: bool,
}

impl Number {
    fn next() -> Self {
        Self {
            number: GIVEN.fetch_add(1, Relaxed),
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
            let (given, before) = (self.number.wrapping_add(1), self.number);
            let _later_one_was_given = GIVEN.compare_exchange(given, before, Relaxed, Relaxed);
        }
    }
}

/// Claims the next file of `options`.
pub(crate) fn next(options: &Options) -> Result<NewFile, String> {
    named(&options.recording_file())
}

fn named(pattern: &Pattern) -> Result<NewFile, String> {
    let number = Number::next();
    let path = pattern.expand(&log::facts(number.number));
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

    #[test]
    fn a_file_that_became_no_recording_leaves_its_number_to_the_next() {
        let dir = tempfile::tempdir().unwrap();
        let pattern = format!("{}/%n{{3}}.jfr", dir.path().display());
        let pattern = Pattern::parse(&pattern).unwrap();
        let recorded = |content: &[u8]| {
            let mut file = named(&pattern).unwrap();
            file.storage.write_at(0, content).unwrap();
            file.storage.publish().unwrap();
            file.number.used();
            file.path
        };
        let first = recorded(b"FLR\0 first");
        let (second, third) = (recorded(b"FLR\0 second"), recorded(b"FLR\0 third"));
        for _ in 0..3 {
            assert_eq!(named(&pattern).unwrap().path, first);
        }
        assert_eq!(fs::read(&first).unwrap(), b"FLR\0 first");
        assert_eq!(fs::read(&second).unwrap(), b"FLR\0 second");
        // Of two at once the later one is used: its number is not given again.
        let (lost, used) = (named(&pattern).unwrap(), named(&pattern).unwrap());
        assert_eq!((&lost.path, &used.path), (&first, &second));
        used.number.used();
        drop(lost);
        assert_eq!(named(&pattern).unwrap().path, third);
    }
}
