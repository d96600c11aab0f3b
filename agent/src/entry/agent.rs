//! The agent of this process: what lives from load to the end of the VM.
//!
//! Global state, and who writes it: `AGENT` is set once, by the first load; `Agent::live` once, when the VM is up (VMInit, or the attach); the
//! session changes under its lock. Nothing of it is ever freed: a late handler, callback or native may still read it.

use crate::entry::callbacks;
use crate::events::Observers;
use crate::hotspot::identity::Identity;
use crate::hotspot::layout::{self, Found};
use crate::jvm::jni::{Jni, Vm};
use crate::jvm::jvmti::Jvmti;
use crate::metrics::PollCounters;
use crate::options::Options;
use crate::os::thread::Slices;
use crate::os::{pages, slab, thread as os_thread, timers};
use crate::registry::Registry;
use crate::sampling::wall::WallShared;
use crate::session::Session;
use crate::threads::{ThreadDirectory, ThreadFields};
use jni_sys::jobject;
use signal_core::block::BlockTable;
use signal_core::counters::Counters;
use signal_core::engine::Engine;
use signal_core::filter::Filter;
use signal_core::handler_state::{self, HandlerState, IdSource};
use signal_core::record::RecordTable;
use signal_core::slots::SlotTable;
use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize};

/// Platform threads that can be known at once.
const MAX_THREADS: usize = signal_core::sleepers::CAPACITY;
/// Samples on their way to the writer. With the drain period of 20 ms good for 50 000 samples a second.
const SLOTS: usize = if cfg!(feature = "oracle") {
    8192 // test builds sample 20 times as often
} else {
    1024
};
/// Frames that a slot can hold: the limit of `jstackdepth`. Only the pages that a stack reaches get memory: one for 256 frames.
const MAX_DEPTH: usize = 2048;

static AGENT: OnceLock<Agent> = OnceLock::new();

/// See the module.
#[derive(Debug)]
pub(crate) struct Agent {
    pub(crate) vm: Vm,
    pub(crate) jvmti: Jvmti,
    pub(crate) registry: Registry,
    pub(crate) session: Session,
    /// Options of the load.
    pub(crate) options: Options,
    live: OnceLock<Live>,
    /// Signal number that is sampled with, from the first start on.
    pub(crate) signal: AtomicI32,
    /// Context blocks taken back from virtual threads that had ended without giving them back.
    pub(crate) blocks_freed: AtomicU64,
}

/// What exists once the VM is up.
#[derive(Debug)]
pub(crate) struct Live {
    pub(crate) handler: &'static HandlerState,
    pub(crate) found: Found,
    pub(crate) identity: Identity,
    pub(crate) threads: ThreadDirectory,
    pub(crate) observers: Observers,
    pub(crate) wall: WallShared,
    pub(crate) poll: PollCounters,
    /// What the scheduler gives the poll; unset before a thread was left to it.
    pub(crate) poll_slices: OnceLock<Slices>,
}

/// The agent, if it was loaded.
pub(crate) fn agent() -> Option<&'static Agent> {
    AGENT.get()
}

/// Makes the agent; `None` if there is one already.
pub(crate) fn create(vm: Vm, jvmti: Jvmti, options: Options) -> Option<&'static Agent> {
    let mut fresh = false;
    let agent = AGENT.get_or_init(|| {
        fresh = true;
        Agent {
            vm,
            jvmti,
            registry: Registry::new(options.value_cap as usize),
            session: Session::default(),
            signal: AtomicI32::new(options.signal.number()),
            options,
            live: OnceLock::new(),
            blocks_freed: AtomicU64::new(0),
        }
    });
    fresh.then_some(agent)
}

impl Agent {
    /// What exists once the VM is up.
    pub(crate) fn live(&self) -> Option<&Live> {
        self.live.get()
    }

    /// The VM is up: finds its offsets, maps the slabs, registers the threads that run. On the thread `thread`.
    pub(crate) fn go_live(&self, jni: Jni, thread: jobject) -> Result<&Live, String> {
        if let Some(live) = self.live.get() {
            return Ok(live);
        }
        let live = self.build(jni, thread)?;
        for name in &self.options.attributes {
            self.registry.bind(name);
        }
        let live = self.live.get_or_init(|| live);
        jni.with_local_frame(|| live.threads.register_existing(jni));
        Ok(live)
    }

    fn build(&self, jni: Jni, thread: jobject) -> Result<Live, String> {
        let identity = Identity::of(self.jvmti);
        let mut found = layout::find(&identity, self.options.virtual_threads);
        let fields = ThreadFields::find(jni)
            .ok_or("java.lang.Thread has no fields 'tid' and 'eetop': unknown JVM")?;
        let java_thread = fields.java_thread(jni, thread);
        let java_tid = fields.java_tid(jni, thread);
        if java_thread == 0 || !layout::plausible(found.vm.id_source, java_thread, java_tid) {
            found.refuse_tables(
                &identity,
                self.options.virtual_threads,
                "offsets did not stand the test at start",
            );
        }
        if found.vm.id_source == IdSource::Told
            && let Err(why) = callbacks::watch_mounts(self.jvmti)
        {
            found.vm.id_source = IdSource::Platform;
            found.id_path = "off (this JVM tells of no mounts)";
            crate::log::warn(&format!(
                "virtual threads get no context: this JVM does not tell of their mounts ({why})"
            ));
        }
        let env_offset = jni.address().wrapping_sub(java_thread);
        let handler = self
            .handler(&found)
            .map_err(|error| format!("no memory for the context slab: {error}"))?;
        let threads = ThreadDirectory::new(handler, self.vm, self.jvmti, fields, found, env_offset);
        Ok(Live {
            handler,
            found,
            identity,
            threads,
            observers: Observers::default(),
            wall: WallShared::default(),
            poll: PollCounters::default(),
            poll_slices: OnceLock::new(),
        })
    }

    fn handler(&self, found: &Found) -> io::Result<&'static HandlerState> {
        let invalid = || io::Error::other("the number of blocks must be a power of two");
        // SAFETY: fresh memory of exactly that size, mapped for ever, used by this table only.
        let slots = unsafe {
            SlotTable::new(
                slab::array(SLOTS)?,
                slab::frames(SLOTS * MAX_DEPTH)?,
                MAX_DEPTH,
            )
        };
        let made: &'static HandlerState = Box::leak(Box::new(HandlerState {
            counters: Counters::new(),
            blocks: BlockTable::new(slab::array(self.options.blocks as usize)?)
                .ok_or_else(invalid)?,
            records: RecordTable::new(
                slab::array(MAX_THREADS)?,
                pages::small(slab::array(os_thread::max_tid() + 1)?),
            ),
            slots,
            vm: found.vm,
            instead: AtomicU32::new(0),
            filter: Filter::new(),
            engine: Engine::new(timers::tick_nanos()),
            walker: AtomicUsize::new(0),
            own: AtomicPtr::new(std::ptr::null_mut()),
            walk_mode: AtomicU32::new(0),
            depth: AtomicU32::new(u32::from(self.options.stack_depth)),
            gc_pauses: AtomicU32::new(0),
            wall_signal: AtomicI32::new(0),
            wall_needs_context: AtomicBool::new(false),
            enabled: AtomicBool::new(false),
            in_flight: AtomicU32::new(0),
        }));
        handler_state::publish(made);
        Ok(made)
    }
}
