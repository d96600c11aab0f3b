//! Events: appended in memory, in the field order of [`crate::events`].

use super::config::Ticks;
use super::model::{
    Allocation, GarbageCollection, GcPhasePause, Mark, MonitorEnter, Park, Sample, Span,
    TlabAllocation, WallSample,
};
use super::recording::Recording;
use super::storage::Storage;
use crate::events::{self, EventId};

/// Largest weight of one sample event; a heavier sample is written as several. Without columns the weight is the varint after
/// `contextLength`, which must not equal an event id.
pub const MAX_WEIGHT: u32 = 99;
/// The JVM's "no time limit".
const NO_LIMIT: i64 = i64::MIN;

/// Events stay in memory until [`flush`](Recording::flush).
impl<S: Storage> Recording<S> {
    /// `jdk.ExecutionSample`.
    pub fn execution_sample(&mut self, sample: &Sample) {
        self.samples(events::EXECUTION_SAMPLE.id, sample);
    }

    /// `jdk.NativeMethodSample`.
    pub fn native_sample(&mut self, sample: &Sample) {
        self.samples(events::NATIVE_METHOD_SAMPLE.id, sample);
    }

    #[inline]
    fn samples(&mut self, id: EventId, sample: &Sample) {
        let mut rest = sample.weight;
        while rest > MAX_WEIGHT {
            self.sample(id, sample, MAX_WEIGHT);
            rest -= MAX_WEIGHT;
        }
        self.sample(id, sample, rest);
    }

    #[inline]
    fn sample(&mut self, id: EventId, sample: &Sample, weight: u32) {
        let columns = self.columns.len();
        self.events.event(id, sample.at, |f| {
            f.key(sample.thread.0)
                .key(sample.stack.0)
                .key(sample.state.0)
                .trailer(|f| {
                    if columns == 0 {
                        f.key(weight);
                        return;
                    }
                    f.columns(&sample.context, columns).key(sample.context.id);
                    f.key(weight).key(sample.thread.0);
                });
        });
    }

    /// `profiler.WallClockSample`.
    pub fn wall_sample(&mut self, sample: &WallSample) {
        let columns = self.columns.len();
        self.events
            .event(events::WALL_CLOCK_SAMPLE.id, sample.at, |f| {
                f.key(sample.thread.0)
                    .key(sample.stack.0)
                    .key(sample.state.0)
                    .key(sample.samples);
                f.context(&sample.context, columns);
            });
    }

    /// `jdk.ObjectAllocationSample`.
    pub fn allocation_sample(&mut self, allocation: &Allocation) {
        let (a, columns) = (allocation, self.columns.len());
        self.events
            .event(events::OBJECT_ALLOCATION_SAMPLE.id, a.at, |f| {
                f.key(a.thread.0)
                    .key(a.stack.0)
                    .key(a.class.0)
                    .unsigned(a.bytes);
                f.trailer(|f| {
                    let id = if columns == 0 { 0 } else { a.context.id };
                    f.columns(&a.context, columns)
                        .key(id)
                        .unsigned(a.size_bytes);
                });
            });
    }

    /// `jdk.ObjectAllocationInNewTLAB`.
    pub fn allocation_in_new_tlab(&mut self, allocation: &TlabAllocation) {
        let tlab = Some(allocation.tlab_bytes);
        self.allocation(
            events::ALLOCATION_IN_NEW_TLAB.id,
            &allocation.allocation,
            tlab,
        );
    }

    /// `jdk.ObjectAllocationOutsideTLAB`.
    pub fn allocation_outside_tlab(&mut self, allocation: &Allocation) {
        self.allocation(events::ALLOCATION_OUTSIDE_TLAB.id, allocation, None);
    }

    fn allocation(&mut self, id: EventId, a: &Allocation, tlab_bytes: Option<u64>) {
        let columns = self.columns.len();
        self.events.event(id, a.at, |f| {
            f.key(a.thread.0)
                .key(a.stack.0)
                .key(a.class.0)
                .unsigned(a.bytes);
            if let Some(bytes) = tlab_bytes {
                f.unsigned(bytes);
            }
            f.context(&a.context, columns);
        });
    }

    /// `jdk.JavaMonitorEnter`.
    pub fn monitor_enter(&mut self, enter: &MonitorEnter) {
        let columns = self.columns.len();
        self.events
            .event(events::JAVA_MONITOR_ENTER.id, enter.at, |f| {
                f.unsigned(enter.duration.0)
                    .key(enter.thread.0)
                    .key(enter.stack.0);
                f.key(enter.class.0)
                    .key(enter.previous_owner.0)
                    .unsigned(enter.address);
                if columns > 0 {
                    f.trailer(|f| {
                        f.columns(&enter.context, columns)
                            .key(enter.context.id)
                            .key(enter.owner_context);
                    });
                }
            });
    }

    /// `jdk.ThreadPark`.
    pub fn park(&mut self, park: &Park) {
        let columns = self.columns.len();
        let limit = |l: Option<u64>| l.and_then(|l| i64::try_from(l).ok()).unwrap_or(NO_LIMIT);
        self.events.event(events::THREAD_PARK.id, park.at, |f| {
            f.unsigned(park.duration.0)
                .key(park.thread.0)
                .key(park.stack.0)
                .key(park.class.0);
            f.signed(limit(park.timeout_nanos))
                .signed(limit(park.until_epoch_millis));
            f.unsigned(park.address);
            f.context(&park.context, columns);
        });
    }

    /// `jdk.GarbageCollection`.
    pub fn garbage_collection(&mut self, gc: &GarbageCollection) {
        self.events
            .event(events::GARBAGE_COLLECTION.id, gc.at, |f| {
                f.unsigned(gc.duration.0)
                    .key(gc.thread.0)
                    .key(gc.gc_id)
                    .key(gc.name.0);
                f.key(gc.cause.0)
                    .unsigned(gc.sum_of_pauses.0)
                    .unsigned(gc.longest_pause.0);
            });
    }

    /// `jdk.GCPhasePause`.
    pub fn gc_phase_pause(&mut self, pause: &GcPhasePause<'_>) {
        self.events.event(events::GC_PHASE_PAUSE.id, pause.at, |f| {
            f.unsigned(pause.duration.0)
                .key(pause.thread.0)
                .key(pause.gc_id)
                .text(pause.name);
        });
    }

    /// `ctxagent.ContextSpan`.
    pub fn span(&mut self, span: &Span) {
        let columns = self.columns.len();
        self.events.event(events::CONTEXT_SPAN.id, span.at, |f| {
            f.unsigned(span.duration.0)
                .key(span.thread.0)
                .columns(&span.context, columns);
        });
    }

    /// `ctxagent.Mark`.
    pub fn mark(&mut self, mark: &Mark<'_>) {
        let columns = self.columns.len();
        self.events.event(events::MARK.id, mark.at, |f| {
            f.key(mark.thread.0).text(mark.name).text(mark.text);
            f.context(&mark.context, columns);
        });
    }

    /// `ctxagent.Stats`: a counter, its growth in this chunk, and its total.
    pub fn stat(&mut self, at: Ticks, name: &str, in_chunk: i64, total: i64) {
        self.events.event(events::STATS.id, at, |f| {
            f.text(name).signed(in_chunk).signed(total);
        });
    }

    /// `jdk.DataLoss`.
    pub fn data_loss(&mut self, at: Ticks, amount_bytes: u64, total_bytes: u64) {
        self.events.event(events::DATA_LOSS.id, at, |f| {
            f.unsigned(amount_bytes).unsigned(total_bytes);
        });
    }
}
