//! Counters that are not the handler's: misuse of the Java API, what the writer met.

mod accounting;

pub(crate) use accounting::{Base, Late, Start};

use jfr_format::books::GAUGES;
use signal_core::counters::{self, Counters};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Sampling signals that our handler took.
pub(crate) const SIGNALS: &str = "signals";
/// Timer expiries beyond the first of each signal.
const OVERRUNS: &str = "overruns";
/// Wall-clock signals that our handler took.
const WALL_SIGNALS: &str = "wall.signals";
/// CPU samples in the recording.
pub(crate) const WRITTEN: &str = "written";
/// Sum of their weights.
const WRITTEN_WEIGHT: &str = "written.weight";

/// Copies of the Java API that the agent cannot serve.
pub(crate) const API_REFUSED: &str = "api.refused";

/// What the thread directory tells, in its order.
pub(crate) const THREADS: [&str; 5] = [
    "threads.known",
    "threads.timers_made",
    "threads.on_tick",
    "threads.without_timer",
    "threads.without_record",
];

/// What the registry tells, in its order.
pub(crate) const REGISTRY: [&str; 4] = [
    "dictionary.values",
    "dictionary.bytes",
    "dictionary.full",
    "keys.refused",
];

/// Misuse of the Java API, by the numbers of `docs/architecture.md`.
#[derive(Debug)]
pub(crate) struct Misuse;

const MISUSE: [&str; 12] = [
    "api.double_close",
    "api.close_out_of_order",
    "api.close_after_outer",
    "api.close_on_other_thread",
    "api.no_free_block",
    "api.no_slot",
    "api.value_cut",
    "api.raw_area_full",
    "api.value_other",
    "api.text_replaced",
    "api.filtered",
    "api.all_ended",
];

static MISUSE_COUNTS: [AtomicU64; MISUSE.len()] = [const { AtomicU64::new(0) }; MISUSE.len()];

impl Misuse {
    /// A thread had no context because no block was free.
    pub(crate) const NO_FREE_BLOCK: usize = 4;

    /// Counts one; numbers that do not exist are ignored.
    pub(crate) fn add(event: i32) {
        if let Some(cell) = usize::try_from(event)
            .ok()
            .and_then(|e| MISUSE_COUNTS.get(e))
        {
            cell.fetch_add(1, Relaxed);
        }
    }
}

