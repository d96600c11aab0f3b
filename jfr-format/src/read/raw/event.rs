//! Events before their meaning: where each begins and ends. Cost: a few bytes of each event are
//! read.

use super::cursor::Cursor;
use crate::chunk::{HEADER_LEN, HEADER_TYPE, PADDING_TYPE};
use crate::error::{Error, ErrorKind};
use crate::varint;

/// The events of a chunk's bytes.
pub(crate) fn events_of(bytes: &[u8]) -> RawEvents<'_> {
    RawEvents {
        bytes,
        pos: HEADER_LEN.min(bytes.len()),
    }
}

/// An event before its meaning: place, type id, bytes after the type id.
#[derive(Debug, Clone, Copy)]
pub struct RawEvent<'a> {
    /// Offset of its first byte from the chunk's start.
    pub offset: u64,
    /// Bytes, size field included.
    pub size: u64,
    /// The type's id: 0 metadata, 1 checkpoint, else declared in the metadata or unknown.
    pub type_id: u64,
    /// Offset of the payload from the chunk's start.
    pub payload_offset: u64,
    /// What follows the type id.
    pub payload: &'a [u8],
}

impl RawEvent<'_> {
    /// Whether it fills a gap: an event of the type of metadata without any, or a header read as an
    /// event.
    pub fn is_padding(&self) -> bool {
        // Metadata begin with start, duration, id and the number of their strings, of which there
        // are some.
        let is_empty = self.payload.iter().take(4).all(|&byte| byte == 0);
        self.type_id == HEADER_TYPE || self.type_id == PADDING_TYPE && is_empty
    }
}

/// Iterator over the events of a chunk. After an error it is at its end: without a size there is no
/// next event.
#[derive(Debug, Clone)]
pub struct RawEvents<'a> {
    bytes: &'a [u8],
    pos: usize,
}

impl<'a> RawEvents<'a> {
    /// The one event that starts at `offset`.
    #[inline]
    pub(crate) fn at(bytes: &'a [u8], offset: u64) -> Result<RawEvent<'a>, Error> {
        let rest = usize::try_from(offset)
            .ok()
            .and_then(|pos| bytes.get(pos..))
            .unwrap_or_default();
        // Two varints, mostly of a byte or two: this is the way to every event.
        let (size, size_len) = match *rest {
            [size, ..] if size < 0x80 => (u64::from(size), 1),
            _ => {
                let mut cursor = Cursor::new(rest, offset);
                (cursor.varint()?, cursor.pos())
            }
        };
        if size <= size_len as u64 {
            return Err(Error::new(offset, ErrorKind::BadSize(size)));
        }
        let event = usize::try_from(size).ok().and_then(|size| rest.get(..size));
        let Some(body) = event.and_then(|event| event.get(size_len..)) else {
            let mut cursor = Cursor::new(rest, offset);
            cursor.take(size_len as u64)?;
            return Err(cursor.truncated(size - size_len as u64));
        };
        let (type_id, id_len) = match *body {
            [id, ..] if id < 0x80 => (u64::from(id), 1),
            [low, high, ..] if high < 0x80 => (u64::from(low & 0x7f) | u64::from(high) << 7, 2),
            _ => match varint::get(body) {
                Some(read) => read,
                None => return Err(Error::new(offset, ErrorKind::BadSize(size))),
            },
        };
        Ok(RawEvent {
            offset,
            size,
            type_id,
            payload_offset: offset + (size_len + id_len) as u64,
            payload: &body[id_len..],
        })
    }
}

impl<'a> Iterator for RawEvents<'a> {
    type Item = Result<RawEvent<'a>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.pos >= self.bytes.len() {
            return None;
        }
        let event = RawEvents::at(self.bytes, self.pos as u64);
        match &event {
            #[expect(
                clippy::cast_possible_truncation,
                reason = "an event lies within the slice"
            )]
            Ok(event) => self.pos += event.size as usize,
            Err(_) => self.pos = self.bytes.len(),
        }
        Some(event)
    }
}
