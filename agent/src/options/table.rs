//! The table of options: names, kinds, limits, defaults, help. No other place describes an option.

use super::kind::{
    GIB, KIB, Kind, MIB, NANOS_PER_DAY, NANOS_PER_MILLI, NANOS_PER_SEC, SIZE_UNITS, TIME_UNITS,
    unit_text,
};
use super::parsed::Options;
use super::types::{
    CStack, Command, EVENTS, Engine, LogLevel, Mechanism, MechanismSet, StatusFormat,
    VirtualThreads, WallThreads,
};
use super::value::Value;
use crate::output::ExistingFile;
use std::time::Duration;

/// Shortest `interval`. Test builds sample more often, to compare ten million samples in minutes.
const SHORTEST_INTERVAL: u64 = if cfg!(feature = "oracle") {
    20_000
} else {
    NANOS_PER_MILLI
};

/// The shortest wait or scope that is recorded.
const SPAN: Kind = Kind::Time {
    min: 1_000,
    max: 60 * NANOS_PER_SEC,
    bare: 1,
};
/// Values of bare option names, as in other profilers, and of `event=NAME`.
const ALONE: &[(&str, u64)] = &[
    ("wall", WALL_ALONE),
    ("alloc", ALLOC_ALONE),
    ("lock", LOCK_ALONE),
    ("park", PARK_ALONE),
];
const WALL_ALONE: u64 = 50 * NANOS_PER_MILLI;
/// No measurable cost.
const ALLOC_ALONE: u64 = 512 * KIB;
const LOCK_ALONE: u64 = NANOS_PER_MILLI;
const PARK_ALONE: u64 = 10 * NANOS_PER_MILLI;
/// Aliases of options, as in other profilers.
const ALIASES: &[(&str, &str)] = &[("duration", "timeout")];

/// The commands that accept an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// `start` only.
    Start,
    /// `start` and `dump`.
    StartDump,
    /// `status` only.
    Status,
    /// Every command.
    Any,
}

impl Scope {
    pub(super) const fn has(self, command: Command) -> bool {
        match self {
            Self::Start => matches!(command, Command::Start),
            Self::StartDump => matches!(command, Command::Start | Command::Dump),
            Self::Status => matches!(command, Command::Status),
            Self::Any => true,
        }
    }
}

/// One row of [`TABLE`].
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Name in the option string.
    pub name: &'static str,
    /// Kind and limits.
    pub kind: Kind,
    /// Default, as text; empty = none.
    pub default: &'static str,
    /// Commands that accept it.
    pub scope: Scope,
    /// One sentence.
    pub help: &'static str,
    pub(super) set: fn(&mut Options, Value),
}

impl Row {
    /// What the option is for, and what its bare name means.
    pub fn purpose(&self) -> String {
        let (name, help) = (self.name, self.help);
        match alone(self) {
            Some(value) => format!("{help} {name} or event={name} alone means {value}."),
            None => help.to_owned(),
        }
    }
}

