//! The agent's libraries that come with `ctxjfr`, one for each C library of JVMs: in the same file,
//! or beside it.
//!
//! A `ctxjfr` with libraries in it is the program, then for each one the library packed with zstd,
//! the length of that as eight bytes (little-endian), and its mark. The pack has a checksum of what
//! it holds.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use rustix::fs::{MemfdFlags, memfd_create};

use crate::output::{self, Failure};

/// Its file name in a JVM's file system.
pub(crate) const NAME: &str = "libctxagent.so";
/// Bytes of a mark, and of length and mark.
const MARK: usize = 16;
const TRAILER: usize = 8 + MARK;
const LEVEL: i32 = 12;
/// This program, whatever its name is by now.
const PROGRAM: &str = "/proc/self/exe";

/// The C library that a JVM uses, and so its agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Libc {
    Glibc,
    Musl,
}

impl Libc {
    const ALL: [Self; 2] = [Self::Glibc, Self::Musl];

    const fn mark(self) -> &'static [u8; MARK] {
        match self {
            Self::Glibc => b"\nctxjfr + agent\n",
            Self::Musl => b"\nctxjfr + musl.\n",
        }
    }

    /// The name of its library beside `ctxjfr`.
    const fn file_name(self) -> &'static str {
        match self {
            Self::Glibc => NAME,
            Self::Musl => "libctxagent-musl.so",
        }
    }
}

/// Whether a library is an agent, by its file name.
pub(crate) fn is_agent(name: &str) -> bool {
    name.starts_with("libctxagent") && name.contains(".so")
}

/// The library in `ctxjfr`; else that beside it, or in `lib` beside its directory, as packages
/// place both.
pub(crate) fn open(libc: Libc) -> Result<File, Failure> {
    let unpacked = unpack(libc);
    let unpacked = unpacked.map_err(|error| {
        Failure::Finding(format!("the agent in ctxjfr: {error}; get ctxjfr again"))
    })?;
    if let Some(library) = unpacked {
        return Ok(library);
    }
    let program = std::env::current_exe()
        .map_err(|error| Failure::Finding(format!("the place of ctxjfr: {error}")))?;
    let directory = program.parent().unwrap_or(&program);
    let name = libc.file_name();
    let places: [PathBuf; 2] = [directory.join(name), directory.join("../lib").join(name)];
    let Some(place) = places.iter().find(|place| place.is_file()) else {
        return Err(Failure::Finding(format!(
            "{name} is not beside {}; put it there, or name the target's own with --agent",
            program.display()
        )));
    };
    File::open(place).map_err(|error| Failure::Finding(format!("{}: {error}", place.display())))
}

/// The library in this program, in memory; `None` if it has none.
fn unpack(libc: Libc) -> io::Result<Option<File>> {
    let mut program = File::open(PROGRAM)?;
    let packs = packs(&program)?;
    let Some(pack) = packs.iter().find(|pack| pack.libc == libc) else {
        return Ok(None);
    };
    program.seek(SeekFrom::Start(pack.start))?;
    let mut library = File::from(memfd_create(NAME, MemfdFlags::CLOEXEC)?);
    zstd::stream::copy_decode(program.take(pack.len), &mut library)?;
    Ok(Some(library))
}

/// Where a packed library is in a program, and its length.
#[derive(Debug)]
struct Pack {
    libc: Libc,
    start: u64,
    len: u64,
}

/// The libraries in a program, the last one first.
fn packs(program: &File) -> io::Result<Vec<Pack>> {
    let mut end = program.metadata()?.len();
    let mut packs = Vec::new();
    while let Some(pack) = pack_before(program, end)? {
        end = pack.start;
        packs.push(pack);
    }
    Ok(packs)
}

fn pack_before(program: &File, end: u64) -> io::Result<Option<Pack>> {
    let mut trailer = [0; TRAILER];
    let Some(at) = end.checked_sub(TRAILER as u64) else {
        return Ok(None);
    };
    program.read_exact_at(&mut trailer, at)?;
    let (len, mark) = trailer.split_at(8);
    let libc = Libc::ALL.into_iter().find(|libc| mark == libc.mark());
    let Some(libc) = libc else {
        return Ok(None);
    };
    let len = u64::from_le_bytes(len.try_into().map_err(io::Error::other)?);
    let start = at.checked_sub(len).ok_or(io::ErrorKind::InvalidData)?;
    Ok(Some(Pack { libc, start, len }))
}

/// The hidden command of the build: writes this program with libraries in it, those for glibc and
/// for musl.
pub(crate) fn pack(to: &Path, libraries: &[PathBuf]) -> Result<bool, Failure> {
    let failed = |error: io::Error| Failure::Finding(format!("{}: {error}", to.display()));
    let mut program = File::open(PROGRAM).map_err(failed)?;
    if !packs(&program).map_err(failed)?.is_empty() {
        return Err(Failure::Usage("this ctxjfr has a library in it".to_owned()));
    }
    output::write_file_with(to, true, |file| {
        io::copy(&mut program, file)?;
        let mut libraries = Libc::ALL.into_iter().zip(libraries);
        libraries.try_for_each(|(libc, library)| append(file, libc, library))
    })?;
    Ok(true)
}

fn append(file: &mut File, libc: Libc, library: &Path) -> io::Result<()> {
    let start = file.stream_position()?;
    let mut encoder = zstd::Encoder::new(&mut *file, LEVEL)?;
    encoder.include_checksum(true)?;
    let named = |error| io::Error::other(format!("{}: {error}", library.display()));
    let mut library_file = File::open(library).map_err(named)?;
    io::copy(&mut library_file, &mut encoder)?;
    encoder.finish()?;
    let len = file.stream_position()? - start;
    file.write_all(&len.to_le_bytes())?;
    file.write_all(libc.mark())
}
