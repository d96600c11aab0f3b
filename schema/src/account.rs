//! The accounts of a recording: what was seen of a kind of event, and what became of it.
//!
//! Rule: what was seen is what was written, lost and left out, in each file. The agent keeps the
//! accounts so, `ctxjfr` checks them, `status` prints them.

use crate::counter::Counter;

/// The counters of something that is seen first and written later.
#[derive(Debug)]
pub struct EventAccount {
    /// What is counted, in the plural.
    pub what: &'static str,
    /// What was seen: the sum of these. While some of it is under way, the last one is adjusted.
    pub seen: &'static [Counter],
    /// What is in the recording.
    pub written: Counter,
    /// What was lost.
    pub lost: &'static [Counter],
    /// What was left out on purpose, or is in the recording in another form; sorted by name.
    pub others: &'static [Counter],
    /// What counts in `others` already and is missing from the recording all the same.
    pub lost_later: &'static [Counter],
}

impl EventAccount {
    /// How much was seen, by the values of the counters.
    pub fn seen_total<T: Into<i128>>(&self, value: impl Fn(Counter) -> T) -> i128 {
        self.seen.iter().map(|&counter| value(counter).into()).sum()
    }

    /// The counters of all that can become of what was seen.
    pub fn outcomes(&self) -> impl Iterator<Item = Counter> {
        let written = core::iter::once(self.written);
        written.chain(self.others.iter().chain(self.lost).copied())
    }

    /// How much is accounted for.
    pub fn outcome_total<T: Into<i128>>(&self, value: impl Fn(Counter) -> T) -> i128 {
        self.outcomes().map(|counter| value(counter).into()).sum()
    }

    /// The rule: all that was seen is accounted for.
    pub fn is_balanced<T: Into<i128>>(&self, value: impl Fn(Counter) -> T) -> bool {
        self.seen_total(&value) == self.outcome_total(&value)
    }
}

/// CPU samples, by signals.
pub const CPU: EventAccount = EventAccount {
    what: "signals",
    seen: &[Counter::Signals],
    written: Counter::Written,
    lost: &[
        Counter::LostFiltered,
        Counter::LostLate,
        Counter::LostNoSlot,
        Counter::LostReentry,
        Counter::LostWrite,
    ],
    others: &[Counter::Ratelimited],
    lost_later: &[],
};

/// CPU samples, by weight. Holds only where no rate limit makes samples weigh for others.
pub const CPU_WEIGHT: EventAccount = EventAccount {
    what: "intervals",
    seen: &[Counter::Signals, Counter::Overruns],
    written: Counter::WrittenWeight,
    lost: &[Counter::WeightLost],
    others: &[Counter::WeightFiltered],
    lost_later: &[],
};

/// Probes of the timers per CPU.
pub const PROBES: EventAccount = EventAccount {
    what: "probes",
    seen: &[Counter::Probes],
    written: Counter::ProbesMet,
    lost: &[Counter::ProbesLate],
    others: &[Counter::ProbesAgent, Counter::ProbesMissed],
    lost_later: &[],
};

/// Wall-clock samples, by signals.
pub const WALL_SIGNALS: EventAccount = EventAccount {
    what: "wall-clock signals",
    seen: &[Counter::WallSignals],
    written: Counter::WallWritten,
    lost: &[Counter::WallLost],
    others: &[
        Counter::WallFiltered,
        Counter::WallNoContext,
        Counter::WallRatelimited,
    ],
    lost_later: &[],
};

/// Wall-clock samples, by visits. What becomes of a visit is known a moment after it is counted.
pub const WALL_VISITS: EventAccount = EventAccount {
    what: "visits",
    seen: &[Counter::WallScheduled],
    written: Counter::WallSent,
    lost: &[],
    others: &[
        Counter::WallExited,
        Counter::WallMissed,
        Counter::WallPending,
        Counter::WallRepeated,
        Counter::WallUnlabelled,
    ],
    lost_later: &[Counter::WallLeftOut, Counter::WallRepeatsLost],
};

/// Wall-clock samples of virtual threads that no carrier ran.
pub const WALL_UNMOUNTED: EventAccount = EventAccount {
    what: "looks at virtual threads",
    seen: &[Counter::WallUnmounted],
    written: Counter::WallUnmountedWritten,
    lost: &[Counter::WallUnmountedLost],
    others: &[
        Counter::WallUnmountedChanged,
        Counter::WallUnmountedFiltered,
        Counter::WallUnmountedRatelimited,
    ],
    lost_later: &[],
};

