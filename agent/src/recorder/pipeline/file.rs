//! The file's rhythm: flush, rotate, next file, dump, end. And what is done while it cannot be written.

use super::Pipeline;
use super::Slots;
use super::begin::{begin, clock};
use super::memory::{MAX_CHUNK_MEMORY, MAX_UNWRITTEN_MEMORY};
use crate::log;
use crate::options::Options;
use crate::os::slab;
use crate::recorder::contexts::Contexts;
use crate::recorder::files::{self, LastName, Purpose};
use fault_injection::Fault;
use jfr_format::write::{Clock, Fate, FileStorage, Recording, Storage, Ticks};
use signal_core::counters::Counter;
use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

/// A chunk lasts at least this long, whatever memory it takes: as long as the shortest time between two flushes.
const SHORTEST_CHUNK: Duration = Duration::from_millis(100);

impl Pipeline {
    /// The periodic write: a new chunk if it is time for one, else a flush. A failure is told once a minute and tried again.
    pub(crate) fn flush_or_rotate(&mut self, options: &Options) {
        if let Err(line) = self.follow_file(options) {
            log::warn_rarely(&line);
        }
        if options
            .loop_time
            .is_some_and(|time| self.file_begun.elapsed() >= time)
        {
            self.next_file(options);
            return;
        }
        let full = self.recording.chunk_bytes() >= self.chunk_bytes
            || self
                .chunk_memory
                .is_above(MAX_CHUNK_MEMORY, &self.recording);
        let result = if full || self.chunk_begun.elapsed() >= self.chunk_time {
            self.rotate()
        } else {
            self.flush()
        };
        if let Err(line) = result {
            log::warn_rarely(&line);
        }
    }

    /// At each drain: the memory of a chunk is bounded however far apart flushes are.
    pub(crate) fn watch_memory(&mut self) {
        // While the file cannot be written, the flushes try again; here only what must be given up is.
        let limit = if self.status.degraded.load(Relaxed) {
            MAX_UNWRITTEN_MEMORY
        } else {
            MAX_CHUNK_MEMORY
        };
        if self.chunk_memory.is_above(limit, &self.recording)
            && self.chunk_begun.elapsed() >= SHORTEST_CHUNK
            && let Err(line) = self.rotate()
        {
            log::warn_rarely(&line);
        }
    }

    /// Brings everything so far into the file.
    pub(crate) fn flush(&mut self) -> Result<(), String> {
        if fault_injection::is(Fault::FlushLeftOut) {
            return Ok(());
        }
        let now = self.now();
        let result = self.recording.flush(now);
        self.judge(result)
    }

    /// The same with the counters. They come after what they count, and only where that is in the file: while nothing can be written, flush after flush
    /// would add them to what is in memory.
    pub(crate) fn flush_with_metrics(&mut self) -> Result<(), String> {
        self.flush()?;
        let now = self.now();
        self.write_stats(now);
        self.flush()
    }

    fn rotate(&mut self) -> Result<(), String> {
        self.flush_with_metrics()?; // by itself, so that what is in the file is noted even if the next chunk cannot begin
        let now = self.now();
        let result = self.recording.rotate(now);
        if result.is_ok() {
            self.chunk_begun = Instant::now();
            self.chunk_memory.begin(&self.recording);
            self.names.next_chunk();
        }
        self.judge(result)
    }

    /// `loop`: finishes this file and goes on in the next one. Without a next one it goes on in this.
    fn next_file(&mut self, options: &Options) {
        self.file_begun = Instant::now();
        let clock = clock();
        let next = files::next(options, &mut self.home, Purpose::GoOn)
            .and_then(|file| begin(&self.sources, options, file, clock, &self.status));
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
        self.write_stats(now);
        let (mut last, last_name) = self.go_on_in(next, clock);
        let end = finish(&mut last, now);
        let is_whole = end.result.is_ok();
        let judged = self.judge_end(end);
        let completed = match last_name {
            Some(name) if is_whole => files::complete(last.storage_mut(), &name).map(|_| ()),
            _ => Ok(()),
        };
        for line in [judged, completed].into_iter().filter_map(Result::err) {
            log::warn_rarely(&line);
        }
    }

    /// What comes now is of another file; gives the one so far.
    fn go_on_in(&mut self, next: Begun, clock: Clock) -> Begun {
        let (recording, last_name) = next;
        let last = (
            std::mem::replace(&mut self.recording, recording),
            std::mem::replace(&mut self.last_name, last_name),
        );
        self.clock = clock;
        self.chunk_begun = Instant::now();
        self.chunk_memory.begin(&self.recording);
        self.names.next_file();
        self.contexts = Contexts::default();
        self.announced = 0;
        self.base = self.chunk_base.clone();
        self.announce_attributes();
        last
    }

