//! The chunks of a stream: one in memory at a time.

use std::io::{self, Read};

use super::boundaries::{SearchProgress, Span, next_span};
use super::chunks::Chunk;
use super::corruption::{Corruption, push_corruption};
use crate::chunk::{HEADER_LEN, Header, SIZE_AT};
use crate::error::{Error, ErrorKind};

/// A chunk with its own memory, as [`ChunkStream`] gives it.
#[derive(Debug, Clone)]
pub struct OwnedChunk {
    /// Offset of its first byte in the stream.
    pub offset: u64,
    /// The header as it stands.
    pub header: Header,
    bytes: Vec<u8>,
}

impl OwnedChunk {
    /// The chunk, for everything that wants one.
    pub fn as_chunk(&self) -> Chunk<'_> {
        Chunk {
            offset: self.offset,
            header: self.header,
            bytes: &self.bytes,
        }
    }
}

/// The chunks of a stream, one after the other. Holds one chunk; allocates no more than the stream
/// really gave.
#[derive(Debug)]
pub struct ChunkStream<R> {
    input: R,
    buffer: Vec<u8>,
    /// How much of `buffer` has been given out.
    used: usize,
    /// Offset of `buffer[used]` in the stream.
    offset: u64,
    eof: bool,
    /// What ended the stream early; reported once everything before it has been given.
    failed: Option<io::Error>,
    /// Most bytes of the stream held at a time.
    max_held_bytes: u64,
    known: SearchProgress,
    corruptions: Vec<Corruption>,
}

impl<R: Read> ChunkStream<R> {
    /// Starts at the stream's present position, which counts as offset 0.
    pub fn new(input: R) -> Self {
        Self {
            input,
            buffer: Vec::new(),
            used: 0,
            offset: 0,
            eof: false,
            failed: None,
            max_held_bytes: u64::MAX,
            known: SearchProgress::default(),
            corruptions: Vec::new(),
        }
    }

    /// The same, but never with more than `bytes` of the stream in memory. A longer chunk is given
    /// up to its last whole event within them, and reported as a corruption.
    #[must_use]
    pub fn holding_at_most(mut self, bytes: u64) -> Self {
        self.max_held_bytes = bytes.max(HEADER_LEN as u64);
        self
    }

    /// What was skipped or cut so far.
    pub fn corruptions(&self) -> &[Corruption] {
        &self.corruptions
    }

    /// The next chunk, or `None` at the end.
    ///
    /// # Errors
    /// Only what the stream itself reports, once, instead of the end: the chunks before it, the
    /// last one perhaps cut, have been given. Whatever the bytes say goes to
    /// [`ChunkStream::corruptions`].
    pub fn next_chunk(&mut self) -> io::Result<Option<OwnedChunk>> {
        loop {
            match self.span() {
                Span::End => return self.failed.take().map_or(Ok(None), Err),
                Span::More(total) => self.fill(total.min(self.max_held_bytes)),
                Span::Skip { len, error } => {
                    self.corruption(error);
                    self.advance(len);
                    if !self.eof && self.buffer.len() - self.used < HEADER_LEN {
                        self.fill(64 << 10);
                    }
                }
                Span::Chunk { header, len, error } => {
                    if let Some(error) = error {
                        self.corruption(error);
                    }
                    return Ok(Some(OwnedChunk {
                        offset: self.offset,
                        header,
                        bytes: self.take(len),
                    }));
                }
            }
        }
    }

    /// What stands at the start of what has not been given out; where more may not be held, the
    /// rest does not count.
    fn span(&mut self) -> Span {
        self.known.base = self.offset;
        let bytes = &self.buffer[self.used..];
        let span = next_span(bytes, self.eof, &mut self.known);
        if !matches!(span, Span::More(_)) || (bytes.len() as u64) < self.max_held_bytes {
            return span;
        }
        match next_span(bytes, true, &mut self.known) {
            Span::Chunk {
                header,
                len,
                error: Some(_),
            } => Span::Chunk {
                header,
                len,
                error: Some(Error::new(
                    SIZE_AT as u64,
                    ErrorKind::TooLong {
                        found: header.size,
                        most: self.max_held_bytes,
                    },
                )),
            },
            span => span,
        }
    }

    fn corruption(&mut self, error: Error) {
        let chunk_offset = self.offset;
        push_corruption(
            &mut self.corruptions,
            Corruption {
                chunk_offset,
                error,
            },
        );
    }

    /// Takes the next bytes out of the buffer.
    fn take(&mut self, len: usize) -> Vec<u8> {
        let rest = self.buffer.len() - self.used - len;
        if rest > len {
            let bytes = self.buffer[self.used..self.used + len].to_vec();
            self.advance(len);
            return bytes;
        }
        // The usual case: the chunk, and the start of the next one. Nothing big is copied, and the
        // chunk is not held twice.
        self.buffer.drain(..self.used);
        self.used = 0;
        self.offset += len as u64;
        let rest = self.buffer.split_off(len);
        std::mem::replace(&mut self.buffer, rest)
    }

    fn advance(&mut self, len: usize) {
        self.used = (self.used + len).min(self.buffer.len());
        self.offset += len as u64;
        // Move the rest down only when that is cheaper than what was used up.
        if self.used > self.buffer.len() / 2 {
            self.buffer.drain(..self.used);
            self.used = 0;
        }
    }

    /// Reads until the unused part of the buffer holds `total` bytes or the stream ends. A stream
    /// that fails ends there: what it gave counts.
    fn fill(&mut self, total: u64) {
        self.buffer.drain(..self.used);
        self.used = 0;
        let missing = total.saturating_sub(self.buffer.len() as u64);
        let mut wanted = self.input.by_ref().take(missing);
        match wanted.read_to_end(&mut self.buffer) {
            Ok(got) => self.eof = (got as u64) < missing,
            Err(error) => {
                self.eof = true;
                self.failed = Some(error);
            }
        }
    }
}

#[cfg(test)]
mod tests;
