//! The queue of events to the writer, and the data that a callback reads from the calling thread.

use crate::jvm::jni::{Jni, LocalRef};
use crate::jvm::jvmti::Jvmti;
use crate::threads::{ThreadDirectory, ThreadRef};
use crossbeam_queue::ArrayQueue;
use signal_core::block::{ReadOutcome, Values};
use signal_core::engine::monotonic_nanos;
use signal_core::handler_state::HandlerState;
use signal_core::java_thread::CurrentThread;
use signal_core::record::ThreadRecord;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64};

/// Capacity of the queue. The writer polls it 50 times a second.
const QUEUE_CAPACITY: usize = 4096;

/// An event with its context.
#[derive(Debug)]
pub(crate) struct ObservedEvent {
    pub(crate) nanos: u64,
    pub(crate) thread: ThreadRef,
    pub(crate) values: Values,
    /// (method id, bytecode index), topmost first.
    pub(crate) frames: Vec<(usize, i32)>,
    /// Class of the object, like `Ljava/lang/String;`, or name of the mark.
    pub(crate) class: String,
    pub(crate) payload: Payload,
    /// The holder of the monitor, if known.
    pub(crate) holder: Option<MonitorHolder>,
}

/// A thread that held a monitor when another one started to wait for it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MonitorHolder {
    pub(crate) thread: ThreadRef,
    /// Its context at that moment; empty if it had none or was changing it.
    pub(crate) values: Values,
}

/// The fields of one kind of event.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Payload {
    /// A sampled allocation.
    Allocation {
        /// Bytes of all allocations that this one stands for.
        weight_bytes: u64,
        /// Bytes of the object alone.
        size_bytes: u64,
    },
    /// A thread has waited for a monitor.
    MonitorWait {
        /// Length of the wait, which ended at `ObservedEvent::nanos`.
        nanos: u64,
        /// Identity hash of the object.
        hash: u32,
    },
    /// A thread was parked until `ObservedEvent::nanos`.
    Park {
        /// Length of the park.
        nanos: u64,
        /// Identity hash of what it waited for; 0 = not known.
        hash: u32,
        /// Parks that this one stands for.
        weight: u64,
    },
    /// A thread has created an exception.
    Exception {
        /// Exceptions that this one stands for.
        weight: u64,
    },
    /// The value that an attribute has now was not known before.
    LateLabel(LateValue),
    /// A scope of the Java API, which ended at `ObservedEvent::nanos`.
    Scope(ScopeTimes),
    /// A mark or measure of the application, which ended at `ObservedEvent::nanos`.
    Mark {
        /// When it began.
        begin_nanos: u64,
    },
}

/// What a scope has beside its values and its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ScopeTimes {
    pub(crate) begin_nanos: u64,
    /// The slots that it set, a bit each.
    pub(crate) slots: u32,
    /// Slots that had another value meanwhile, of which no other event tells: in the lowest byte by
    /// scopes, in the next one for good.
    pub(crate) changed: u32,
}

/// A value that an attribute had before a better one was known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct LateValue {
    /// Slot of the attribute.
    pub(crate) slot: usize,
    /// Its value id until then.
    pub(crate) before: u32,
    /// Since when.
    pub(crate) begin_nanos: u64,
}

/// The queue of events for the writer.
#[derive(Debug)]
pub(super) struct EventQueue {
    pub(super) jvmti: Jvmti,
    pub(super) handler: &'static HandlerState,
    pub(super) threads: &'static ThreadDirectory,
    events: ArrayQueue<Box<ObservedEvent>>,
    /// Number of the recording in this process.
    recording: AtomicU64,
    depth: AtomicU32,
}

impl EventQueue {
    pub(super) fn new(
        jvmti: Jvmti,
        handler: &'static HandlerState,
        threads: &'static ThreadDirectory,
    ) -> Self {
        Self {
            jvmti,
            handler,
            threads,
            events: ArrayQueue::new(QUEUE_CAPACITY),
            recording: AtomicU64::new(0),
            depth: AtomicU32::new(0),
        }
    }

    /// The next event.
    pub(super) fn take(&self) -> Option<Box<ObservedEvent>> {
        self.events.pop()
    }

    /// A new recording starts: drops the events of an earlier one.
    pub(super) fn next_recording(&self) {
        self.recording.fetch_add(1, Relaxed);
        while self.take().is_some() {}
    }

    /// Number of the recording in this process.
    pub(super) fn recording(&self) -> u64 {
        self.recording.load(Relaxed)
    }

    /// Limits the depth of stacks from now on.
    pub(super) fn set_depth(&self, frames: u32) {
        self.depth.store(frames, Relaxed);
    }

    pub(super) fn depth(&self) -> usize {
        self.depth.load(Relaxed) as usize
    }

    /// Whether the queue is full now, so that preparing an event would be wasted.
    pub(super) fn is_full(&self) -> bool {
        self.events.is_full()
    }

    /// Queues an event; `false` if the queue is full.
    #[must_use]
    pub(super) fn push(&self, event: ObservedEvent) -> bool {
        self.events.push(Box::new(event)).is_ok()
    }

    /// The calling thread and its context; `None` if the filter of the recording or of the context
    /// excludes events of `event_bit`.
    pub(super) fn current_context(&self, event_bit: u32) -> Option<(ThreadRef, Values)> {
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

    /// An event of the calling thread without a stack, and what was found of its context, whose
    /// values it has.
    pub(super) fn current_event(
        &self,
        nanos: u64,
        payload: Payload,
    ) -> (ObservedEvent, ReadOutcome) {
        let thread = self.current_thread();
        let mut values = Values::default();
        let found = self.handler.blocks.copy(thread.logical_tid, &mut values);
        let event = ObservedEvent {
            nanos,
            thread,
            values,
            frames: Vec::new(),
            class: String::new(),
            payload,
            holder: None,
        };
        (event, found)
    }

    /// The record of the calling OS thread.
    pub(super) fn current_record(&self) -> Option<&'static ThreadRecord> {
        self.handler.current_thread().map(CurrentThread::record)
    }

    pub(super) fn current_thread(&self) -> ThreadRef {
        let thread = self.handler.current_thread();
        thread.map_or(ThreadRef::UNKNOWN, |thread| {
            ThreadRef::of(thread.record(), self.handler.logical_tid(thread))
        })
    }
}

/// The arguments of a callback.
pub(super) struct CallbackContext<'a> {
    pub(super) queue: &'a EventQueue,
    pub(super) jni: Jni,
    pub(super) nanos: u64,
}

impl<'a> CallbackContext<'a> {
    pub(super) fn new(queue: &'a EventQueue, jni: Jni) -> Self {
        Self {
            queue,
            jni,
            nanos: monotonic_nanos(),
        }
    }

    /// The class of an object, like `Ljava/lang/String;`.
    pub(super) fn class_name(&self, object: &LocalRef<'_>) -> String {
        let Some(class) = self.jni.class_of(object) else {
            return String::new();
        };
        let name = self.queue.jvmti.class_signature(&class);
        self.jni.delete_local(class);
        name.unwrap_or_default()
    }
}