    /// Whether somebody has moved, deleted or overwritten the file. One that was moved is followed; else the recording goes on in a new file.
    pub(crate) fn follow_file(&mut self, options: &Options) -> Result<(), String> {
        let what = match self.recording.storage_mut().look() {
            // What cannot be looked at may be written.
            Ok(Fate::Same | Fate::Moved(None)) | Err(_) => return Ok(()),
            Ok(Fate::Moved(Some(path))) => {
                log::warn(&format!(
                    "file '{}' was moved to '{}'; recording goes on there",
                    shown(&self.status.path()),
                    shown(&path)
                ));
                // ThreadRef moved it has named it.
                self.last_name = None;
                self.status.set_path(path);
                return Ok(());
            }
            Ok(Fate::Deleted) => "deleted",
            Ok(Fate::Overwritten) => "overwritten or cut by another program",
        };
        let lost = self.status.path();
        self.begin_again(options).map_err(|line| {
            format!(
                "file '{}' was {what}, and there is no other: {line}; nothing is recorded until there is",
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

    /// In a new file, without the one so far. What was not in that one yet is lost.
    fn begin_again(&mut self, options: &Options) -> Result<(), String> {
        let wanted = self.last_name.as_ref();
        let wanted = wanted.map_or_else(|| self.status.path(), |last| last.path.clone());
        let clock = clock();
        let file = files::again(&wanted, &mut self.home, options)?;
        let next = begin(&self.sources, options, file, clock, &self.status)?;
        let now = self.now();
        self.write_stats(now);
        drop(self.go_on_in(next, clock));
        self.give_up();
        Ok(())
    }

    /// Copies everything so far into another file.
    pub(crate) fn dump(&mut self, mut file: FileStorage) -> Result<(), String> {
        self.flush_with_metrics()?; // by us, so that what is in the file is noted; the snapshot's own finds nothing left
        let now = self.now();
        self.recording
            .snapshot_to(&mut file, now)
            .map(|_| ())
            .map_err(|error| format!("the dump failed: {error}"))
    }

    /// The last samples and counters, and the end of the file.
    pub(crate) fn finish(&mut self) -> Result<(), String> {
        // Before the drain: a handler that is at work now may hand over its sample behind it.
        let quiet = self.began_quiet && self.sources.handler.quiet();
        self.drain(Slots::All);
        let now = self.now();
        if quiet {
            self.check_accounting();
            let mut snapshot = self.snapshot();
            self.start.reconcile_at_end(&mut snapshot);
            self.write_snapshot(now, snapshot);
        } else {
            self.write_stats(now);
        }
        slab::give_back(&self.sources.handler.slots);
        let end = finish(&mut self.recording, now);
        let is_whole = end.result.is_ok();
        self.judge_end(end)?;
        if let Some(last) = self.last_name.take_if(|_| is_whole) {
            let path = files::complete(self.recording.storage_mut(), &last)?;
            self.status.set_path(path);
        }
        Ok(())
    }

    /// As `judge`, of a file that nothing more is written to: what is not in it now never will be.
    fn judge_end(&mut self, end: End) -> Result<(), String> {
        if end.flushed {
            self.in_file.note(&self.status.counters);
        }
        let failed = end.result.is_err();
        let answer = self.judge(end.result);
        if failed {
            self.give_up();
        }
        answer
    }

    /// Notes whether the file can be written. What cannot be written for too long is given up, counted.
    fn judge(&mut self, result: Result<(), jfr_format::error::Error>) -> Result<(), String> {
        if !self.status.degraded.swap(result.is_err(), Relaxed) && result.is_err() {
            self.status.counters.add(Counter::StateDegraded);
        }
        if result.is_ok() {
            self.in_file.note(&self.status.counters);
        }
        result.map_err(|error| {
            self.status.counters.add(Counter::WriteErrors);
            let mut line = format!("the recording cannot be written: {error}");
            if self.recording.size_hint_bytes() > MAX_UNWRITTEN_MEMORY {
                if self.recording.abandon_chunk() > 0 {
                    self.give_up();
                }
                self.chunk_memory.begin(&self.recording);
                line.push_str("; samples in memory are given up");
            }
            line
        })
    }

    /// What is in memory only is lost: it counts so, and not as written any more.
    fn give_up(&mut self) {
        let lost = &self.sources.handler.counters;
        self.in_file.give_up(&self.status.counters, lost);
        let snapshot = self.snapshot();
        for base in [&mut self.base, &mut self.chunk_base] {
            self.start.mark_lost(base, &snapshot);
        }
    }
}

/// A recording in its file, and the name that the file gets when it is whole.
type Begun = (Recording<FileStorage>, Option<LastName>);

/// A path in a message: it must not act in a terminal, and stay one line.
fn shown(path: &Path) -> String {
    path.display().to_string().escape_debug().to_string()
}

/// How a file ended.
struct End {
    /// All events are in it, also if its last chunk could not be marked as such.
    flushed: bool,
    result: Result<(), jfr_format::error::Error>,
}

/// Ends a file. A call that fails may be repeated; what fails again and again is the caller's to count.
fn finish<S: Storage>(recording: &mut Recording<S>, now: Ticks) -> End {
    const TRIES: usize = 3;
    let mut end = End {
        flushed: false,
        result: Ok(()),
    };
    for _ in 0..TRIES {
        end.result = recording.flush(now).and_then(|()| {
            end.flushed = true;
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

    /// A recording with an event that is not in the file yet, on a disk that fails from the change number `good` on.
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
    fn a_file_that_cannot_be_finished_says_whether_its_events_are_in_it() {
        // Block, header, events shown: the flush. Duration: an empty flush. Then the mark of the last chunk.
        let ends = [0, 1, 2, 3, 4, 10].map(|good| {
            let end = finish(&mut unfinished(good), Ticks(2));
            (end.flushed, end.result.is_ok())
        });
        let no = (false, false);
        let in_it = (true, false);
        assert_eq!(ends, [no, no, no, in_it, in_it, (true, true)]);
    }
}
