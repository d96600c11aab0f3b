//! Byte layout of a context block: sizes and offsets only, no protocol. Java reads these numbers
//! from the agent at start.
//!
//! ```text
//!  0        8     12      16        20            24        28    32         40  64                     128                  192
//!  ├ owner ─┼ seq ┼ flags ┼ ev mask ┼ next serial ┼ samples ┼frame┼ raw used ┼ origin ┤ slots[0] … slots[7] ─┤ raw area, 64 bytes ─┤
//!  └──────────────────────────── first cache line ────────────────────────────┘└──── second line ─────┘└──── third line ────┘
//!
//!  slot: ├ value id, u32 ┼ stamp, u32 ┤
//! ```

use core::mem::{offset_of, size_of};
use core::sync::atomic::Ordering;
#[cfg(not(loom))]
use core::sync::atomic::{AtomicI64, AtomicU32, AtomicU64};
#[cfg(loom)]
use loom::sync::atomic::{AtomicI64, AtomicU32, AtomicU64};

/// Attributes of a context, and so slots of a block. Models of the protocol (`cfg(loom)`)
/// have a smaller block: each word multiplies their work.
pub const ATTRIBUTE_SLOTS: usize = if cfg!(loom) {
    2
} else {
    schema::limits::ATTRIBUTE_SLOTS
};
/// Bytes of the raw area of a block: values that are not interned lie there, as UTF-8 or packed.
pub const RAW_BYTES: usize = if cfg!(loom) { 8 } else { 64 };
/// Places where a thread's block can be, see [`crate::places`]. A power of two.
pub const PROBE_LIMIT: usize = if cfg!(loom) { 2 } else { 256 };
/// Value id of a value that the full dictionary did not take: shown as `(other)`.
pub const OVERFLOW_ID: u32 = u32::MAX;
/// Value id of a value that a task carries whose request has ended: shown as `(detached)`. Java does
/// not know it.
pub const DETACHED_ID: u32 = OVERFLOW_ID - 1;
/// Set in the id of a raw value, whose bits 8..15 are then its offset in the raw area and bits 0..7
/// its length in bytes. The two ids above have it, too, and are no raw values.
pub const RAW_BIT: u32 = 1 << 31;
/// Set besides in the id of a raw value whose bytes are two lower-case hexadecimal digits each, the
/// first in the high half: ids of traces and spans.
pub const HEX_BIT: u32 = 1 << 16;
/// `flags`, bit 8: another thread closed a scope of this one; no context until the owner has
/// repaired it.
pub const FLAG_FOREIGN_CLOSE: u32 = 1 << 8;
/// `flags`, the bits of a block's reach, see [`crate::places`]: any thread sets one, nobody clears
/// it. They belong to the place, not to the owner of the block.
pub const FLAGS_REACH: u32 = 0xff << REACH_SHIFT;
/// The lowest of them.
pub const REACH_SHIFT: u32 = 16;
// `flags`, bits 0..7 and 24..31 belong to Java: slots of recorded scopes, sticky owner or affinity
// tag. A negative `owner` is a block that a thread takes over from one that has ended.

/// In a stamp: a scope below has ended. Serials are even.
const COVERS_ENDED: u32 = 1;

/// What a block has of one attribute. Java writes both halves with one store, so that they are
/// always of one scope.
#[repr(C, align(8))]
#[derive(Debug)]
pub struct Slot {
    /// Value id, 0 = absent. Little-endian: the low half of Java's word.
    id: AtomicU32,
    /// Serial of the scope that set the value, 0 = none. Java reads it to know at its close whether
    /// the value is still its own, see also [`Origin`].
    stamp: AtomicU32,
}

impl Slot {
    /// The serial of the scope that set the value.
    pub fn scope(&self, order: Ordering) -> u32 {
        self.stamp.load(order) & !COVERS_ENDED
    }

    /// The value id.
    pub fn load(&self, order: Ordering) -> u32 {
        self.id.load(order)
    }

    /// Sets the value, as that of a scope.
    #[cfg(test)]
    pub(crate) fn store_of(&self, id: u32, scope: u32) {
        self.stamp.store(scope, Ordering::Relaxed);
        self.id.store(id, Ordering::Relaxed);
    }

    /// Sets the value id, as no scope's.
    pub fn store(&self, id: u32, order: Ordering) {
        self.stamp.store(0, order);
        self.id.store(id, order);
    }
}

/// The scope whose context a task carries, and what is known of it. Written by Java when it runs such
/// a task.
#[repr(C)]
#[derive(Debug)]
pub struct Origin {
    /// Serial of the scope by which the task got the context, 0 = none, and above it the second
    /// of the monotonic clock since which the origin is known to be closed, 0 = open.
    pub carried: AtomicU64,
    /// Logical thread id of the thread with the origin.
    pub owner: AtomicI64,
    /// Serial of the origin, and above it one of its slots.
    pub scope: AtomicU64,
}

