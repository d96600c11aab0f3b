//! Where a chunk ends and the next one begins, also in a file that was cut, or has garbage in it.
//!
//! A header's size is believed if it leads to another sound header or to the end of the file.
//! Where it does not, the next chunk is searched for; garbage is left out up to the next magic.

use super::event::RawEvents;
use crate::chunk::{HEADER_LEN, Header, MAGIC, SIZE_AT, STATE_AT};
use crate::error::{Error, ErrorKind};

/// Chunks above are refused: pool entries are remembered by 32-bit offsets (no known writer comes
/// near).
const MAX_CHUNK: u64 = u32::MAX as u64;

/// What stands at the start of the bytes not yet given out.
pub(super) enum Span {
    /// More bytes are needed to decide, at least so many in all.
    More(u64),
    /// A chunk of `len` bytes, perhaps cut short.
    Chunk {
        header: Header,
        len: usize,
        error: Option<Error>,
    },
    /// `len` bytes to throw away; the error is `None` where they continue earlier garbage.
    Skip {
        len: usize,
        error: Error,
    },
    End,
}

fn sound_header(bytes: &[u8]) -> bool {
    Header::parse(bytes).is_ok_and(|header| header.check().is_ok())
}

/// Where the next magic starts.
fn find_magic(bytes: &[u8]) -> Option<usize> {
    // A byte is looked for much faster than four: a packed file can be a gigabyte of nothing.
    const BLOCK: usize = 4096;
    let mut from = 0;
    while from < bytes.len() {
        let end = bytes.len().min(from + BLOCK);
        if bytes[from..end].contains(&MAGIC[0]) {
            let reach = bytes.len().min(end + MAGIC.len() - 1);
            let mut windows = bytes[from..reach].windows(MAGIC.len());
            if let Some(found) = windows.position(|window| window == MAGIC) {
                return Some(from + found);
            }
        }
        from = end;
    }
    None
}

/// Where the next sound header starts in `bytes`, from `from` on.
fn find_header(bytes: &[u8], from: usize) -> Option<usize> {
    let mut from = from;
    loop {
        let found = from + find_magic(bytes.get(from..)?)?;
        if sound_header(&bytes[found..]) {
            return Some(found);
        }
        from = found + 1;
    }
}

/// Where a chunk starts within the first `within` bytes, behind its own header, that ends where the
/// file or another chunk says so.
///
/// A sound header is not enough: the JDK puts copies of headers into its pools.
fn find_chunk(file: &[u8], within: usize, known: &mut SearchProgress) -> Option<usize> {
    // The header itself may reach beyond.
    let searched = &file[..file.len().min(within + HEADER_LEN - 1)];
    let mut from = known.from().max(HEADER_LEN);
    loop {
        let Some(found) = find_header(searched, from) else {
            known.nothing_below(within);
            return None;
        };
        let size = Header::parse(&file[found..]).map_or(0, |header| header.size);
        let end = usize::try_from(size)
            .ok()
            .and_then(|size| found.checked_add(size));
        if let Some(end) = end
            && size >= HEADER_LEN as u64
            && (end == file.len() || file.get(end..).is_some_and(sound_header))
        {
            known.nothing_below(found);
            return Some(found);
        }
        from = found + 1;
    }
}

/// How far [`find_chunk`] has searched already, so that a file of many bad headers is not searched
/// once per header.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SearchProgress {
    /// Offset of the first byte of the slice at hand.
    pub(super) base: u64,
    /// Below this offset no chunk starts.
    nothing_below: u64,
}

impl SearchProgress {
    fn from(self) -> usize {
        usize::try_from(self.nothing_below.saturating_sub(self.base)).unwrap_or(usize::MAX)
    }

    fn nothing_below(&mut self, place: usize) {
        self.nothing_below = self.nothing_below.max(self.base + place as u64);
    }
}

/// Where the events of an unfinished or cut chunk end: at the next chunk, or at the first event
/// that does not fit.
fn walk_to_end(bytes: &[u8]) -> usize {
    let mut pos = HEADER_LEN;
    while pos < bytes.len() {
        if bytes[pos..].starts_with(&MAGIC) && sound_header(&bytes[pos..]) {
            return pos;
        }
        match RawEvents::at(bytes, pos as u64) {
            #[expect(
                clippy::cast_possible_truncation,
                reason = "an event lies within the slice"
            )]
            Ok(event) => pos += event.size as usize,
            Err(_) => return pos,
        }
    }
    bytes.len()
}

