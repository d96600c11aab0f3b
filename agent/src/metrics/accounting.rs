//! The accounting of a recording: the events seen, what became of them, and that both agree in each
//! file, in each chunk and in `status`.

use super::snapshot::Snapshot;
use schema::account::{BY_NUMBER, CPU, CPU_WEIGHT, EventAccount};
use schema::counter::{Class, Counter};
use signal_core::slots::SampleKind;

/// The counters at the start of a recording; most of them continue from an earlier one.
#[derive(Debug)]
pub(crate) struct RecordingStart {
    snapshot: Snapshot,
    exact_weights: bool,
}

impl RecordingStart {
    /// `exact_weights`: CPU samples keep their own weight, because no rate limit applies.
    pub(crate) fn new(snapshot: Snapshot, exact_weights: bool) -> Self {
        Self {
            snapshot,
            exact_weights,
        }
    }

    fn accounts(&self) -> impl Iterator<Item = &'static EventAccount> {
        BY_NUMBER
            .iter()
            .chain(self.exact_weights.then_some(&CPU_WEIGHT))
    }

    /// Sets the counters of seen events to the sum of the outcomes: during a recording some events
    /// are in flight.
    pub(crate) fn reconcile(&self, now: &mut Snapshot) {
        for account in self.accounts() {
            self.reconcile_account(account, now);
        }
    }

    /// As `reconcile`, at the end, except for CPU samples: no handler runs any more, so missing
    /// ones are missing. Callbacks may still run; their events are not in this recording.
    pub(crate) fn reconcile_at_end(&self, now: &mut Snapshot) {
        let [_cpu, others @ ..] = &BY_NUMBER;
        for account in others {
            self.reconcile_account(account, now);
        }
    }

    fn reconcile_account(&self, account: &EventAccount, now: &mut Snapshot) {
        let Some((adjusted, exact)) = account.seen.split_last() else {
            return;
        };
        let growth = |counter| now.growth(counter, &self.snapshot);
        let exact: u64 = exact.iter().map(|&counter| growth(counter)).sum();
        let outcomes = u64::try_from(account.outcome_total(growth)).unwrap_or(u64::MAX);
        now[*adjusted] = self.snapshot[*adjusted] + outcomes.saturating_sub(exact);
    }

    /// `now` counts events as lost that `base` counts as written. A file or chunk that starts with
    /// `base` reports that loss, so it also reports these events as seen.
    pub(crate) fn mark_lost(&self, base: &mut Snapshot, now: &Snapshot) {
        let lost = |written| base[written].saturating_sub(now[written]);
        let weight = lost(Counter::WrittenWeight).saturating_sub(lost(Counter::Written));
        let overruns = if self.exact_weights { weight } else { 0 };
        let by_number = BY_NUMBER.map(|account| (account.seen[0], lost(account.written)));
        for (seen, n) in by_number.into_iter().chain([(Counter::Overruns, overruns)]) {
            base[seen] = base[seen].saturating_sub(n);
        }
        for (counter, value) in now.iter() {
            base[counter] = base[counter].min(value);
        }
    }

    /// Whether every signal since the start became a sample or a counted loss. Valid only if no
    /// handler runs and all slots are empty.
    pub(crate) fn is_balanced(&self, now: &Snapshot) -> bool {
        CPU.is_balanced(|counter| now.growth(counter, &self.snapshot))
    }

    /// The counters of this recording for `status`: from its start on, reconciled as in its file.
    /// Counters of the process are reported unchanged.
    pub(crate) fn report(&self, mut now: Snapshot, is_running: bool) -> Snapshot {
        if is_running {
            self.reconcile(&mut now);
        } else {
            self.reconcile_at_end(&mut now);
        }
        for &counter in Counter::ALL {
            if counter.class() == Class::Recording {
                now[counter] = now.growth(counter, &self.snapshot);
            }
        }
        now
    }
}

/// Samples of an earlier recording that arrived after its end. The next recording counts them, as
/// lost.
#[derive(Debug, Default)]
pub(crate) struct LateSamples {
    pub(crate) cpu: u64,
    /// Sum of their weights.
    pub(crate) weight: u64,
    pub(crate) wall: u64,
}

impl LateSamples {
    /// Counts one; `kind` is a `SampleKind` as a number.
    pub(crate) fn add(&mut self, kind: u32, weight: u32) {
        if SampleKind::is_cpu(kind) {
            self.cpu += 1;
            self.weight += u64::from(weight);
        } else {
            self.wall += 1;
        }
    }

