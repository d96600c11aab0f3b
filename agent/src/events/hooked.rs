//! Parks and exceptions, which hooks in classes of the JDK report, on the thread concerned.
//!
//! Of frequent ones some are picked: a stack costs microseconds.

use super::pick_ratio::PickRatio;
use super::queue::{CallbackContext, ObservedEvent, Payload};
use crate::jvm::jni::LocalRef;
use crate::options::Options;
use schema::event_mask::{EXCEPTION_BIT, PARK_BIT};
use signal_core::counters::Counter;
use signal_core::engine::monotonic_nanos;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// What is the same of all events of one kind.
struct Kind {
    /// Its bit in the event mask.
    bit: u32,
    /// Frames of `EventEntry` and `EventSink` on top of the stack.
    own_frames: usize,
    seen: Counter,
    filtered: Counter,
    ratelimited: Counter,
    lost: Counter,
}

const PARK: Kind = Kind {
    bit: PARK_BIT,
    own_frames: 4,
    seen: Counter::ParkSeen,
    filtered: Counter::ParkFiltered,
    ratelimited: Counter::ParkRatelimited,
    lost: Counter::ParkLost,
};
const EXCEPTION: Kind = Kind {
    bit: EXCEPTION_BIT,
    own_frames: 3,
    seen: Counter::ExceptionSeen,
    filtered: Counter::ExceptionFiltered,
    ratelimited: Counter::ExceptionRatelimited,
    lost: Counter::ExceptionLost,
};

/// What the hooks report.
#[derive(Debug)]
pub(super) struct HookedEvents {
    pub(super) parks: PickRatio,
    pub(super) exceptions: PickRatio,
    /// Parks that began before do not count: of a pause, or of an earlier recording.
    since_nanos: AtomicU64,
}

impl Default for HookedEvents {
    fn default() -> Self {
        Self {
            parks: PickRatio::default(),
            exceptions: PickRatio::default(),
            since_nanos: AtomicU64::new(u64::MAX),
        }
    }
}

impl HookedEvents {
    /// What begins from now on counts.
    pub(super) fn enable(&self, options: &Options) {
        let limits = options.rate_limits;
        self.parks.begin(limits.park_or_default());
        self.exceptions.begin(limits.exception_or_default());
        self.since_nanos.store(monotonic_nanos(), Relaxed);
    }

    pub(super) fn disable(&self) {
        self.since_nanos.store(u64::MAX, Relaxed);
    }

    /// The calling thread was parked, and runs again.
    pub(super) fn on_parked(
        &self,
        context: &CallbackContext<'_>,
        blocker: Option<&LocalRef<'_>>,
        nanos: u64,
    ) {
        let hash = |object| context.queue.jvmti.identity_hash(object).ok();
        let payload = |weight| Payload::Park {
            nanos,
            hash: blocker.and_then(hash).unwrap_or(0),
            weight,
        };
        let since_nanos = self.since_nanos.load(Relaxed);
        if context.nanos.saturating_sub(nanos) >= since_nanos {
            queue(context, &PARK, &self.parks, blocker, payload);
        } else if context.nanos >= since_nanos {
            context.queue.handler.counters.add(Counter::ParkBefore);
        }
    }

    /// The calling thread creates an exception.
    pub(super) fn on_exception(&self, context: &CallbackContext<'_>, exception: &LocalRef<'_>) {
        let payload = |weight| Payload::Exception { weight };
        if context.nanos >= self.since_nanos.load(Relaxed) {
            let exception = Some(exception);
            queue(context, &EXCEPTION, &self.exceptions, exception, payload);
        }
    }
}

/// Queues an event about `object`, if the filters want it and it is picked.
fn queue(
    context: &CallbackContext<'_>,
    kind: &Kind,
    ratio: &PickRatio,
    object: Option<&LocalRef<'_>>,
    payload: impl FnOnce(u64) -> Payload,
) {
    let queue = context.queue;
    let counters = &queue.handler.counters;
    counters.add(kind.seen);
    let Some((thread, values)) = queue.current_context(kind.bit) else {
        return counters.add(kind.filtered);
    };
    let Some(weight) = ratio.pick() else {
        return counters.add(kind.ratelimited);
    };
    if queue.is_full() {
        return counters.add(kind.lost);
    }
    let depth = queue.depth().saturating_add(kind.own_frames);
    let mut frames = queue.jvmti.stack_here(depth);
    frames.drain(..kind.own_frames.min(frames.len()));
    let event = ObservedEvent {
        nanos: context.nanos,
        thread,
        values,
        frames,
        class: object.map_or_else(String::new, |object| context.class_name(object)),
        payload: payload(weight),
        holder: None,
    };
    if !queue.push(event) {
        counters.add(kind.lost);
    }
}
