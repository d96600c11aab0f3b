//! What is wrong in a file and did not stop its reader.

use std::fmt;

use crate::error::{Error, ErrorKind};

/// Something wrong that did not stop the reading: the chunk, and the place in it.
#[derive(Debug)]
pub struct Corruption {
    /// Offset of the chunk from the first byte of the file.
    pub chunk_offset: u64,
    /// What is wrong; its place counts from the chunk's first byte.
    pub error: Error,
}

impl fmt::Display for Corruption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "chunk at {}, {}", self.chunk_offset, self.error)
    }
}

impl std::error::Error for Corruption {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

/// Most corruptions remembered: a hostile file has one every few bytes, the first thousand say
/// enough.
pub(crate) const MAX_CORRUPTIONS: usize = 1000;

/// Adds corruption; joins what is one stretch of garbage.
pub(crate) fn push_corruption(corruptions: &mut Vec<Corruption>, corruption: Corruption) {
    if let Some(last) = corruptions.last_mut()
        && let (&ErrorKind::Garbage { len }, &ErrorKind::Garbage { len: more }) =
            (last.error.kind(), corruption.error.kind())
        && last.chunk_offset + len == corruption.chunk_offset
    {
        last.error = Error::new(0, ErrorKind::Garbage { len: len + more });
        return;
    }
    if corruptions.len() < MAX_CORRUPTIONS {
        corruptions.push(corruption);
    }
}
