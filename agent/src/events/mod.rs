//! What the VM tells on the thread concerned, instead of a signal's finding it: allocations, waits for monitors, pauses for collections.
//!
//! The callbacks run on application threads in native state: they may allocate, they must not wait. Each thing seen goes into a bounded queue
//! for the writer; a full queue loses it, counted. Pauses are told by a VM thread at a safepoint, where nothing but atomics is allowed.
//!
//! The weight of a lost allocation goes to the next one of its thread and context. A lost wait has none to give: the length of another wait would be false.
//!
//! Rule: accounting of each kind: seen = written + short + filtered + lost, checked like that of signals.

mod alloc;
mod gc;
mod holder;
mod lock;

pub(crate) use gc::Pause;

use crate::entry::agent::{Agent, Live};
use crate::hotspot::monitors::MonitorLayout;
use crate::jvm::jni::Jni;
use crate::jvm::jvmti::Jvmti;
use crate::metrics::ObserveCounters;
use crate::options::Options;
use crate::os::thread::current_tid;
use crossbeam_queue::ArrayQueue;
use jni_sys::{jclass, jobject};
use signal_core::block::{Found, Values};
use signal_core::engine::monotonic_nanos;
use signal_core::record::ThreadRecord;
use signal_core::tls;
use std::sync::OnceLock;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64};

/// Things seen that wait for the writer; it comes 50 times a second.
const QUEUE: usize = 4096;

/// The thread that something happened on, platform or virtual.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Who {
    /// Serial of the OS thread's record, 0 = none.
    pub(crate) serial: u64,
    /// Id of the logical thread, 0 = not a Java thread.
    pub(crate) logical_tid: i64,
    pub(crate) is_virtual: bool,
}

impl Who {
    /// The thread that `logical_tid` names and the OS thread of `record` runs: itself, or a virtual thread that it carries.
    pub(crate) fn of(record: &ThreadRecord, logical_tid: i64) -> Self {
        Self {
            serial: record.serial.load(Relaxed),
            logical_tid,
            is_virtual: logical_tid != record.java_tid.load(Relaxed),
        }
    }
}

/// Something that was seen, with its context.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) nanos: u64,
    pub(crate) who: Who,
    pub(crate) values: Values,
    /// (method id, bytecode index), topmost first.
    pub(crate) frames: Vec<(usize, i32)>,
    /// Class of the object, like `Ljava/lang/String;`.
    pub(crate) class: String,
    pub(crate) what: What,
    /// Who held the monitor, where it is known.
    pub(crate) holder: Option<Holder>,
}

/// A thread that held a monitor when another one began to wait for it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Holder {
    pub(crate) who: Who,
    /// Its context at that moment; empty if it had none or was changing it.
    pub(crate) values: Values,
}

/// What was seen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum What {
    /// An object was allocated that stands for so many bytes.
    Allocation {
        /// All allocations that this one stands for.
        weight_bytes: u64,
        /// The object alone.
        size_bytes: u64,
    },
    /// A thread has waited for a monitor.
    Monitor {
        /// For so long, until `Seen::nanos`.
        nanos: u64,
        /// Identity hash of the object.
        hash: u32,
    },
}

/// The observers of a process.
#[derive(Debug)]
pub(crate) struct Observers {
    queue: ArrayQueue<Box<Seen>>,
    gc: gc::Collections,
    waiting: lock::Waiting,
    pub(crate) counters: ObserveCounters,
    alloc_bytes: AtomicU64,
    /// Number of the recording in this process.
    recording: AtomicU64,
    lock_nanos: AtomicU64,
    monitors: OnceLock<Option<MonitorLayout>>,
    depth: AtomicU32,
}

impl Default for Observers {
    fn default() -> Self {
        Self {
            queue: ArrayQueue::new(QUEUE),
            gc: gc::Collections::default(),
            waiting: lock::Waiting::default(),
            counters: ObserveCounters::default(),
            alloc_bytes: AtomicU64::new(0),
            recording: AtomicU64::new(0),
            lock_nanos: AtomicU64::new(0),
            monitors: OnceLock::new(),
            depth: AtomicU32::new(0),
        }
    }
}

impl Observers {
    /// Turns on what `options` ask for; what this VM refuses is told and left out.
    pub(crate) fn begin(&self, jvmti: Jvmti, options: &Options) {
        self.depth.store(u32::from(options.stack_depth), Relaxed);
        if let Some(bytes) = options.alloc_bytes {
            self.alloc_bytes.store(bytes, Relaxed);
            alloc::begin(jvmti, bytes);
        }
        if let Some(shortest) = options.lock {
            let nanos = u64::try_from(shortest.as_nanos()).unwrap_or(u64::MAX);
            self.lock_nanos.store(nanos, Relaxed);
            self.monitors.get_or_init(MonitorLayout::find);
            lock::begin(jvmti, &self.waiting);
        }
        gc::begin(jvmti);
    }

