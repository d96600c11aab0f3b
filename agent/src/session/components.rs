//! The parts of the agent that exist from VMInit on and are never freed.

#![expect(unsafe_code, reason = "hands fresh memory to the table of slots")]

use crate::events::EventCollector;
use crate::hotspot::identity::Identity;
use crate::hotspot::layout::{self, VmOffsets};
use crate::jvm::jni::{Jni, Vm};
use crate::jvm::jvmti::{Jvmti, MountCallbacks};
use crate::log;
use crate::metrics::{CpuClock, SampledCpu};
use crate::options::Options;
use crate::os::{pages, slab, thread as os_thread, timers};
use crate::registry::Registry;
use crate::sampling::wall::WallShared;
use crate::threads::virtual_threads::VirtualThreadIds;
use crate::threads::{ThreadDirectory, ThreadFields};
use jni_sys::jobject;
use signal_core::block::BlockTable;
use signal_core::engine::probes::MAX_CPUS;
use signal_core::handler_state::{self, HandlerState};
use signal_core::java_thread::{IdSource, VmLayout};
use signal_core::record::RecordTable;
use signal_core::slots::SlotTable;
use std::io;
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};

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

/// See the module. Handlers, callbacks and natives may use it at any time, so nothing is ever
/// freed.
#[derive(Debug)]
pub(crate) struct Components {
    pub(crate) vm: Vm,
    pub(crate) jvmti: Jvmti,
    pub(crate) identity: Identity,
    pub(crate) handler: &'static HandlerState,
    pub(crate) registry: Registry,
    pub(crate) threads: &'static ThreadDirectory,
    pub(crate) virtual_threads: VirtualThreadIds,
    pub(crate) events: EventCollector,
    pub(crate) wall: WallShared,
    /// CPU time while CPU samples were taken.
    pub(crate) sampled_cpu: SampledCpu,
    pub(crate) cpu_clock: CpuClock,
    /// Number of the sampling signal, from the first start on.
    pub(crate) signal: AtomicI32,
}

impl Components {
    /// Finds the VM's offsets and maps the slabs. On the Java thread `thread`.
    pub(super) fn build(
        (vm, jvmti): (Vm, Jvmti),
        options: &Options,
        mounts: MountCallbacks,
        jni: Jni,
        thread: jobject,
    ) -> Result<Self, String> {
        let identity = Identity::of(jvmti);
        let fields = ThreadFields::find(jni)
            .ok_or("java.lang.Thread has no fields 'tid' and 'eetop': unknown JVM")?;
        let java_thread = fields.java_thread(jni, thread);
        let java_tid = fields.java_tid(jni, thread);
        let mut offsets = layout::find(&identity, options.virtual_threads);
        // SAFETY: of the calling thread.
        let is_plausible = java_thread != 0
            && unsafe { layout::plausible(offsets.id_source, java_thread, java_tid) };
        if !is_plausible {
            offsets.refuse_tables(
                &identity,
                options.virtual_threads,
                "the offsets failed validation at start",
            );
        }
        if offsets.id_source == IdSource::MountEvents
            && let Err(why) = jvmti.enable_mount_events(mounts)
        {
            offsets.id_source = IdSource::Platform;
            offsets.id_path = "off (this JVM posts no mount events)";
            log::warn(&format!(
                "virtual threads get no context: this JVM posts no mount events ({why})"
            ));
        }
        let handler = publish_handler(&offsets, options)
            .map_err(|error| format!("no memory for the context slab: {error}"))?;
        let env_offset = jni.address().wrapping_sub(java_thread);
        let threads = ThreadDirectory::new(handler, vm, jvmti, fields, offsets, env_offset);
        let threads: &'static ThreadDirectory = Box::leak(Box::new(threads));
        let registry = Registry::new(options.value_cap as usize);
        for name in &options.attributes {
            registry.bind(name);
        }
        Ok(Self {
            vm,
            jvmti,
            identity,
            handler,
            registry,
            threads,
            virtual_threads: VirtualThreadIds::new(
                handler,
                jvmti,
                offsets.id_path,
                options.virtual_threads,
                mounts,
            ),
            events: EventCollector::new(jvmti, handler, threads),
            wall: WallShared::default(),
            sampled_cpu: SampledCpu::default(),
            cpu_clock: CpuClock::default(),
            signal: AtomicI32::new(options.signal.number()),
        })
    }

    /// Number of the sampling signal.
    pub(crate) fn signal(&self) -> i32 {
        self.signal.load(Relaxed)
    }
}

fn publish_handler(offsets: &VmOffsets, options: &Options) -> io::Result<&'static HandlerState> {
    let invalid = || io::Error::other("the number of blocks must be a power of two");
    // SAFETY: fresh memory of exactly that size, never unmapped, used by this table only.
    let slots = unsafe {
        SlotTable::new(
            slab::array(SAMPLE_SLOTS)?,
            slab::frames(SAMPLE_SLOTS * MAX_DEPTH)?,
            MAX_DEPTH,
        )
    };
    // SAFETY: the VM's own tables name these offsets, and they failed no test on the calling
    // thread.
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
