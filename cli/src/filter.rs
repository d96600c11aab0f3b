//! `--where`, `--threads`, `--event`, `--from`, `--to`: which samples count.

use std::ops::RangeInclusive;

use jfr_format::read::{Type, is_execution_sample};

use crate::args::FilterArgs;
use crate::output::Failure;
use crate::shared::cut;
use crate::text;

/// One `--where`.
#[derive(Debug, Clone)]
pub(crate) struct Term {
    /// As it was given.
    pub(crate) text: String,
    pub(crate) key: String,
    /// `None`: any value.
    value: Option<String>,
    negated: bool,
}

impl Term {
    fn parse(text: &str) -> Result<Self, Failure> {
        let (negated, rest) = match text.strip_prefix('!') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (key, value) = match rest.split_once('=') {
            Some((key, value)) => (key, Some(value.to_owned())),
            None => (rest, None),
        };
        if key.is_empty() {
            return Err(Failure::Usage(format!(
                "--where '{text}': no key; expected KEY=VALUE, !KEY=VALUE, KEY or !KEY"
            )));
        }
        Ok(Self {
            text: text.to_owned(),
            key: key.to_owned(),
            value,
            negated,
        })
    }

    /// Whether a sample's value passes.
    pub(crate) fn passes(&self, found: Option<&str>) -> bool {
        let same = match &self.value {
            None => found.is_some(),
            Some(value) => found == Some(value.as_str()),
        };
        same != self.negated
    }
}

/// Samples of running threads, of every producer; in some recordings of sleeping ones too.
pub(crate) const EXECUTION: &str = "jdk.ExecutionSample";
/// Events of allocations. Where the first is there it stands for all, else the other two do.
pub(crate) const ALLOCATIONS: [&str; 3] = [
    "jdk.ObjectAllocationSample",
    "jdk.ObjectAllocationInNewTLAB",
    "jdk.ObjectAllocationOutsideTLAB",
];

/// Which event types count.
#[derive(Debug, Clone)]
pub(crate) enum Events {
    /// Samples of running threads.
    Cpu,
    /// Types of these names.
    Named(Vec<String>),
}

/// What is added up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Nanoseconds of CPU time: weight times sampling interval.
    Cpu,
    /// Nanoseconds of wall-clock time.
    Wall,
    /// Bytes allocated.
    Bytes,
    /// Nanoseconds of waiting for locks.
    Lock,
    /// Events.
    Samples,
}

impl Unit {
    /// All of them.
    #[cfg(test)]
    pub(crate) const ALL: [Unit; 5] = [
        Unit::Cpu,
        Unit::Wall,
        Unit::Bytes,
        Unit::Lock,
        Unit::Samples,
    ];

    /// Name in JSON.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Unit::Cpu => "cpu_ns",
            Unit::Wall => "wall_ns",
            Unit::Bytes => "bytes",
            Unit::Lock => "lock_ns",
            Unit::Samples => "samples",
        }
    }

    /// Head of a column.
    pub(crate) fn head(self) -> &'static str {
        match self {
            Unit::Cpu => "CPU time",
            Unit::Wall => "wall time",
            Unit::Bytes => "allocated",
            Unit::Lock => "waiting",
            Unit::Samples => "events",
        }
    }

    /// A sum in a sentence: `1.00 s of CPU time`, `114 MiB allocated`.
    pub(crate) fn amount(self, value: u64) -> String {
        match self {
            Unit::Cpu | Unit::Wall | Unit::Lock => {
                format!("{} of {}", self.show(value), self.head())
            }
            Unit::Bytes => format!("{} allocated", self.show(value)),
            Unit::Samples => text::count(value, "event"),
        }
    }

    /// What a share is a share of.
    pub(crate) fn whole(self) -> &'static str {
        match self {
            Unit::Bytes => "allocated bytes",
            Unit::Lock => "time of waiting",
            unit => unit.head(),
        }
    }

    /// Whether it is samples times their interval.
    pub(crate) fn is_time(self) -> bool {
        matches!(self, Unit::Cpu | Unit::Wall)
    }

    /// Whether an event stands for others that were not recorded. Each wait is one event: of their
    /// sum nothing is guessed.
    pub(crate) fn is_sampled(self) -> bool {
        self != Unit::Lock
    }

    /// A value with its unit.
    pub(crate) fn show(self, value: u64) -> String {
        match self {
            Unit::Cpu | Unit::Wall | Unit::Lock => text::duration(value),
            Unit::Bytes => text::bytes(value),
            Unit::Samples => text::thousands(value),
        }
    }
}

/// All of it.
#[derive(Debug, Clone)]
pub(crate) struct Filter {
    pub(crate) terms: Vec<Term>,
    pub(crate) events: Events,
    threads: Option<String>,
    /// In nanoseconds since 1970.
    span: RangeInclusive<i64>,
}

/// Every moment.
const ALWAYS: RangeInclusive<i64> = i64::MIN..=i64::MAX;

/// The moment that an option gives.
fn moment(option: &str, text: Option<&String>) -> Result<Option<i64>, Failure> {
    let Some(text) = text else { return Ok(None) };
    match text::moment(text) {
        None => Err(Failure::Usage(format!(
            "{option} '{text}': expected a moment in UTC like 2026-11-26T16:30:00.5Z"
        ))),
        moment => Ok(moment),
    }
}

