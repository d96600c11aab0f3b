//! Where things are in the file, and the order of writes that keeps it readable at every instant.
//!
//! ```text
//!  chunk … chunk │ header │ events, checkpoints, metadata │ padding event ················ │
//!                chunk_start                              padding_at (8-aligned)           file_len
//! ```
//! The last chunk's size always reaches to the end of the file, because its tail is one event that
//! every reader skips. New data are written *inside* that event, where no reader looks; then a few
//! writes of at most 68 bytes, each of which leaves a readable file, make them visible. A write
//! that changes a visible field changes it inside one aligned 8-byte word, so that it is done or
//! not done.
//!
//! The file becomes longer by whole pages, each of which is an empty chunk by itself ([`Stub`]):
//! first the pages are appended, then the last chunk's size takes them in (a chunk's first bytes
//! read as events, see [`CHUNK_LEAD`]), then its padding does. In the end it becomes shorter by the
//! reverse: its preallocated tail becomes an empty chunk, which is cut off.
//!
//! Rejected: append, then patch the header. A kill in between leaves bytes after the last chunk,
//! and the JDK's tools then give no event at all. A copy with a larger tail that takes the file's
//! place: it reads and writes everything again, needs twice the disk, and a file that was moved
//! meanwhile cannot be followed.

use std::collections::VecDeque;

use super::layout::{
    CHUNK_LEAD, MIN_PADDING, Marks, PAGE_BYTES, SHRUNK_PADDING, Stub, align, mark, padding_start,
    page_end,
};
use super::storage::{PAGE, Storage};
use crate::chunk::{
    CHECKPOINT_AT, DURATION_AT, FLAG_FINAL, FLAGS_AT, HEADER_LEN, Header, METADATA_AT, SIZE_AT,
};
use crate::error::{Error, ErrorKind, Result};

/// A preallocated tail is at most this large: the padding's size must stay below 2^31, and JMC
/// reads a chunk into memory.
const MAX_TAIL: u64 = 1 << 30;
const MIN_TAIL: u64 = 64;
/// The smallest tail that is tried where the system allows no larger file (`RLIMIT_FSIZE`).
const SMALLEST_TAIL: u64 = 64 << 10;
/// A file that is full becomes longer by as much as it had reserved, within these bounds: more at
/// once takes no less time in all.
const MAX_GROWTH: u64 = 1 << 20;
/// Copying for a snapshot goes by blocks of this size.
const COPY_BLOCK: usize = 1 << 18;

/// A write that makes something visible.
#[derive(Debug, Clone)]
struct Commit {
    at: u64,
    bytes: [u8; HEADER_LEN],
    len: usize,
    doing: &'static str,
}

/// Chunks whose metadata can still be changed; later ones keep theirs.
const MAX_SPARE_CHUNKS: usize = 4096;

/// A closed chunk with space for other metadata inside its padding: two places, so that the metadata
/// in use is never written over.
#[derive(Debug, Clone, Copy)]
struct SpareSpace {
    chunk_start: u64,
    at: u64,
    /// Bytes of one place.
    len: u64,
    /// The place that is free.
    free: u64,
}

/// The file under construction.
#[derive(Debug)]
pub(super) struct ChunkFile<S> {
    storage: S,
    chunk_start: u64,
    padding_at: u64,
    /// End of the last chunk that has content.
    file_len: u64,
    /// End of the file: while it becomes longer there are pages behind `file_len`, each an empty
    /// chunk.
    pages_end: u64,
    stub: Stub,
    spare: Vec<SpareSpace>,
    /// The current chunk's header as it is once `commits` are done.
    header: Header,
    /// To be done in this order before anything else is written.
    commits: VecDeque<Commit>,
    reserve: u64,
}

