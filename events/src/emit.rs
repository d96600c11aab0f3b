//! How each event is written, in the field order of its declaration.

use jfr_format::write::{
    Context, Fields, Frame, FrameKind, Method, Recording, StackKey, StackTrace, Storage, Ticks,
};

use crate::declarations::{
    ACTIVE_SETTING, EXECUTION_SAMPLE, GC_PHASE_PAUSE, JAVA_EXCEPTION_THROW, JAVA_MONITOR_ENTER,
    JFR_CLOCK, LATE_LABEL, MARK, OBJECT_ALLOCATION_SAMPLE, SCOPE, STATS, THREAD_PARK,
    WALL_CLOCK_SAMPLE,
};
use crate::model::{
    Allocation, ExceptionThrow, GcPhasePause, JfrClock, LateLabel, Mark, MonitorEnter, Sample,
    Scope, ThreadPark, WallSample,
};

/// Largest weight of one sample event; a heavier sample is written as several. Without columns the
/// weight is the varint after `contextLength`, which must not equal an event id.
pub const MAX_WEIGHT: u32 = 99;

/// Highest weight of a sample that the agent writes as so many equal events of weight 1, for
/// viewers that count events.
pub const MAX_REPEATS: u32 = 16;
/// The JDK's value for a limit that there is not.
const NOT_KNOWN: i64 = i64::MIN;
/// Access flags of synthetic methods: public static.
const SYNTHETIC_MODIFIERS: u32 = 9;

/// The events of the profiler, written into a recording with [`SCHEMA`](crate::SCHEMA).
///
/// Events stay in memory until [`flush`](Recording::flush).
pub trait ProfileEvents {
    /// `jdk.ExecutionSample`.
    fn execution_sample(&mut self, sample: &Sample);

    /// `profiler.WallClockSample`.
    fn wall_sample(&mut self, sample: &WallSample);

    /// `jdk.ObjectAllocationSample`.
    fn allocation_sample(&mut self, allocation: &Allocation);

    /// `jdk.JavaMonitorEnter`.
    fn monitor_enter(&mut self, enter: &MonitorEnter);

    /// `jdk.ThreadPark`.
    fn thread_park(&mut self, park: &ThreadPark);

    /// `jdk.JavaExceptionThrow`, without its message.
    fn exception_throw(&mut self, exception: &ExceptionThrow);

