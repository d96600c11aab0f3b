//! The parts of the agent that exist from VMInit on and are never freed.

use crate::events::EventCollector;
use crate::hotspot::identity::Identity;
use crate::hotspot::layout;
use crate::jvm::jni::{Jni, Vm};
use crate::jvm::jvmti::{Jvmti, MountCallbacks};
use crate::log;
use crate::metrics::{CpuClock, SampledCpu};
use crate::options::Options;
use crate::registry::Registry;
use crate::sampling::wall::WallShared;
use crate::threads::virtual_threads::VirtualThreadIds;
use crate::threads::{ThreadDirectory, ThreadFields, handler_memory};
use signal_core::counters::Counter;
use signal_core::handler_state::HandlerState;
use signal_core::java_thread::IdSource;
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};

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
    /// CPU time that a sample in a block stands for on average; 0 where none are taken, and where
    /// blocks count samples of another kind as well.
    pub(crate) fn sample_nanos(&self) -> u64 {
        let takes_others = self.handler.wall_signal.load(Relaxed) != 0;
        if takes_others || !self.sampled_cpu.is_on() {
            return 0;
        }
        let counters = &self.handler.counters;
        let [samples, more] = [Counter::Signals, Counter::Overruns].map(|c| counters.get(c));
        let interval = self.handler.engine.interval();
        let weighed = interval.saturating_mul(samples + more);
        weighed.checked_div(samples).unwrap_or(interval)
    }

    /// Finds the VM's offsets and maps the slabs. On a Java thread.
    pub(super) fn build(
        (vm, jvmti): (Vm, Jvmti),
        options: &Options,
        mounts: MountCallbacks,
        jni: Jni,
    ) -> Result<Self, String> {
        let identity = Identity::of(jvmti);
        let fields = ThreadFields::find(jni)
            .ok_or("java.lang.Thread has no fields 'tid' and 'eetop': unknown JVM")?;
        let mut offsets = layout::find(&identity, options.virtual_threads);
        let thread = jni
            .current_thread()
            .ok_or("the calling thread has no Java object")?;
        let java_thread = fields.java_thread(jni, &thread);
        if !handler_memory::is_plausible(offsets.id_source, fields, jni) {
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
        let handler = handler_memory::publish(&offsets, options)
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
