//! One file from its first chunk to its last: create, flush, rotate, finish.

use super::buffer::{EventBuffer, Fields};
use super::chunk_file::ChunkFile;
use super::columns::{ColumnSet, LATE_NAMES_BYTES};
use super::config::Config;
use super::layout::{CHUNK_LEAD, Marks, Stub};
use super::pools::{Pools, begin_sized, end_sized, put_stub_checkpoint};
use super::storage::Storage;
use super::table::{Numbering, Table};
use super::ticks::Ticks;
use super::{chunk_start, metadata};
use crate::chunk::{FLAG_COMPRESSED_INTS, HEADER_LEN, Header, METADATA_TYPE};
use crate::declare::{EventId, Schema};
use crate::error::{Error, ErrorKind, Result};
use crate::varint;

/// What a metadata event has besides its body: size, type, two times.
const METADATA_EVENT_BYTES: usize = 32;

/// How a recording ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Finished {
    /// Length of the content; a preallocated tail may follow it.
    pub bytes: u64,
    /// Whether the preallocated tail is cut off. If not, nothing is wrong: it takes no disk.
    pub compacted: bool,
}

/// One recording being written. The [module](super) has the rules and an example.
#[derive(Debug)]
pub struct Recording<S> {
    pub(super) config: Config,
    pub(super) columns: ColumnSet,
    pub(super) pools: Pools,
    pub(super) contexts: Table,
    pub(super) events: EventBuffer,
    /// Where values are encoded before they are looked up.
    pub(super) scratch: Vec<u8>,
    file: ChunkFile<S>,
    /// Metadata without its time stamps.
    metadata: Vec<u8>,
    generation: u32,
    chunk_start: Ticks,
    finished: Option<Finished>,
}

impl<S: Storage> Recording<S> {
    /// Writes the first chunk, without events, and gives the file its name.
    ///
    /// # Errors
    /// [`ErrorKind::Io`], or [`ErrorKind::Refused`] for a [`Schema`] that
    /// readers could not make sense of; there is no file then.
    pub fn create(storage: S, config: impl Into<Config>) -> Result<Self> {
        let config = config.into();
        config.schema.check()?;
        let columns = ColumnSet::new(&config.columns, config.schema.events);
        let mut pools = Pools::new();
        let metadata = metadata::body(&config.schema, columns.columns());
        let start = Ticks(0);
        let (mut body, marks) = chunk_body(start, &config, &columns, &pools, &metadata);
        let header = chunk_header(&config, start);
        let stub = stub(&config.schema);
        let reserve = config.reserve_bytes;
        let file = ChunkFile::create(storage, reserve, header, &mut body, marks, stub)?;
        pools.mark_flushed();
        Ok(Self {
            config,
            columns,
            pools,
            contexts: Table::new(Numbering::Dense),
            events: EventBuffer::default(),
            scratch: Vec::new(),
            file,
            metadata,
            generation: 0,
            chunk_start: start,
            finished: None,
        })
    }