macro_rules! counters {
    ($(#[doc = $what:literal])+ $type:ident: $($(#[doc = $doc:literal])+ $field:ident = $name:literal,)+) => {
        $(#[doc = $what])+
        #[derive(Debug, Default)]
        pub(crate) struct $type { $($(#[doc = $doc])+ pub(crate) $field: AtomicU64,)+ }

        impl $type {
            pub(crate) fn each(&self) -> impl Iterator<Item = (&'static str, u64)> {
                [$(($name, self.$field.load(Relaxed)),)+].into_iter()
            }
        }
    };
}

counters! {
    /// What the callbacks of `observe` count. Relaxed everywhere: only counted, never decides.
    ObserveCounters:
    /// Sampled allocations.
    alloc_seen = "alloc.seen",
    /// Not wanted: the context's filter leaves allocations out.
    alloc_filtered = "alloc.filtered",
    /// Lost: the queue to the writer was full.
    alloc_lost = "alloc.lost",
    /// Bytes that lost allocations stand for.
    alloc_lost_bytes = "alloc.lost_bytes",
    /// Of those: bytes that a later allocation of the same thread and context stands for.
    alloc_carried_bytes = "alloc.carried_bytes",
    /// Waits for monitors.
    lock_seen = "lock.seen",
    /// Shorter than the option `lock` asks for.
    lock_short = "lock.short",
    /// Not wanted: the context's filter leaves them out.
    lock_filtered = "lock.filtered",
    /// Lost: the queue to the writer was full, or too many threads waited.
    lock_lost = "lock.lost",
    /// Pauses for collections.
    gc_seen = "gc.seen",
    /// Lost: the queue to the writer was full.
    gc_lost = "gc.lost",
}

counters! {
    /// What the wall-clock thread counts. Relaxed everywhere: only counted, never decides.
    WallCounters:
    /// Visits: one per thread and period.
    due = "wall.due",
    /// Looks at a thread. One that has slept for long is looked at once for several visits.
    looks = "wall.looks",
    /// Signals sent.
    sent = "wall.sent",
    /// Visits of threads that had not run since they were found asleep: their last sample counts again.
    repeated = "wall.repeated",
    /// Visits of threads without a context (`wallthreads=context`).
    unlabelled = "wall.unlabelled",
    /// Visits of threads that had not yet run to take the last signal: that sample counts again.
    pending = "wall.pending",
    /// Visits of threads that had ended.
    gone = "wall.gone",
    /// Visits left out because the thread had slept for long, or the processors were too busy: the next sample of the thread counts again.
    missed = "wall.missed",
    /// Of `wall.pending` and `wall.missed`: visits that no sample stands for, because the one on its way was left out, lost, or never came.
    left_out = "wall.left_out",
    /// Visits whose repeats the queue to the writer, or the writer, could not take, or that were given up because the file could not be written.
    repeats_lost = "wall.repeats_lost",
}

counters! {
    /// What the poll of sleeping threads counts, and what no sample was taken for. Relaxed everywhere: only counted, never decides.
    PollCounters:
    /// Looks at a thread.
    looks = "poll.looks",
    /// Signals sent to threads that had reached their sample point.
    signals = "poll.signals",
    /// Such signals that the kernel did not take.
    unsent = "poll.unsent",
    /// Looks at threads that had reached their sample point and waited for a processor, or slept again.
    waiting = "poll.waiting",
    /// Threads taken out of the poll: they wait for a processor, they do not sleep.
    awake = "poll.awake",
    /// Moments at which more threads were to be looked at than are at once.
    crowded = "poll.crowded",
    /// Sample points that threads had reached and were not sampled for when sampling ended: CPU time without a sample, in intervals.
    open = "points.open",
}

counters! {
    /// What the writer thread counts. Relaxed everywhere: only counted, never decides.
    WriterCounters:
    /// Samples written.
    written = "written",
    /// Sum of their weights, in intervals.
    weight = "written.weight",
    /// Events beyond the first that samples of a large weight were written as.
    split = "written.split",
    /// Samples left out because of `ratelimit`: others stand for them.
    thinned = "thinned",
    /// Wall-clock samples left out because of `ratelimit`, without those that only count again.
    wall_thinned = "wall.thinned",
    /// Sampled allocations left out because of `ratelimit`.
    alloc_thinned = "alloc.thinned",
    /// Wall-clock samples written, without those that only count again.
    wall_written = "wall.written",
    /// Visits that repeats in the recording stand for.
    wall_repeats = "wall.repeats_written",
    /// Sampled allocations written.
    alloc_written = "alloc.written",
    /// Waits for monitors written.
    lock_written = "lock.written",
    /// Pauses for collections written.
    gc_written = "gc.written",
    /// Samples given up because the file could not be written for too long.
    lost_write = "lost.write",
    /// Stacks cut where a virtual thread's frames are frozen.
    truncated_virtual = "stack.truncated_virtual",
    /// Stacks cut at the depth limit.
    truncated_depth = "stack.truncated_depth",
    /// Frames whose method had no id when the stack was walked.
    null_methods = "stack.null_methods",
    /// Methods whose class was gone before its name was read.
    unresolved_methods = "stack.unresolved_methods",
    /// Writes that failed.
    write_errors = "write.errors",
    /// How often the recording became less than asked for: the file could not be written, or our own stack walker was switched off.
    degraded = "state.degraded",
    /// How often sampling stopped before it was told to: another owner of the signal.
    off = "state.off",
    /// How often the recording was paused by command.
    paused = "state.paused",
    /// Test builds: samples whose context is what the program declared.
    oracle_right = "oracle.right",
    /// Test builds: samples with a context that the program did not declare.
    oracle_wrong = "oracle.wrong",
    /// Test builds: samples without context though one was declared.
    oracle_missed = "oracle.missed",
    /// Test builds: samples without context because the block was being written, and marked so.
    oracle_torn = "oracle.torn",
    /// Test builds: of all compared, those taken while the program changed its context.
    oracle_changing = "oracle.changing",
    /// Test builds: of all compared, those of virtual threads.
    oracle_virtual = "oracle.virtual",
    /// Test builds: logical threads of which a sample was compared.
    oracle_threads = "oracle.threads",
}

/// How often a misuse was counted.
pub(crate) fn misuse(event: usize) -> u64 {
    MISUSE_COUNTS
        .get(event)
        .map_or(0, |cell| cell.load(Relaxed))
}

/// Adds `n` to a writer counter.
pub(crate) fn add(counter: &AtomicU64, n: u64) {
    counter.fetch_add(n, Relaxed);
}

/// All counters with their names, in a fixed order.
pub(crate) type Snapshot = Vec<(&'static str, u64)>;

/// Takes a snapshot for the writer of a recording, whose own counters it gets.
pub(crate) type SnapshotSource = Arc<dyn Fn(&WriterCounters) -> Snapshot + Send + Sync>;

/// The counters of the signal handlers.
pub(crate) fn handler(counters: &Counters) -> impl Iterator<Item = (&'static str, u64)> {
    counters::ALL
        .iter()
        .zip(counters::NAMES)
        .map(|(counter, name)| (*name, counters.get(*counter)))
}

/// The counters of misuse.
pub(crate) fn all_misuse() -> impl Iterator<Item = (&'static str, u64)> {
    MISUSE
        .iter()
        .zip(&MISUSE_COUNTS)
        .map(|(name, cell)| (*name, cell.load(Relaxed)))
}

/// What a file or a chunk says of a figure that is `value` now and was `before` when it began: by how much it grew, or how it is.
pub(crate) fn since(name: &str, value: u64, before: u64) -> u64 {
    if GAUGES.contains(&name) {
        value
    } else {
        value.saturating_sub(before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gauge_is_told_as_it_is_and_a_counter_by_its_growth() {
        assert_eq!(since("written", 30, 20), 10);
        assert_eq!(since("threads.known", 30, 20), 30);
        // Begun anew after the file began.
        assert_eq!(since("threads.without_timer", 2, 5), 2);
        let all = THREADS.into_iter().chain([API_REFUSED]);
        let told: Vec<&str> = all.filter(|n| GAUGES.contains(n)).collect();
        assert_eq!(told.len(), GAUGES.len(), "names that no figure has");
    }

    #[test]
    fn misuse_numbers_that_do_not_exist_are_ignored() {
        let sum = || MISUSE_COUNTS.iter().map(|c| c.load(Relaxed)).sum::<u64>();
        let before = sum();
        let known = i32::try_from(MISUSE.len()).expect("some");
        Misuse::add(-1);
        Misuse::add(known);
        assert_eq!(sum(), before);
        Misuse::add(known - 1);
        assert_eq!(sum(), before + 1);
    }
}
