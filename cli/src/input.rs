//! Reads recordings, plain or packed, and hands their chunks to several threads.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::{Duration, Instant};

use jfr_format::read::{ChunkParser, ChunkStream, OwnedChunk, ParsedChunk};

use crate::output::{self, Failure, Output};

/// Limit of the unpacked size of a file: more is treated as a decompression bomb.
const MAX_UNPACKED: u64 = 1 << 30;
/// Limit of a packed file's chunk in memory: a few KB on disk can unpack to a gigabyte.
const MAX_PACKED_CHUNK: u64 = 128 << 20;
/// Unpacking pauses while the chunks in memory hold more than this.
const MAX_PACKED_IN_USE: u64 = 64 << 20;
/// Shorter work shows no progress line.
const PROGRESS_AFTER: Duration = Duration::from_millis(1500);
/// Limit of the damages on stderr; the rest is counted.
const MAX_SHOWN_DAMAGES: usize = 8;

/// How reading went: amounts, and the damages that did not stop it.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// One text per damage: file, place, why.
    pub(crate) damages: Vec<String>,
    pub(crate) chunks: u64,
    pub(crate) bytes: u64,
}

impl Outcome {
    /// Warns on stderr. Returns whether everything was read.
    pub(crate) fn warn_damages(&self) -> bool {
        for damage in self.damages.iter().take(MAX_SHOWN_DAMAGES) {
            output::warn(damage);
        }
        if self.damages.len() > MAX_SHOWN_DAMAGES {
            output::warn(&format!(
                "... and {} more",
                self.damages.len() - MAX_SHOWN_DAMAGES
            ));
        }
        if !self.damages.is_empty() {
            output::warn(
                "partly read: the result leaves out what is damaged, or may be wrong there",
            );
        }
        self.damages.is_empty()
    }

    /// The same in one line, for a command whose result names each of them.
    pub(crate) fn warn_damages_in_one_line(&self) {
        match &*self.damages {
            [] => {}
            [only] => output::warn(only),
            [first, more @ ..] => output::warn(&format!("{first}; and {} more", more.len())),
        }
    }
}

/// A reader that fails when a file unpacks to more than its limit.
struct UnpackLimit<R> {
    inner: R,
    left: u64,
}

impl<R: Read> Read for UnpackLimit<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            return match self.inner.read(&mut [0])? {
                0 => Ok(0),
                _ => Err(io::Error::other(
                    "unpacks to more than 1 GiB; unpack it yourself if you trust it",
                )),
            };
        }
        let most = usize::try_from(self.left)
            .unwrap_or(usize::MAX)
            .min(buffer.len());
        let got = self.inner.read(&mut buffer[..most])?;
        self.left -= got as u64;
        Ok(got)
    }
}

/// An open recording.
struct RecordingFile {
    reader: Box<dyn Read + Send>,
    is_packed: bool,
}

impl RecordingFile {
    fn packed(decoder: impl Read + Send + 'static) -> Self {
        Self {
            reader: Box::new(UnpackLimit {
                inner: decoder,
                left: MAX_UNPACKED,
            }),
            is_packed: true,
        }
    }

    /// Its chunks. Those of a packed file have a limit of size.
    fn chunks(self) -> ChunkStream<Box<dyn Read + Send>> {
        let stream = ChunkStream::new(self.reader);
        if self.is_packed {
            stream.holding_at_most(MAX_PACKED_CHUNK)
        } else {
            stream
        }
    }
}

/// The name that means stdin, and stdout of what is written.
pub(crate) const STDIN: &str = "-";

pub(crate) fn is_stdin(path: &Path) -> bool {
    path == Path::new(STDIN)
}

/// Whether both names are of one file that exists.
pub(crate) fn same_file(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

/// The chunks of a recording, one after the other.
pub(crate) fn chunks(path: &Path) -> Result<ChunkStream<Box<dyn Read + Send>>, Failure> {
    Ok(open(path)?.chunks())
}

/// Opens a recording. Its first bytes say how it is packed, not its name.
fn open(path: &Path) -> Result<RecordingFile, Failure> {
    let fail = |error: &io::Error| Failure::Finding(format!("{}: {error}", path.display()));
    if is_stdin(path) {
        return unpacked(io::stdin()).map_err(|error| fail(&error));
    }
    // Checked before opening: opening a pipe would wait for its writer.
    let kind = std::fs::metadata(path)
        .map_err(|error| fail(&error))?
        .file_type();
    if !kind.is_file() {
        let kind = if kind.is_dir() {
            "a directory"
        } else {
            "no regular file"
        };
        return Err(Failure::Finding(format!(
            "{}: is {kind}, expected a recording",
            path.display()
        )));
    }
    let file = File::open(path).map_err(|error| fail(&error))?;
    unpacked(file).map_err(|error| fail(&error))
}

fn unpacked(file: impl Read + Send + 'static) -> io::Result<RecordingFile> {
    let mut reader = BufReader::with_capacity(256 << 10, file);
    let head = reader.fill_buf()?;
    if head.starts_with(&[0x1f, 0x8b]) {
        return Ok(RecordingFile::packed(flate2::bufread::MultiGzDecoder::new(
            reader,
        )));
    }
    if head.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        let decoder = zstd::Decoder::with_buffer(reader)?;
        return Ok(RecordingFile::packed(decoder));
    }
    Ok(RecordingFile {
        reader: Box::new(reader),
        is_packed: false,
    })
}

