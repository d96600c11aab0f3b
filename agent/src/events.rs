//! Events that the VM posts on the affected thread: sampled allocations, lock contention, GC
//! pauses.
//!
//! The callbacks run on application threads in native state: they may allocate, but must not wait.
//! Each event goes into a bounded queue for the writer; a full queue loses it, counted. A VM thread
//! posts GC pauses at a safepoint, where only atomics are allowed.
//!
//! The weight of a lost allocation goes to the next one of its thread and context. A lost wait has
//! no such weight: the length of another wait would be false.
//!
//! Rule: accounting of each kind: seen = written + short + filtered + lost, checked like that of
//! signals.

mod alloc;
mod gc;
mod holder;
mod hooked;
mod late_label;
mod lock;
mod mark;
mod pick_ratio;
mod queue;
mod scope;

pub(crate) use gc::GcPause;
pub(crate) use pick_ratio::PickRatio;
pub(crate) use queue::{LateValue, MonitorHolder, ObservedEvent, Payload, ScopeTimes};
pub(crate) use scope::ScopeAnswer;

use crate::jvm::jni::{Jni, LocalRef};
use crate::jvm::jvmti::Jvmti;
use crate::options::Options;
use crate::threads::ThreadDirectory;
use hooked::HookedEvents;
use lock::LockEvents;
use queue::{CallbackContext, EventQueue};
use scope::Scopes;
use signal_core::engine::monotonic_nanos;
use signal_core::handler_state::HandlerState;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};

/// Enables and disables the events, and queues them for the writer.
#[derive(Debug)]
pub(crate) struct EventCollector {
    queue: EventQueue,
    gc_pauses: gc::GcPauses,
    lock: LockEvents,
    hooked: HookedEvents,
    scopes: Scopes,
    /// Whether a recording wants events.
    is_on: AtomicBool,
    alloc_interval_bytes: AtomicU64,
}

impl EventCollector {
    /// A collector with all events off.
    pub(crate) fn new(
        jvmti: Jvmti,
        handler: &'static HandlerState,
        threads: &'static ThreadDirectory,
    ) -> Self {
        Self {
            queue: EventQueue::new(jvmti, handler, threads),
            gc_pauses: gc::GcPauses::default(),
            lock: LockEvents::default(),
            hooked: HookedEvents::default(),
            scopes: Scopes::default(),
            is_on: AtomicBool::new(false),
            alloc_interval_bytes: AtomicU64::new(0),
        }
    }

    /// Enables the events of `options`; warns about those that this VM refuses.
    pub(crate) fn enable(&self, options: &Options) {
        self.queue.set_depth(u32::from(options.stack_depth));
        let jvmti = self.queue.jvmti;
        if let Some(bytes) = options.alloc_bytes {
            self.alloc_interval_bytes.store(bytes, Relaxed);
            alloc::enable(jvmti, bytes);
        }
        if let Some(shortest) = options.lock {
            self.lock.enable(jvmti, shortest);
        }
        self.gc_pauses.record(jvmti, true);
        self.scopes.keep_since(monotonic_nanos());
        self.hooked.enable(options);
        self.is_on.store(true, Relaxed);
    }

    /// Whether the recording that comes wants scopes. Before the Java API is asked to time them.
    pub(crate) fn want_scopes(&self, options: Option<&Options>) {
        self.scopes.want(options);
    }

    /// Disables all events. Running callbacks still queue theirs; the writer's last drain or the
    /// next start clears them.
    pub(crate) fn disable(&self) {
        self.is_on.store(false, Relaxed);
        self.scopes.keep_since(u64::MAX);
        self.hooked.disable();
        alloc::disable(self.queue.jvmti);
        self.lock.disable(self.queue.jvmti);
        self.gc_pauses.record(self.queue.jvmti, false);
    }

    /// After [`disable`](Self::disable): gives capabilities that only one agent can have back to
    /// other agents.
    pub(crate) fn relinquish(&self) {
        alloc::relinquish(self.queue.jvmti);
    }

