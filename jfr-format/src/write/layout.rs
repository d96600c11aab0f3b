//! The bytes that chunks are made of besides their events: paddings, empty chunks, alignment.

use super::storage::PAGE;
use super::ticks::Ticks;
use crate::chunk::{FLAG_FINAL, HEADER_LEN, Header, PADDING_TYPE};
use crate::varint;

/// Padding before a block that a flush appends: the old padding, shrunk.
pub(super) const SHRUNK_PADDING: u64 = 8;
/// Space that must be left for the new padding behind a block.
pub(super) const MIN_PADDING: u64 = 16;
/// Bytes of a padding's size: five carry any size that fits a 32-bit signed number.
const SIZE_BYTES: usize = 5;
pub(super) const PAGE_BYTES: u64 = PAGE as u64;
/// [`PADDING_TYPE`] as the byte that it is in the file.
const PADDING_BYTE: u8 = 0;
const _: () = assert!(PADDING_BYTE as u64 == PADDING_TYPE, "one byte");

/// First event of every chunk: two bytes of nothing.
///
/// Until the old chunk's size is patched, a reader of the old chunk takes the new header for an
/// event of 70 bytes (`'F'`) of type 76 (`'L'`): the header's 68 and these two.
pub(super) const CHUNK_LEAD: [u8; 2] = [2, PADDING_BYTE];

/// What a new block contains for the header; positions relative to the block's first byte.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Marks {
    pub(super) checkpoint: Option<usize>,
    pub(super) metadata: Option<usize>,
}

/// What an empty chunk has between its header and its padding, at offset [`HEADER_LEN`] of the
/// chunk.
#[derive(Debug)]
pub(super) struct Stub {
    pub(super) body: Vec<u8>,
    pub(super) marks: Marks,
}

impl Stub {
    /// An empty chunk of `size` bytes without its header, without what follows the begin of its
    /// padding; and the header. It is the `n`th behind the chunk `like` and begins so many ticks
    /// later: readers put chunks in order by their begin.
    pub(super) fn chunk(&self, size: u64, n: u32, like: &Header) -> (Header, Vec<u8>) {
        let mut header = Header {
            size,
            start_nanos: like.start_nanos + i64::from(n) * Ticks::NANOS.cast_signed(),
            start_ticks: like.start_ticks + i64::from(n),
            duration_nanos: 0,
            flags: like.flags & !FLAG_FINAL,
            ..*like
        };
        mark(&mut header, self.marks, HEADER_LEN as u64);
        let mut body = self.body.clone();
        let padding_at = align(HEADER_LEN as u64, &mut body);
        body.extend_from_slice(&padding_start(size - padding_at));
        (header, body)
    }

    /// Bytes that an empty chunk needs.
    pub(super) fn least(&self) -> u64 {
        let mut body = self.body.clone();
        align(HEADER_LEN as u64, &mut body) + MIN_PADDING
    }
}

/// The end of the page in which `at` is, or where it begins.
pub(super) fn page_end(at: u64) -> u64 {
    at.next_multiple_of(PAGE_BYTES)
}

/// Records in `header` what a block at `offset` of its chunk contains.
pub(super) fn mark(header: &mut Header, marks: Marks, offset: u64) {
    if let Some(at) = marks.checkpoint {
        header.checkpoint = offset + at as u64;
    }
    if let Some(at) = marks.metadata {
        header.metadata = offset + at as u64;
    }
}

/// Appends an empty event so that `content`, which begins at `at`, ends at a multiple of eight.
///
/// It has four bytes or more, and is always there: async-profiler's converter reads four bytes
/// where an event of type `'L'` begins, to see whether it is a chunk, and fails where the file ends
/// before them. The weight 76 of a sample looks like it.
pub(super) fn align(at: u64, content: &mut Vec<u8>) -> u64 {
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
pub(super) fn padding_start(size: u64) -> [u8; SIZE_BYTES + 1] {
    let mut bytes = [PADDING_BYTE; SIZE_BYTES + 1];
    bytes[..SIZE_BYTES].copy_from_slice(&varint::padded::<SIZE_BYTES>(size));
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_is_aligned_by_a_filler_event() {
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