/// The bytes of all chunks in memory.
#[derive(Default)]
struct MemoryInUse {
    bytes: Mutex<u64>,
    released: Condvar,
}

impl MemoryInUse {
    /// Counts a chunk until the returned guard is dropped.
    fn add(&self, bytes: u64) -> ChunkInMemory<'_> {
        *self.locked() += bytes;
        ChunkInMemory {
            in_use: self,
            bytes,
        }
    }

    fn wait_until_at_most(&self, most: u64) {
        let mut bytes = self.locked();
        while *bytes > most {
            bytes = self
                .released
                .wait(bytes)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn locked(&self) -> MutexGuard<'_, u64> {
        self.bytes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A guard for a chunk in memory. A failing thread drops it too, so the reader does not hang.
struct ChunkInMemory<'a> {
    in_use: &'a MemoryInUse,
    bytes: u64,
}

impl Drop for ChunkInMemory<'_> {
    fn drop(&mut self) {
        *self.in_use.locked() -= self.bytes;
        self.in_use.released.notify_all();
    }
}

/// A chunk to process: number, index of its file, bytes, memory guard.
type ChunkJob<'a> = (u64, usize, OwnedChunk, ChunkInMemory<'a>);

/// What a thread returns for a chunk.
struct ChunkResult<T> {
    number: u64,
    value: Option<T>,
    damages: Vec<String>,
    bytes: u64,
}

/// Calls `work` on each chunk, several at a time, and `merge` on the results in file order.
///
/// At most two more chunks than threads are in memory.
pub(crate) fn for_each_chunk<T: Send>(
    paths: &[PathBuf],
    output: &Output,
    work: impl Fn(usize, &ParsedChunk<'_>) -> T + Sync,
    mut merge: impl FnMut(T),
) -> Result<Outcome, Failure> {
    let in_use = MemoryInUse::default();
    let in_use = &in_use;
    let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get().min(8));
    let (chunk_sender, chunk_receiver) = mpsc::sync_channel::<ChunkJob<'_>>(1);
    let chunk_receiver = Mutex::new(chunk_receiver);
    let (result_sender, result_receiver) = mpsc::sync_channel::<ChunkResult<T>>(threads);
    let started = Instant::now();
    let mut outcome = Outcome::default();
    let (work, chunk_receiver) = (&work, &chunk_receiver);
    let read = std::thread::scope(|scope| {
        let reader = scope.spawn(move || read_files(paths, &chunk_sender, in_use));
        for _ in 0..threads {
            let result_sender = result_sender.clone();
            scope.spawn(move || {
                let mut parser = ChunkParser::new();
                loop {
                    let next = match chunk_receiver.lock() {
                        Ok(receiver) => receiver.recv(),
                        Err(_) => return,
                    };
                    let Ok((number, file, chunk, in_memory)) = next else {
                        return;
                    };
                    let result =
                        process_chunk(&mut parser, number, (file, &paths[file]), &chunk, work);
                    drop((chunk, in_memory));
                    if result_sender.send(result).is_err() {
                        return;
                    }
                }
            });
        }
        drop(result_sender);
        let mut waiting: BTreeMap<u64, ChunkResult<T>> = BTreeMap::new();
        let mut next = 0;
        for result in result_receiver {
            waiting.insert(result.number, result);
            while let Some(result) = waiting.remove(&next) {
                next += 1;
                outcome.chunks += 1;
                outcome.bytes += result.bytes;
                outcome.damages.extend(result.damages);
                if let Some(value) = result.value {
                    merge(value);
                }
            }
            if output.shows_progress() && started.elapsed() > PROGRESS_AFTER {
                output::progress(&format!(
                    "{}, {} MB read",
                    crate::text::count(outcome.chunks, "chunk"),
                    outcome.bytes >> 20
                ));
            }
        }
        if output.shows_progress() && started.elapsed() > PROGRESS_AFTER {
            output::progress("");
        }
        reader.join()
    });
    match read {
        Ok(Ok(damages)) => outcome.damages.extend(damages),
        Ok(Err(failure)) => return Err(failure),
        Err(_) => {
            return Err(Failure::Finding(
                "internal error while reading; please report it".to_owned(),
            ));
        }
    }
    require_chunk(outcome, paths)
}

