//! The profiler's books, as `ctxagent.Stats` tells them: of each kind what was seen, and all that
//! can become of it.
//!
//! Rule: seen = written + the others, in each file. The agent keeps it, `ctxjfr` tests it.

/// The counters of something that is seen first and written later.
#[derive(Debug)]
pub struct Kind {
    /// What is counted, in the plural.
    pub what: &'static str,
    /// Counter of those that were seen.
    pub seen: &'static str,
    /// Counter of those in the recording.
    pub written: &'static str,
    /// What else becomes of it. A name that ends with a dot stands for all that begin so.
    pub others: &'static [&'static str],
}

impl Kind {
    /// Whether a counter tells what became of some of them.
    pub fn has_outcome(&self, name: &str) -> bool {
        name == self.written
            || self
                .others
                .iter()
                .any(|other| name == *other || other.ends_with('.') && name.starts_with(other))
    }
}

/// Samples of CPU time.
pub const CPU: Kind = Kind {
    what: "signals",
    seen: "signals",
    written: "written",
    others: &["thinned", "lost."],
};
/// Samples of wall-clock time, by signals.
pub const WALL_SIGNALS: Kind = Kind {
    what: "wall-clock signals",
    seen: "wall.signals",
    written: "wall.written",
    others: &[
        "wall.thinned",
        "wall.filtered",
        "wall.no_context",
        "wall.lost",
    ],
};
/// Samples of wall-clock time, by visits of threads: what becomes of one is known a moment after it
/// is counted.
pub const WALL_VISITS: Kind = Kind {
    what: "visits",
    seen: "wall.due",
    written: "wall.sent",
    others: &[
        "wall.repeated",
        "wall.unlabelled",
        "wall.pending",
        "wall.gone",
        "wall.missed",
    ],
};
/// Sampled allocations.
pub const ALLOCATIONS: Kind = Kind {
    what: "allocations",
    seen: "alloc.seen",
    written: "alloc.written",
    others: &["alloc.thinned", "alloc.filtered", "alloc.lost"],
};
/// Waits for monitors.
pub const LOCKS: Kind = Kind {
    what: "waits",
    seen: "lock.seen",
    written: "lock.written",
    others: &["lock.short", "lock.filtered", "lock.lost"],
};
/// Pauses for collections.
pub const PAUSES: Kind = Kind {
    what: "pauses",
    seen: "gc.seen",
    written: "gc.written",
    others: &["gc.lost"],
};

/// All that is accounted for like that; samples of CPU time come first.
pub const KINDS: [Kind; 6] = [CPU, WALL_SIGNALS, WALL_VISITS, ALLOCATIONS, LOCKS, PAUSES];

/// CPU samples by weight, where nothing is thinned: the sum of the first is the sum of the second.
pub const WEIGHTS_SEEN: [&str; 2] = ["signals", "overruns"];
/// What becomes of the weight of CPU samples.
pub const WEIGHTS: [&str; 3] = ["written.weight", "weight.filtered", "weight.lost"];

/// Counters of `ctxagent.Stats` that tell how it is now, not how often something happened: value
/// and total are the figure at the end of the chunk.
pub const GAUGES: [&str; 4] = [
    "api.refused",
    "threads.known",
    "threads.on_tick",
    "threads.without_timer",
];