impl Filter {
    /// All samples of CPU time.
    pub(crate) fn cpu() -> Self {
        Self {
            terms: Vec::new(),
            events: Events::Cpu,
            threads: None,
            span: ALWAYS,
        }
    }

    pub(crate) fn new(args: &FilterArgs) -> Result<Self, Failure> {
        let terms = args
            .filters
            .iter()
            .map(|text| Term::parse(text))
            .collect::<Result<_, _>>()?;
        let named =
            |names: &[&str]| Events::Named(names.iter().map(|&name| name.to_owned()).collect());
        let events = match args.event.as_deref() {
            None | Some("cpu") => Events::Cpu,
            Some("wall") => named(&["profiler.WallClockSample"]),
            Some("alloc") => named(&ALLOCATIONS),
            Some("lock") => named(&["jdk.JavaMonitorEnter", "jdk.ThreadPark"]),
            Some("park") => named(&["jdk.ThreadPark"]),
            Some("exception") => named(&["jdk.JavaExceptionThrow"]),
            Some(name) => named(&[name]),
        };
        let from = moment("--from", args.from.as_ref())?;
        let to = moment("--to", args.to.as_ref())?;
        Ok(Self {
            terms,
            events,
            threads: args.threads.clone(),
            span: from.unwrap_or(i64::MIN)..=to.map_or(i64::MAX, |to| to.saturating_sub(1)),
        })
    }

    /// What the weights of the wanted events mean.
    pub(crate) fn unit(&self) -> Unit {
        let Events::Named(names) = &self.events else {
            return Unit::Cpu;
        };
        match names
            .first()
            .map_or("", |name| name.rsplit('.').next().unwrap_or(name))
        {
            "ExecutionSample" | "CPUTimeSample" | "NativeMethodSample" => Unit::Cpu,
            "WallClockSample" => Unit::Wall,
            "ObjectAllocationSample"
            | "ObjectAllocationInNewTLAB"
            | "ObjectAllocationOutsideTLAB" => Unit::Bytes,
            "JavaMonitorEnter" | "ThreadPark" => Unit::Lock,
            _ => Unit::Samples,
        }
    }

    pub(crate) fn wants_type(&self, ty: &Type) -> bool {
        match &self.events {
            Events::Cpu => is_execution_sample(ty),
            Events::Named(names) => names.iter().any(|name| matches_type(&ty.name, name)),
        }
    }

    /// The moments that count.
    pub(crate) fn span(&self) -> &RangeInclusive<i64> {
        &self.span
    }

    /// Whether some moments do not count.
    pub(crate) fn has_span(&self) -> bool {
        self.span != ALWAYS
    }

    pub(crate) fn wants_threads(&self) -> bool {
        self.threads.is_some()
    }

    pub(crate) fn wants_thread(&self, name: &str) -> bool {
        self.threads
            .as_deref()
            .is_none_or(|glob| glob_match(name, glob))
    }
}

/// Whether a type is meant by its full name, by the part after the last dot, or by a pattern.
pub(crate) fn matches_type(full: &str, wanted: &str) -> bool {
    let full = cut(full);
    glob_match(full, wanted)
        || full
            .rsplit('.')
            .next()
            .is_some_and(|short| glob_match(short, wanted))
}

/// Whether a name fits a pattern with `*` and `?`. Time is at most the product of the lengths.
pub(crate) fn glob_match(name: &str, glob: &str) -> bool {
    let name: Vec<char> = name.chars().collect();
    let glob: Vec<char> = glob.chars().collect();
    let (mut at, mut pattern) = (0, 0);
    // Where the last star stood, and what it has swallowed up to.
    let mut star: Option<(usize, usize)> = None;
    while at < name.len() {
        match glob.get(pattern) {
            Some('*') => {
                star = Some((pattern, at));
                pattern += 1;
            }
            Some(&c) if c == '?' || c == name[at] => {
                at += 1;
                pattern += 1;
            }
            _ => match star {
                Some((place, swallowed)) => {
                    star = Some((place, swallowed + 1));
                    at = swallowed + 1;
                    pattern = place + 1;
                }
                None => return false,
            },
        }
    }
    glob[pattern..].iter().all(|&c| c == '*')
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed parse is a failed test")]
    use super::*;

    #[test]
    fn patterns_fit_as_in_a_shell() {
        for (name, glob, expected) in [
            ("pool-1-thread-2", "pool-*", true),
            ("pool-1-thread-2", "*-2", true),
            ("pool-1-thread-2", "pool-?-thread-?", true),
            ("pool-1-thread-2", "pool", false),
            ("", "*", true),
            ("abc", "a*b*c*", true),
            ("ab", "a*bc", false),
        ] {
            assert_eq!(glob_match(name, glob), expected, "{name} {glob}");
        }
    }

    #[test]
    fn terms_pass_what_they_say() {
        let value = Term::parse("k=v=w").unwrap();
        assert!(value.passes(Some("v=w")) && !value.passes(Some("v")) && !value.passes(None));
        let not = Term::parse("!k=v").unwrap();
        assert!(!not.passes(Some("v")) && not.passes(None));
        assert!(Term::parse("k").unwrap().passes(Some("")));
        assert!(Term::parse("!k").unwrap().passes(None));
        assert!(Term::parse("=v").is_err());
        assert!(Term::parse("!").is_err());
    }
}