/// Calls `work` on each chunk in file order, on this thread: output does not pile up in memory.
pub(crate) fn for_each_chunk_in_order(
    paths: &[PathBuf],
    mut work: impl FnMut(&ParsedChunk<'_>) -> Result<(), Failure>,
) -> Result<Outcome, Failure> {
    let mut outcome = Outcome::default();
    for path in paths {
        let mut stream = chunks(path)?;
        let mut damages = Vec::new();
        let mut parser = ChunkParser::new();
        loop {
            match stream.next_chunk() {
                Ok(Some(chunk)) => {
                    let chunk = chunk.as_chunk();
                    outcome.chunks += 1;
                    outcome.bytes += chunk.bytes.len() as u64;
                    match parser.parse(&chunk) {
                        Ok(parsed) => {
                            damages.extend(damages_of(&parsed));
                            work(&parsed)?;
                        }
                        Err(error) => damages.push(left_out(chunk.offset, &error)),
                    }
                }
                Ok(None) => break,
                Err(error) => {
                    damages.push(error.to_string());
                    break;
                }
            }
        }
        damages.extend(stream.corruptions().iter().map(ToString::to_string));
        outcome
            .damages
            .extend(damages.iter().map(|damage| in_file(path, damage)));
    }
    require_chunk(outcome, paths)
}

/// All damages of a chunk, also in events that the command does not need.
fn damages_of(chunk: &ParsedChunk<'_>) -> Vec<String> {
    let found = chunk.verify();
    let all = chunk.corruptions().iter().chain(&found);
    all.map(ToString::to_string).collect()
}

fn in_file(path: &Path, damage: &impl Display) -> String {
    format!("{}: {damage}", path.display())
}

fn left_out(chunk_offset: u64, error: &jfr_format::error::Error) -> String {
    format!("chunk at {chunk_offset}, {error}; the chunk is left out")
}

/// No readable chunk at all is an error.
fn require_chunk(outcome: Outcome, paths: &[PathBuf]) -> Result<Outcome, Failure> {
    if outcome.chunks > 0 {
        return Ok(outcome);
    }
    outcome.warn_damages();
    let names: Vec<String> = paths
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    Err(Failure::Finding(format!(
        "{}: no readable chunk; is it a JFR recording?",
        names.join(", ")
    )))
}

fn process_chunk<T>(
    parser: &mut ChunkParser,
    number: u64,
    (file, path): (usize, &Path),
    chunk: &OwnedChunk,
    work: &(impl Fn(usize, &ParsedChunk<'_>) -> T + Sync),
) -> ChunkResult<T> {
    let chunk = chunk.as_chunk();
    let mut damages = Vec::new();
    let value = match parser.parse(&chunk) {
        Ok(parsed) => {
            damages.extend(damages_of(&parsed));
            Some(work(file, &parsed))
        }
        Err(error) => {
            damages.push(left_out(chunk.offset, &error));
            None
        }
    };
    let damages = damages.iter().map(|damage| in_file(path, damage)).collect();
    ChunkResult {
        number,
        value,
        damages,
        bytes: chunk.bytes.len() as u64,
    }
}

/// Cuts the files into chunks. Returns the damages outside of chunks.
fn read_files<'a>(
    paths: &[PathBuf],
    chunks: &mpsc::SyncSender<ChunkJob<'a>>,
    in_use: &'a MemoryInUse,
) -> Result<Vec<String>, Failure> {
    let mut number = 0;
    let mut damages = Vec::new();
    for (file, path) in paths.iter().enumerate() {
        let recording = open(path)?;
        let max_in_use = if recording.is_packed {
            MAX_PACKED_IN_USE
        } else {
            u64::MAX
        };
        let mut stream = recording.chunks();
        loop {
            match stream.next_chunk() {
                Ok(Some(chunk)) => {
                    let in_memory = in_use.add(chunk.as_chunk().bytes.len() as u64);
                    if chunks.send((number, file, chunk, in_memory)).is_err() {
                        return Ok(damages);
                    }
                    number += 1;
                    in_use.wait_until_at_most(max_in_use);
                }
                Ok(None) => break,
                Err(error) => {
                    damages.push(in_file(path, &error));
                    break;
                }
            }
        }
        let corruptions = stream.corruptions().iter();
        damages.extend(corruptions.map(|damage| in_file(path, damage)));
    }
    Ok(damages)
}