/// Every option.
pub const TABLE: &[Row] = &[
    Row {
        name: "event",
        kind: Kind::Choices(EVENTS),
        default: "cpu",
        scope: Scope::Start,
        help: "What is sampled. itimer and ctimer mean cpu.",
        set: |o, v| {
            let chosen = |index| matches!(&v, Value::Words(words, _) if words.contains(&index));
            o.cpu = chosen(0);
            if let Value::Words(_, Some(synonym)) = v {
                o.cpu_synonym = Some(synonym);
            }
            if chosen(1) {
                o.wall.get_or_insert(Duration::from_nanos(WALL_ALONE));
            }
            if chosen(2) {
                o.alloc_bytes.get_or_insert(ALLOC_ALONE);
            }
            if chosen(3) {
                o.lock.get_or_insert(Duration::from_nanos(LOCK_ALONE));
            }
            if chosen(4) {
                o.park.get_or_insert(Duration::from_nanos(PARK_ALONE));
            }
            o.exceptions = chosen(5);
        },
    },
    Row {
        name: "interval",
        kind: Kind::Time {
            min: SHORTEST_INTERVAL,
            max: NANOS_PER_SEC,
            bare: 1,
        },
        default: "10ms",
        scope: Scope::Start,
        help: "CPU time between two samples of a thread.",
        set: |o, v| o.interval = v.nanos(),
    },
    Row {
        name: "wall",
        kind: Kind::Time {
            min: NANOS_PER_MILLI,
            max: 60 * NANOS_PER_SEC,
            bare: 1,
        },
        default: "",
        scope: Scope::Start,
        help: "Also sample wall-clock time: each Java thread once in this time, running or not.",
        set: |o, v| o.wall = Some(v.nanos()),
    },
    Row {
        name: "wallthreads",
        kind: Kind::Choice(&["all", "context"]),
        default: "all",
        scope: Scope::Start,
        help: "Which threads wall-clock samples are taken of: all, or only those that have a \
               context at the moment.",
        set: |o, v| {
            o.wall_threads = v
                .pick([WallThreads::All, WallThreads::Context])
                .unwrap_or(o.wall_threads);
        },
    },
    Row {
        name: "alloc",
        kind: Kind::Size { min: KIB, max: GIB },
        default: "",
        scope: Scope::Start,
        help: "Also sample allocations: one in so many bytes on average.",
        set: |o, v| o.alloc_bytes = Some(v.number()),
    },
    Row {
        name: "lock",
        kind: SPAN,
        default: "",
        scope: Scope::Start,
        help: "Also record waiting for a monitor that took at least this long.",
        set: |o, v| o.lock = Some(v.nanos()),
    },
    Row {
        name: "park",
        kind: SPAN,
        default: "",
        scope: Scope::Start,
        help: "Also record parks that took at least this long: waiting for java.util.concurrent.",
        set: |o, v| o.park = Some(v.nanos()),
    },
    Row {
        name: "scopes",
        kind: SPAN,
        default: "",
        scope: Scope::Start,
        help: "Also record scopes, requests and carried tasks that took at least this long, so that ctxjfr can \
               label events of the JDK.",
        set: |o, v| o.scopes = Some(v.nanos()),
    },
    Row {
        name: "jfrsync",
        kind: Kind::JdkSettings,
        default: "",
        scope: Scope::Start,
        help: "Also begin a recording of the JDK with these settings, and end it with this one, as \
               app.jdk.jfr beside app.jfr.",
        set: |o, v| {
            if let Value::Text(settings) = v {
                o.jdk_settings = Some(settings);
            }
        },
    },
    Row {
        name: "file",
        kind: Kind::File,
        default: "",
        scope: Scope::StartDump,
        help: "Recording: %p = process id, %t = time, %n{MAX} = number that starts again after \
               MAX, %h = host, %{NAME} = environment variable, %% = %. Without it \
               ctxagent-%p.jfr in the working directory, with loop ctxagent-%p-%t.jfr.",
        set: |o, v| {
            if let Value::File(pattern) = v {
                o.file = Some(pattern);
            }
        },
    },
    Row {
        name: "jfr",
        kind: Kind::Alone,
        default: "",
        scope: Scope::StartDump,
        help: "The format of the file. There is no other, so it may be left out.",
        set: |_, _| {},
    },
    Row {
        name: "overwrite",
        kind: Kind::Flag,
        default: "false",
        scope: Scope::StartDump,
        help: "Replace an older recording that has the file's name; else the next free name is \
               taken (app-2.jfr for app.jfr), and said.",
        set: |o, v| {
            o.existing = if v.flag() {
                ExistingFile::Replace
            } else {
                ExistingFile::Keep
            };
        },
    },
    Row {
        name: "loop",
        kind: Kind::Time {
            min: NANOS_PER_SEC,
            max: 7 * NANOS_PER_DAY,
            bare: NANOS_PER_SEC,
        },
        default: "",
        scope: Scope::Start,
        help: "Begin a new file after this time; the name then needs %t or %n.",
        set: |o, v| o.loop_time = Some(v.nanos()),
    },
    Row {
        name: "timeout",
        kind: Kind::Time {
            min: NANOS_PER_SEC,
            max: 7 * NANOS_PER_DAY,
            bare: NANOS_PER_SEC,
        },
        default: "",
        scope: Scope::Start,
        help: "End the recording after this time, as stop does; pauses count. Also duration=.",
        set: |o, v| o.timeout = Some(v.nanos()),
    },
    Row {
        name: "chunktime",
        kind: Kind::Time {
            min: NANOS_PER_SEC,
            max: 3600 * NANOS_PER_SEC,
            bare: NANOS_PER_SEC,
        },
        default: "60s",
        scope: Scope::Start,
        help: "Begin a new chunk of the file after this time.",
        set: |o, v| o.chunk_time = v.nanos(),
    },
    Row {
        name: "chunksize",
        kind: Kind::Size { min: MIB, max: GIB },
        default: "12m",
        scope: Scope::Start,
        help: "Begin a new chunk of the file after this many bytes.",
        set: |o, v| o.chunk_size_bytes = v.number(),
    },
    Row {
        name: "jstackdepth",
        kind: Kind::Count {
            min: 1,
            max: 2048,
            power_of_two: false,
        },
        default: "2048",
        scope: Scope::Start,
        help: "Frames kept of a stack, from the top; deeper ones are marked as cut.",
        set: |o, v| o.stack_depth = u16::try_from(v.number()).unwrap_or(u16::MAX),
    },
    Row {
        name: "ctx",
        kind: Kind::Names,
        default: "",
        scope: Scope::Start,
        help: "Attributes that get a column from the start, in this order; others get one at \
               first use while there is room.",
        set: |o, v| {
            if let Value::Names(names) = v {
                o.attributes = names;
            }
        },
    },
    Row {
        name: "filter",
        kind: Kind::Filter,
        default: "",
        scope: Scope::Start,
        help: "Record only samples whose context meets all conditions; the others count as \
               lost.filtered.",
        set: |o, v| {
            if let Value::Filter(conditions) = v {
                o.filter = conditions;
            }
        },
    },
    Row {
        name: "redact",
        kind: Kind::Redact,
        default: "",
        scope: Scope::Start,
        help: "What is written instead of an attribute's values: nothing (drop), or a number \
               that is the same for the same value within this recording only (hash).",
        set: |o, v| {
            if let Value::Redact(entries) = v {
                o.redact = entries;
            }
        },
    },
    Row {
        name: "ratelimit",
        kind: Kind::Rates,
        default: "",
        scope: Scope::Start,
        help: "Events per second at most, by kind. Of more, some picked at random are written \
               and weigh for the others, so totals stay right.",
        set: |o, v| {
            if let Value::Rates(limits) = v {
                o.rate_limits = limits;
            }
        },
    },
    Row {
        name: "ctxcap",
        kind: Kind::Count {
            min: 16,
            max: 1 << 20,
            power_of_two: false,
        },
        default: "65536",
        scope: Scope::Start,
        help: "Distinct attribute values kept, in 64 bytes of text each on average; later ones \
               are written raw. Taken when the agent is loaded.",
        set: |o, v| o.value_cap = u32::try_from(v.number()).unwrap_or(u32::MAX),
    },
    Row {
        name: "ctxvalue",
        kind: Kind::Count {
            min: 8,
            max: 255,
            power_of_two: false,
        },
        default: "255",
        scope: Scope::Start,
        help: "Longest attribute value in UTF-8 bytes; longer ones are cut at a character. Taken \
               when the agent is loaded.",
        set: |o, v| o.value_limit_bytes = u8::try_from(v.number()).unwrap_or(u8::MAX),
    },
    Row {
        name: "ctxblocks",
        kind: Kind::Count {
            min: 1 << 10,
            max: 1 << 23,
            power_of_two: true,
        },
        default: "65536",
        scope: Scope::Start,
        help: "Threads that can have a context at the same time; 192 bytes of address space \
               each. Taken when the agent is loaded.",
        set: |o, v| o.blocks = u32::try_from(v.number()).unwrap_or(1 << 16),
    },
    Row {
        name: "propagate",
        kind: Kind::Subset(&[
            "futures",
            "completions",
            "pools",
            "forkjoin",
            "virtual",
            "structured",
            "timer",
            "threads",
        ]),
        default: "",
        scope: Scope::Start,
        help: "Tasks that run with the context of the thread that hands them over, see \
               propagation.md.",
        set: |o, v| {
            if let Value::Words(words, _) = v {
                let chosen = Mechanism::ALL.into_iter().zip(0..);
                let chosen = chosen.filter(|(_, index)| words.contains(index));
                o.propagate = MechanismSet::of(chosen.map(|(mechanism, _)| mechanism));
            }
        },
    },
    Row {
        name: "labels",
        kind: Kind::Labels,
        default: "auto",
        scope: Scope::Start,
        help: "Where labels come from without a change of the application, see labels.md.",
        set: |o, v| {
            if let Value::Labels(labels) = v {
                o.labels = labels;
            }
        },
    },
    Row {
        name: "detach",
        kind: Kind::Time {
            min: 0,
            max: 7 * NANOS_PER_DAY,
            bare: NANOS_PER_SEC,
        },
        default: "30s",
        scope: Scope::Start,
        help: "A context that a task carries shows as (detached) so long after the scope that it \
               comes from has closed; 0: never.",
        set: |o, v| o.detach = v.nanos(),
    },
    Row {
        name: "cstack",
        kind: Kind::Choice(&["auto", "vm", "asgct", "shadow", "no"]),
        default: "auto",
        scope: Scope::Start,
        help: "How stacks are walked. vm: the own walker, then AsyncGetCallTrace. asgct: that \
               alone, even where it is known to crash. shadow: that, compared with the own \
               walker. no: not at all. auto: vm from 17 on where the VM's structures are \
               known, else asgct where it is not known to crash, else no.",
        set: |o, v| {
            o.cstack = v
                .pick([
                    CStack::Auto,
                    CStack::Vm,
                    CStack::Asgct,
                    CStack::Shadow,
                    CStack::No,
                ])
                .unwrap_or(o.cstack);
        },
    },
    Row {
        name: "engine",
        kind: Kind::Choice(&["auto", "percpu", "tick"]),
        default: "auto",
        scope: Scope::Start,
        help: "What takes CPU samples. percpu: one random instant per interval on each CPU; exact \
               for every thread; needs Linux 6.4. tick: a timer on the CPU clock of each thread, \
               biased for work in step with the kernel's tick. auto: the first that works.",
        set: |o, v| {
            o.engine = v
                .pick([Engine::Auto, Engine::PerCpu, Engine::Tick])
                .unwrap_or(o.engine);
        },
    },
    Row {
        name: "vthreads",
        kind: Kind::Choice(&["auto", "vmstructs", "jvmci", "events", "off"]),
        default: "auto",
        scope: Scope::Start,
        help: "How the virtual thread is found: in the VM's table of structures, in the JVMCI \
               table, by mount events (65 to 85 ns per switch), or not at all. auto: the first \
               that proves right. Taken when the agent is loaded.",
        set: |o, v| {
            use VirtualThreads as V;
            o.virtual_threads = v
                .pick([V::Auto, V::VmStructs, V::Jvmci, V::Events, V::Off])
                .unwrap_or(o.virtual_threads);
        },
    },
    Row {
        name: "signal",
        kind: Kind::Signal,
        default: "prof",
        scope: Scope::Start,
        help: "The signal that samples.",
        set: |o, v| {
            if let Value::Signal(signal) = v {
                o.signal = signal;
            }
        },
    },
    Row {
        name: "log",
        kind: Kind::Log,
        default: "stderr",
        scope: Scope::Any,
        help: "Where messages go.",
        set: |o, v| {
            if let Value::Log(log) = v {
                o.log = log;
            }
        },
    },
    Row {
        name: "loglevel",
        kind: Kind::Choice(&["off", "error", "warn", "notice", "info", "debug"]),
        default: "notice",
        scope: Scope::Any,
        help: "Which messages are written, each level with those before it; notice is one line \
               that says what is recorded, or that nothing is.",
        set: |o, v| {
            use LogLevel as L;
            o.log_level = v
                .pick([L::Off, L::Error, L::Warn, L::Notice, L::Info, L::Debug])
                .unwrap_or(o.log_level);
        },
    },
    Row {
        name: "flush",
        kind: Kind::Time {
            min: 100 * NANOS_PER_MILLI,
            max: 60 * NANOS_PER_SEC,
            bare: NANOS_PER_SEC,
        },
        default: "1s",
        scope: Scope::Start,
        help: "After this time at most, what was recorded can be read from the file, also after \
               kill -9.",
        set: |o, v| o.flush = v.nanos(),
    },
    Row {
        name: "format",
        kind: Kind::Choice(&["text", "json", "prometheus"]),
        default: "text",
        scope: Scope::Status,
        help: "How status is written, see below.",
        set: |o, v| {
            let formats = [
                StatusFormat::Text,
                StatusFormat::Json,
                StatusFormat::Prometheus,
            ];
            o.status_format = v.pick(formats).unwrap_or(o.status_format);
        },
    },
    Row {
        name: "strict",
        kind: Kind::Flag,
        default: "false",
        scope: Scope::Any,
        help: "Stop the JVM when the agent cannot do what was asked, or any option is wrong; \
               else it runs on without recording.",
        set: |o, v| o.strict = v.flag(),
    },
    Row {
        name: "sysinfo",
        kind: Kind::Flag,
        default: "false",
        scope: Scope::Start,
        help: "Write command line and system properties into the recording.",
        set: |o, v| o.system_info = v.flag(),
    },
];

/// The value of the bare name of this option.
pub(super) fn alone(row: &Row) -> Option<String> {
    let (_, number) = ALONE.iter().find(|(name, _)| *name == row.name)?;
    let units = if matches!(row.kind, Kind::Size { .. }) {
        SIZE_UNITS
    } else {
        TIME_UNITS
    };
    Some(unit_text(*number, units))
}

/// The name in the table for an alias, or the name itself.
pub(super) fn aliased(name: &str) -> &str {
    let found = ALIASES.iter().find(|(alias, _)| *alias == name);
    found.map_or(name, |(_, known)| known)
}

#[cfg(test)]
mod tests;