    /// `jdk.GCPhasePause`.
    fn gc_phase_pause(&mut self, pause: &GcPhasePause<'_>);

    /// `ctxagent.LateLabel`.
    fn late_label(&mut self, label: &LateLabel<'_>);

    /// `ctxagent.Scope`.
    fn scope(&mut self, scope: &Scope);

    /// `ctxagent.JfrClock`.
    fn jfr_clock(&mut self, clock: &JfrClock);

    /// `ctxagent.Mark`.
    fn mark(&mut self, mark: &Mark<'_>);

    /// `ctxagent.Stats`: a counter, its growth in this chunk, and its total.
    fn stat(&mut self, at: Ticks, name: &str, in_chunk: i64, total: i64);

    /// `jdk.ActiveSetting` of `jdk.ExecutionSample`, for a setting that was not known when the chunk
    /// began.
    fn sample_setting(&mut self, at: Ticks, name: &str, value: &str);

    /// Key of a stack of one frame, `ctxagent/NoStack.<reason>`: for a sample whose walk failed.
    fn synthetic_stack(&mut self, reason: &str) -> StackKey;
}

impl<S: Storage> ProfileEvents for Recording<S> {
    fn execution_sample(&mut self, sample: &Sample) {
        let mut rest = sample.weight;
        while rest > MAX_WEIGHT {
            put_weighted(self, sample, MAX_WEIGHT);
            rest -= MAX_WEIGHT;
        }
        put_weighted(self, sample, rest);
    }

    fn wall_sample(&mut self, sample: &WallSample) {
        self.event(WALL_CLOCK_SAMPLE.id, sample.at, |fields| {
            fields
                .key(sample.thread)
                .key(sample.stack)
                .key(sample.state)
                .key(sample.samples);
            fields.context_trailer(&sample.context);
        });
    }

    fn allocation_sample(&mut self, allocation: &Allocation) {
        let a = allocation;
        self.event(OBJECT_ALLOCATION_SAMPLE.id, a.at, |fields| {
            fields
                .key(a.thread)
                .key(a.stack)
                .key(a.class)
                .unsigned(a.bytes);
            weighted_trailer(fields, &a.context, a.size_bytes);
        });
    }

    fn monitor_enter(&mut self, enter: &MonitorEnter) {
        self.event(JAVA_MONITOR_ENTER.id, enter.at, |fields| {
            fields
                .unsigned(enter.duration.0)
                .key(enter.thread)
                .key(enter.stack);
            fields
                .key(enter.class)
                .key(enter.previous_owner)
                .unsigned(enter.address);
            if fields.has_columns() {
                fields.trailer(|fields| {
                    fields
                        .columns(&enter.context)
                        .key(enter.context.id())
                        .key(enter.owner_context);
                });
            }
        });
    }

    fn thread_park(&mut self, park: &ThreadPark) {
        self.event(THREAD_PARK.id, park.at, |fields| {
            fields
                .unsigned(park.duration.0)
                .key(park.thread)
                .key(park.stack);
            fields
                .key(park.class)
                .signed(NOT_KNOWN)
                .signed(NOT_KNOWN)
                .unsigned(park.address);
            weighted_trailer(fields, &park.context, park.weight);
        });
    }

    fn exception_throw(&mut self, exception: &ExceptionThrow) {
        self.event(JAVA_EXCEPTION_THROW.id, exception.at, |fields| {
            fields
                .unsigned(0)
                .key(exception.thread)
                .key(exception.stack);
            fields.optional_text(None).key(exception.class);
            weighted_trailer(fields, &exception.context, exception.weight);
        });
    }

    fn gc_phase_pause(&mut self, pause: &GcPhasePause<'_>) {
        self.event(GC_PHASE_PAUSE.id, pause.at, |fields| {
            fields
                .unsigned(pause.duration.0)
                .key(pause.thread)
                .key(pause.gc_id)
                .text(pause.name);
        });
    }

    fn late_label(&mut self, label: &LateLabel<'_>) {
        self.event(LATE_LABEL.id, label.at, |fields| {
            fields
                .unsigned(label.duration.0)
                .key(label.thread)
                .text(label.attribute)
                .key(label.before)
                .key(label.value);
        });
    }

    fn scope(&mut self, scope: &Scope) {
        self.event(SCOPE.id, scope.at, |fields| {
            fields
                .unsigned(scope.duration.0)
                .key(scope.thread)
                .unsigned(scope.begin_nanos)
                .unsigned(scope.end_nanos)
                .key(scope.slots)
                .key(scope.changed);
            if fields.has_columns() {
                fields.columns(&scope.context);
            }
        });
    }

    fn jfr_clock(&mut self, clock: &JfrClock) {
        self.event(JFR_CLOCK.id, clock.at, |fields| {
            fields
                .unsigned(clock.nanos)
                .signed(clock.ticks)
                .unsigned(clock.uncertainty_nanos);
        });
    }

    fn mark(&mut self, mark: &Mark<'_>) {
        self.event(MARK.id, mark.at, |fields| {
            fields
                .unsigned(mark.duration.0)
                .key(mark.thread)
                .text(mark.name);
            if fields.has_columns() {
                fields.columns(&mark.context);
            }
        });
    }

    fn stat(&mut self, at: Ticks, name: &str, in_chunk: i64, total: i64) {
        self.event(STATS.id, at, |fields| {
            fields.text(name).signed(in_chunk).signed(total);
        });
    }

    fn sample_setting(&mut self, at: Ticks, name: &str, value: &str) {
        self.event(ACTIVE_SETTING.id, at, |fields| {
            let event = u64::from(EXECUTION_SAMPLE.id);
            fields.unsigned(event).text(name).text(value);
        });
    }

    fn synthetic_stack(&mut self, reason: &str) -> StackKey {
        let method = Method::new("ctxagent/NoStack", reason, "()V", SYNTHETIC_MODIFIERS);
        let frames = [Frame {
            method: self.method(&method),
            line: -1,
            bci: -1,
            kind: FrameKind::Native,
        }];
        self.stack(&StackTrace {
            truncated: false,
            frames: &frames,
        })
    }
}

/// The columns, the id of the context, and a figure.
fn weighted_trailer(fields: &mut Fields<'_>, context: &Context, figure: u64) {
    let id = if fields.has_columns() {
        context.id()
    } else {
        0
    };
    fields.trailer(|fields| {
        fields.columns(context).key(id).unsigned(figure);
    });
}

#[inline]
fn put_weighted<S: Storage>(recording: &mut Recording<S>, sample: &Sample, weight: u32) {
    let trailer = |fields: &mut Fields<'_>| {
        if fields.has_columns() {
            fields.columns(&sample.context).key(sample.context.id());
            fields.key(weight).key(sample.thread);
        } else {
            fields.key(weight);
        }
    };
    recording.event(EXECUTION_SAMPLE.id, sample.at, |fields| {
        fields
            .key(sample.thread)
            .key(sample.stack)
            .key(sample.state)
            .trailer(trailer);
    });
}
