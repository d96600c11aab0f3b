//! The chunks of a file that is in memory.

use super::boundaries::{SearchProgress, Span, next_span};
use super::corruption::{Corruption, push_corruption};
use super::event::{RawEvents, events_of};
use crate::chunk::Header;

/// A chunk: where it lies, its header, its bytes (header included).
#[derive(Debug, Clone)]
pub struct Chunk<'a> {
    /// Offset of its first byte in the file.
    pub offset: u64,
    /// The header as it stands.
    pub header: Header,
    /// The bytes, up to the chunk's end or to where the file stops making sense.
    pub bytes: &'a [u8],
}

impl<'a> Chunk<'a> {
    /// The events in file order, metadata and checkpoints included.
    pub fn raw_events(&self) -> RawEvents<'a> {
        events_of(self.bytes)
    }
}

/// The chunks of a file that is in memory. Never ends early: what is not a chunk is skipped and
/// noted in [`Chunks::corruptions`].
#[derive(Debug)]
pub struct Chunks<'a> {
    bytes: &'a [u8],
    pos: usize,
    known: SearchProgress,
    corruptions: Vec<Corruption>,
}

impl<'a> Chunks<'a> {
    /// Starts at the first byte of a file.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            pos: 0,
            known: SearchProgress::default(),
            corruptions: Vec::new(),
        }
    }

    /// What was skipped or cut so far.
    pub fn corruptions(&self) -> &[Corruption] {
        &self.corruptions
    }
}

impl<'a> Iterator for Chunks<'a> {
    type Item = Chunk<'a>;

    fn next(&mut self) -> Option<Chunk<'a>> {
        loop {
            let rest = &self.bytes[self.pos..];
            let offset = self.pos as u64;
            self.known.base = offset;
            match next_span(rest, true, &mut self.known) {
                Span::End | Span::More(_) => return None,
                Span::Skip { len, error } => {
                    push_corruption(
                        &mut self.corruptions,
                        Corruption {
                            chunk_offset: offset,
                            error,
                        },
                    );
                    self.pos += len;
                }
                Span::Chunk { header, len, error } => {
                    if let Some(error) = error {
                        push_corruption(
                            &mut self.corruptions,
                            Corruption {
                                chunk_offset: offset,
                                error,
                            },
                        );
                    }
                    self.pos += len;
                    return Some(Chunk {
                        offset,
                        header,
                        bytes: &rest[..len],
                    });
                }
            }
        }
    }
}
