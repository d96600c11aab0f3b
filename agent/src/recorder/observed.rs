//! What the VM told, as events: allocations, waits for monitors, pauses.

use super::names::{Names, RawFrame, Walk};
use super::pipeline::Pipeline;
use crate::events::{GcPause, MonitorHolder, ObservedEvent, Payload};
use crate::threads::ThreadRef;
use ctxagent_events::ProfileEvents as _;
use ctxagent_events::{Allocation, GcPhasePause, MonitorEnter};
use jfr_format::write::{Clock, ThreadKey, Ticks};
use signal_core::counters::Counter;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// Taken in one drain at most, so that a storm cannot keep the writer from samples.
const AT_ONCE: usize = 4096;
/// Name of a pause: the VM does not say more to an agent.
const PAUSE: &str = "GC Pause";

impl Pipeline {
    /// Takes what has been seen since the last call.
    pub(super) fn take_observed(&mut self) {
        let observers = &self.sources.events;
        let next = std::iter::from_fn(|| observers.take());
        self.observed.extend(next.take(AT_ONCE));
    }

    /// Writes what was taken, and pauses: those have no context.
    pub(super) fn write_observed(&mut self) {
        let mut all = std::mem::take(&mut self.observed);
        for event in all.drain(..) {
            self.write_one(&event);
        }
        self.observed = all;
        while let Some(pause) = self.sources.events.take_pause() {
            self.write_pause(&pause);
        }
    }

    fn write_one(&mut self, event: &ObservedEvent) {
        let payload = match event.payload {
            Payload::Allocation {
                weight_bytes,
                size_bytes,
            } => match self.thinning.alloc.take(weight_bytes) {
                Some(weight_bytes) => Payload::Allocation {
                    weight_bytes,
                    size_bytes,
                },
                None => return self.status.counters.add(Counter::AllocRatelimited),
            },
            wait @ Payload::MonitorWait { .. } => wait,
        };
        let at = self.clock.ticks(event.nanos);
        let context = self.context(at, &event.values);
        let thread = self.names.thread(&mut self.recording, event.thread);
        let frames: Vec<RawFrame> = event.frames.iter().map(RawFrame::from).collect();
        let walk = Walk {
            thread: event.thread,
            outcome: i32::try_from(frames.len()).unwrap_or(i32::MAX),
            flags: 0,
            frames: &frames,
        };
        let stack = self.names.stack(&mut self.recording, &walk);
        let class = Names::class(&mut self.recording, &event.class);
        match payload {
            Payload::Allocation {
                weight_bytes,
                size_bytes,
            } => {
                self.recording.allocation_sample(&Allocation {
                    at,
                    thread,
                    stack,
                    class,
                    bytes: weight_bytes,
                    size_bytes,
                    context,
                });
                self.status.counters.add(Counter::AllocWritten);
            }
            Payload::MonitorWait { nanos, hash } => {
                let (previous_owner, owner_context) = self.holder(at, event.holder.as_ref());
                let (begin, duration) = span(self.clock, event.nanos.saturating_sub(nanos), nanos);
                self.recording.monitor_enter(&MonitorEnter {
                    at: begin,
                    duration,
                    thread,
                    stack,
                    class,
                    previous_owner,
                    owner_context,
                    address: u64::from(hash),
                    context,
                });
                self.status.counters.add(Counter::LockWritten);
            }
        }
    }

    /// The thread that held a monitor, and the number of its context.
    fn holder(&mut self, at: Ticks, holder: Option<&MonitorHolder>) -> (ThreadKey, u32) {
        let threads = &self.sources.threads;
        // One that ended and was forgotten is not named.
        let named =
            holder.filter(|h| h.thread.is_virtual || threads.info(h.thread.serial).is_some());
        let Some(MonitorHolder { thread, values }) = named else {
            return (ThreadKey::NONE, 0);
        };
        let context = self.context(at, values).id();
        (self.names.thread(&mut self.recording, *thread), context)
    }

    fn write_pause(&mut self, pause: &GcPause) {
        let record = self.sources.handler.records.by_os_tid(pause.os_tid);
        let thread = record.map_or(ThreadKey::NONE, |record| {
            let thread = ThreadRef::of(record, record.java_tid.load(Relaxed));
            self.names.thread(&mut self.recording, thread)
        });
        let (begin, duration) = span(
            self.clock,
            pause.begin,
            pause.end.saturating_sub(pause.begin),
        );
        self.recording.gc_phase_pause(&GcPhasePause {
            at: begin,
            duration,
            thread,
            gc_id: pause.number,
            name: PAUSE,
        });
        self.status.counters.add(Counter::GcWritten);
    }
}

/// Begin and length of something that took `nanos`. What began before the file begins with it and is as long as it was.
fn span(clock: Clock, begin_nanos: u64, nanos: u64) -> (Ticks, Ticks) {
    (
        clock.ticks(begin_nanos),
        Ticks::of(Duration::from_nanos(nanos)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_that_began_before_the_file_keeps_its_length() {
        const SECOND: u64 = 1_000_000_000;
        let clock = Clock {
            start_epoch_nanos: 0,
            start_monotonic_nanos: 100 * SECOND,
        };
        let micros = |seconds| Ticks(seconds * Ticks::PER_SECOND);
        // It ended ten seconds after the file began.
        let of_a_minute = span(clock, 50 * SECOND, 60 * SECOND);
        assert_eq!(of_a_minute, (Ticks(0), micros(60)));
        let of_a_second = span(clock, 109 * SECOND, SECOND);
        assert_eq!(of_a_second, (micros(9), micros(1)));
    }
}
