//! The file of a recording: flush, next chunk, next file, dump, end, and the handling of write
//! errors.

use super::begin::{clock, create};
use super::chunk_memory::{ChunkMemory, MAX_CHUNK_MEMORY, MAX_UNFLUSHED_MEMORY};
use super::counters::RecordingCounters;
use super::files::{self, FinalName, NewFile, Purpose, RecordingDir};
use super::sources::{RecordingStatus, Sources};
use super::tables::Tables;
use crate::log;
use crate::options::Options;
use jfr_format::error::Error;
use jfr_format::write::{Clock, FileState, FileStorage, Recording, Storage, Ticks};
use signal_core::counters::Counter;
use signal_core::engine::monotonic_nanos;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

/// Minimum duration of a chunk, whatever memory it uses: the shortest `flush`.
const MIN_CHUNK: Duration = Duration::from_millis(100);

/// The file of a running recording.
#[derive(Debug)]
pub(super) struct RecordingFile {
    sources: Sources,
    status: Arc<RecordingStatus>,
    options: Options,
    pub(super) recording: Recording<FileStorage>,
    pub(super) clock: Clock,
    /// Final name of the file.
    final_name: Option<FinalName>,
    directory: RecordingDir,
    file_begun: Instant,
    chunk_begun: Instant,
    chunk_memory: ChunkMemory,
    /// Whether no handler ran at the start: one of an earlier recording may hand a sample to this
    /// one.
    began_quiet: bool,
    counters: RecordingCounters,
}

impl RecordingFile {
    /// Starts a recording in `file`, readable from its first moment.
    pub(super) fn new(
        sources: Sources,
        options: &Options,
        file: NewFile,
        directory: RecordingDir,
        status: Arc<RecordingStatus>,
    ) -> Result<Self, String> {
        let clock = clock();
        let (recording, final_name) = create(&sources, options, file, clock, &status)?;
        let began_quiet = sources.handler.quiet(); // before the counters are read
        let has_exact_weights = options.rate_limits.cpu.is_none();
        let counters = RecordingCounters::new(sources.clone(), status.clone(), has_exact_weights);
        Ok(Self {
            sources,
            status,
            options: options.clone(),
            recording,
            clock,
            final_name,
            directory,
            file_begun: Instant::now(),
            chunk_begun: Instant::now(),
            chunk_memory: ChunkMemory::default(),
            began_quiet,
            counters,
        })
    }

    pub(super) fn now(&self) -> Ticks {
        self.clock.ticks(monotonic_nanos())
    }

    /// Whether any event has been written, if only to memory.
    pub(super) fn has_unflushed(&self) -> bool {
        self.counters.has_unflushed()
    }

    /// The periodic write: a new chunk if it is time for one, else a flush. A failure is reported
    /// once a minute and tried again.
    pub(super) fn flush_or_rotate(&mut self, tables: &mut Tables) {
        if let Err(line) = self.follow(tables) {
            log::warn_rarely(&line);
        }
        let limit = self.options.loop_time;
        if limit.is_some_and(|time| self.file_begun.elapsed() >= time) {
            return self.next_file(tables);
        }
        let is_full = self.recording.chunk_bytes() >= self.options.chunk_size_bytes
            || self
                .chunk_memory
                .is_above(MAX_CHUNK_MEMORY, &self.recording);
        let result = if is_full || self.chunk_begun.elapsed() >= self.options.chunk_time {
            self.rotate(tables)
        } else {
            self.flush()
        };
        if let Err(line) = result {
            log::warn_rarely(&line);
        }
    }

    /// Called at each drain: bounds the memory of a chunk, however long `flush` is.
    pub(super) fn watch_memory(&mut self, tables: &mut Tables) {
        // While the file cannot be written, the flushes retry; this only discards memory.
        let limit = if self.status.degraded.load(Relaxed) {
            MAX_UNFLUSHED_MEMORY
        } else {
            MAX_CHUNK_MEMORY
        };
        if self.chunk_memory.is_above(limit, &self.recording)
            && self.chunk_begun.elapsed() >= MIN_CHUNK
            && let Err(line) = self.rotate(tables)
        {
            log::warn_rarely(&line);
        }
    }

    /// Writes everything so far into the file.
    fn flush(&mut self) -> Result<(), String> {
        let now = self.now();
        let result = self.recording.flush(now);
        self.check_write(result)
    }

