//! All constant pools of a chunk, and the checkpoint that carries what is new in them.

use super::model::FrameKind;
use super::table::{Numbering, Table};
use super::text;
use crate::types::pool;
use crate::{chunk, varint};

/// Bytes of a size that is patched in after the event: as async-profiler writes it.
const SIZE_BYTES: usize = 5;
/// Different thread states; what comes later is called [`OTHER`].
const MAX_STATES: usize = 99;
const OTHER: &str = "(other)";

/// Index of a pool in [`Pools`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pool {
    Class,
    Thread,
    ThreadGroup,
    Package,
    Method,
    Symbol,
    Stack,
    Attribute,
}

const TABLES: [(Pool, u32); 8] = [
    (Pool::Class, pool::CLASS),
    (Pool::Thread, pool::THREAD),
    (Pool::ThreadGroup, pool::THREAD_GROUP),
    (Pool::Package, pool::PACKAGE),
    (Pool::Method, pool::METHOD),
    (Pool::Symbol, pool::SYMBOL),
    (Pool::Stack, pool::STACK_TRACE),
    (Pool::Attribute, pool::ATTRIBUTE_VALUE),
];

/// The JVM's thread states. All of them are in the first checkpoint of a chunk: async-profiler's
/// converter knows only the states of one checkpoint of a chunk, the first that has any.
const THREAD_STATES: [&str; 9] = [
    "STATE_RUNNABLE",
    "STATE_SLEEPING",
    "STATE_PARKED",
    "STATE_PARKED_TIMED",
    "STATE_IN_OBJECT_WAIT",
    "STATE_IN_OBJECT_WAIT_TIMED",
    "STATE_BLOCKED_ON_MONITOR_ENTER",
    "STATE_NEW",
    "STATE_TERMINATED",
];

/// A small set of texts whose keys hold for the life of the file.
#[derive(Debug, Default)]
struct StateTable {
    names: Vec<Box<str>>,
    /// How far each name is in this chunk.
    state: Vec<Presence>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Presence {
    Absent,
    Wanted,
    Flushed,
}

impl StateTable {
    fn intern(&mut self, name: &str) -> u32 {
        let name = if self.names.len() >= MAX_STATES && !self.knows(name) {
            OTHER
        } else {
            name
        };
        let index = self
            .names
            .iter()
            .position(|n| **n == *name)
            .unwrap_or(self.names.len());
        if index == self.names.len() {
            self.names.push(name.into());
            self.state.push(Presence::Absent);
        }
        if self.state[index] == Presence::Absent {
            self.state[index] = Presence::Wanted;
        }
        u32::try_from(index + 1).unwrap_or(0)
    }

    fn knows(&self, name: &str) -> bool {
        self.names.iter().any(|n| **n == *name)
    }

    fn wanted(&self) -> impl Iterator<Item = (u64, &str)> {
        let all = (1..).zip(self.names.iter().zip(&self.state));
        all.filter(|(_, (_, s))| **s == Presence::Wanted)
            .map(|(key, (n, _))| (key, &**n))
    }

    fn change(&mut self, from: Presence, to: Presence) {
        self.state
            .iter_mut()
            .filter(|s| **s == from)
            .for_each(|s| *s = to);
    }
}

/// The pools of the current chunk.
#[derive(Debug)]
pub(super) struct Pools {
    tables: [Table; TABLES.len()],
    states: StateTable,
    frame_types_flushed: bool,
}

impl Pools {
    pub(super) fn new() -> Self {
        let table = |(pool, _): (Pool, u32)| {
            let after_length = pool == Pool::Attribute;
            Table::new(if after_length {
                Numbering::AfterContextLength
            } else {
                Numbering::Dense
            })
        };
        let mut pools = Self {
            tables: TABLES.map(table),
            states: StateTable::default(),
            frame_types_flushed: false,
        };
        pools.want_thread_states();
        pools
    }

    /// Key of `value` in a pool.
    pub(super) fn intern(&mut self, pool: Pool, value: &[u8]) -> u32 {
        self.tables[pool as usize].intern(value).0
    }

    /// Key of a thread state.
    pub(super) fn intern_state(&mut self, name: &str) -> u32 {
        self.states.intern(name)
    }

    /// Bytes of entries that are not in the file yet.
    pub(super) fn unflushed_bytes(&self) -> usize {
        self.tables.iter().map(|t| t.unflushed().1.len()).sum()
    }

    pub(super) fn bytes(&self) -> usize {
        self.tables.iter().map(Table::bytes).sum()
    }

