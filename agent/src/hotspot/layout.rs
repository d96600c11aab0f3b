//! Offsets of what the handler reads in the VM's structures. They come from the VM's own tables and
//! are checked on live threads. Where a check fails, the agent uses none; it never guesses.
//!
//! Rules for `unsafe`:
//! 1. A `JavaThread` stays readable until its thread ends. The calling thread, and a thread that
//!    runs while the VM starts, does not end meanwhile.
//! 2. Offsets lie within [`MAX_OFFSET`], and are those that the VM's tables name.

#![expect(unsafe_code, reason = "boundary to the structures of HotSpot")]

use super::identity::Identity;
use super::vm_structs::VmStructs;
use super::walk_tables;
use crate::log;
use crate::options::VirtualThreads;
use signal_core::java_thread::IdSource;
use stack_walker::Memory;
use stack_walker::safe_fetch::SafeFetch;
use std::ptr;

/// The offsets, and how they were found.
#[derive(Debug, Clone, Copy)]
pub(crate) struct VmOffsets {
    /// Where the id of the logical thread is.
    pub(crate) id_source: IdSource,
    /// `JavaThread::_thread_state`.
    pub(crate) thread_state: Option<usize>,
    /// How the id of the logical thread was found, for `status`.
    pub(crate) id_path: &'static str,
    /// `JavaThread::_stack_base` and `_stack_size`.
    pub(crate) stack: Option<(usize, usize)>,
    /// `JavaThread::_osthread`, `OSThread::_thread_id`.
    pub(crate) os_thread: Option<(usize, usize)>,
}

/// A `JavaThread` is smaller than this; a larger offset is a misread table.
const MAX_OFFSET: usize = 8192;

const THREAD: &[&str] = &["JavaThread", "Thread"];

/// Reads the VM's tables.
pub(crate) fn find(identity: &Identity, allowed: VirtualThreads) -> VmOffsets {
    let structs = if identity.is_hotspot() {
        VmStructs::exported()
    } else {
        None
    };
    let offset = |types: &[&str], field| plausible_offset(structs?, types, field);
    let (id_source, id_path) = id_source(identity, structs, allowed);
    VmOffsets {
        id_source,
        thread_state: offset(THREAD, "_thread_state"),
        id_path,
        stack: offset(THREAD, "_stack_base").zip(offset(THREAD, "_stack_size")),
        os_thread: offset(THREAD, "_osthread").zip(offset(&["OSThread"], "_thread_id")),
    }
}

/// Offsets in a `JavaThread`: the bytes that it has allocated, first byte and top of its buffer.
pub(crate) fn allocation_counters() -> Option<[u16; 3]> {
    let structs = VmStructs::exported()?;
    let buffer = plausible_offset(structs, THREAD, "_tlab")?;
    let in_buffer =
        |field| Some(buffer + plausible_offset(structs, &["ThreadLocalAllocBuffer"], field)?);
    let counted = plausible_offset(structs, THREAD, "_allocated_bytes")?;
    let packed = |offset| u16::try_from(offset).ok();
    Some([
        packed(counted)?,
        packed(in_buffer("_start")?)?,
        packed(in_buffer("_top")?)?,
    ])
}

fn plausible_offset(structs: VmStructs, types: &[&str], field: &str) -> Option<usize> {
    structs
        .offset(types, field)
        .filter(|offset| *offset < MAX_OFFSET)
}

fn id_source(
    identity: &Identity,
    structs: Option<VmStructs>,
    allowed: VirtualThreads,
) -> (IdSource, &'static str) {
    if identity.feature < 21 {
        return (IdSource::Platform, "none needed (no virtual threads)");
    }
    match allowed {
        VirtualThreads::Off => return (IdSource::Platform, "off"),
        VirtualThreads::Events => return MOUNT_EVENTS,
        VirtualThreads::Auto | VirtualThreads::VmStructs | VirtualThreads::Jvmci => {}
    }
    if allowed != VirtualThreads::Jvmci
        && let Some(id) = structs.and_then(current_id)
    {
        return (IdSource::Current { id }, "vmstructs");
    }
    if allowed != VirtualThreads::VmStructs
        && let Some(source) = structs.and_then(VmStructs::jvmci).and_then(guarded_id)
    {
        return (source, "jvmci");
    }
    without_tables(allowed)
}