    /// As `flush`, with the counters. They follow the events that they count, and only if those are
    /// in the file: while writes fail, each flush would add more of them to memory.
    pub(super) fn flush_with_counters(&mut self) -> Result<(), String> {
        self.flush()?;
        let now = self.now();
        self.counters.write(&mut self.recording, now);
        self.flush()
    }

    fn rotate(&mut self, tables: &mut Tables) -> Result<(), String> {
        // A flush of its own, so that its result is noted even if the next chunk cannot start.
        self.flush_with_counters()?;
        let now = self.now();
        let result = self.recording.rotate(now);
        if result.is_ok() {
            self.chunk_begun = Instant::now();
            self.chunk_memory.begin(&self.recording);
            tables.names.next_chunk();
        }
        self.check_write(result)
    }

    /// `loop`: finishes this file and continues in the next one; without a next one, in this one.
    fn next_file(&mut self, tables: &mut Tables) {
        self.file_begun = Instant::now();
        let clock = clock();
        let next = files::next(&self.options, &mut self.directory, Purpose::NextFile)
            .and_then(|file| create(&self.sources, &self.options, file, clock, &self.status));
        let next = match next {
            Ok(next) => next,
            Err(line) => {
                return log::warn_rarely(&format!(
                    "no next file: {line}; recording goes on in {}",
                    self.status.path().display()
                ));
            }
        };
        let now = self.now();
        self.counters.write(&mut self.recording, now);
        let (mut last, final_name) = self.continue_in(next, clock, tables);
        let end = finish(&mut last, now);
        let is_whole = end.result.is_ok();
        let judged = self.check_end(end);
        let completed = match final_name {
            Some(name) if is_whole => files::complete(last.storage_mut(), &name).map(|_| ()),
            _ => Ok(()),
        };
        for line in [judged, completed].into_iter().filter_map(Result::err) {
            log::warn_rarely(&line);
        }
    }

    /// Switches to another file; returns the one so far.
    fn continue_in(&mut self, next: CreatedFile, clock: Clock, tables: &mut Tables) -> CreatedFile {
        let (recording, final_name) = next;
        let last = (
            std::mem::replace(&mut self.recording, recording),
            std::mem::replace(&mut self.final_name, final_name),
        );
        self.clock = clock;
        self.chunk_begun = Instant::now();
        self.chunk_memory.begin(&self.recording);
        self.counters.next_file();
        let now = self.now();
        tables.next_file(&mut self.recording, now);
        last
    }

    /// Checks whether the file was moved, deleted or overwritten. A moved file is followed; else
    /// the recording continues in a new file.
    pub(super) fn follow(&mut self, tables: &mut Tables) -> Result<(), String> {
        let what = match self.recording.storage_mut().poll_state() {
            // A file that cannot be checked may still be writable.
            Ok(FileState::Same | FileState::Moved(None)) | Err(_) => return Ok(()),
            Ok(FileState::Moved(Some(path))) => {
                log::warn(&format!(
                    "file '{}' was moved to '{}'; recording goes on there",
                    shown(&self.status.path()),
                    shown(&path)
                ));
                let last = self.final_name.take();
                // A move has given it its name, unless it moved with its directory.
                if self.recording.storage_mut().is_in_place() {
                    self.final_name = last.map(|last| last.moved_beside(&path));
                }
                self.status.set_path(path);
                return Ok(());
            }
            Ok(FileState::Deleted) => "deleted",
            Ok(FileState::Overwritten) => "overwritten or cut by another program",
        };
        let lost = self.status.path();
        self.replace(tables).map_err(|line| {
            format!(
                "file '{}' was {what}, and there is no other: {line}; nothing is recorded until \
                 there is",
                shown(&lost)
            )
        })?;
        log::warn(&format!(
            "file '{}' was {what}; recording goes on in '{}'",
            shown(&lost),
            shown(&self.status.path())
        ));
        Ok(())
    }

    /// Continues in a new file, without the one so far. Its unflushed events are lost.
    fn replace(&mut self, tables: &mut Tables) -> Result<(), String> {
        let wanted = self.final_name.as_ref();
        let wanted = wanted.map_or_else(|| self.status.path(), |last| last.path.clone());
        let clock = clock();
        let file = files::again(&wanted, &mut self.directory, &self.options)?;
        let next = create(&self.sources, &self.options, file, clock, &self.status)?;
        let now = self.now();
        self.counters.write(&mut self.recording, now);
        drop(self.continue_in(next, clock, tables));
        self.counters.discard_unflushed();
        Ok(())
    }