impl<S: Storage> ChunkFile<S> {
    /// Writes the first chunk and gives the file its name. `body` follows the header.
    pub(super) fn create(
        mut storage: S,
        reserve: u64,
        mut header: Header,
        body: &mut Vec<u8>,
        marks: Marks,
        stub: Stub,
    ) -> Result<Self> {
        let padding_at = align(HEADER_LEN as u64, body);
        let (file_len, reserve) = reserved(&mut storage, padding_at, reserve)?;
        header.size = file_len;
        mark(&mut header, marks, HEADER_LEN as u64);
        let mut file = Self {
            storage,
            chunk_start: 0,
            padding_at,
            file_len,
            pages_end: file_len,
            stub,
            spare: Vec::new(),
            header,
            commits: VecDeque::new(),
            reserve,
        };
        file.write(0, &header.to_bytes(), "writing the first header")?;
        body.extend_from_slice(&padding_start(file_len - padding_at));
        file.write(HEADER_LEN as u64, body, "writing the first chunk")?;
        file.storage
            .publish()
            .map_err(|e| io(0, "creating the file", e))?;
        Ok(file)
    }

    pub(super) fn storage(&self) -> &S {
        &self.storage
    }

    pub(super) fn storage_mut(&mut self) -> &mut S {
        &mut self.storage
    }

    /// Length of the file without its preallocated tail.
    pub(super) fn content_len(&self) -> u64 {
        self.padding_at
    }

    /// Bytes of the current chunk without its preallocated tail.
    pub(super) fn chunk_len(&self) -> u64 {
        self.padding_at - self.chunk_start
    }

    pub(super) fn header(&self) -> &Header {
        &self.header
    }

    /// Offset in the chunk at which a block would begin.
    pub(super) fn next_block_offset(&self) -> u64 {
        self.chunk_len() + SHRUNK_PADDING
    }

    /// Does what earlier calls left undone. Calling it again after an error is all that is needed.
    pub(super) fn commit(&mut self) -> Result<()> {
        while let Some(next) = self.commits.front() {
            let done = self.storage.write_at(next.at, &next.bytes[..next.len]);
            done.map_err(|e| io(next.at, next.doing, e))?;
            self.commits.pop_front();
        }
        Ok(())
    }

    /// Writes a block of events inside the padding and plans the commits that show it.
    ///
    /// On error nothing has changed, and `block` is as it was.
    pub(super) fn write_block(
        &mut self,
        block: &mut Vec<u8>,
        marks: Marks,
        duration_nanos: i64,
    ) -> Result<()> {
        debug_assert!(self.commits.is_empty());
        let at = self.padding_at + SHRUNK_PADDING;
        let end = self.write_before_padding(at, block, "writing events")?;
        let offset = self.next_block_offset();
        mark(&mut self.header, marks, offset);
        self.header.duration_nanos = duration_nanos;
        // First the offsets, then the events: constants are there before anything refers to them.
        let header = self.header.to_bytes();
        let fields = &header[CHECKPOINT_AT..DURATION_AT + 8];
        self.plan(
            self.chunk_start + CHECKPOINT_AT as u64,
            fields,
            "updating the header",
        );
        let padding_at = self.padding_at;
        self.plan(
            padding_at,
            &padding_start(SHRUNK_PADDING),
            "showing new events",
        );
        self.padding_at = end;
        Ok(())
    }

    /// Whether the chunk that is closed next can have space for other metadata.
    pub(super) fn can_spare(&self) -> bool {
        self.spare.len() < MAX_SPARE_CHUNKS
    }

    /// Writes a new chunk inside the padding and plans the commits that show it. The chunk that
    /// ends keeps space for other metadata of `spare` bytes, if that is not 0.
    ///
    /// On error nothing has changed, and `body` is as it was.
    pub(super) fn write_chunk(
        &mut self,
        body: &mut Vec<u8>,
        mut header: Header,
        marks: Marks,
        spare: u64,
    ) -> Result<()> {
        debug_assert!(self.commits.is_empty() && body.starts_with(&CHUNK_LEAD));
        let len = spare.next_multiple_of(8);
        let gap = if len == 0 {
            0
        } else {
            SHRUNK_PADDING + 2 * len
        };
        let start = self.padding_at + gap;
        let at = start + HEADER_LEN as u64;
        let end = self.write_before_padding(at, body, "writing a new chunk")?;
        mark(&mut header, marks, HEADER_LEN as u64);
        header.size = self.file_len - start;
        self.plan(start, &header.to_bytes(), "showing a new chunk");
        if gap > 0 {
            self.plan(
                self.padding_at,
                &padding_start(gap),
                "leaving space for metadata",
            );
            self.spare.push(SpareSpace {
                chunk_start: self.chunk_start,
                at: self.padding_at + SHRUNK_PADDING,
                len,
                free: 0,
            });
        }
        let old_size = start - self.chunk_start;
        let old_size_at = self.chunk_start + SIZE_AT as u64;
        self.plan(
            old_size_at,
            &old_size.to_be_bytes(),
            "closing the old chunk",
        );
        self.header = header;
        self.chunk_start = start;
        self.padding_at = end;
        Ok(())
    }

