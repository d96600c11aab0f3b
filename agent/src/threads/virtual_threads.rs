//! Whether the ids of virtual threads are read right: tested on a real one before the first of them can have a context, and what takes over if not.

use crate::entry::agent::{Agent, Live};
use crate::entry::callbacks;
use crate::log;
use crate::options::VirtualThreads;
use signal_core::handler_state::{IdSource, Instead};
use std::sync::atomic::Ordering::Relaxed;

/// Whether the handler would take the calling thread, a virtual one with this id, for what it is. While not, it gets no block and so no context.
///
/// With mount events the answer is `true` from the first mount that was told on: a thread mounted earlier waits for its next one, and where no
/// event ever comes (`-XX:-DoJVMTIVirtualThreadTransitions`) no virtual thread gets a context.
pub(crate) fn verify(agent: &Agent, live: &Live, thread_id: i64) -> bool {
    let os_tid = crate::os::thread::current_tid();
    let Some(carrier) = live.handler.records.by_os_tid(os_tid) else {
        return false;
    };
    let source = live.handler.id_source();
    let read = live.handler.logical_tid(carrier);
    let right = read == thread_id && thread_id != carrier.java_tid.load(Relaxed);
    let from_table = matches!(source, IdSource::Guarded { .. } | IdSource::Current { .. });
    if !right && from_table && live.handler.refuse_id_source() {
        log::warn(&format!(
            "the id of a virtual thread reads as {read} instead of {thread_id}; {}",
            use_mounts(agent, live)
        ));
    }
    right
}

/// What happens now that the table is refused: mount events, unless the user insisted on the table.
fn use_mounts(agent: &Agent, live: &Live) -> String {
    if agent.options.virtual_threads != VirtualThreads::Auto {
        return "virtual threads get no context in this JVM".into();
    }
    match callbacks::watch_mounts(agent.jvmti) {
        Ok(()) => {
            live.handler.use_mounts();
            "mount events are used from now on, which cost each switch of a virtual thread".into()
        }
        Err(why) => format!(
            "virtual threads get no context in this JVM: it does not tell of their mounts ({why})"
        ),
    }
}

/// How virtual threads are told apart now, for `status`.
pub(crate) fn path(live: &Live) -> String {
    let table = live.found.id_path;
    match live.handler.instead.load(Relaxed) {
        n if n == Instead::Nothing as u32 => table.into(),
        n if n == Instead::Told as u32 => {
            format!("events ({table} failed the self-test on a virtual thread)")
        }
        _ => format!("off ({table} failed the self-test on a virtual thread)"),
    }
}