    /// Copies everything so far into another file.
    pub(super) fn dump(&mut self, mut file: FileStorage) -> Result<(), String> {
        // A flush of its own, so that its result is noted; the snapshot's own flush is then empty.
        self.flush_with_counters()?;
        let now = self.now();
        self.recording
            .snapshot_to(&mut file, now)
            .map(|_| ())
            .map_err(|error| format!("the dump failed: {error}"))
    }

    /// Writes the last counters and ends the file. `is_quiet`: no handler ran before the last
    /// drain.
    pub(super) fn finish(&mut self, is_quiet: bool) -> Result<(), String> {
        let now = self.now();
        if self.began_quiet && is_quiet {
            self.counters.check_accounting();
            self.counters.write_last(&mut self.recording, now);
        } else {
            self.counters.write(&mut self.recording, now);
        }
        let end = finish(&mut self.recording, now);
        let is_whole = end.result.is_ok();
        self.check_end(end)?;
        if let Some(last) = self.final_name.take_if(|_| is_whole) {
            let path = files::complete(self.recording.storage_mut(), &last)?;
            self.status.set_path(path);
        }
        Ok(())
    }

    /// As [`check_write`](Self::check_write), for a finished file: its unflushed events are lost.
    fn check_end(&mut self, end: FileEnd) -> Result<(), String> {
        if end.is_flushed {
            self.counters.note_flushed();
        }
        let has_failed = end.result.is_err();
        let answer = self.check_write(end.result);
        if has_failed {
            self.counters.discard_unflushed();
        }
        answer
    }

    /// Notes whether the file can be written. Data that cannot be written for too long is discarded
    /// and counted.
    fn check_write(&mut self, result: Result<(), Error>) -> Result<(), String> {
        let counters = &self.status.counters;
        if !self.status.degraded.swap(result.is_err(), Relaxed) && result.is_err() {
            counters.add(Counter::StateDegraded);
        }
        if result.is_ok() {
            self.counters.note_flushed();
        }
        result.map_err(|error| {
            counters.add(Counter::WriteErrors);
            let mut line = format!("the recording cannot be written: {error}");
            if self.recording.size_hint_bytes() > MAX_UNFLUSHED_MEMORY {
                if self.recording.discard_unflushed() > 0 {
                    self.counters.discard_unflushed();
                }
                self.chunk_memory.begin(&self.recording);
                line.push_str("; samples in memory are given up");
            }
            line
        })
    }
}

/// A recording in its file, and its final name.
type CreatedFile = (Recording<FileStorage>, Option<FinalName>);

/// A path for a message: printable, and on one line.
fn shown(path: &Path) -> String {
    path.display().to_string().escape_debug().to_string()
}

/// How a file ended.
struct FileEnd {
    /// Complete: all events are in it, even if its last chunk could not be marked.
    is_flushed: bool,
    result: Result<(), Error>,
}

/// Ends a file. A failed call may be repeated; the caller counts failures.
fn finish<S: Storage>(recording: &mut Recording<S>, now: Ticks) -> FileEnd {
    const TRIES: usize = 3;
    let mut end = FileEnd {
        is_flushed: false,
        result: Ok(()),
    };
    for _ in 0..TRIES {
        end.result = recording.flush(now).and_then(|()| {
            end.is_flushed = true;
            recording.finish(now).map(|_| ())
        });
        if end.result.is_ok() {
            break;
        }
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;
    use ctxagent_events::ProfileConfig;
    use ctxagent_events::ProfileEvents as _;
    use jfr_format::write::MemoryStorage;

    /// A recording with an unflushed event, on a disk that fails from change number `good` on.
    fn unfinished(good: u64) -> Recording<MemoryStorage> {
        let config = ProfileConfig {
            reserve_bytes: 0,
            compact_below_bytes: 0,
            ..ProfileConfig::default()
        };
        let mut recording = Recording::create(MemoryStorage::new(), config).expect("in memory");
        recording.stat(Ticks(1), "written", 1, 1);
        recording.storage_mut().fail_from(Some(good));
        recording
    }

    #[test]
    fn an_unfinished_file_reports_whether_it_is_complete() {
        // Block, header, visible events: the flush. Duration: an empty flush. Then the mark of the
        // last chunk.
        let ends = [0, 1, 2, 3, 4, 10].map(|good| {
            let end = finish(&mut unfinished(good), Ticks(2));
            (end.is_flushed, end.result.is_ok())
        });
        let no = (false, false);
        let in_it = (true, false);
        assert_eq!(ends, [no, no, no, in_it, in_it, (true, true)]);
    }
}