    /// Appends an event of a declared type: `fields` writes what follows `startTime`, in declared
    /// order.
    ///
    /// Events stay in memory until [`flush`](Recording::flush).
    #[inline]
    pub fn event(&mut self, id: EventId, at: Ticks, fields: impl FnOnce(&mut Fields<'_>)) {
        debug_assert!(
            self.config.schema.declares(id),
            "event {id} is not declared"
        );
        self.events.event(id, at, self.columns.len(), fields);
    }

    /// Number that changes when keys become void: with every chunk, and when unflushed data were
    /// discarded.
    pub fn generation(&self) -> u32 {
        self.generation
    }

    /// Memory taken by tables and by events that are not in the file yet.
    pub fn size_hint_bytes(&self) -> usize {
        self.pools.bytes() + self.contexts.bytes() + self.events.bytes.capacity()
    }

    /// Size of the current chunk, with what is still in memory.
    pub fn chunk_bytes(&self) -> u64 {
        self.file.chunk_len() + self.unflushed_bytes()
    }

    /// Size of the file without its preallocated tail, with what is still in memory.
    pub fn file_bytes(&self) -> u64 {
        self.file.content_len() + self.unflushed_bytes()
    }

    /// When the current chunk began.
    pub fn chunk_start(&self) -> Ticks {
        self.chunk_start
    }

    /// Number of declared attribute columns.
    pub fn column_count(&self) -> usize {
        self.columns.len()
    }

    /// The storage.
    pub fn storage(&self) -> &S {
        self.file.storage()
    }

    /// The storage, for fault injection; writing through it corruptions the recording.
    pub fn storage_mut(&mut self) -> &mut S {
        self.file.storage_mut()
    }

    /// Makes everything so far visible to readers.
    ///
    /// # Errors
    /// [`ErrorKind::Io`]. The file is readable as of the last success, and nothing is lost: the
    /// next `flush`, `rotate` or `finish` tries again.
    pub fn flush(&mut self, now: Ticks) -> Result<()> {
        self.check_open()?;
        self.file.commit()?;
        let duration = self.duration_nanos(now);
        let data = self.events.bytes.len();
        if self.columns.changed() {
            self.name_columns(now)?;
        }
        let marks = self.append_constants(now);
        if self.events.bytes.is_empty() {
            self.file.set_duration(duration);
            return self.file.commit();
        }
        if let Err(e) = self
            .file
            .write_block(&mut self.events.bytes, marks, duration)
        {
            self.events.bytes.truncate(data);
            return Err(e);
        }
        // From here on the data are the file's: a retry has only to finish the commits.
        self.events.clear();
        self.pools.mark_flushed();
        self.columns.mark_flushed();
        self.file.commit()
    }

    /// Flushes, closes the chunk and begins the next one. All keys are void then.
    ///
    /// # Errors
    /// As [`Recording::flush`]. Whether the next chunk has begun shows in
    /// [`Recording::generation`].
    pub fn rotate(&mut self, now: Ticks) -> Result<()> {
        self.flush(now)?;
        // Viewers drop the second of two chunks that begin at the same instant.
        let start = now.max(Ticks(self.chunk_start.0 + 1));
        let spare = self.spare_metadata();
        let fresh = Pools::new();
        let (mut body, marks) =
            chunk_body(start, &self.config, &self.columns, &fresh, &self.metadata);
        let header = chunk_header(&self.config, start);
        self.file.write_chunk(&mut body, header, marks, spare)?;
        self.pools.rotate();
        self.pools.mark_flushed();
        self.contexts.rotate();
        self.chunk_start = start;
        self.generation += 1;
        self.file.commit()
    }

    /// Discards what is in memory only: events that are not in the file yet, and all keys.
    ///
    /// For a disk that stays full: memory becomes free, and the recording goes on. Returns the
    /// number of events lost.
    pub fn discard_unflushed(&mut self) -> u64 {
        let lost = self.events.events();
        self.events.clear();
        // What columns mean is written once per chunk: it may have been among what was discarded.
        for (slot, attribute) in self.columns.attributes() {
            let (out, id) = (&mut self.events.bytes, self.config.schema.column_event);
            chunk_start::put_attribute(out, id, self.chunk_start, slot, attribute);
        }
        self.pools.forget();
        self.contexts.forget();
        self.generation += 1;
        lost
    }

    /// Flushes, then writes everything so far, without the preallocated tail, into `target`, and
    /// publishes it. Returns the copy's length. The recording goes on.
    ///
    /// # Errors
    /// [`ErrorKind::Io`], of this file or of `target`.
    pub fn snapshot_to<T: Storage>(&mut self, target: &mut T, now: Ticks) -> Result<u64> {
        if self.finished.is_none() {
            self.flush(now)?;
        }
        self.file.copy_to(target)
    }

    /// Flushes, marks the last chunk as final, and cuts the file behind its content.
    ///
    /// A second call gives the same answer; events after it are never written.
    ///
    /// # Errors
    /// As [`Recording::flush`]; the call may be repeated.
    pub fn finish(&mut self, now: Ticks) -> Result<Finished> {
        if let Some(finished) = self.finished {
            return Ok(finished);
        }
        self.flush(now)?;
        let compacted = self.file.finish(self.config.compact_below_bytes)?;
        let finished = Finished {
            bytes: self.file.content_len(),
            compacted,
        };
        self.finished = Some(finished);
        Ok(finished)
    }

    /// Columns have got names: they are made the metadata of closed chunks too.
    fn name_columns(&mut self, now: Ticks) -> Result<()> {
        self.metadata = metadata::body(&self.config.schema, self.columns.columns());
        let mut event = Vec::new();
        put_metadata(&mut event, now, &self.metadata);
        self.file.change_metadata(&event)
    }

    /// Space for other metadata that the chunk needs which is about to be closed.
    fn spare_metadata(&mut self) -> u64 {
        if !self.columns.close_chunk() {
            return 0;
        }
        if !self.file.can_spare() {
            // A name that only some chunks have is worse than none.
            self.columns.freeze();
            return 0;
        }
        (self.metadata.len() + METADATA_EVENT_BYTES + LATE_NAMES_BYTES) as u64
    }

    /// Appends what the events need to be understood, and says where it is.
    fn append_constants(&mut self, now: Ticks) -> Marks {
        let mut marks = Marks::default();
        if self.columns.changed() {
            marks.metadata = Some(put_metadata(&mut self.events.bytes, now, &self.metadata));
        }
        let block = self.file.next_block_offset();
        let previous = self.file.header().checkpoint;
        let delta = |at: usize| distance(previous, block + at as u64);
        marks.checkpoint = self
            .pools
            .put_checkpoint(&mut self.events.bytes, now.0, delta);
        marks
    }

    fn unflushed_bytes(&self) -> u64 {
        (self.events.bytes.len() + self.pools.unflushed_bytes()) as u64
    }

    fn duration_nanos(&self, now: Ticks) -> i64 {
        i64::try_from(now.nanos().saturating_sub(self.chunk_start.nanos())).unwrap_or(i64::MAX)
    }

    fn check_open(&self) -> Result<()> {
        match self.finished {
            None => Ok(()),
            Some(_) => Err(Error::new(
                0,
                ErrorKind::Refused("the recording is finished"),
            )),
        }
    }
}

/// What follows the header of a new chunk.
fn chunk_body(
    start: Ticks,
    config: &Config,
    columns: &ColumnSet,
    pools: &Pools,
    metadata: &[u8],
) -> (Vec<u8>, Marks) {
    let mut body = CHUNK_LEAD.to_vec();
    let metadata = Some(put_metadata(&mut body, start, metadata));
    // Every chunk has a checkpoint, if only with the frame types; some readers need one.
    let checkpoint = pools.put_checkpoint(&mut body, start.0, |_| 0);
    chunk_start::put(&mut body, start, config, columns);
    (
        body,
        Marks {
            checkpoint,
            metadata,
        },
    )
}

/// A chunk without events, as readers want one.
pub(super) fn stub(schema: &Schema) -> Stub {
    let mut body = CHUNK_LEAD.to_vec();
    let metadata = Some(put_metadata(
        &mut body,
        Ticks(0),
        &metadata::stub_body(schema),
    ));
    let checkpoint = Some(put_stub_checkpoint(&mut body));
    Stub {
        body,
        marks: Marks {
            checkpoint,
            metadata,
        },
    }
}

/// An empty chunk to stand before `next` in a file, where the chunk before that is of another
/// recording.
///
/// The JDK takes a key that the chunk before has for the same value again; each recording counts its
/// keys for itself.
#[must_use]
pub fn separator(next: &Header) -> Vec<u8> {
    let stub = stub(&Schema::default());
    let size = stub.least();
    let (header, body) = stub.chunk(size, 0, next);
    let header = Header {
        major: 2,
        minor: 1,
        // Of two chunks that begin at the same time readers may drop one.
        start_nanos: next.start_nanos.saturating_sub(1),
        state: 0,
        flags: FLAG_COMPRESSED_INTS,
        ..header
    };
    let mut chunk = header.to_bytes().to_vec();
    chunk.extend_from_slice(&body);
    chunk.resize(chunk.len().max(usize::try_from(size).unwrap_or(0)), 0);
    chunk
}

fn put_metadata(out: &mut Vec<u8>, at: Ticks, body: &[u8]) -> usize {
    let start = begin_sized(out, METADATA_TYPE);
    varint::put(out, at.0);
    varint::put(out, 0);
    out.extend_from_slice(body);
    end_sized(out, start);
    start
}

/// All chunks of a file lie on one line: readers differ in whose chunk's clock they use.
fn chunk_header(config: &Config, start: Ticks) -> Header {
    let epoch = config.clock.start_epoch_nanos.saturating_add(start.nanos());
    Header {
        major: 2,
        minor: 1,
        size: HEADER_LEN as u64,
        checkpoint: 0,
        metadata: 0,
        start_nanos: i64::try_from(epoch).unwrap_or(i64::MAX),
        duration_nanos: 0,
        start_ticks: i64::try_from(start.0).unwrap_or(i64::MAX),
        ticks_per_second: Ticks::PER_SECOND.cast_signed(),
        // 0 = finished. The file is, at every instant; a reader that meets another state waits for
        // us.
        state: 0,
        flags: FLAG_COMPRESSED_INTS,
    }
}

/// From a checkpoint to the one before it.
fn distance(previous: u64, this: u64) -> i64 {
    previous.cast_signed() - this.cast_signed()
}