    /// Counts their signals as seen in the recording that starts with `base`.
    pub(crate) fn count(&self, base: &mut Snapshot) {
        for (seen, n) in [
            (Counter::Signals, self.cpu),
            (Counter::Overruns, self.weight.saturating_sub(self.cpu)),
            (Counter::WallSignals, self.wall),
        ] {
            base[seen] = base[seen].saturating_sub(n);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot<const N: usize>(values: [(Counter, u64); N]) -> Snapshot {
        let mut snapshot = Snapshot::default();
        snapshot.extend(values);
        snapshot
    }

    fn start<const N: usize>(values: [(Counter, u64); N], exact_weights: bool) -> RecordingStart {
        RecordingStart::new(snapshot(values), exact_weights)
    }

    #[test]
    fn lost_events_were_seen_in_the_file_that_counts_the_loss() {
        let mut base = snapshot([
            (Counter::GcSeen, 9),
            (Counter::GcWritten, 7),
            (Counter::GcLost, 2),
        ]);
        // Three of the seven are lost; two more have been seen and written since.
        let now = snapshot([
            (Counter::GcSeen, 11),
            (Counter::GcWritten, 4),
            (Counter::GcLost, 7),
        ]);
        start([], false).mark_lost(&mut base, &now);
        let expected = [
            (Counter::GcSeen, 6),
            (Counter::GcWritten, 4),
            (Counter::GcLost, 2),
        ];
        assert_eq!(base, snapshot(expected));
    }

    /// By weight: the events seen and their outcomes, as a file with this base reports them.
    fn weights(base: &Snapshot, now: &Snapshot) -> (i128, i128) {
        let value = |counter| now.since(counter, base);
        (
            CPU_WEIGHT.seen_total(value),
            CPU_WEIGHT.outcome_total(value),
        )
    }

    #[test]
    fn weight_in_flight_counts_in_the_file_of_its_samples() {
        let start = start(
            [
                (Counter::Signals, 10),
                (Counter::Overruns, 50),
                (Counter::WeightLost, 20),
            ],
            true,
        );
        // Of 8 signals and 9 overruns since the start: four samples are written, one is filtered,
        // one lost; two, of weights 5 and 1, are in flight.
        let mut now = snapshot([
            (Counter::Signals, 18),
            (Counter::Overruns, 59),
            (Counter::WeightLost, 22),
            (Counter::WeightFiltered, 3),
            (Counter::LostFiltered, 1),
            (Counter::LostNoSlot, 1),
            (Counter::Written, 4),
            (Counter::WrittenWeight, 6),
        ]);
        start.reconcile(&mut now);
        assert_eq!((now[Counter::Signals], now[Counter::Overruns]), (16, 55));
        assert_eq!(weights(&start.snapshot, &now), (11, 11));
        let end = snapshot([
            (Counter::Signals, 18),
            (Counter::Overruns, 59),
            (Counter::WeightLost, 22),
            (Counter::WeightFiltered, 3),
            (Counter::WrittenWeight, 12),
        ]);
        assert_eq!(weights(&now, &end), (6, 6));
    }

    #[test]
    fn lost_weight_was_seen_in_the_file_that_counts_the_loss() {
        let mut base = snapshot([
            (Counter::Signals, 30),
            (Counter::Overruns, 12),
            (Counter::Written, 28),
            (Counter::WrittenWeight, 40),
            (Counter::WeightLost, 2),
        ]);
        // Three samples of weight 9 are lost; one of weight 2 has been seen since, and is lost too.
        let now = snapshot([
            (Counter::Signals, 31),
            (Counter::Overruns, 13),
            (Counter::Written, 25),
            (Counter::WrittenWeight, 31),
            (Counter::WeightLost, 13),
        ]);
        start([], true).mark_lost(&mut base, &now);
        assert_eq!(weights(&base, &now), (11, 11));
    }

    #[test]
    fn late_samples_were_seen_in_the_recording_that_counts_the_loss() {
        let mut late = LateSamples::default();
        for (kind, weight) in [
            (SampleKind::Cpu, 6),
            (SampleKind::WallAsleep, 1),
            (SampleKind::Cpu, 1),
            (SampleKind::WallAwake, 1),
        ] {
            late.add(kind as u32, weight);
        }
        assert_eq!((late.cpu, late.weight, late.wall), (2, 7, 2));
        let mut base = snapshot([
            (Counter::Signals, 9),
            (Counter::Overruns, 20),
            (Counter::WallSignals, 7),
        ]);
        late.count(&mut base);
        let expected = [
            (Counter::Signals, 7),
            (Counter::Overruns, 15),
            (Counter::WallSignals, 5),
        ];
        assert_eq!(base, snapshot(expected));
    }

    #[test]
    fn every_loss_is_in_the_balance_and_nothing_else() {
        let now = [
            (Counter::Signals, 14),
            (Counter::Written, 7),
            (Counter::Ratelimited, 4),
            (Counter::LostNoSlot, 2),
            (Counter::LostWrite, 1),
            (Counter::WalkFailed, 5),
        ];
        assert!(start([], false).is_balanced(&snapshot(now)));
        let now = snapshot([(Counter::Signals, 10), (Counter::Written, 9)]);
        assert!(!start([], false).is_balanced(&now));
    }

    #[test]
    fn signals_in_flight_are_not_counted_yet() {
        let start = start(
            [
                (Counter::Signals, 100),
                (Counter::Written, 90),
                (Counter::LostWrite, 4),
            ],
            false,
        );
        let values = |signals| {
            snapshot([
                (Counter::Signals, signals),
                (Counter::Written, 102),
                (Counter::LostWrite, 5),
                (Counter::WalkFailed, 7),
            ])
        };
        let mut now = values(120);
        start.reconcile(&mut now);
        // Of 20 signals since the start, 12 are written and 1 is lost; 7 are in flight.
        assert_eq!(now, values(113));
    }

    #[test]
    fn wall_clock_signals_and_probes_in_flight_are_not_counted_yet() {
        let start = start(
            [
                (Counter::WallSignals, 5),
                (Counter::WallWritten, 5),
                (Counter::WallScheduled, 9),
            ],
            false,
        );
        let mut now = snapshot([
            (Counter::WallSignals, 30),
            (Counter::WallScheduled, 90),
            (Counter::WallSent, 26),
            (Counter::WallRepeated, 50),
            (Counter::WallLeftOut, 2),
            (Counter::WallWritten, 20),
            (Counter::WallLost, 4),
        ]);
        start.reconcile(&mut now);
        assert_eq!(now[Counter::WallSignals], 5 + 15 + 4);
        assert_eq!(now[Counter::WallScheduled], 9 + 26 + 50);
    }

    #[test]
    fn events_in_the_queue_to_the_writer_are_not_counted_yet() {
        let start = start([(Counter::LockSeen, 10), (Counter::LockWritten, 7)], false);
        let mut now = snapshot([
            (Counter::LockSeen, 30),
            (Counter::LockWritten, 12),
            (Counter::LockShort, 6),
            (Counter::GcSeen, 3),
            (Counter::GcWritten, 2),
            (Counter::LostWrite, 9),
        ]);
        start.reconcile(&mut now);
        assert_eq!(now[Counter::LockSeen], 10 + 5 + 6);
        assert_eq!(now[Counter::GcSeen], 2);
    }

    #[test]
    fn at_the_end_a_running_callback_does_not_count_and_a_missing_sample_does() {
        let mut now = snapshot([
            (Counter::Signals, 9),
            (Counter::Written, 8),
            (Counter::AllocSeen, 30),
            (Counter::AllocWritten, 27),
            (Counter::AllocLost, 2),
        ]);
        start([], false).reconcile_at_end(&mut now);
        assert_eq!(now[Counter::Signals], 9);
        assert_eq!(now[Counter::AllocSeen], 29);
    }

    #[test]
    fn status_reports_a_later_recording_by_itself_and_balanced() {
        let start = start(
            [
                (Counter::Signals, 100),
                (Counter::Overruns, 50),
                (Counter::LostNoSlot, 4),
                (Counter::WeightLost, 9),
                (Counter::GcSeen, 7),
                (Counter::GcLost, 1),
                (Counter::ApiNoSlot, 3),
                (Counter::ThreadsKnown, 12),
            ],
            true,
        );
        // The counters of the writer restart in each recording. Two signals and a pause are in
        // flight.
        let now = snapshot([
            (Counter::Signals, 110),
            (Counter::Overruns, 53),
            (Counter::LostNoSlot, 5),
            (Counter::WeightLost, 11),
            (Counter::Written, 7),
            (Counter::WrittenWeight, 9),
            (Counter::GcSeen, 10),
            (Counter::GcLost, 1),
            (Counter::GcWritten, 2),
            (Counter::ApiNoSlot, 4),
            (Counter::ThreadsKnown, 11),
        ]);
        let expected = [
            (Counter::Signals, 8),
            (Counter::Overruns, 3),
            (Counter::LostNoSlot, 1),
            (Counter::WeightLost, 2),
            (Counter::Written, 7),
            (Counter::WrittenWeight, 9),
            (Counter::GcSeen, 2),
            (Counter::GcLost, 0),
            (Counter::GcWritten, 2),
            (Counter::ApiNoSlot, 4),
            (Counter::ThreadsKnown, 11),
        ];
        assert_eq!(start.report(now.clone(), true), snapshot(expected));
        // At the end nothing is in flight: missing events show.
        let report = start.report(now, false);
        let seen = [Counter::Signals, Counter::Overruns, Counter::GcSeen].map(|c| report[c]);
        assert_eq!(seen, [10, 3, 2]);
    }
}
