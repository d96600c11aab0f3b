//! What is wrong in a file and did not stop its reader.

use std::fmt;

use crate::error::{Error, ErrorKind};

/// Something wrong that did not stop the reading: the chunk, and the place in it.
#[derive(Debug)]
pub struct Damage {
    /// Offset of the chunk from the first byte of the file.
    pub chunk_offset: u64,
    /// What is wrong; its place counts from the chunk's first byte.
    pub error: Error,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "chunk at {}, {}", self.chunk_offset, self.error)
    }
}

impl std::error::Error for Damage {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

/// Most damages remembered: a hostile file has one every few bytes, the first thousand say enough.
pub(crate) const MAX_DAMAGES: usize = 1000;

/// Adds damage; joins what is one stretch of garbage.
pub(crate) fn push_damage(damages: &mut Vec<Damage>, damage: Damage) {
    if let Some(last) = damages.last_mut()
        && let (&ErrorKind::Garbage { len }, &ErrorKind::Garbage { len: more }) =
            (last.error.kind(), damage.error.kind())
        && last.chunk_offset + len == damage.chunk_offset
    {
        last.error = Error::new(0, ErrorKind::Garbage { len: len + more });
        return;
    }
    if damages.len() < MAX_DAMAGES {
        damages.push(damage);
    }
}