/// What stands at the start of `bytes`; `eof` says that no more bytes follow them.
pub(super) fn next_span(bytes: &[u8], eof: bool, known: &mut SearchProgress) -> Span {
    if bytes.is_empty() && eof {
        return Span::End;
    }
    if bytes.len() < HEADER_LEN && !eof {
        return Span::More(HEADER_LEN as u64);
    }
    let header = match Header::parse(bytes).and_then(|header| header.check().map(|()| header)) {
        Ok(header) => header,
        Err(error) => return span_without_header(bytes, eof, error),
    };
    // The JDK leaves the size of an empty chunk in the header until its first flush.
    let is_begun = header.state != 0 && header.size == HEADER_LEN as u64;
    let has_size = header.size >= HEADER_LEN as u64 && !is_begun;
    if has_size && header.size <= bytes.len() as u64 {
        if header.size > MAX_CHUNK {
            let len = usize::try_from(header.size).unwrap_or(bytes.len());
            return Span::Skip {
                len,
                error: too_big(),
            };
        }
        #[expect(clippy::cast_possible_truncation, reason = "not more than the slice")]
        let len = header.size as usize;
        let rest = &bytes[len..];
        if rest.len() < HEADER_LEN && !eof {
            return Span::More((len + HEADER_LEN) as u64);
        }
        if !rest.is_empty() && !sound_header(rest) {
            if !eof {
                // Rare, and only the whole rest can answer it.
                return Span::More(u64::MAX);
            }
            // The size leads nowhere: the chunk may have been cut, and the next one lies within.
            if let Some(next) = find_chunk(bytes, len, known) {
                return Span::Chunk {
                    header,
                    len: next,
                    error: Some(wrong_size(&header, next)),
                };
            }
        }
        let error = (header.state != 0).then(|| wrong_size(&header, len));
        return Span::Chunk { header, len, error };
    }
    if !eof {
        return Span::More(if has_size { header.size } else { u64::MAX });
    }
    let len = find_chunk(bytes, bytes.len(), known).unwrap_or_else(|| walk_to_end(bytes));
    if len as u64 > MAX_CHUNK {
        return Span::Skip {
            len,
            error: too_big(),
        };
    }
    let error = Some(wrong_size(&header, len));
    Span::Chunk { header, len, error }
}

fn too_big() -> Error {
    Error::new(
        SIZE_AT as u64,
        ErrorKind::LimitExceeded("chunk of 4 GiB or more"),
    )
}

/// A chunk that does not end where its header says, or that is not finished.
fn wrong_size(header: &Header, actual: usize) -> Error {
    let (found, state, actual) = (header.size, header.state, actual as u64);
    if state != 0 || found == 0 {
        let kind = ErrorKind::Unfinished {
            state,
            found,
            actual,
        };
        return Error::new(STATE_AT as u64, kind);
    }
    Error::new(SIZE_AT as u64, ErrorKind::WrongChunkSize { found, actual })
}

/// Garbage, or a chunk whose header rules it out: what to throw away.
fn span_without_header(bytes: &[u8], eof: bool, error: Error) -> Span {
    if bytes.starts_with(&MAGIC) {
        if bytes.len() < HEADER_LEN {
            return Span::Skip {
                len: bytes.len(),
                error,
            };
        }
        // The size is believed only if it leads to another chunk or to the end.
        let mut eight = [0; 8];
        eight.copy_from_slice(&bytes[SIZE_AT..SIZE_AT + 8]);
        let size = u64::from_be_bytes(eight);
        if !eof && size >= HEADER_LEN as u64 {
            return Span::More(u64::MAX);
        }
        let end = usize::try_from(size).unwrap_or(usize::MAX);
        let leads_on =
            end < bytes.len() && sound_header(&bytes[end..]) || eof && end == bytes.len();
        if end >= HEADER_LEN && leads_on {
            return Span::Skip { len: end, error };
        }
    }
    // The next magic, sound or not, so that a stream, which sees less at a time, comes by the same
    // places.
    let next = bytes.get(1..).and_then(find_magic);
    let len = match next {
        Some(found) => found + 1,
        None if eof => bytes.len(),
        // The last bytes may be the start of one.
        None => bytes.len() - (MAGIC.len() - 1),
    };
    if bytes.starts_with(&MAGIC) {
        return Span::Skip { len, error };
    }
    Span::Skip {
        len,
        error: Error::new(0, ErrorKind::Garbage { len: len as u64 }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_magic_is_found_wherever_it_lies() {
        for at in [0, 1, 4092, 4093, 4094, 4095, 4096, 4097, 9000] {
            let mut bytes = [&vec![b'F'; at][..], b"FLR\0", &[0; 10]].concat();
            assert_eq!(find_magic(&bytes), Some(at), "{at}");
            bytes.truncate(at + 3);
            assert_eq!(find_magic(&bytes), None, "{at}");
        }
        assert_eq!(find_magic(b""), None);
    }
}