/// The last resort, because it makes each switch of a virtual thread slower: where no table names
/// the id, or on request.
const MOUNT_EVENTS: (IdSource, &str) = (IdSource::MountEvents, "events");

fn without_tables(allowed: VirtualThreads) -> (IdSource, &'static str) {
    if allowed == VirtualThreads::Auto {
        MOUNT_EVENTS
    } else {
        (IdSource::Platform, "off (the table does not name the id)")
    }
}

impl VmOffsets {
    /// The tables failed a check: falls back to the next source.
    pub(crate) fn refuse_tables(
        &mut self,
        identity: &Identity,
        allowed: VirtualThreads,
        why: &str,
    ) {
        if identity.feature < 21 {
            return;
        }
        (self.id_source, self.id_path) = without_tables(allowed);
        log::warn(&format!(
            "where this JVM keeps the id of a virtual thread is not known ({why}); {}",
            match self.id_source {
                IdSource::MountEvents =>
                    "its mount events are used, which cost each switch of a virtual thread",
                _ => "virtual threads get no context",
            }
        ));
    }
}

/// 24 and later: the id of the current thread, platform or virtual.
fn current_id(structs: VmStructs) -> Option<usize> {
    ["_monitor_owner_id", "_lock_id"]
        .iter()
        .find_map(|f| structs.offset(THREAD, f))
        .filter(|o| *o < MAX_OFFSET)
}

/// 21: the copy that the VM keeps for JFR, valid while a flag says that a virtual thread is
/// mounted.
fn guarded_id(structs: VmStructs) -> Option<IdSource> {
    let recorder = structs.offset(THREAD, "_jfr_thread_local")?;
    let id = recorder.checked_add(structs.offset(&["JfrThreadLocal"], "_vthread_id")?)?;
    let guard = recorder.checked_add(structs.offset(&["JfrThreadLocal"], "_vthread")?)?;
    (id < MAX_OFFSET && guard < MAX_OFFSET && id.is_multiple_of(8))
        .then_some(IdSource::Guarded { id, guard })
}

/// Whether the words that `source` names have the values expected on a live platform thread that
/// runs no virtual thread.
///
/// # Safety `java_thread` is the address of the calling thread's `JavaThread`, in which the offsets
/// of `source` lie.
pub(crate) unsafe fn plausible(source: IdSource, java_thread: usize, java_tid: i64) -> bool {
    match source {
        IdSource::Platform | IdSource::MountEvents => true,
        IdSource::Guarded { guard, .. } => {
            // SAFETY: rules 1 and 2, which the caller upholds.
            unsafe { read::<u8>(java_thread, guard) == 0 }
        }
        IdSource::Current { id } => {
            // SAFETY: rules 1 and 2, which the caller upholds.
            unsafe { read::<i64>(java_thread, id) == java_tid }
        }
    }
}

/// How to read the `JavaThread` of a thread.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Loads {
    /// `None` = plain loads.
    checked: Option<SafeFetch>,
}

impl Loads {
    /// Without any check.
    ///
    /// # Safety The loads are of words of a live `JavaThread`, and of what it points to, whose
    /// thread does not end meanwhile (rule 1).
    pub(crate) const unsafe fn plain() -> Self {
        Self { checked: None }
    }

    /// For other threads. Where the VM has no checked loads they are plain, and a thread that ends
    /// during the load is a risk.
    pub(crate) fn of_others() -> Self {
        Self {
            checked: walk_tables::safe_fetch().ok(),
        }
    }
}

impl Memory for Loads {
    fn word(&self, address: usize) -> Option<usize> {
        match self.checked {
            Some(memory) => memory.word(address),
            None => {
                // SAFETY: rule 1 for `plain`; `of_others` names the remaining risk.
                Some(unsafe { read(address, 0) })
            }
        }
    }
}

