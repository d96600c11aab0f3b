//! OTLP in files of a limited size: receivers refuse longer messages. Each file is a message that is
//! whole by itself, so they can be sent in any order.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::otlp;
use super::profile::Profile;
use crate::args::ConvertArgs;
use crate::input;
use crate::output::{self, Failure, StagedFile};
use crate::text;

/// What gRPC takes unless told otherwise.
const DEFAULT_LIMIT: u64 = 4 << 20;

/// `shop.otlp`, `shop-2.otlp`, `shop-3.otlp`.
fn name(first: &Path, number: usize) -> PathBuf {
    if number == 1 {
        return first.to_owned();
    }
    let mut name = first.file_stem().unwrap_or_default().to_owned();
    name.push(format!("-{number}"));
    if let Some(ending) = first.extension() {
        name.push(".");
        name.push(ending);
    }
    first.with_file_name(name)
}

/// Writes the files, all or none. Returns those behind the first.
pub(super) fn write(
    args: &ConvertArgs,
    profile: &Profile,
    first: &Path,
) -> Result<Vec<PathBuf>, Failure> {
    let limit = args.max_message.unwrap_or(DEFAULT_LIMIT);
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut files: Vec<StagedFile> = Vec::new();
    otlp::write_parts(profile, limit, &mut |message| {
        let path = name(first, files.len() + 1);
        if args.files.iter().any(|file| input::same_file(file, &path)) {
            return Err(Failure::Usage(format!("{} is an input", path.display())));
        }
        let len: usize = message.iter().map(|half| half.len()).sum();
        if len > limit {
            let path = path.display();
            let len = text::bytes(len as u64);
            output::warn(&format!(
                "{path}: a sample alone is longer than --max-message: {len}"
            ));
        }
        files.push(StagedFile::write(&path, args.force, |file| {
            message.iter().try_for_each(|half| file.write_all(half))
        })?);
        Ok(())
    })?;
    let next = name(first, files.len() + 1);
    let paths = publish(files)?;
    if next.exists() {
        output::warn(&format!(
            "{} is no part of this export: it was there before",
            next.display()
        ));
    }
    Ok(paths.into_iter().skip(1).collect())
}

/// Gives all files their names, or none.
fn publish(files: Vec<StagedFile>) -> Result<Vec<PathBuf>, Failure> {
    let mut paths = Vec::with_capacity(files.len());
    for file in files {
        let path = file.path().to_owned();
        if let Err(failure) = file.publish() {
            for path in paths {
                let _ = std::fs::remove_file(path); // the failure says what is wrong
            }
            return Err(failure);
        }
        paths.push(path);
    }
    Ok(paths)
}