/// Sampled allocations.
pub const ALLOCATIONS: EventAccount = EventAccount {
    what: "allocations",
    seen: &[Counter::AllocSeen],
    written: Counter::AllocWritten,
    lost: &[Counter::AllocLost],
    others: &[Counter::AllocFiltered, Counter::AllocRatelimited],
    lost_later: &[],
};

/// Lock contentions.
pub const LOCKS: EventAccount = EventAccount {
    what: "waits",
    seen: &[Counter::LockSeen],
    written: Counter::LockWritten,
    lost: &[Counter::LockLost],
    others: &[Counter::LockFiltered, Counter::LockShort],
    lost_later: &[],
};

/// Parks.
pub const PARKS: EventAccount = EventAccount {
    what: "parks",
    seen: &[Counter::ParkSeen],
    written: Counter::ParkWritten,
    lost: &[Counter::ParkLost],
    others: &[Counter::ParkFiltered, Counter::ParkRatelimited],
    lost_later: &[],
};

/// Exceptions.
pub const EXCEPTIONS: EventAccount = EventAccount {
    what: "exceptions",
    seen: &[Counter::ExceptionSeen],
    written: Counter::ExceptionWritten,
    lost: &[Counter::ExceptionLost],
    others: &[Counter::ExceptionFiltered, Counter::ExceptionRatelimited],
    lost_later: &[],
};

/// Labels that became known after their request had been sampled.
pub const LATE_LABELS: EventAccount = EventAccount {
    what: "late labels",
    seen: &[Counter::LateSeen],
    written: Counter::LateWritten,
    lost: &[Counter::LateLost],
    others: &[],
    lost_later: &[],
};

/// Scopes that took long.
pub const SCOPES: EventAccount = EventAccount {
    what: "scopes",
    seen: &[Counter::ScopesSeen],
    written: Counter::ScopesWritten,
    lost: &[Counter::ScopesLost, Counter::ScopesUnwritten],
    others: &[],
    lost_later: &[],
};

/// Marks and measures of the application.
pub const MARKS: EventAccount = EventAccount {
    what: "marks",
    seen: &[Counter::MarksSeen],
    written: Counter::MarksWritten,
    lost: &[Counter::MarksLost],
    others: &[],
    lost_later: &[],
};

/// GC pauses.
pub const PAUSES: EventAccount = EventAccount {
    what: "pauses",
    seen: &[Counter::GcSeen],
    written: Counter::GcWritten,
    lost: &[Counter::GcLost],
    others: &[],
    lost_later: &[],
};

/// The accounts by number, as opposed to [`CPU_WEIGHT`]; the one of CPU samples comes first.
pub const BY_NUMBER: [EventAccount; 13] = [
    CPU,
    PROBES,
    WALL_SIGNALS,
    WALL_VISITS,
    WALL_UNMOUNTED,
    ALLOCATIONS,
    LOCKS,
    PARKS,
    EXCEPTIONS,
    LATE_LABELS,
    SCOPES,
    MARKS,
    PAUSES,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_seen_must_be_accounted_for() {
        let value = |counter| match counter {
            Counter::Signals => 14_u64,
            Counter::Written => 7,
            Counter::Ratelimited => 4,
            Counter::LostNoSlot => 2,
            Counter::LostWrite => 1,
            Counter::WalkFailed => 5,
            _ => 0,
        };
        assert!(CPU.is_balanced(value));
        assert!(!CPU_WEIGHT.is_balanced(value));
        assert_eq!((CPU.seen_total(value), CPU.outcome_total(value)), (14, 14));
    }

    #[test]
    fn each_cause_of_a_lost_cpu_sample_is_in_the_account() {
        for counter in Counter::ALL {
            let is_cause = counter.name().starts_with("lost.");
            assert_eq!(CPU.lost.contains(counter), is_cause, "{counter:?}");
        }
    }

    #[test]
    fn outcomes_are_sorted_by_name() {
        for account in &BY_NUMBER {
            assert!(account.others.is_sorted_by_key(|counter| counter.name()));
            assert!(account.lost.is_sorted_by_key(|counter| counter.name()));
        }
    }
}
