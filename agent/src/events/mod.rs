//! Events that the VM posts on the thread concerned: sampled allocations, lock contention, GC pauses.
//!
//! The callbacks run on application threads in native state: they may allocate, they must not wait.
//! Each event goes into a bounded queue for the writer; a full queue loses it, counted. A VM thread
//! posts GC pauses at a safepoint, where nothing but atomics is allowed.
//!
//! The weight of a lost allocation goes to the next one of its thread and context. A lost wait has
//! none to give: the length of another wait would be false.
//!
//! Rule: accounting of each kind: seen = written + short + filtered + lost, checked like that of
//! signals.

mod alloc;
mod gc;
mod holder;
mod lock;

pub(crate) use gc::GcPause;

use crate::hotspot::monitors::MonitorLayout;
use crate::jvm::jni::Jni;
use crate::jvm::jvmti::Jvmti;
use crate::options::Options;
use crate::threads::{ThreadDirectory, ThreadRef};
use crossbeam_queue::ArrayQueue;
use jni_sys::{jclass, jobject};
use signal_core::block::{ReadOutcome, Values};
use signal_core::engine::monotonic_nanos;
use signal_core::handler_state::HandlerState;
use signal_core::java_thread::CurrentThread;
use signal_core::record::ThreadRecord;
use std::sync::OnceLock;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64};

/// Events that wait for the writer, which comes 50 times a second.
const QUEUE_CAPACITY: usize = 4096;

/// An event with its context.
#[derive(Debug)]
pub(crate) struct ObservedEvent {
    pub(crate) nanos: u64,
    pub(crate) thread: ThreadRef,
    pub(crate) values: Values,
    /// (method id, bytecode index), topmost first.
    pub(crate) frames: Vec<(usize, i32)>,
    /// Class of the object, like `Ljava/lang/String;`.
    pub(crate) class: String,
    pub(crate) payload: Payload,
    /// Who held the monitor, where it is known.
    pub(crate) holder: Option<MonitorHolder>,
}

/// A thread that held a monitor when another one began to wait for it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MonitorHolder {
    pub(crate) thread: ThreadRef,
    /// Its context at that moment; empty if it had none or was changing it.
    pub(crate) values: Values,
}

/// What is special to a kind of event.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Payload {
    /// An object was allocated that stands for so many bytes.
    Allocation {
        /// All allocations that this one stands for.
        weight_bytes: u64,
        /// The object alone.
        size_bytes: u64,
    },
    /// A thread has waited for a monitor.
    MonitorWait {
        /// Length of the wait, which ended at `ObservedEvent::nanos`.
        nanos: u64,
        /// Identity hash of the object.
        hash: u32,
    },
}

/// Turns the events on and off, and queues what their callbacks observe.
#[derive(Debug)]
pub(crate) struct EventCollector {
    jvmti: Jvmti,
    handler: &'static HandlerState,
    threads: &'static ThreadDirectory,
    queue: ArrayQueue<Box<ObservedEvent>>,
    gc_pauses: gc::GcPauses,
    waits: lock::PendingWaits,
    alloc_interval_bytes: AtomicU64,
    /// Number of the recording in this process.
    recording: AtomicU64,
    min_wait_nanos: AtomicU64,
    monitors: OnceLock<Option<MonitorLayout>>,
    depth: AtomicU32,
}

impl EventCollector {
    /// A collector with all events off.
    pub(crate) fn new(
        jvmti: Jvmti,
        handler: &'static HandlerState,
        threads: &'static ThreadDirectory,
    ) -> Self {
        Self {
            jvmti,
            handler,
            threads,
            queue: ArrayQueue::new(QUEUE_CAPACITY),
            gc_pauses: gc::GcPauses::default(),
            waits: lock::PendingWaits::default(),
            alloc_interval_bytes: AtomicU64::new(0),
            recording: AtomicU64::new(0),
            min_wait_nanos: AtomicU64::new(0),
            monitors: OnceLock::new(),
            depth: AtomicU32::new(0),
        }
    }

    /// Turns on what `options` ask for; what this VM refuses is left out with a warning.
    pub(crate) fn enable(&self, options: &Options) {
        self.depth.store(u32::from(options.stack_depth), Relaxed);
        if let Some(bytes) = options.alloc_bytes {
            self.alloc_interval_bytes.store(bytes, Relaxed);
            alloc::enable(self.jvmti, bytes);
        }
        if let Some(shortest) = options.lock {
            let nanos = u64::try_from(shortest.as_nanos()).unwrap_or(u64::MAX);
            self.min_wait_nanos.store(nanos, Relaxed);
            self.monitors.get_or_init(MonitorLayout::find);
            lock::enable(self.jvmti, &self.waits);
        }
        gc::enable(self.jvmti);
    }

