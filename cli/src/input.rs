//! Recordings as the commands see them: files, plain or packed, cut into chunks that several
//! threads work on.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::{Duration, Instant};

use jfr_format::read::{ChunkParser, ChunkStream, OwnedChunk, ParsedChunk};

use crate::output::{self, Failure, Output};

/// Most bytes that a packed file may unpack to: above it is taken for a trap.
const MAX_UNPACKED: u64 = 1 << 30;
/// Most bytes of a packed file's chunk in memory: a few kilobytes on disk can be a chunk of a
/// gigabyte.
const MAX_PACKED_CHUNK: u64 = 128 << 20;
/// Of a packed file nothing more is unpacked while the chunks that are being worked on hold more
/// than this.
const MAX_PACKED_IN_WORK: u64 = 64 << 20;
/// Work below this is too short to be worth a progress line.
const PROGRESS_AFTER: Duration = Duration::from_millis(1500);
/// Damages shown; the rest is counted.
const MAX_SHOWN_DAMAGES: usize = 8;

/// What was wrong with the files and did not stop the reading.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// One text per damage: file, place, why.
    pub(crate) damages: Vec<String>,
    pub(crate) chunks: u64,
    pub(crate) bytes: u64,
}

impl Outcome {
    /// Tells on stderr; gives whether everything was read.
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

/// Stops with an error where a packed file grows beyond bounds.
struct Bounded<R> {
    inner: R,
    left: u64,
}

impl<R: Read> Read for Bounded<R> {
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

/// A recording that was opened.
struct Opened {
    reader: Box<dyn Read + Send>,
    is_packed: bool,
}

impl Opened {
    fn packed(decoder: impl Read + Send + 'static) -> Self {
        Self {
            reader: Box::new(Bounded {
                inner: decoder,
                left: MAX_UNPACKED,
            }),
            is_packed: true,
        }
    }

    /// Its chunks; of a packed one none is longer than what may be held.
    fn chunks(self) -> ChunkStream<Box<dyn Read + Send>> {
        let stream = ChunkStream::new(self.reader);
        if self.is_packed {
            stream.holding_at_most(MAX_PACKED_CHUNK)
        } else {
            stream
        }
    }
}

/// Opens a recording; looks at its first bytes, not at its name, for packing.
fn open(path: &Path) -> Result<Opened, Failure> {
    let fail = |error: &io::Error| Failure::Finding(format!("{}: {error}", path.display()));
    // Before opening: opening a pipe would wait for its writer.
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
    let mut reader = BufReader::with_capacity(256 << 10, file);
    let head = reader.fill_buf().map_err(|error| fail(&error))?;
    if head.starts_with(&[0x1f, 0x8b]) {
        return Ok(Opened::packed(flate2::bufread::MultiGzDecoder::new(reader)));
    }
    if head.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        let decoder = zstd::Decoder::with_buffer(reader).map_err(|error| fail(&error))?;
        return Ok(Opened::packed(decoder));
    }
    Ok(Opened {
        reader: Box::new(reader),
        is_packed: false,
    })
}

/// How many bytes of chunks are being worked on.
#[derive(Default)]
struct InWork {
    bytes: Mutex<u64>,
    less: Condvar,
}

impl InWork {
    /// Counts a chunk until what it gives is dropped.
    fn add(&self, bytes: u64) -> Work<'_> {
        *self.locked() += bytes;
        Work {
            in_work: self,
            bytes,
        }
    }

    fn wait_until_at_most(&self, most: u64) {
        let mut bytes = self.locked();
        while *bytes > most {
            bytes = self
                .less
                .wait(bytes)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn locked(&self) -> MutexGuard<'_, u64> {
        self.bytes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A chunk on its way or being worked on. Dropped also where a thread fails, so that nobody waits
/// for it.
struct Work<'a> {
    in_work: &'a InWork,
    bytes: u64,
}

impl Drop for Work<'_> {
    fn drop(&mut self) {
        *self.in_work.locked() -= self.bytes;
        self.in_work.less.notify_all();
    }
}

/// A chunk for the threads: its number, its file, itself, and that it is in memory.
type Sent<'a> = (u64, usize, OwnedChunk, Work<'a>);

/// What a thread made of a chunk.
struct Done<T> {
    number: u64,
    result: Option<T>,
    damages: Vec<String>,
    bytes: u64,
}