/// One context block. All fields are atomics because Java, the handler and other threads touch them
/// without a lock; `block.rs` has the protocol.
#[repr(C, align(64))]
#[derive(Debug)]
pub struct Block {
    /// Logical thread id of the owner, 0 = free.
    pub owner: AtomicI64,
    /// Another number with each publication; odd while the owner writes more than one word.
    pub seq: AtomicU32,
    /// See the `FLAG_` constants.
    pub flags: AtomicU32,
    /// One bit per event type that the installed context may be written with.
    pub event_mask: AtomicU32,
    /// Serial given last, always even; never reset, so that a late close of an earlier owner's
    /// scope matches nothing.
    pub next_serial: AtomicU32,
    /// Samples taken while this block was installed; written by the handler only.
    pub samples: AtomicU32,
    /// Of the innermost timed scope; only Java reads it.
    frame: AtomicU32,
    /// A bit for each byte of the raw area that a value has. Only Java reads it.
    pub raw_used: AtomicU64,
    /// Where the context comes from, if the thread runs a task for another one. The attributes fill
    /// a cache line of their own.
    pub origin: Origin,
    /// The attributes.
    pub ids: [Slot; ATTRIBUTE_SLOTS],
    /// UTF-8 bytes of raw values.
    pub raw: [AtomicU64; RAW_BYTES / 8],
}

#[cfg(loom)]
impl Block {
    /// A free block of a model.
    pub fn free() -> Self {
        Self {
            owner: AtomicI64::new(0),
            seq: AtomicU32::new(0),
            flags: AtomicU32::new(0),
            event_mask: AtomicU32::new(0),
            next_serial: AtomicU32::new(0),
            samples: AtomicU32::new(0),
            frame: AtomicU32::new(0),
            raw_used: AtomicU64::new(0),
            origin: Origin {
                carried: AtomicU64::new(0),
                owner: AtomicI64::new(0),
                scope: AtomicU64::new(0),
            },
            ids: core::array::from_fn(|_| Slot {
                id: AtomicU32::new(0),
                stamp: AtomicU32::new(0),
            }),
            raw: core::array::from_fn(|_| AtomicU64::new(0)),
        }
    }
}

/// Bytes from one block to the next.
pub const STRIDE: usize = size_of::<Block>();

/// Not in a model: its words are larger.
#[cfg(not(loom))]
mod sizes {
    use super::{Block, STRIDE, Slot};
    use core::mem::{align_of, offset_of, size_of};

    const _: () = assert!(STRIDE == 192, "a block is three cache lines");
    const _: () = assert!(align_of::<Block>() == 64, "a block starts on a cache line");
    const _: () = assert!(offset_of!(Block, owner) == 0, "owner leads the block");
    const _: () = assert!(offset_of!(Block, seq) == 8, "seq follows owner");
    const _: () = assert!(offset_of!(Block, flags) == 12, "flags follow seq");
    const _: () = assert!(
        offset_of!(Block, ids) == 64,
        "the attributes are the second cache line"
    );
    const _: () = assert!(
        size_of::<Slot>() == 8,
        "Java writes a slot with one store of a long"
    );
    const _: () = assert!(
        offset_of!(Block, raw) == 128,
        "raw area is the third cache line"
    );
}

/// The numbers that Java needs, in the order of `io.ctxagent.internal.agent.Layout`. Those that
/// only the agent knows are 0 here.
pub const fn numbers() -> [i64; 22] {
    [
        as_i64(STRIDE),
        0,
        as_i64(PROBE_LIMIT),
        as_i64(offset_of!(Block, owner)),
        as_i64(offset_of!(Block, seq)),
        as_i64(offset_of!(Block, flags)),
        as_i64(offset_of!(Block, ids)),
        as_i64(offset_of!(Block, event_mask)),
        as_i64(offset_of!(Block, next_serial)),
        as_i64(offset_of!(Block, raw)),
        as_i64(RAW_BYTES),
        RAW_BIT as i64,
        OVERFLOW_ID as i64,
        0,
        0,
        as_i64(offset_of!(Block, raw_used)),
        as_i64(offset_of!(Block, samples)),
        as_i64(offset_of!(Block, origin.carried)),
        as_i64(offset_of!(Block, origin.owner)),
        as_i64(offset_of!(Block, origin.scope)),
        HEX_BIT as i64,
        as_i64(offset_of!(Block, frame)),
    ]
}

#[expect(
    clippy::cast_possible_wrap,
    reason = "offsets inside a block are below 192"
)]
const fn as_i64(n: usize) -> i64 {
    n as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A change of a number is a change of the contract with Java: `abi()` must change with it.
    #[test]
    fn java_is_told_these_numbers() {
        let raw_bit = 1_i64 << 31;
        let overflow = i64::from(u32::MAX);
        let expected = [
            192, 0, 256, 0, 8, 12, 64, 16, 20, 128, 64, raw_bit, overflow, 0, 0, 32, 24, 40, 48,
            56, 65_536, 28,
        ];
        assert_eq!(numbers(), expected);
    }
}