    /// Gives the chunks that are closed this metadata event, where it fits: written inside their
    /// padding, then one aligned word leads to it.
    ///
    /// On error some chunks have it; a further call gives it to all.
    pub(super) fn change_metadata(&mut self, event: &[u8]) -> Result<()> {
        for space in &mut self.spare {
            if event.len() as u64 > space.len {
                continue;
            }
            let at = space.at + space.free * space.len;
            let offset = (at - space.chunk_start).to_be_bytes();
            let offset_at = space.chunk_start + METADATA_AT as u64;
            let changed = self
                .storage
                .write_at(at, event)
                .and_then(|()| self.storage.write_at(offset_at, &offset));
            changed.map_err(|e| io(at, "naming a column", e))?;
            space.free = 1 - space.free;
        }
        Ok(())
    }

    /// Sets the duration of the current chunk.
    pub(super) fn set_duration(&mut self, nanos: i64) {
        self.header.duration_nanos = nanos;
        let at = self.chunk_start + DURATION_AT as u64;
        self.plan(at, &nanos.to_be_bytes(), "updating the duration");
    }

    /// Marks the last chunk as final and cuts off the preallocated tail, if the file is at most
    /// `limit` bytes long. Returns whether the tail is gone.
    pub(super) fn finish(&mut self, limit: u64) -> Result<bool> {
        self.commit()?;
        let cut = self.padding_at <= limit && self.cut_tail().is_ok();
        // A tail that could not be cut stays, which is as good, but looks large.
        self.header.flags |= FLAG_FINAL;
        let flags = self.header.flags.to_be_bytes();
        self.plan(
            self.chunk_start + FLAGS_AT as u64,
            &flags,
            "marking the last chunk",
        );
        self.commit()?;
        Ok(cut)
    }

    /// Ends the file behind its content: the tail becomes an empty chunk, the last chunk ends
    /// before it, and the file is cut there.
    fn cut_tail(&mut self) -> Result<()> {
        let (start, least) = (self.padding_at, self.stub.least());
        self.grow_to(start + least)?;
        let (header, body) = self.stub.chunk(self.file_len - start, 1, &self.header);
        self.write(start + HEADER_LEN as u64, &body, "writing an empty chunk")?;
        let size = start - self.chunk_start;
        let shown = self
            .write(start, &header.to_bytes(), "showing an empty chunk")
            .and_then(|()| self.write_size(size));
        if let Err(error) = shown {
            // Back to one chunk with a tail, for what may still come.
            let whole = self.file_len - self.chunk_start;
            self.plan_size(whole);
            self.plan_padding();
            return Err(error);
        }
        self.header.size = size;
        let cut = self.storage.set_len(start);
        cut.map_err(|e| io(start, "cutting off the tail", e))?;
        (self.file_len, self.pages_end) = (start, start);
        Ok(())
    }

    /// Writes everything but the preallocated tail into `target` and publishes it.
    pub(super) fn copy_to<T: Storage>(&mut self, target: &mut T) -> Result<u64> {
        self.commit()?;
        let len = self.padding_at;
        let mut block = vec![0; COPY_BLOCK];
        let mut at = 0;
        while at < len {
            let part = usize::try_from(len - at)
                .unwrap_or(COPY_BLOCK)
                .min(COPY_BLOCK);
            let part = &mut block[..part];
            self.storage
                .read_at(at, part)
                .map_err(|e| io(at, "reading back", e))?;
            target
                .write_at(at, part)
                .map_err(|e| io(at, "writing a copy", e))?;
            at += part.len() as u64;
        }
        let mut header = self.header;
        header.size = len - self.chunk_start;
        let written = target.write_at(self.chunk_start, &header.to_bytes());
        written.map_err(|e| io(self.chunk_start, "writing a copy", e))?;
        target.publish().map_err(|e| io(0, "naming a copy", e))?;
        Ok(len)
    }