    /// For the writer: the next event.
    pub(crate) fn take(&self) -> Option<Box<ObservedEvent>> {
        self.queue.take()
    }

    /// For the writer: the next GC pause.
    pub(crate) fn take_pause(&self) -> Option<GcPause> {
        self.gc_pauses.take()
    }

    /// One more observer of the application wants GC pauses, or one less.
    pub(crate) fn observe_pauses(&self, more: bool) {
        self.gc_pauses.observe(self.queue.jvmti, more);
    }

    /// For observers: the next GC pause.
    pub(crate) fn take_observed_pause(&self) -> Option<GcPause> {
        self.gc_pauses.take_observed()
    }

    /// For the writer, before a recording: drops the events of an earlier one.
    pub(crate) fn clear(&self) {
        self.queue.next_recording();
        while self.take_pause().is_some() {}
    }

    /// Callback: an object of `class` with `size` bytes was picked.
    pub(crate) fn on_allocated(&self, jni: Jni, class: &LocalRef<'_>, size: u64) {
        let interval_bytes = self.alloc_interval_bytes.load(Relaxed);
        let context = CallbackContext::new(&self.queue, jni);
        alloc::on_allocated(&context, interval_bytes, class, size);
    }

    /// Callback: the calling thread starts to wait for a monitor.
    pub(crate) fn on_monitor_wait(&self, jni: Jni) {
        self.lock.on_wait(&CallbackContext::new(&self.queue, jni));
    }

    /// Callback: the calling thread has acquired the monitor of `object`.
    pub(crate) fn on_monitor_entered(&self, jni: Jni, object: &LocalRef<'_>) {
        let context = CallbackContext::new(&self.queue, jni);
        self.lock.on_entered(&context, object);
    }

    /// A hook: the calling thread was parked, waiting for `blocker` if it is known.
    pub(crate) fn on_parked(&self, jni: Jni, blocker: Option<&LocalRef<'_>>, nanos: u64) {
        let context = CallbackContext::new(&self.queue, jni);
        self.hooked.on_parked(&context, blocker, nanos);
    }

    /// A hook: the calling thread creates an exception.
    pub(crate) fn on_exception(&self, jni: Jni, exception: &LocalRef<'_>) {
        let context = CallbackContext::new(&self.queue, jni);
        self.hooked.on_exception(&context, exception);
    }

    /// For the writer: which parks and which exceptions are recorded.
    pub(crate) fn pick_ratios(&self) -> [&PickRatio; 2] {
        [&self.hooked.parks, &self.hooked.exceptions]
    }

    /// The calling thread has a better value of an attribute just now, and there may be samples
    /// with the one before.
    pub(crate) fn on_late_label(&self, label: LateValue) {
        late_label::queue(&self.queue, label);
    }

    /// How long a scope takes at least that the recording wants; negative: none.
    pub(crate) fn scope_threshold_nanos(&self) -> i64 {
        self.scopes.threshold_nanos()
    }

    /// The calling thread closes a scope now, which still has its values.
    pub(crate) fn on_scope(&self, end_nanos: u64, scope: ScopeTimes) -> ScopeAnswer {
        self.scopes.queue(&self.queue, end_nanos, scope)
    }

    /// The calling thread notes a moment or a span of time.
    pub(crate) fn on_mark(&self, name: String, begin_nanos: u64, end_nanos: u64) {
        if self.is_on.load(Relaxed) {
            mark::queue(&self.queue, name, begin_nanos, end_nanos);
        }
    }

    /// Callback: the VM has stopped for a GC; at a safepoint.
    pub(crate) fn on_gc_start(&self) {
        // A handler that sees it too late is stopped by the walker's own check.
        self.queue.handler.gc_pauses.store(1, Relaxed);
        self.gc_pauses.begin();
    }

    /// Callback: the VM continues; still at the safepoint.
    pub(crate) fn on_gc_finish(&self) {
        self.queue.handler.gc_pauses.store(0, Relaxed);
        self.gc_pauses.end(&self.queue.handler.counters);
    }
}
