//! Where things are in the file, and the order of writes that keeps it readable at every instant.
//!
//! ```text
//!  chunk … chunk │ header │ events, checkpoints, metadata │ padding event ················ │
//!                chunk_start                              padding_at (8-aligned)           file_len
//! ```
//! The last chunk's size always reaches to the end of the file, because its tail is one event of an
//! undeclared type. New data are written *inside* that event, where no reader looks; then a few writes
//! of at most 68 bytes, each of which leaves a readable file, make them visible. A write that changes
//! a visible field changes it inside one aligned 8-byte word, so that it is done or not done.
//!
//! Rejected: append, then patch the header. A kill in between leaves bytes after the last chunk, and
//! the JDK's tools then give no event at all.

use std::collections::VecDeque;

use super::storage::Storage;
use crate::chunk::{
    CHECKPOINT_AT, DURATION_AT, FLAG_FINAL, FLAGS_AT, HEADER_LEN, Header, PADDING_TYPE, SIZE_AT,
};
use crate::error::{Error, ErrorKind, Result};
use crate::planted;
use crate::varint;

/// Padding before a block that a flush appends: the old padding, shrunk.
const SHRUNK: u64 = 8;
/// Room that must be left for the new padding behind a block.
const TAIL: u64 = 16;
/// Bytes of a padding's size: five carry any size that fits a 32-bit signed number.
const SIZE_BYTES: usize = 5;
/// A hole is at most this large: the padding's size must stay below 2^31, and JMC reads a chunk into memory.
const MAX_HOLE: u64 = 1 << 30;
const MIN_HOLE: u64 = 64;
/// Copying for a snapshot goes by blocks of this size.
const COPY_BLOCK: usize = 1 << 18;

/// [`PADDING_TYPE`] as the byte that it is in the file.
const PADDING_BYTE: u8 = b'L';
const _: () = assert!(
    PADDING_BYTE as u64 == PADDING_TYPE,
    "one byte, the magic's second"
);

/// First event of every chunk: two bytes of nothing.
///
/// Until the old chunk's size is patched, a reader of the old chunk takes the new header for an event
/// of 70 bytes (`'F'`) of type 76 (`'L'`): the header's 68 and these two.
pub(super) const CHUNK_LEAD: [u8; 2] = [2, PADDING_BYTE];

/// A write that makes something visible.
#[derive(Debug, Clone)]
struct Commit {
    at: u64,
    bytes: [u8; HEADER_LEN],
    len: usize,
    doing: &'static str,
}

/// What a new block contains for the header; positions relative to the block's first byte.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Marks {
    pub(super) checkpoint: Option<usize>,
    pub(super) metadata: Option<usize>,
}

/// The file under construction.
#[derive(Debug)]
pub(super) struct ChunkFile<S> {
    storage: S,
    chunk_start: u64,
    padding_at: u64,
    file_len: u64,
    /// The current chunk's header as it is once `commits` are done.
    header: Header,
    /// To be done in this order before anything else is written.
    commits: VecDeque<Commit>,
    reserve: u64,
}