    /// Writes `content` at `at`, inside the padding, with a new padding behind it; returns its
    /// place.
    fn write_before_padding(
        &mut self,
        at: u64,
        content: &mut Vec<u8>,
        doing: &'static str,
    ) -> Result<u64> {
        let len = content.len();
        let end = align(at, content);
        let outcome = self.grow_to(end + MIN_PADDING).and_then(|()| {
            content.extend_from_slice(&padding_start(self.file_len - end));
            self.write(at, content, doing)
        });
        if outcome.is_err() {
            content.truncate(len);
        }
        outcome.map(|()| end)
    }

    /// Makes the last chunk longer than `end`, page by page.
    ///
    /// Making the file longer at once would leave, for one system call, a file that is longer than
    /// its header says.
    fn grow_to(&mut self, end: u64) -> Result<()> {
        if end <= self.file_len {
            return Ok(());
        }
        let wanted = page_end(end + self.reserve.min(MAX_GROWTH));
        if wanted - self.padding_at >= 1 << 31 {
            return Err(Error::new(
                self.padding_at,
                ErrorKind::Refused("more than 1 GiB at once"),
            ));
        }
        let appended = self.append_pages(wanted);
        if self.pages_end > self.file_len {
            // From here on the pages are the chunk's: a retry has only to finish the commits.
            self.file_len = self.pages_end;
            let size = self.file_len - self.chunk_start;
            self.plan_size(size);
            self.plan_padding();
        }
        appended?;
        self.commit()
    }

    fn append_pages(&mut self, end: u64) -> Result<()> {
        for n in 1.. {
            let at = self.pages_end;
            if at >= end {
                break;
            }
            let (header, body) = self.stub.chunk(PAGE_BYTES, n, &self.header);
            let mut page = header.to_bytes().to_vec();
            page.extend_from_slice(&body);
            page.resize(PAGE, 0);
            let appended = self.storage.append(at, &page);
            appended.map_err(|e| io(at, "growing the file", e))?;
            self.pages_end += PAGE_BYTES;
        }
        Ok(())
    }

    /// The last chunk gets this size.
    fn plan_size(&mut self, size: u64) {
        self.header.size = size;
        let at = self.chunk_start + SIZE_AT as u64;
        self.plan(at, &size.to_be_bytes(), "changing the chunk's size");
    }

    /// The padding gets what the last chunk has behind its content.
    fn plan_padding(&mut self) {
        let (at, size) = (self.padding_at, self.file_len - self.padding_at);
        self.plan(at, &padding_start(size), "changing the tail");
    }

    fn write_size(&mut self, size: u64) -> Result<()> {
        let at = self.chunk_start + SIZE_AT as u64;
        self.write(at, &size.to_be_bytes(), "closing the last chunk")
    }

    fn write(&mut self, at: u64, bytes: &[u8], doing: &'static str) -> Result<()> {
        self.storage
            .write_at(at, bytes)
            .map_err(|e| io(at, doing, e))
    }

    fn plan(&mut self, at: u64, part: &[u8], doing: &'static str) {
        let mut bytes = [0; HEADER_LEN];
        bytes[..part.len()].copy_from_slice(part);
        self.commits.push_back(Commit {
            at,
            bytes,
            len: part.len(),
            doing,
        });
    }
}

/// Preallocates a tail behind `content`; where the system allows no such file, a smaller one.
/// Returns the length of the file, and what it was asked for.
fn reserved<S: Storage>(storage: &mut S, content: u64, reserve: u64) -> Result<(u64, u64)> {
    let mut reserve = reserve.clamp(MIN_TAIL, MAX_TAIL);
    loop {
        let len = page_end(content + reserve);
        match storage.set_len(len) {
            Ok(()) => return Ok((len, reserve)),
            Err(e) if e.kind() == std::io::ErrorKind::FileTooLarge && reserve > SMALLEST_TAIL => {
                reserve = (reserve / 2).max(SMALLEST_TAIL);
            }
            Err(e) => return Err(io(0, "reserving space", e)),
        }
    }
}

fn io(at: u64, doing: &'static str, e: std::io::Error) -> Error {
    Error::new(at, ErrorKind::Io(doing, e))
}
