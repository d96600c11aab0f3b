//! Checks, on a real virtual thread and before any of them can have a context, that the agent reads
//! their ids correctly. If it does not, mount events replace the table.

use crate::jvm::jvmti::{Jvmti, MountCallbacks};
use crate::log;
use crate::options::VirtualThreads;
use signal_core::handler_state::{HandlerState, IdSourceOverride};
use signal_core::java_thread::IdSource;
use std::sync::atomic::Ordering::Relaxed;

/// Where the ids of virtual threads come from.
#[derive(Debug)]
pub(crate) struct VirtualThreadIds {
    handler: &'static HandlerState,
    jvmti: Jvmti,
    /// The table that their ids are read from, as `status` shows it.
    table: &'static str,
    allowed: VirtualThreads,
    mounts: MountCallbacks,
}

impl VirtualThreadIds {
    pub(crate) fn new(
        handler: &'static HandlerState,
        jvmti: Jvmti,
        table: &'static str,
        allowed: VirtualThreads,
        mounts: MountCallbacks,
    ) -> Self {
        Self {
            handler,
            jvmti,
            table,
            allowed,
            mounts,
        }
    }

    /// Whether the handler reads `thread_id`, the id of the calling virtual thread. While it does
    /// not, the thread gets no block and so no context.
    ///
    /// With mount events the answer is `true` from the first mount that was posted on: a thread
    /// mounted earlier waits for its next one, and where no event ever comes
    /// (`-XX:-DoJVMTIVirtualThreadTransitions`) no virtual thread gets a context.
    pub(crate) fn verify(&self, thread_id: i64) -> bool {
        let handler = self.handler;
        let Some(carrier) = handler.current_thread() else {
            return false;
        };
        let source = handler.id_source();
        let read = handler.logical_tid(carrier);
        let is_right = read == thread_id && thread_id != carrier.java_tid.load(Relaxed);
        let from_table = matches!(source, IdSource::Guarded { .. } | IdSource::Current { .. });
        if !is_right && from_table && handler.refuse_id_source() {
            log::warn(&format!(
                "the id of a virtual thread reads as {read} instead of {thread_id}; {}",
                self.replace_table()
            ));
        }
        is_right
    }

    /// Turns mount events on in place of the table, unless the user insisted on the table. Returns
    /// a description for the log.
    fn replace_table(&self) -> String {
        if self.allowed != VirtualThreads::Auto {
            return "virtual threads get no context in this JVM".into();
        }
        match self.jvmti.enable_mount_events(self.mounts) {
            Ok(()) => {
                self.handler.use_mount_events();
                "mount events are used from now on, which cost each switch of a virtual thread"
                    .into()
            }
            Err(why) => format!(
                "virtual threads get no context in this JVM: it posts no mount events ({why})"
            ),
        }
    }

    /// The current source of the ids, for `status`.
    pub(crate) fn description(&self) -> String {
        let table = self.table;
        match self.handler.id_source_override() {
            IdSourceOverride::None => table.into(),
            IdSourceOverride::MountEvents => {
                format!("events ({table} failed the self-test on a virtual thread)")
            }
            IdSourceOverride::Off => {
                format!("off ({table} failed the self-test on a virtual thread)")
            }
        }
    }
}
