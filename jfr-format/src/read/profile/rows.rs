//! What is kept of a decoded entry: places of other entries, never copied text.
//!
//! A hostile file can make one long symbol the name of a million methods, and that must cost a
//! million numbers, not a million texts.

use std::sync::Arc;

use crate::read::typed::pool::{EntryIndex, Pool};

/// No entry: null, dangling key, or not readable.
pub(crate) const NONE: u32 = u32::MAX;

/// The place of a key in a pool; [`NONE`] if it is not there.
#[inline]
pub(crate) fn place_in(pool: Option<&Pool>, key: u64) -> u32 {
    pool.and_then(|pool| pool.index_of(key))
        .map_or(NONE, |entry| entry.0)
}

/// A text field of a table: its own, or one of the pool of strings.
#[derive(Debug, Default)]
pub(crate) enum Text {
    #[default]
    Null,
    Here(Box<str>),
    Pooled(u32),
}

#[derive(Debug, Default)]
pub(crate) struct RawThread {
    pub(crate) os_name: Text,
    pub(crate) java_name: Text,
    pub(crate) os_id: i64,
    pub(crate) java_id: i64,
    pub(crate) is_virtual: bool,
}

/// A method. Its names are shared with the table of texts.
#[derive(Debug)]
pub(crate) struct RawMethod {
    pub(crate) class: Option<Arc<str>>,
    pub(crate) name: Option<Arc<str>>,
    /// Where it stands among its type's texts; most readers do not ask.
    pub(crate) descriptor: u32,
    pub(crate) hidden: bool,
}

impl Default for RawMethod {
    fn default() -> Self {
        Self {
            class: None,
            name: None,
            descriptor: NONE,
            hidden: false,
        }
    }
}

/// A frame before its names. Numbers of places are those of the chunk's pools.
#[derive(Debug, Clone, Copy)]
pub struct RawFrame {
    pub(crate) method: u32,
    pub(crate) line: i32,
    pub(crate) bci: i32,
    pub(crate) kind: u32,
}

impl RawFrame {
    /// Place of the method in the chunk's pool: equal places are equal methods.
    pub fn method_entry(&self) -> Option<EntryIndex> {
        (self.method != NONE).then_some(EntryIndex(self.method))
    }

    /// Line, if known.
    pub fn line(&self) -> Option<u32> {
        u32::try_from(self.line).ok().filter(|&line| line > 0)
    }

    /// Place of the kind of frame in its pool.
    pub fn kind_entry(&self) -> Option<EntryIndex> {
        (self.kind != NONE).then_some(EntryIndex(self.kind))
    }
}

/// A stack; without frames and truncated where it cannot be read.
#[derive(Debug, Default)]
pub(crate) struct RawStack {
    pub(crate) frames: Box<[RawFrame]>,
    pub(crate) truncated: bool,
}