    /// After `halt`: leaves to other agents what only one of a JVM can have.
    pub(crate) fn end(jvmti: Jvmti) {
        alloc::end(jvmti);
    }

    /// Turns everything off. Callbacks on their way still end up in the queue, for the writer's last drain or the next start to clear.
    pub(crate) fn halt(&self, jvmti: Jvmti) {
        alloc::halt(jvmti);
        lock::end(jvmti);
        gc::end(jvmti);
        self.waiting.clear();
    }

    /// For the writer: the next thing seen.
    pub(crate) fn take(&self) -> Option<Box<Seen>> {
        self.queue.pop()
    }

    /// For the writer: the next pause.
    pub(crate) fn take_pause(&self) -> Option<Pause> {
        self.gc.take()
    }

    /// For the writer, before a recording: what an earlier one left.
    pub(crate) fn clear(&self) {
        self.recording.fetch_add(1, Relaxed);
        while self.take().is_some() {}
        while self.take_pause().is_some() {}
    }

    fn depth(&self) -> usize {
        self.depth.load(Relaxed) as usize
    }

    /// Whether the queue is full now: who hands over would have worked for nothing.
    fn is_full(&self) -> bool {
        self.queue.is_full()
    }

    /// Hands over; `false` if the queue is full.
    fn hand_over(&self, seen: Seen) -> bool {
        self.queue.push(Box::new(seen)).is_ok()
    }
}

/// The calling thread and its context; `None` if the recording's filter, or that of the context, leaves events of `event_bit` out.
fn context_here(live: &Live, event_bit: u32) -> Option<(Who, Values)> {
    let who = who(live);
    let mut values = Values::default();
    let found = live.handler.blocks.copy(who.logical_tid, &mut values);
    let has = found == Found::Values;
    let wanted = live.handler.filter.passes(has.then_some(&values))
        && match found {
            Found::Values => values.event_mask & event_bit != 0,
            Found::Nothing => live.handler.filter.passes_without_context(event_bit),
            Found::Torn | Found::Foreign => true,
        };
    wanted.then_some((who, values))
}

/// The record of the calling OS thread.
fn record(live: &Live) -> Option<&'static ThreadRecord> {
    tls::record().or_else(|| live.handler.records.by_os_tid(current_tid()))
}

/// The calling thread.
fn who(live: &Live) -> Who {
    let Some(record) = record(live) else {
        return Who {
            serial: 0,
            logical_tid: 0,
            is_virtual: false,
        };
    };
    Who::of(record, live.handler.logical_tid(record))
}

/// What a callback works with.
struct Scene {
    live: &'static Live,
    jvmti: Jvmti,
    jni: Jni,
    nanos: u64,
}

impl Scene {
    fn new(agent: &'static Agent, live: &'static Live, jni: Jni) -> Self {
        Self {
            live,
            jvmti: agent.jvmti,
            jni,
            nanos: monotonic_nanos(),
        }
    }
}

/// An object of `class` with `size` bytes was picked.
pub(crate) fn allocated(
    agent: &'static Agent,
    live: &'static Live,
    jni: Jni,
    class: jclass,
    size: u64,
) {
    alloc::on_allocated(&Scene::new(agent, live, jni), class, size);
}

/// The calling thread begins to wait for a monitor.
pub(crate) fn blocked(agent: &'static Agent, live: &'static Live, jni: Jni) {
    lock::on_blocked(&Scene::new(agent, live, jni));
}

/// The calling thread has got the monitor of `object`.
pub(crate) fn entered(agent: &'static Agent, live: &'static Live, jni: Jni, object: jobject) {
    lock::on_entered(&Scene::new(agent, live, jni), object);
}

/// The VM has stopped for a collection; at a safepoint.
pub(crate) fn pause_begins(live: &Live) {
    live.handler.gc_pauses.store(1, Relaxed); // a handler that misses it by a moment is stopped by the walker's own check
    live.observers.gc.begins();
}

/// The VM goes on; still at the safepoint.
pub(crate) fn pause_ends(live: &Live) {
    live.handler.gc_pauses.store(0, Relaxed);
    live.observers.gc.ends(&live.observers.counters);
}
