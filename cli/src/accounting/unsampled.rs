//! CPU time by the clock, and by samples.

use schema::counter::Counter;

use crate::statistics::share;
use crate::text;

/// Below this share of the CPU time nothing is suspected where the agent noticed nothing: on a busy
/// machine the instants of some probes pass before their timer can be armed.
const MIN_SUSPICIOUS_SHARE: f64 = 0.25;
/// Less CPU time than this says nothing.
const MIN_SUSPICIOUS_NANOS: u64 = 1_000_000_000;

/// What the counters of all files say about it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Unsampled {
    /// How often sampling stopped because the handler was replaced.
    pub(crate) times_lost: i64,
    /// CPU time of the application by the clock.
    pub(crate) clock_nanos: u64,
    /// CPU time that samples were taken for.
    pub(crate) sampled_nanos: u64,
}

impl Unsampled {
    /// Adds a file's counters.
    pub(super) fn add(&mut self, interval_nanos: u64, counter: impl Fn(Counter) -> i64) {
        let nanos = |counter_of| counter(counter_of).max(0).unsigned_abs();
        let clock = nanos(Counter::CpuProcess).saturating_sub(nanos(Counter::CpuAgent));
        let intervals = nanos(Counter::Signals).saturating_add(nanos(Counter::Overruns));
        let sampled = intervals.saturating_mul(interval_nanos);
        self.times_lost = self.times_lost.saturating_add(counter(Counter::SignalLost));
        if clock == 0 {
            return; // a file without a clock cannot be compared
        }
        self.clock_nanos = self.clock_nanos.saturating_add(clock);
        self.sampled_nanos = self.sampled_nanos.saturating_add(sampled);
    }

    /// CPU time without a sample.
    pub(crate) fn nanos(&self) -> u64 {
        self.clock_nanos.saturating_sub(self.sampled_nanos)
    }

    /// "by the clock 28.96 s, by samples 28.88 s (-0.3 %)"; `None` without a clock.
    pub(crate) fn comparison(&self) -> Option<String> {
        #[expect(clippy::cast_precision_loss, reason = "printed with one digit")]
        let [clock, sampled] = [self.clock_nanos, self.sampled_nanos].map(|nanos| nanos as f64);
        (self.clock_nanos > 0).then(|| {
            format!(
                "by the clock {}, by samples {} ({:+.1} %)",
                text::duration(self.clock_nanos),
                text::duration(self.sampled_nanos),
                100.0 * (sampled - clock) / clock
            )
        })
    }

    /// The warning, if there is one.
    pub(crate) fn finding(&self) -> Option<String> {
        let nanos = self.nanos();
        let is_suspicious =
            nanos >= MIN_SUSPICIOUS_NANOS && share(nanos, self.clock_nanos) >= MIN_SUSPICIOUS_SHARE;
        let why = match self.times_lost {
            ..=0 if !is_suspicious => return None,
            ..=0 => "something else may have taken the sampling signal, or the machine was too \
                     busy to arm timers (probes.late, probes.lost, probes.skipped)"
                .to_owned(),
            times => {
                let times = text::times(times.unsigned_abs());
                format!("something else took the sampling signal {times} (signal.lost)")
            }
        };
        Some(format!(
            "not sampled for {} of {} of CPU time: {why}",
            text::duration(nanos),
            text::duration(self.clock_nanos)
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(rows: &[(Counter, i64)]) -> Unsampled {
        let mut unsampled = Unsampled::default();
        let get = |counter| {
            rows.iter()
                .find(|row| row.0 == counter)
                .map_or(0, |row| row.1)
        };
        unsampled.add(10_000_000, get);
        unsampled
    }

    #[test]
    fn time_without_samples_is_a_finding_and_a_small_difference_is_none() {
        let replaced = of(&[
            (Counter::Signals, 60),
            (Counter::Overruns, 10),
            (Counter::SignalLost, 1),
            (Counter::CpuProcess, 3_100_000_000),
            (Counter::CpuAgent, 100_000_000),
        ]);
        let expected = "not sampled for 2.30 s of 3.00 s of CPU time: \
                        something else took the sampling signal once (signal.lost)";
        assert_eq!(replaced.finding().as_deref(), Some(expected));
        let ordinary = of(&[
            (Counter::Signals, 310),
            (Counter::CpuProcess, 3_000_000_000),
        ]);
        assert_eq!(ordinary.finding(), None);
        let expected = "by the clock 3.00 s, by samples 3.10 s (+3.3 %)";
        assert_eq!(ordinary.comparison().as_deref(), Some(expected));
        // Replaced and restored between two checks of the handler.
        let unnoticed = of(&[
            (Counter::Signals, 150),
            (Counter::CpuProcess, 3_000_000_000),
        ]);
        let finding = unnoticed.finding();
        assert!(finding.is_some_and(|text| text.contains("may have taken")));
        assert_eq!(of(&[(Counter::Signals, 300)]).comparison(), None);
    }
}