impl<S: Storage> ChunkFile<S> {
    /// Writes the first chunk and gives the file its name. `body` follows the header.
    pub(super) fn create(
        storage: S,
        reserve: u64,
        mut header: Header,
        body: &mut Vec<u8>,
        marks: Marks,
    ) -> Result<Self> {
        let reserve = reserve.clamp(MIN_HOLE, MAX_HOLE);
        let padding_at = align(HEADER_LEN as u64, body);
        let file_len = padding_at + reserve;
        header.size = file_len;
        mark(&mut header, marks, HEADER_LEN as u64);
        let padding = padding_start(reserve);
        let commits = VecDeque::new();
        let mut file = Self {
            storage,
            chunk_start: 0,
            padding_at,
            file_len,
            header,
            commits,
            reserve,
        };
        file.storage
            .set_len(file_len)
            .map_err(|e| io(0, "reserving space", e))?;
        file.write(0, &header.to_bytes(), "writing the first header")?;
        body.extend_from_slice(&padding);
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

    /// Length of the file without its hole.
    pub(super) fn content_len(&self) -> u64 {
        self.padding_at
    }

    /// Bytes of the current chunk without its hole.
    pub(super) fn chunk_len(&self) -> u64 {
        self.padding_at - self.chunk_start
    }

    pub(super) fn header(&self) -> &Header {
        &self.header
    }

    /// Offset in the chunk at which a block would begin.
    pub(super) fn next_block_offset(&self) -> u64 {
        self.chunk_len() + SHRUNK
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
        let at = self.padding_at + SHRUNK;
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
        self.plan(padding_at, &padding_start(SHRUNK), "showing new events");
        if planted::is("shown-before-constants") {
            self.commits.swap(0, 1);
        }
        self.padding_at = end;
        Ok(())
    }

    /// Writes a new chunk inside the padding and plans the commits that show it.
    ///
    /// On error nothing has changed, and `body` is as it was.
    pub(super) fn write_chunk(
        &mut self,
        body: &mut Vec<u8>,
        mut header: Header,
        marks: Marks,
    ) -> Result<()> {
        debug_assert!(self.commits.is_empty() && body.starts_with(&CHUNK_LEAD));
        let start = self.padding_at;
        let at = start + HEADER_LEN as u64;
        let end = self.write_before_padding(at, body, "writing a new chunk")?;
        mark(&mut header, marks, HEADER_LEN as u64);
        header.size = self.file_len - start;
        self.plan(start, &header.to_bytes(), "showing a new chunk");
        let old_size = start - self.chunk_start;
        let old_size_at = self.chunk_start + SIZE_AT as u64;
        self.plan(
            old_size_at,
            &old_size.to_be_bytes(),
            "closing the old chunk",
        );
        if planted::is("closed-before-next") {
            self.commits.swap(0, 1);
        }
        self.header = header;
        self.chunk_start = start;
        self.padding_at = end;
        Ok(())
    }

    /// Sets the duration of the current chunk.
    pub(super) fn set_duration(&mut self, nanos: i64) {
        self.header.duration_nanos = nanos;
        let at = self.chunk_start + DURATION_AT as u64;
        self.plan(at, &nanos.to_be_bytes(), "updating the duration");
    }

    /// Marks the last chunk as final and removes the hole, if the file is at most `limit` bytes long.
    /// Says whether the hole is gone.
    pub(super) fn finish(&mut self, limit: u64) -> Result<bool> {
        self.commit()?;
        self.header.flags |= FLAG_FINAL;
        if self.padding_at <= limit && self.compact().is_ok() {
            return Ok(true);
        }
        // A copy is not possible: the hole stays, which is as good, but looks large.
        let flags = self.header.flags.to_be_bytes();
        self.plan(
            self.chunk_start + FLAGS_AT as u64,
            &flags,
            "marking the last chunk",
        );
        self.commit()?;
        Ok(false)
    }

    fn compact(&mut self) -> std::io::Result<()> {
        let len = self.padding_at;
        let size = (len - self.chunk_start).to_be_bytes();
        let flags = self.header.flags.to_be_bytes();
        let size_at = self.chunk_start + SIZE_AT as u64;
        let flags_at = self.chunk_start + FLAGS_AT as u64;
        self.storage
            .replace(len, len, &[(size_at, &size), (flags_at, &flags)])?;
        self.header.size = len - self.chunk_start;
        self.file_len = len;
        Ok(())
    }

    /// Writes everything but the hole into `target` and publishes it.
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

    /// Writes `content` at `at`, inside the padding, with a new padding behind it; returns its place.
    fn write_before_padding(
        &mut self,
        at: u64,
        content: &mut Vec<u8>,
        doing: &'static str,
    ) -> Result<u64> {
        let len = content.len();
        let end = align(at, content);
        let outcome = self.make_room(end + TAIL).and_then(|()| {
            content.extend_from_slice(&padding_start(self.file_len - end));
            self.write(at, content, doing)
        });
        if outcome.is_err() {
            content.truncate(len);
        }
        outcome.map(|()| end)
    }

    /// Makes the file longer than `end`, by a copy with a larger hole that takes its place.
    ///
    /// Making the file itself longer would leave, for one system call, a file that is longer than its
    /// header says.
    fn make_room(&mut self, end: u64) -> Result<()> {
        if end <= self.file_len {
            return Ok(());
        }
        // Doubling keeps the cost of copying proportional to what is written.
        let hole = self.padding_at.clamp(self.reserve, MAX_HOLE);
        let len = end + hole;
        let keep = self.padding_at;
        if len - keep >= 1 << 31 {
            return Err(Error::new(
                keep,
                ErrorKind::Refused("more than 1 GiB at once"),
            ));
        }
        let size = (len - self.chunk_start).to_be_bytes();
        let padding = padding_start(len - keep);
        let size_at = self.chunk_start + SIZE_AT as u64;
        let replaced = self
            .storage
            .replace(keep, len, &[(size_at, &size), (keep, &padding)]);
        replaced.map_err(|e| io(keep, "growing the file", e))?;
        self.header.size = len - self.chunk_start;
        self.file_len = len;
        Ok(())
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

/// Records in `header` what a block at `offset` of its chunk contains.
fn mark(header: &mut Header, marks: Marks, offset: u64) {
    if let Some(at) = marks.checkpoint {
        header.checkpoint = offset + at as u64;
    }
    if let Some(at) = marks.metadata {
        header.metadata = offset + at as u64;
    }
}

/// Appends an empty event so that `content`, which begins at `at`, ends at a multiple of eight.
///
/// It has four bytes or more, and is always there: async-profiler's converter reads four bytes where an event of type `'L'` begins, to
/// see whether it is a chunk, and fails where the file ends before them. Type `'L'` is this event, and the weight 76 of a sample
/// looks like it.
fn align(at: u64, content: &mut Vec<u8>) -> u64 {
    let end = at + content.len() as u64;
    let gap = match end.wrapping_neg() % 8 {
        gap @ 0..4 => gap + 8,
        gap => gap,
    };
    varint::put(content, gap);
    content.push(PADDING_BYTE);
    content.extend((2..gap).map(|_| 0));
    end + gap
}

/// The first bytes of a padding event of `size` bytes; fits one aligned word.
fn padding_start(size: u64) -> [u8; SIZE_BYTES + 1] {
    let mut bytes = [PADDING_BYTE; SIZE_BYTES + 1];
    bytes[..SIZE_BYTES].copy_from_slice(&varint::padded::<SIZE_BYTES>(size));
    bytes
}

fn io(at: u64, doing: &'static str, e: std::io::Error) -> Error {
    Error::new(at, ErrorKind::Io(doing, e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_ends_at_a_multiple_of_eight_with_an_event_of_four_bytes_or_more() {
        for at in 0..8 {
            for len in 0..20 {
                let mut content = vec![7; len];
                let end = align(at, &mut content);
                assert_eq!(end % 8, 0);
                assert_eq!(end, at + content.len() as u64);
                let event = &content[len..];
                assert!((4..=11).contains(&event.len()));
                assert_eq!(
                    event[..2],
                    [u8::try_from(event.len()).unwrap_or(0), PADDING_BYTE]
                );
            }
        }
    }
}
