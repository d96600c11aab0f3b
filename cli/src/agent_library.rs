//! The agent's library that comes with `ctxjfr`: in the same file, or beside it.
//!
//! A `ctxjfr` with the library in it is the program, then the library packed with zstd, the length
//! of that as eight bytes (little-endian), and [`MARK`]. The pack has a checksum of what it holds.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use rustix::fs::{MemfdFlags, memfd_create};

use crate::output::{self, Failure};

/// Its file name.
pub(crate) const NAME: &str = "libctxagent.so";
const MARK: [u8; 16] = *b"\nctxjfr + agent\n";
/// Bytes of length and mark.
const TRAILER: usize = 8 + MARK.len();
const LEVEL: i32 = 12;
/// This program, whatever its name is by now.
const PROGRAM: &str = "/proc/self/exe";

/// Whether a library is an agent, by its file name.
pub(crate) fn is_agent(name: &str) -> bool {
    name.starts_with("libctxagent") && name.contains(".so")
}

/// The library in `ctxjfr`; else that beside it, or in `lib` beside its directory, as packages
/// place both.
pub(crate) fn open() -> Result<File, Failure> {
    let unpacked = unpack();
    let unpacked = unpacked.map_err(|error| {
        Failure::Finding(format!("the agent in ctxjfr: {error}; get ctxjfr again"))
    })?;
    if let Some(library) = unpacked {
        return Ok(library);
    }
    let program = std::env::current_exe()
        .map_err(|error| Failure::Finding(format!("the place of ctxjfr: {error}")))?;
    let directory = program.parent().unwrap_or(&program);
    let places: [PathBuf; 2] = [directory.join(NAME), directory.join("../lib").join(NAME)];
    let Some(place) = places.iter().find(|place| place.is_file()) else {
        return Err(Failure::Finding(format!(
            "{NAME} is not beside {}; put it there, or name the target's own with --agent",
            program.display()
        )));
    };
    File::open(place).map_err(|error| Failure::Finding(format!("{}: {error}", place.display())))
}

/// The library in this program, in memory; `None` if it has none.
fn unpack() -> io::Result<Option<File>> {
    let mut program = File::open(PROGRAM)?;
    let Some((start, len)) = packed(&program)? else {
        return Ok(None);
    };
    program.seek(SeekFrom::Start(start))?;
    let mut library = File::from(memfd_create(NAME, MemfdFlags::CLOEXEC)?);
    zstd::stream::copy_decode(program.take(len), &mut library)?;
    Ok(Some(library))
}

/// Where the packed library is in a program, and its length.
fn packed(program: &File) -> io::Result<Option<(u64, u64)>> {
    let end = program.metadata()?.len();
    let mut trailer = [0; TRAILER];
    let Some(at) = end.checked_sub(TRAILER as u64) else {
        return Ok(None);
    };
    program.read_exact_at(&mut trailer, at)?;
    let (len, mark) = trailer.split_at(8);
    if mark != MARK {
        return Ok(None);
    }
    let len = u64::from_le_bytes(len.try_into().map_err(io::Error::other)?);
    let start = at.checked_sub(len).ok_or(io::ErrorKind::InvalidData)?;
    Ok(Some((start, len)))
}

/// The hidden command of the build: writes this program with a library in it.
pub(crate) fn pack(library: &Path, to: &Path) -> Result<bool, Failure> {
    let failed = |error: io::Error| Failure::Finding(format!("{}: {error}", library.display()));
    let mut program = File::open(PROGRAM).map_err(failed)?;
    if packed(&program).map_err(failed)?.is_some() {
        return Err(Failure::Usage("this ctxjfr has a library in it".to_owned()));
    }
    let mut library = File::open(library).map_err(failed)?;
    output::write_file_with(to, true, |file| {
        let start = io::copy(&mut program, file)?;
        let mut encoder = zstd::Encoder::new(&mut *file, LEVEL)?;
        encoder.include_checksum(true)?;
        io::copy(&mut library, &mut encoder)?;
        encoder.finish()?;
        let len = file.stream_position()? - start;
        file.write_all(&len.to_le_bytes())?;
        file.write_all(&MARK)
    })?;
    Ok(true)
}
