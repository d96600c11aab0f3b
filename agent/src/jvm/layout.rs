//! Where the VM keeps what the handler reads: found in its tables, made plausible on live threads, refused otherwise. Never guessed.

use super::identity::Identity;
use super::vm_structs::VmStructs;
use crate::options::VirtualThreads;
use signal_core::room::{IdSource, VmLayout};
use std::ptr;

/// Offsets found, and how.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Found {
    /// For the handler.
    pub(crate) vm: VmLayout,
    /// Where the id of the logical thread was found: shown by `status`.
    pub(crate) id_path: &'static str,
    /// `JavaThread::_stack_base` and `_stack_size`.
    pub(crate) stack: Option<(usize, usize)>,
    /// `JavaThread::_osthread`, `OSThread::_thread_id`.
    pub(crate) os_thread: Option<(usize, usize)>,
}

/// A `JavaThread` lies within this many bytes; an offset beyond is a misread table.
const MAX_OFFSET: usize = 8192;

const THREAD: &[&str] = &["JavaThread", "Thread"];

/// Reads the VM's tables.
pub(crate) fn find(identity: &Identity, allowed: VirtualThreads) -> Found {
    let structs = if identity.is_hotspot() {
        VmStructs::exported()
    } else {
        None
    };
    let offset = |types: &[&str], field| {
        structs
            .and_then(|s| s.offset(types, field))
            .filter(|o| *o < MAX_OFFSET)
    };
    let (id_source, id_path) = id_source(identity, structs, allowed);
    Found {
        vm: VmLayout {
            id_source,
            thread_state: offset(THREAD, "_thread_state"),
        },
        id_path,
        stack: offset(THREAD, "_stack_base").zip(offset(THREAD, "_stack_size")),
        os_thread: offset(THREAD, "_osthread").zip(offset(&["OSThread"], "_thread_id")),
    }
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
        VirtualThreads::Events => return TOLD,
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

/// The last resort: costs each switch of a virtual thread 65 to 85 ns, so only where no table helps, or where it is asked for.
const TOLD: (IdSource, &str) = (IdSource::Told, "events");

fn without_tables(allowed: VirtualThreads) -> (IdSource, &'static str) {
    if allowed == VirtualThreads::Auto {
        TOLD
    } else {
        (IdSource::Platform, "off (the table does not name the id)")
    }
}

impl Found {
    /// The tables are not to be trusted: the next best way.
    pub(crate) fn refuse_tables(
        &mut self,
        identity: &Identity,
        allowed: VirtualThreads,
        why: &str,
    ) {
        if identity.feature < 21 {
            return;
        }
        (self.vm.id_source, self.id_path) = without_tables(allowed);
        crate::log::warn(&format!(
            "where this JVM keeps the id of a virtual thread is not known ({why}); {}",
            match self.vm.id_source {
                IdSource::Told =>
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

/// 21: the copy that the VM keeps for its own recorder, valid while a flag says that a virtual thread is mounted.
fn guarded_id(structs: VmStructs) -> Option<IdSource> {
    let recorder = structs.offset(THREAD, "_jfr_thread_local")?;
    let id = recorder.checked_add(structs.offset(&["JfrThreadLocal"], "_vthread_id")?)?;
    let guard = recorder.checked_add(structs.offset(&["JfrThreadLocal"], "_vthread")?)?;
    (id < MAX_OFFSET && guard < MAX_OFFSET && id.is_multiple_of(8))
        .then_some(IdSource::Guarded { id, guard })
}

/// Whether the words that `source` names say what they must on a live platform thread that runs no virtual thread.
///
/// `java_thread` is the address of the calling thread's `JavaThread`.
pub(crate) fn plausible(source: IdSource, java_thread: usize, java_tid: i64) -> bool {
    match source {
        IdSource::Platform | IdSource::Told => true,
        IdSource::Guarded { guard, .. } => read::<u8>(java_thread, guard) == 0,
        IdSource::Current { id } => read::<i64>(java_thread, id) == java_tid,
    }
}

/// Lowest and highest address of a thread's stack.
pub(crate) fn stack_bounds(found: &Found, java_thread: usize) -> Option<(usize, usize)> {
    let (base, size) = found.stack?;
    let (high, size) = (
        read::<usize>(java_thread, base),
        read::<usize>(java_thread, size),
    );
    let low = high.checked_sub(size)?;
    ((16 << 10)..=(8 << 30))
        .contains(&size)
        .then_some((low, high))
}

/// OS thread id of a thread other than the calling one.
pub(crate) fn os_tid(found: &Found, java_thread: usize) -> Option<i32> {
    let (os_thread, thread_id) = found.os_thread?;
    let os_thread = read::<usize>(java_thread, os_thread);
    (os_thread != 0)
        .then(|| read::<i32>(os_thread, thread_id))
        .filter(|tid| *tid > 0)
}

fn read<T: Copy>(base: usize, offset: usize) -> T {
    let place: *const T = ptr::with_exposed_provenance(base.wrapping_add(offset));
    // SAFETY: `base` is a live JavaThread (or the OSThread it points to) of a thread that cannot end meanwhile: the calling one, or one
    // whose Java object the caller holds during the live phase; the offset comes from the VM's own table.
    unsafe { place.read_volatile() }
}
