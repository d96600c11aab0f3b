//! The state that handlers reach: its memory, the VM's offsets, AsyncGetCallTrace.
//!
//! Rules:
//! 1. A table gets fresh memory of exactly its size, which is never unmapped and which nothing else
//!    uses.
//! 2. The VM's own tables name the offsets, and these failed no test on the calling thread.
//! 3. The `JavaThread` of the calling thread lives during the call.
//! 4. An address is that of the function which libjvm exports under the name.

#![expect(unsafe_code, reason = "hands memory and addresses to handlers")]

use super::thread_fields::ThreadFields;
use crate::hotspot::layout::{self, VmOffsets};
use crate::hotspot::vm_structs;
use crate::jvm::jni::Jni;
use crate::options::Options;
use crate::os::{pages, slab, thread as os_thread, timers};
use signal_core::block::BlockTable;
use signal_core::engine::probes::MAX_CPUS;
use signal_core::handler_state::{self, HandlerState};
use signal_core::java_thread::{IdSource, VmLayout};
use signal_core::record::RecordTable;
use signal_core::slots::SlotTable;
use std::io;
use std::sync::atomic::Ordering::Relaxed;

/// Maximum number of platform threads at one time.
const MAX_THREADS: usize = 65_536;
/// Sample slots. The writer polls them each 20 ms, so they allow 50 000 samples a second.
const SAMPLE_SLOTS: usize = if cfg!(feature = "oracle") {
    8192 // test builds sample 20 times as often
} else {
    1024
};
/// Frames that a slot can hold: the limit of `jstackdepth`. Only the pages that a stack reaches get
/// memory: one for 256 frames.
const MAX_DEPTH: usize = 2048;

/// Whether `source` gives the id of the calling thread, a platform thread.
pub(crate) fn is_plausible(source: IdSource, fields: ThreadFields, jni: Jni) -> bool {
    let Some(thread) = jni.current_thread() else {
        return false;
    };
    let java_thread = fields.java_thread(jni, &thread);
    let java_tid = fields.java_tid(jni, &thread);
    // SAFETY: rule 3.
    java_thread != 0 && unsafe { layout::plausible(source, java_thread, java_tid) }
}

/// The address of AsyncGetCallTrace, or none.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CallTrace(usize);

impl CallTrace {
    pub(crate) const NONE: Self = Self(0);

    /// Looks it up.
    pub(crate) fn find() -> Self {
        Self(vm_structs::symbol("AsyncGetCallTrace").unwrap_or(0))
    }

    pub(crate) fn is_none(self) -> bool {
        self.0 == 0
    }

    /// Gives it to the handlers.
    pub(crate) fn publish(self, handler: &HandlerState) {
        // SAFETY: rule 4; 0 is none.
        unsafe { handler.set_asgct(self.0) };
    }
}

/// Makes the state of handlers, for the life of the process, and publishes it.
pub(crate) fn publish(offsets: &VmOffsets, options: &Options) -> io::Result<&'static HandlerState> {
    let invalid = || io::Error::other("the number of blocks must be a power of two");
    // SAFETY: rule 1.
    let slots = unsafe {
        SlotTable::new(
            slab::array(SAMPLE_SLOTS)?,
            slab::frames(SAMPLE_SLOTS * MAX_DEPTH)?,
            MAX_DEPTH,
        )
    };
    // SAFETY: rule 2.
    let layout = unsafe { VmLayout::new(offsets.id_source, offsets.thread_state) };
    let state = HandlerState::new(
        BlockTable::new(slab::blocks(options.blocks as usize)?).ok_or_else(invalid)?,
        RecordTable::new(
            slab::array(MAX_THREADS)?,
            pages::small(slab::array(os_thread::max_tid() + 1)?),
        ),
        slots,
        slab::array(MAX_CPUS)?,
        layout,
        timers::tick_nanos(),
    );
    state.depth.store(u32::from(options.stack_depth), Relaxed);
    let state: &'static HandlerState = Box::leak(Box::new(state));
    handler_state::publish(state);
    Ok(state)
}
