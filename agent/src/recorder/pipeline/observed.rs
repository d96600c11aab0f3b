//! Events that the VM posts, as events of the recording: allocations, lock contention, GC pauses.

use super::Pipeline;
use crate::events::{GcPause, LateValue, MonitorHolder, ObservedEvent, Payload, ScopeTimes};
use crate::jvm::raw_frame::RawFrame;
use crate::recorder::names::{Names, Walk};
use crate::threads::ThreadRef;
use ctxagent_events::ProfileEvents as _;
use ctxagent_events::{
    Allocation, ExceptionThrow, GcPhasePause, LateLabel, Mark, MonitorEnter, Scope, ThreadPark,
};
use jfr_format::write::{ClassKey, Clock, Context, StackKey, ThreadKey, Ticks};
use signal_core::counters::Counter;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// Name of a GC pause: JVMTI does not report more.
const PAUSE: &str = "GC Pause";

/// What an event refers to.
struct EventKeys {
    context: Context,
    thread: ThreadKey,
    stack: StackKey,
    class: ClassKey,
}

/// What something that took a time and has no stack refers to.
struct SpanKeys {
    at: Ticks,
    duration: Ticks,
    context: Context,
    thread: ThreadKey,
}

impl Pipeline {
    /// Writes the events of the intake, and GC pauses, which have no context.
    pub(super) fn write_observed(&mut self) {
        let mut events = std::mem::take(&mut self.intake.events);
        for event in events.drain(..) {
            self.write_event(&event);
        }
        self.intake.events = events;
        while let Some(pause) = self.sources.events.take_pause() {
            self.write_pause(&pause);
        }
    }

    fn write_event(&mut self, event: &ObservedEvent) {
        match event.payload {
            Payload::Allocation {
                weight_bytes,
                size_bytes,
            } => match self.limiters.alloc.take(weight_bytes) {
                Some(weight_bytes) => self.write_allocation(event, weight_bytes, size_bytes),
                None => self.status.counters.add(Counter::AllocRatelimited),
            },
            Payload::MonitorWait { nanos, hash } => self.write_wait(event, nanos, hash),
            Payload::Park {
                nanos,
                hash,
                weight,
            } => self.write_park(event, nanos, hash, weight),
            Payload::Exception { weight } => self.write_exception(event, weight),
            Payload::LateLabel(label) => self.write_late_label(event, &label),
            Payload::Scope(scope) => self.write_scope(event, &scope),
            Payload::Mark { begin_nanos } => self.write_mark(event, begin_nanos),
        }
    }

    fn write_allocation(&mut self, event: &ObservedEvent, weight_bytes: u64, size_bytes: u64) {
        let keys = self.keys(event);
        self.file.recording.allocation_sample(&Allocation {
            at: self.file.clock.ticks(event.nanos),
            thread: keys.thread,
            stack: keys.stack,
            class: keys.class,
            bytes: weight_bytes,
            size_bytes,
            context: keys.context,
        });
        self.status.counters.add(Counter::AllocWritten);
    }

    fn write_wait(&mut self, event: &ObservedEvent, nanos: u64, hash: u32) {
        let keys = self.keys(event);
        let clock = self.file.clock;
        let ended = clock.ticks(event.nanos);
        let (previous_owner, owner_context) = self.holder(ended, event.holder.as_ref());
        let (at, duration) = span(clock, event.nanos.saturating_sub(nanos), nanos);
        self.file.recording.monitor_enter(&MonitorEnter {
            at,
            duration,
            thread: keys.thread,
            stack: keys.stack,
            class: keys.class,
            previous_owner,
            owner_context,
            address: u64::from(hash),
            context: keys.context,
        });
        self.status.counters.add(Counter::LockWritten);
    }

    fn write_park(&mut self, event: &ObservedEvent, nanos: u64, hash: u32, weight: u64) {
        let keys = self.keys(event);
        let began = event.nanos.saturating_sub(nanos);
        let (at, duration) = span(self.file.clock, began, nanos);
        self.file.recording.thread_park(&ThreadPark {
            at,
            duration,
            thread: keys.thread,
            stack: keys.stack,
            class: keys.class,
            address: u64::from(hash),
            context: keys.context,
            weight,
        });
        self.status.counters.add(Counter::ParkWritten);
    }

    fn write_exception(&mut self, event: &ObservedEvent, weight: u64) {
        let keys = self.keys(event);
        self.file.recording.exception_throw(&ExceptionThrow {
            at: self.file.clock.ticks(event.nanos),
            thread: keys.thread,
            stack: keys.stack,
            class: keys.class,
            context: keys.context,
            weight,
        });
        self.status.counters.add(Counter::ExceptionWritten);
    }

    fn keys(&mut self, event: &ObservedEvent) -> EventKeys {
        let frames: Vec<RawFrame> = event.frames.iter().map(RawFrame::from).collect();
        let walk = Walk {
            thread: event.thread,
            outcome: i32::try_from(frames.len()).unwrap_or(i32::MAX),
            flags: 0,
            frames: &frames,
        };
        let at = self.file.clock.ticks(event.nanos);
        let recording = &mut self.file.recording;
        EventKeys {
            context: self.tables.context(recording, at, &event.values),
            thread: self.tables.names.thread(recording, event.thread),
            stack: self.tables.names.stack(recording, &walk),
            class: Names::class(recording, &event.class),
        }
    }