    pub(super) fn rotate(&mut self) {
        self.tables.iter_mut().for_each(Table::rotate);
        self.begin_states();
    }

    /// Forgets everything that is not in the file, and all keys.
    pub(super) fn forget(&mut self) {
        self.tables.iter_mut().for_each(Table::forget);
        self.states.change(Presence::Wanted, Presence::Absent);
        if !self.frame_types_flushed {
            self.want_thread_states();
        }
    }

    fn begin_states(&mut self) {
        self.states.change(Presence::Wanted, Presence::Absent);
        self.states.change(Presence::Flushed, Presence::Absent);
        self.frame_types_flushed = false;
        self.want_thread_states();
    }

    /// Those of the JVM, and those that an earlier chunk had.
    fn want_thread_states(&mut self) {
        for name in THREAD_STATES {
            self.states.intern(name);
        }
        self.states.change(Presence::Absent, Presence::Wanted);
    }

    /// What the last [`Pools::put_checkpoint`] wrote is in the file now.
    pub(super) fn mark_flushed(&mut self) {
        self.tables.iter_mut().for_each(Table::mark_flushed);
        self.states.change(Presence::Wanted, Presence::Flushed);
        self.frame_types_flushed = true;
    }

    fn new_pools(&self) -> usize {
        let tables = self.tables.iter().filter(|t| t.unflushed().0 > 0).count();
        let states = usize::from(self.states.wanted().next().is_some());
        tables + states + usize::from(!self.frame_types_flushed)
    }

    /// Appends a checkpoint with what is new, and says where it begins. Nothing new, no checkpoint:
    /// an empty pool, and some say an empty checkpoint, breaks readers.
    ///
    /// `delta` gives the distance to the previous checkpoint for the place where this one begins.
    pub(super) fn put_checkpoint(
        &self,
        out: &mut Vec<u8>,
        ticks: u64,
        delta: impl FnOnce(usize) -> i64,
    ) -> Option<usize> {
        let pools = self.new_pools();
        if pools == 0 {
            return None;
        }
        let at = begin_sized(out, chunk::CHECKPOINT_TYPE);
        varint::put(out, ticks);
        varint::put(out, 0);
        varint::put_long_signed(out, delta(at));
        // The mask: 0 = nothing special. File readers ignore it, and from 0x80 on it breaks two of
        // them.
        out.push(0);
        varint::put(out, pools as u64);
        self.put_pools(out);
        end_sized(out, at);
        Some(at)
    }

    fn put_pools(&self, out: &mut Vec<u8>) {
        if !self.frame_types_flushed {
            put_frame_types(out);
        }
        put_states(out, &self.states);
        for (table, (_, type_id)) in self.tables.iter().zip(TABLES) {
            let (count, entries) = table.unflushed();
            if count > 0 {
                varint::put(out, u64::from(type_id));
                varint::put(out, u64::from(count));
                out.extend_from_slice(entries);
            }
        }
    }
}

/// Appends a checkpoint with the frame types alone, for a chunk without events; says where it
/// begins.
pub(super) fn put_stub_checkpoint(out: &mut Vec<u8>) -> usize {
    let at = begin_sized(out, chunk::CHECKPOINT_TYPE);
    // Time, duration, no checkpoint before it, nothing special, one pool.
    out.extend_from_slice(&[0, 0, 0, 0, 1]);
    put_frame_types(out);
    end_sized(out, at);
    at
}

fn put_frame_types(out: &mut Vec<u8>) {
    varint::put(out, u64::from(pool::FRAME_TYPE));
    varint::put(out, FrameKind::ALL.len() as u64);
    for (kind, name) in FrameKind::ALL {
        varint::put(out, kind as u64);
        text::put(out, Some(name));
    }
}

fn put_states(out: &mut Vec<u8>, states: &StateTable) {
    let count = states.wanted().count();
    if count == 0 {
        return;
    }
    varint::put(out, u64::from(pool::THREAD_STATE));
    varint::put(out, count as u64);
    for (key, name) in states.wanted() {
        varint::put(out, key);
        text::put(out, Some(name));
    }
}

/// Begins an event whose size is not known yet; returns where.
pub(super) fn begin_sized(out: &mut Vec<u8>, type_id: u64) -> usize {
    let at = out.len();
    out.extend_from_slice(&[0; SIZE_BYTES]);
    varint::put(out, type_id);
    at
}

/// Ends the event that began at `at`.
pub(super) fn end_sized(out: &mut [u8], at: usize) {
    let size = (out.len() - at) as u64;
    out[at..at + SIZE_BYTES].copy_from_slice(&varint::padded::<SIZE_BYTES>(size));
}
