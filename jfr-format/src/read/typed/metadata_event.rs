//! Which metadata event of a chunk counts: the one that the header names, else the last that can be
//! read.

use super::metadata::Metadata;
use crate::chunk::{HEADER_LEN, METADATA_TYPE};
use crate::error::{Error, ErrorKind};
use crate::read::raw::cursor::Cursor;
use crate::read::raw::event::{RawEvent, RawEvents, events_of};

/// The metadata event at an offset.
pub(crate) fn metadata_at(bytes: &[u8], offset: u64) -> Result<RawEvent<'_>, Error> {
    let event = RawEvents::at(bytes, offset)?;
    if event.type_id == METADATA_TYPE && offset >= HEADER_LEN as u64 {
        return Ok(event);
    }
    Err(Error::new(
        offset,
        ErrorKind::BadOffset(offset.cast_signed()),
    ))
}

/// Reads the metadata; what was wrong with the event that the header names goes to `errors`.
pub(crate) fn read_metadata(
    bytes: &[u8],
    offset: u64,
    errors: &mut Vec<Error>,
) -> Result<Metadata, Error> {
    let named = metadata_at(bytes, offset).and_then(|event| Metadata::parse(&event));
    let error = match named {
        Ok(metadata) => return Ok(metadata),
        Err(error) => error,
    };
    let events = events_of(bytes).map_while(Result::ok);
    let others: Vec<RawEvent<'_>> = events
        .filter(|event| event.type_id == METADATA_TYPE && event.offset != offset)
        .filter(|event| !event.is_padding())
        .collect();
    // The last one that can be read: behind it there may be paddings with remains in them.
    let found = others
        .iter()
        .rev()
        .find_map(|event| Metadata::parse(event).ok());
    let Some(metadata) = found else {
        return Err(match (error.kind(), others.last()) {
            (ErrorKind::BadOffset(_), None) => Error::new(
                error.at(),
                ErrorKind::BadMetadata("no metadata event in this chunk"),
            ),
            (ErrorKind::BadOffset(_), Some(last)) => match Metadata::parse(last) {
                Ok(_) => error,
                Err(why) => why,
            },
            _ => error,
        });
    };
    errors.push(error);
    Ok(metadata)
}

/// What a metadata event says, without when.
pub(crate) fn content<'a>(event: &RawEvent<'a>) -> Option<&'a [u8]> {
    let mut cursor = Cursor::new(event.payload, event.payload_offset);
    cursor.skip_varint().ok()?; // start
    cursor.skip_varint().ok()?; // duration
    cursor.take(cursor.left() as u64).ok()
}
