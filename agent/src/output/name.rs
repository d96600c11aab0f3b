//! Names derived from the name of a recording, and the directory that holds it.

use super::error::{OutputError, Refusal};
use jfr_format::write::Directory;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::sync::Arc;

/// `app-0.part.jfr` for `app-0.jfr`: a file that is not complete yet.
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

/// Opens the directory of `path`; returns it and the file name.
///
/// # Errors
/// The reason of the refusal.
pub fn directory_of(path: &Path) -> Result<(Arc<Directory>, OsString), OutputError> {
    let fail = |reason| OutputError {
        path: path.to_owned(),
        reason,
    };
    let name = path.file_name().ok_or_else(|| fail(Refusal::NoName))?;
    let directory = Directory::open(Directory::parent_name(path))
        .map_err(|error| fail(Refusal::Directory(error)))?;
    Ok((Arc::new(directory), name.to_owned()))
}
