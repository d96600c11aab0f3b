//! The file that the answer to a command goes to.

use super::create::new_file;
use super::error::{OutputError, Refusal};
use super::name::directory_of;
use std::io::Write;
use std::path::Path;

/// Writes a new file.
///
/// # Errors
/// The reason of the refusal.
pub fn write_reply(path: &Path, text: &str) -> Result<(), OutputError> {
    let (directory, name) = directory_of(path)?;
    new_file(&directory.place(&name))
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .map_err(|error| OutputError {
            path: path.to_owned(),
            reason: Refusal::Io(error),
        })
}
