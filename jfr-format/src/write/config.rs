//! What is known before the first byte is written.

use std::time::Duration;

/// Event clock: microseconds since the start of the recording.
///
/// Microseconds, not nanoseconds: a sample's time then takes four bytes for the first 4.5 minutes
/// and five for the next 9.5 hours, and a sample is no more exact than that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Ticks(pub u64);

impl Ticks {
    /// Ticks per second, the frequency in the chunk header.
    pub const PER_SECOND: u64 = 1_000_000;
    /// Nanoseconds of a tick.
    pub const NANOS: u64 = 1_000;

    /// The whole ticks of a duration.
    pub fn of(duration: Duration) -> Self {
        Self(u64::try_from(duration.as_micros()).unwrap_or(u64::MAX))
    }

    pub(crate) fn nanos(self) -> u64 {
        self.0.saturating_mul(Self::NANOS)
    }
}

/// The one line on which all times of a file lie: wall clock read once, monotonic clock from there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Clock {
    /// Wall clock at tick 0, nanoseconds since 1970 UTC.
    pub start_epoch_nanos: u64,
    /// `CLOCK_MONOTONIC` at tick 0, in nanoseconds; only [`Clock::ticks`] uses it.
    pub start_monotonic_nanos: u64,
}

impl Clock {
    /// The tick of a monotonic time; 0 for times before the recording.
    pub fn ticks(&self, monotonic_nanos: u64) -> Ticks {
        Ticks(monotonic_nanos.saturating_sub(self.start_monotonic_nanos) / Ticks::NANOS)
    }
}

/// The attribute columns of samples.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Columns {
    /// These names, 0 to 8; a byte per unused column and sample is saved.
    Named(Vec<String>),
    /// Eight columns, named by [`attribute`](super::Recording::attribute) as their attributes come, in all chunks; until then a column is called `context0` to
    /// `context7` and marked as experimental.
    Auto,
}

/// What a column holds, for readers; written once per chunk.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Attribute {
    /// Name as the application knows it, e.g. `http.route`.
    pub name: String,
    /// Text for people; empty = the name.
    pub label: String,
    /// Longer text for people.
    pub description: String,
    /// Name of the Java type that registered the attribute; may be empty.
    pub context_type: String,
}

/// A line of the recording's settings: `jdk.ActiveSetting`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// Name of an event in [`crate::events::EVENTS`]; others are left out, they would break JMC.
    pub event: String,
    /// Name of the setting.
    pub name: String,
    /// Its value.
    pub value: String,
}

/// `jdk.JVMInformation`. Arguments are recorded only if the user asked: leave them `None`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct JvmInformation {
    /// Name of the JVM.
    pub name: Option<String>,
    /// Version of the JVM.
    pub version: Option<String>,
    /// Arguments of the JVM.
    pub arguments: Option<String>,
    /// Flags from files and environment.
    pub flags: Option<String>,
    /// Main class and its arguments.
    pub java_arguments: Option<String>,
    /// Start of the JVM, milliseconds since 1970 UTC.
    pub start_epoch_millis: u64,
    /// Process id.
    pub pid: u32,
}

/// `jdk.CPUInformation`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CpuInformation {
    /// Short name.
    pub cpu: Option<String>,
    /// Long name.
    pub description: Option<String>,
    /// Sockets.
    pub sockets: u32,
    /// Cores.
    pub cores: u32,
    /// Hardware threads.
    pub hardware_threads: u32,
}

/// Where the recording was made; written once per chunk.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Environment {
    /// The JVM.
    pub jvm: Option<JvmInformation>,
    /// Version of the operating system.
    pub os: Option<String>,
    /// The processors.
    pub cpu: Option<CpuInformation>,
    /// System properties; only if the user asked.
    pub properties: Vec<(String, String)>,
}

/// What a recording is made with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// The clock.
    pub clock: Clock,
    /// The attribute columns.
    pub columns: Columns,
    /// Kind of the profile: `cpu`, `wall`, `alloc` or `lock`; Grafana reads it.
    pub event: String,
    /// Sampling interval of CPU time.
    pub interval: Duration,
    /// Period of wall-clock samples, if there are any.
    pub wall_interval: Option<Duration>,
    /// Longest time between flushes, told to readers.
    pub flush_interval: Duration,
    /// Settings besides `event`, `interval` and `wall`.
    pub settings: Vec<Setting>,
    /// Where the recording is made.
    pub environment: Environment,
    /// Name of the recording.
    pub name: String,
    /// Where the recording goes, told to readers; may be empty.
    pub destination: String,
    /// Size of the sparse hole at the file's end into which flushes write; costs no disk.
    pub reserve_bytes: u64,
    /// A finished file up to this size is cut behind its content; a larger one keeps its hole.
    pub compact_below_bytes: u64,
}

impl Default for Config {
    /// Named columns: none. Reserve 64 MiB; every file is cut in the end.
    fn default() -> Self {
        Self {
            clock: Clock::default(),
            columns: Columns::Named(Vec::new()),
            event: "cpu".into(),
            interval: Duration::from_millis(10),
            wall_interval: None,
            flush_interval: Duration::from_secs(1),
            settings: Vec::new(),
            environment: Environment::default(),
            name: "ctxagent".into(),
            destination: String::new(),
            reserve_bytes: 64 << 20,
            compact_below_bytes: u64::MAX,
        }
    }
}
