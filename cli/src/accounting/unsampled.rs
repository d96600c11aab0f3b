//! CPU time that was used while sampling was off, as the handler was replaced.

use schema::counter::Counter;

use crate::statistics::share;
use crate::text;

/// At an ordinary end about one point of each thread is open; more than this per thread is no such
/// end.
const MAX_ORDINARY_POINTS_PER_THREAD: i64 = 2;
/// Below this share of the CPU time no other owner is suspected on behalf of open points alone.
const MIN_SUSPICIOUS_SHARE: f64 = 0.05;

/// Why points may be unsampled where the agent noticed nothing: also on a busy machine where a
/// recording ended before many threads were sampled.
const UNEXPLAINED: &str = "something else may have taken the sampling signal, or sampling ended \
     before these threads had their turn (points.unsampled)";

/// What the counters of all files say about it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Unsampled {
    /// How often sampling stopped because the handler was replaced.
    pub(crate) times_lost: i64,
    /// CPU time that threads used without being sampled.
    pub(crate) nanos: u64,
    /// CPU time used in all, sampled or not.
    pub(crate) used_nanos: u64,
    /// Whether more points are open than an ordinary end leaves, of a file.
    is_suspicious: bool,
}

impl Unsampled {
    /// Adds a file's counters.
    pub(super) fn add(&mut self, interval_nanos: u64, counter: impl Fn(Counter) -> i64) {
        let time = |intervals: i64| {
            let intervals = intervals.max(0).unsigned_abs();
            intervals.saturating_mul(interval_nanos)
        };
        let unsampled = counter(Counter::PointsUnsampled);
        let seen = counter(Counter::Signals).saturating_add(counter(Counter::Overruns));
        let ends = counter(Counter::StatePaused).saturating_add(1);
        let points = ends.saturating_mul(MAX_ORDINARY_POINTS_PER_THREAD);
        let ordinary = counter(Counter::ThreadsKnown).saturating_mul(points);
        let (nanos, used) = (time(unsampled), time(unsampled.saturating_add(seen)));
        self.is_suspicious |= unsampled > ordinary && share(nanos, used) >= MIN_SUSPICIOUS_SHARE;
        self.times_lost = self.times_lost.saturating_add(counter(Counter::SignalLost));
        self.nanos = self.nanos.saturating_add(nanos);
        self.used_nanos = self.used_nanos.saturating_add(used);
    }

    /// The warning, if there is one.
    pub(crate) fn finding(&self) -> Option<String> {
        let times = text::times(self.times_lost.max(0).unsigned_abs());
        let why = match self.times_lost {
            ..=0 if !self.is_suspicious => return None,
            ..=0 => UNEXPLAINED.to_owned(),
            _ => format!("something else took the sampling signal {times} (signal.lost)"),
        };
        if self.nanos == 0 {
            return Some(format!("not sampled for an unknown time: {why}"));
        }
        Some(format!(
            "not sampled for {} of {} of CPU time: {why}",
            text::duration(self.nanos),
            text::duration(self.used_nanos)
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(rows: &[(Counter, i64)]) -> Option<String> {
        let mut unsampled = Unsampled::default();
        let get = |counter| {
            rows.iter()
                .find(|row| row.0 == counter)
                .map_or(0, |row| row.1)
        };
        unsampled.add(10_000_000, get);
        unsampled.finding()
    }

    #[test]
    fn time_without_samples_is_a_finding_and_an_ordinary_end_is_none() {
        let replaced = [
            (Counter::Signals, 60),
            (Counter::Overruns, 10),
            (Counter::SignalLost, 1),
            (Counter::PointsUnsampled, 230),
        ];
        let expected = "not sampled for 2.30 s of 3.00 s of CPU time: \
                        something else took the sampling signal once (signal.lost)";
        assert_eq!(of(&replaced).as_deref(), Some(expected));
        // Sixty threads of a pool, each with the point that it had reached.
        let pool = [
            (Counter::Signals, 300),
            (Counter::PointsUnsampled, 60),
            (Counter::ThreadsKnown, 80),
        ];
        assert_eq!(of(&pool), None);
        let paused = [
            (Counter::Signals, 300),
            (Counter::PointsUnsampled, 90),
            (Counter::ThreadsKnown, 20),
            (Counter::StatePaused, 2),
        ];
        assert_eq!(of(&paused), None);
        // Replaced and restored between two checks of the handler.
        let unnoticed = [
            (Counter::Signals, 300),
            (Counter::PointsUnsampled, 90),
            (Counter::ThreadsKnown, 20),
        ];
        assert!(of(&unnoticed).is_some_and(|text| text.contains("may have taken")));
        let unknown = [(Counter::Signals, 300), (Counter::SignalLost, 2)];
        assert!(of(&unknown).is_some_and(|text| text.contains("unknown time")));
        assert_eq!(of(&[(Counter::Signals, 300)]), None);
    }
}
