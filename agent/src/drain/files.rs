//! The files of a process: names by the pattern, created by our rules, counted for `%n`.

use crate::log;
use crate::options::Options;
use crate::output::{self, Pattern};
use jfr_format::write::FileStorage;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Files made so far by this process.
static MADE: AtomicU32 = AtomicU32::new(0);

/// A file that is ours, has its name, and is not yet a recording.
#[derive(Debug)]
pub(crate) struct NewFile {
    pub(crate) path: PathBuf,
    pub(crate) storage: FileStorage,
}

/// Makes the next file of `options`.
pub(crate) fn next(options: &Options) -> Result<NewFile, String> {
    named(&options.recording_file())
}

fn named(pattern: &Pattern) -> Result<NewFile, String> {
    let path = pattern.expand(&log::facts(MADE.load(Relaxed)));
    let claimed = output::create(&path).map_err(|error| error.to_string())?;
    let storage = FileStorage::over(&path, claimed).map_err(|error| {
        let _ = std::fs::remove_file(&path); // the empty file that we have just made
        format!(
            "file '{}' cannot be created: {error}",
            path.display().to_string().escape_debug()
        )
    })?;
    MADE.fetch_add(1, Relaxed);
    Ok(NewFile { path, storage })
}
