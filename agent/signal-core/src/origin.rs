//! Whether the scope that a carried context comes from ended long ago.

use crate::clock;
use crate::layout::Origin;
use core::sync::atomic::Ordering::{Acquire, Relaxed};
#[cfg(not(loom))]
use core::sync::atomic::fence;
#[cfg(loom)]
use loom::sync::atomic::fence;

const NANOS_PER_SECOND: u64 = 1_000_000_000;

/// A scope of another thread.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scope {
    /// Logical thread id.
    pub(crate) owner: i64,
    pub(crate) serial: u32,
    /// One of its slots.
    pub(crate) slot: u64,
}

/// Signal-safe.
impl Origin {
    /// The serial of the scope by which the thread has a carried context, if the origin was closed
    /// more than `limit` seconds ago; 0 = no limit. Notes when that is found closed for the first
    /// time, and if it is open after all: a scope within can hide it.
    pub(crate) fn ended(&self, limit: u64, is_open: impl FnOnce(Scope) -> bool) -> Option<u32> {
        // Acquire: what it belongs to is loaded later.
        let carried = self.carried.load(Acquire);
        let serial = low(carried);
        if serial == 0 || limit == 0 {
            return None;
        }
        let scope = self.scope.load(Relaxed);
        let is_open = is_open(Scope {
            owner: self.owner.load(Relaxed),
            serial: low(scope),
            slot: high(scope),
        });
        // Acquire: the loads above are done. With another serial they were of another task.
        fence(Acquire);
        if low(self.carried.load(Relaxed)) != serial {
            return None;
        }
        let now = clock::monotonic_nanos() / NANOS_PER_SECOND;
        let since = match (is_open, high(carried)) {
            (true, 0) => return None,
            (true, _) => 0,
            // 0 means open.
            (false, 0) => now.max(1),
            (false, since) => return (now.saturating_sub(since) > limit).then_some(serial),
        };
        let noted = u64::from(serial) | since << 32;
        // Fails if the thread runs another task by now; the serial is of this one only.
        let _ = self
            .carried
            .compare_exchange(carried, noted, Relaxed, Relaxed);
        None
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the half that is meant")]
const fn low(word: u64) -> u32 {
    word as u32
}

const fn high(word: u64) -> u64 {
    word >> 32
}