    /// Where the redactions leave the attribute out, the label is lost.
    fn write_late_label(&mut self, event: &ObservedEvent, label: &LateValue) {
        let (recording, tables) = (&mut self.file.recording, &mut self.tables);
        let after = event.values.ids.get(label.slot).copied().unwrap_or(0);
        let after = tables.attribute(recording, label.slot, after);
        let before = tables.attribute(recording, label.slot, label.before);
        let (Some((attribute, value)), Some((_, before))) = (after, before) else {
            return self.status.counters.add(Counter::LateLost);
        };
        let nanos = event.nanos.saturating_sub(label.begin_nanos);
        let (at, duration) = span(self.file.clock, label.begin_nanos, nanos);
        let thread = tables.names.thread(recording, event.thread);
        recording.late_label(&LateLabel {
            at,
            duration,
            thread,
            attribute: &attribute,
            before,
            value,
        });
        self.status.counters.add(Counter::LateWritten);
    }

    fn write_scope(&mut self, event: &ObservedEvent, scope: &ScopeTimes) {
        let keys = self.span_keys(event, scope.begin_nanos);
        self.file.recording.scope(&Scope {
            at: keys.at,
            duration: keys.duration,
            thread: keys.thread,
            begin_nanos: scope.begin_nanos,
            end_nanos: event.nanos,
            slots: scope.slots,
            changed: scope.changed,
            context: keys.context,
        });
        self.status.counters.add(Counter::ScopesWritten);
    }

    fn write_mark(&mut self, event: &ObservedEvent, begin_nanos: u64) {
        let keys = self.span_keys(event, begin_nanos);
        self.file.recording.mark(&Mark {
            at: keys.at,
            duration: keys.duration,
            thread: keys.thread,
            name: &event.class,
            context: keys.context,
        });
        self.status.counters.add(Counter::MarksWritten);
    }

    fn span_keys(&mut self, event: &ObservedEvent, begin_nanos: u64) -> SpanKeys {
        let clock = self.file.clock;
        let nanos = event.nanos.saturating_sub(begin_nanos);
        let (at, duration) = span(clock, begin_nanos, nanos);
        let recording = &mut self.file.recording;
        let ended = clock.ticks(event.nanos);
        SpanKeys {
            at,
            duration,
            context: self.tables.context(recording, ended, &event.values),
            thread: self.tables.names.thread(recording, event.thread),
        }
    }

    /// The thread that held a monitor, and the number of its context.
    fn holder(&mut self, at: Ticks, holder: Option<&MonitorHolder>) -> (ThreadKey, u32) {
        let threads = self.sources.threads;
        // A thread that ended and was forgotten has no name.
        let named = holder.filter(|holder| {
            holder.thread.is_virtual || threads.info(holder.thread.serial).is_some()
        });
        let Some(MonitorHolder { thread, values }) = named else {
            return (ThreadKey::NONE, 0);
        };
        let recording = &mut self.file.recording;
        let context = self.tables.context(recording, at, values).id();
        (self.tables.names.thread(recording, *thread), context)
    }

    fn write_pause(&mut self, pause: &GcPause) {
        let recording = &mut self.file.recording;
        let record = self.sources.handler.records.by_os_tid(pause.os_tid);
        let thread = record.map_or(ThreadKey::NONE, |record| {
            let thread = ThreadRef::of(record, record.java_tid.load(Relaxed));
            self.tables.names.thread(recording, thread)
        });
        let nanos = pause.end.saturating_sub(pause.begin);
        let (begin, duration) = span(self.file.clock, pause.begin, nanos);
        recording.gc_phase_pause(&GcPhasePause {
            at: begin,
            duration,
            thread,
            gc_id: pause.number,
            name: PAUSE,
        });
        self.status.counters.add(Counter::GcWritten);
    }
}

/// Start and duration of something that took `nanos`. Of what started before the file, the file has
/// the part that lies in it: else it would end where nothing has happened yet.
fn span(clock: Clock, begin_nanos: u64, nanos: u64) -> (Ticks, Ticks) {
    let before = clock.start_monotonic_nanos.saturating_sub(begin_nanos);
    (
        clock.ticks(begin_nanos),
        Ticks::of(Duration::from_nanos(nanos.saturating_sub(before))),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_from_before_the_file_ends_when_it_ended() {
        const SECOND: u64 = 1_000_000_000;
        let clock = Clock {
            start_epoch_nanos: 0,
            start_monotonic_nanos: 100 * SECOND,
        };
        let micros = |seconds| Ticks(seconds * Ticks::PER_SECOND);
        // It ended ten seconds after the file began.
        let of_a_minute = span(clock, 50 * SECOND, 60 * SECOND);
        assert_eq!(of_a_minute, (Ticks(0), micros(10)));
        let of_a_second = span(clock, 109 * SECOND, SECOND);
        assert_eq!(of_a_second, (micros(9), micros(1)));
    }
}