/// Address of a thread's `JavaThread`, and what `read` returns for it; `None` if the thread has
/// ended.
///
/// `address` reads the Java object of the thread. The thread clears that word for good before the
/// VM frees its `JavaThread`. So if the word is unchanged after `read`, the value belongs to the
/// thread.
pub(crate) fn of_living<T>(
    address: impl Fn() -> usize,
    read: impl FnOnce(usize) -> Option<T>,
) -> Option<(usize, T)> {
    let java_thread = address();
    if java_thread == 0 {
        return None;
    }
    let value = read(java_thread)?;
    (address() == java_thread).then_some((java_thread, value))
}

/// Lowest and highest address of a thread's stack.
pub(crate) fn stack_bounds(
    offsets: &VmOffsets,
    memory: &impl Memory,
    java_thread: usize,
) -> Option<(usize, usize)> {
    let (base, size) = offsets.stack?;
    let (high, size) = (
        memory.word(java_thread.wrapping_add(base))?,
        memory.word(java_thread.wrapping_add(size))?,
    );
    let low = high.checked_sub(size)?;
    ((16 << 10)..=(8 << 30))
        .contains(&size)
        .then_some((low, high))
}

/// OS thread id of a thread other than the calling one.
pub(crate) fn os_tid(offsets: &VmOffsets, memory: &impl Memory, java_thread: usize) -> Option<i32> {
    let (os_thread, thread_id) = offsets.os_thread?;
    let os_thread = memory.word(java_thread.wrapping_add(os_thread))?;
    if os_thread == 0 {
        return None;
    }
    let tid = memory.i32(os_thread.wrapping_add(thread_id))?;
    (tid > 0).then_some(tid)
}

/// # Safety
/// A `T` can be read at `base + offset`.
unsafe fn read<T: Copy>(base: usize, offset: usize) -> T {
    let source: *const T = ptr::with_exposed_provenance(base.wrapping_add(offset));
    // SAFETY: rules 1 and 2, which the caller upholds.
    unsafe { source.read_volatile() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    const OFFSETS: VmOffsets = VmOffsets {
        id_source: IdSource::Platform,
        thread_state: None,
        id_path: "",
        stack: Some((8, 16)),
        os_thread: Some((24, 4)),
    };

    /// Words at these addresses, and nothing else.
    struct Words<'a>(&'a [(usize, usize)]);

    impl Memory for Words<'_> {
        fn word(&self, address: usize) -> Option<usize> {
            self.0.iter().find(|(at, _)| *at == address).map(|w| w.1)
        }
    }

    #[test]
    fn unreadable_words_of_an_ended_thread_give_none() {
        let (stack, whole) = ((0x1008, 0x90_0000), (0x1010, 0x10_0000));
        let (os_thread, id) = ((0x1018, 0x2000), (0x2000, 77 << 32));
        let all = [stack, whole, os_thread, id];
        assert_eq!(os_tid(&OFFSETS, &Words(&all), 0x1000), Some(77));
        let bounds = stack_bounds(&OFFSETS, &Words(&all), 0x1000);
        assert_eq!(bounds, Some((0x80_0000, 0x90_0000)));
        assert_eq!(os_tid(&OFFSETS, &Words(&all[..3]), 0x1000), None);
        assert_eq!(os_tid(&OFFSETS, &Words(&all[..2]), 0x1000), None);
        assert_eq!(stack_bounds(&OFFSETS, &Words(&all[..1]), 0x1000), None);
    }

    #[test]
    fn a_value_read_while_a_thread_ends_is_dropped() {
        let eetop = Cell::new(0x1000);
        let address = || eetop.get();
        assert_eq!(of_living(address, Some), Some((0x1000, 0x1000)));
        assert_eq!(of_living(address, |_| None::<i32>), None);
        let ends = |_| {
            eetop.set(0);
            Some(1)
        };
        assert_eq!(of_living(address, ends), None, "it ended during the read");
        let never = |_| -> Option<i32> { unreachable!("it has ended") };
        assert_eq!(of_living(address, never), None);
    }
}