/// Calls `work` on each chunk, several at a time, and `merge` on the results in file order.
///
/// Only as many chunks are in memory as threads work on them, and two more.
pub(crate) fn for_each_chunk<T: Send>(
    paths: &[PathBuf],
    output: &Output,
    work: impl Fn(usize, &ParsedChunk<'_>) -> T + Sync,
    mut merge: impl FnMut(T),
) -> Result<Outcome, Failure> {
    // Before what borrows from it.
    let in_work = InWork::default();
    let in_work = &in_work;
    let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get().min(8));
    let (chunk_sender, chunk_receiver) = mpsc::sync_channel::<Sent<'_>>(1);
    let chunk_receiver = Mutex::new(chunk_receiver);
    let (done_sender, done_receiver) = mpsc::sync_channel::<Done<T>>(threads);
    let started = Instant::now();
    let mut outcome = Outcome::default();
    let (work, chunk_receiver) = (&work, &chunk_receiver);
    let read = std::thread::scope(|scope| {
        let reader = scope.spawn(move || read_files(paths, &chunk_sender, in_work));
        for _ in 0..threads {
            let done_sender = done_sender.clone();
            scope.spawn(move || {
                let mut opener = ChunkParser::new();
                loop {
                    let next = match chunk_receiver.lock() {
                        Ok(receiver) => receiver.recv(),
                        Err(_) => return,
                    };
                    let Ok((number, file, chunk, in_memory)) = next else {
                        return;
                    };
                    let done = work_on(&mut opener, number, (file, &paths[file]), &chunk, work);
                    drop((chunk, in_memory));
                    if done_sender.send(done).is_err() {
                        return;
                    }
                }
            });
        }
        drop(done_sender);
        let mut waiting: BTreeMap<u64, Done<T>> = BTreeMap::new();
        let mut next = 0;
        for done in done_receiver {
            waiting.insert(done.number, done);
            while let Some(done) = waiting.remove(&next) {
                next += 1;
                outcome.chunks += 1;
                outcome.bytes += done.bytes;
                outcome.damages.extend(done.damages);
                if let Some(result) = done.result {
                    merge(result);
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
    something(outcome, paths)
}

/// Calls `work` on each chunk in file order, on this thread: for output that must not pile up in
/// memory.
pub(crate) fn for_each_chunk_in_order(
    paths: &[PathBuf],
    mut work: impl FnMut(&ParsedChunk<'_>) -> Result<(), Failure>,
) -> Result<Outcome, Failure> {
    let mut outcome = Outcome::default();
    for path in paths {
        let mut stream = open(path)?.chunks();
        let mut damages = Vec::new();
        let mut opener = ChunkParser::new();
        loop {
            match stream.next_chunk() {
                Ok(Some(chunk)) => {
                    let chunk = chunk.as_chunk();
                    outcome.chunks += 1;
                    outcome.bytes += chunk.bytes.len() as u64;
                    match opener.parse(&chunk) {
                        Ok(open) => {
                            damages.extend(damages_of(&open));
                            work(&open)?;
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
        outcome.damages.extend(
            damages
                .into_iter()
                .map(|damage| format!("{}: {damage}", path.display())),
        );
    }
    something(outcome, paths)
}

/// What is wrong in a chunk, whoever asks for what of it.
fn damages_of(chunk: &ParsedChunk<'_>) -> Vec<String> {
    let found = chunk.verify();
    let all = chunk.corruptions().iter().chain(&found);
    all.map(ToString::to_string).collect()
}

fn left_out(chunk_offset: u64, error: &jfr_format::error::Error) -> String {
    format!("chunk at {chunk_offset}, {error}; the chunk is left out")
}

/// No chunk at all is an error, whatever the reason.
fn something(outcome: Outcome, paths: &[PathBuf]) -> Result<Outcome, Failure> {
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

fn work_on<T>(
    opener: &mut ChunkParser,
    number: u64,
    (file, path): (usize, &Path),
    chunk: &OwnedChunk,
    work: &(impl Fn(usize, &ParsedChunk<'_>) -> T + Sync),
) -> Done<T> {
    let chunk = chunk.as_chunk();
    let mut damages = Vec::new();
    let result = match opener.parse(&chunk) {
        Ok(open) => {
            damages.extend(damages_of(&open));
            Some(work(file, &open))
        }
        Err(error) => {
            damages.push(left_out(chunk.offset, &error));
            None
        }
    };
    let damages = damages
        .into_iter()
        .map(|damage| format!("{}: {damage}", path.display()))
        .collect();
    Done {
        number,
        result,
        damages,
        bytes: chunk.bytes.len() as u64,
    }
}

/// Cuts the files into chunks; gives what did not belong to any.
fn read_files<'a>(
    paths: &[PathBuf],
    chunks: &mpsc::SyncSender<Sent<'a>>,
    in_work: &'a InWork,
) -> Result<Vec<String>, Failure> {
    let mut number = 0;
    let mut damages = Vec::new();
    for (file, path) in paths.iter().enumerate() {
        let opened = open(path)?;
        let max_in_work = if opened.is_packed {
            MAX_PACKED_IN_WORK
        } else {
            u64::MAX
        };
        let mut stream = opened.chunks();
        loop {
            match stream.next_chunk() {
                Ok(Some(chunk)) => {
                    let in_memory = in_work.add(chunk.as_chunk().bytes.len() as u64);
                    if chunks.send((number, file, chunk, in_memory)).is_err() {
                        return Ok(damages);
                    }
                    number += 1;
                    in_work.wait_until_at_most(max_in_work);
                }
                Ok(None) => break,
                Err(error) => {
                    damages.push(format!("{}: {error}", path.display()));
                    break;
                }
            }
        }
        damages.extend(
            stream
                .corruptions()
                .iter()
                .map(|damage| format!("{}: {damage}", path.display())),
        );
    }
    Ok(damages)
}