    /// Turns everything off. Callbacks on their way still end up in the queue, for the writer's last
    /// drain or the next start to clear.
    pub(crate) fn disable(&self) {
        alloc::disable(self.jvmti);
        lock::disable(self.jvmti);
        gc::disable(self.jvmti);
        self.waits.clear();
    }

    /// After [`disable`](Self::disable): gives back to other agents what only one of a JVM can have.
    pub(crate) fn relinquish(&self) {
        alloc::relinquish(self.jvmti);
    }

    /// For the writer: the next event.
    pub(crate) fn take(&self) -> Option<Box<ObservedEvent>> {
        self.queue.pop()
    }

    /// For the writer: the next GC pause.
    pub(crate) fn take_pause(&self) -> Option<GcPause> {
        self.gc_pauses.take()
    }

    /// For the writer, before a recording: drops what an earlier one left.
    pub(crate) fn clear(&self) {
        self.recording.fetch_add(1, Relaxed);
        while self.take().is_some() {}
        while self.take_pause().is_some() {}
    }

    /// Callback: an object of `class` with `size` bytes was picked.
    pub(crate) fn on_allocated(&self, jni: Jni, class: jclass, size: u64) {
        alloc::on_allocated(&CallbackContext::new(self, jni), class, size);
    }

    /// Callback: the calling thread begins to wait for a monitor.
    pub(crate) fn on_monitor_wait(&self, jni: Jni) {
        lock::on_wait(&CallbackContext::new(self, jni));
    }

    /// Callback: the calling thread has got the monitor of `object`.
    pub(crate) fn on_monitor_entered(&self, jni: Jni, object: jobject) {
        lock::on_entered(&CallbackContext::new(self, jni), object);
    }

    /// Callback: the VM has stopped for a collection; at a safepoint.
    pub(crate) fn on_gc_start(&self) {
        // A handler that misses it by a moment is stopped by the walker's own check.
        self.handler.gc_pauses.store(1, Relaxed);
        self.gc_pauses.begin();
    }

    /// Callback: the VM goes on; still at the safepoint.
    pub(crate) fn on_gc_finish(&self) {
        self.handler.gc_pauses.store(0, Relaxed);
        self.gc_pauses.end(&self.handler.counters);
    }

    fn depth(&self) -> usize {
        self.depth.load(Relaxed) as usize
    }

    /// Whether the queue is full now, so that preparing an event would be wasted.
    fn is_full(&self) -> bool {
        self.queue.is_full()
    }

    /// Queues an event; `false` if the queue is full.
    #[must_use]
    fn push(&self, event: ObservedEvent) -> bool {
        self.queue.push(Box::new(event)).is_ok()
    }

    /// The calling thread and its context; `None` if the recording's filter, or that of the context,
    /// leaves events of `event_bit` out.
    fn current_context(&self, event_bit: u32) -> Option<(ThreadRef, Values)> {
        let thread = self.current_thread();
        let mut values = Values::default();
        let found = self.handler.blocks.copy(thread.logical_tid, &mut values);
        let has_values = found == ReadOutcome::Values;
        let is_wanted = self.handler.filter.passes(has_values.then_some(&values))
            && match found {
                ReadOutcome::Values => values.event_mask & event_bit != 0,
                ReadOutcome::Nothing => self.handler.filter.passes_without_context(event_bit),
                ReadOutcome::Torn | ReadOutcome::Foreign => true,
            };
        is_wanted.then_some((thread, values))
    }

    /// The record of the calling OS thread.
    fn current_record(&self) -> Option<&'static ThreadRecord> {
        self.handler.current_thread().map(CurrentThread::record)
    }

    fn current_thread(&self) -> ThreadRef {
        let thread = self.handler.current_thread();
        thread.map_or(ThreadRef::UNKNOWN, |thread| {
            ThreadRef::of(thread.record(), self.handler.logical_tid(thread))
        })
    }
}

/// What a callback works with.
struct CallbackContext<'a> {
    collector: &'a EventCollector,
    jni: Jni,
    nanos: u64,
}

impl<'a> CallbackContext<'a> {
    fn new(collector: &'a EventCollector, jni: Jni) -> Self {
        Self {
            collector,
            jni,
            nanos: monotonic_nanos(),
        }
    }
}
