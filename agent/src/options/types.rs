//! Types of the values of options, and the commands.

use crate::output::Pattern;

/// What a recording can have, in the order in which the option `event` numbers them.
pub(super) const EVENTS: &[&str] = &["cpu", "wall", "alloc", "lock", "park", "exception"];

/// What to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Command {
    /// Serve the Java API and later commands, do not record. Has no word.
    Load,
    /// Begin a recording.
    Start,
    /// End the recording.
    Stop,
    /// Stop sampling until `resume`; the recording continues.
    Pause,
    /// Resume sampling.
    Resume,
    /// Write a copy of the recording so far; the recording continues.
    Dump,
    /// Print state and counters.
    Status,
    /// Print the version.
    Version,
    /// Print commands and options.
    Help,
}

impl Command {
    /// The commands that have a word.
    pub const ALL: [Self; 8] = [
        Self::Start,
        Self::Stop,
        Self::Pause,
        Self::Resume,
        Self::Dump,
        Self::Status,
        Self::Version,
        Self::Help,
    ];

    /// The word in the option string; `load` has none and is never parsed.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::Start => "start",
            Self::Stop => "stop",
            Self::Pause => "pause",
            Self::Resume => "resume",
            Self::Dump => "dump",
            Self::Status => "status",
            Self::Version => "version",
            Self::Help => "help",
        }
    }

    /// Its purpose, in a few words: for `help` and for `docs/user-guide/options.md`.
    pub const fn purpose(self) -> &'static str {
        match self {
            Self::Load => "",
            Self::Start => "begins a recording; also meant when only options are given",
            Self::Stop => "ends the recording",
            Self::Pause => "takes no samples until `resume`; the recording goes on",
            Self::Resume => "takes samples again",
            Self::Dump => "writes what was recorded up to now, goes on recording",
            Self::Status => "prints the state and the counters",
            Self::Version => "prints the version",
            Self::Help => "prints commands and options",
        }
    }

    pub(super) fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|command| command.word() == word)
    }
}

/// How the state is written (`format`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StatusFormat {
    /// Lines for a person.
    Text,
    /// One object, see `docs/user-guide/options.md`.
    Json,
    /// Metrics in the text format of Prometheus.
    Prometheus,
}

/// How native and Java frames are walked (`cstack`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CStack {
    /// The best walker for this JVM; `no` if its walker is known to crash.
    Auto,
    /// The agent's walker, then `AsyncGetCallTrace` if it fails and that is safe.
    Vm,
    /// `AsyncGetCallTrace`, also on a JVM that is on the deny list.
    Asgct,
    /// `AsyncGetCallTrace`; both walk one sample in 16, and the results are compared.
    Shadow,
    /// No stacks: samples carry context, thread and weight only.
    No,
}

/// What takes CPU samples (`engine`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Engine {
    /// Timers per CPU where the kernel can do that, else the kernel's tick.
    Auto,
    /// Timers per CPU.
    PerCpu,
    /// A timer on the CPU clock of each thread, which the kernel looks at on its tick.
    Tick,
}

impl Engine {
    /// The word in the option string.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::PerCpu => "percpu",
            Self::Tick => "tick",
        }
    }
}

/// The threads of wall-clock samples (`wallthreads`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WallThreads {
    /// All Java threads.
    All,
    /// Threads that have a context.
    Context,
}

/// How the handler finds the virtual thread (`vthreads`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VirtualThreads {
    /// The first of the following that is verified at start.
    Auto,
    /// Offsets from the VM's own table of structures.
    VmStructs,
    /// Offsets from the JVMCI table.
    Jvmci,
    /// The VM's mount events.
    Events,
    /// No context for virtual threads.
    Off,
}

/// Ways by which work moves to another thread (`propagate`), in the order of the option's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mechanism {
    /// `FutureTask`: what executors submit and schedule.
    Futures,
    /// Stages of `CompletableFuture`.
    Completions,
    /// `ThreadPoolExecutor.execute`.
    Pools,
    /// `ForkJoinPool`, its tasks, and parallel streams.
    ForkJoin,
    /// Virtual threads.
    Virtual,
    /// `StructuredTaskScope`.
    Structured,
    /// `Timer`.
    Timer,
    /// Platform threads.
    Threads,
}

impl Mechanism {
    /// Each one.
    pub const ALL: [Self; 8] = [
        Self::Futures,
        Self::Completions,
        Self::Pools,
        Self::ForkJoin,
        Self::Virtual,
        Self::Structured,
        Self::Timer,
        Self::Threads,
    ];

    /// The word in the option string.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Futures => "futures",
            Self::Completions => "completions",
            Self::Pools => "pools",
            Self::ForkJoin => "forkjoin",
            Self::Virtual => "virtual",
            Self::Structured => "structured",
            Self::Timer => "timer",
            Self::Threads => "threads",
        }
    }

    /// A bit of its own.
    pub const fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// A set of mechanisms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MechanismSet(u8);

impl MechanismSet {
    /// None.
    pub const NONE: Self = Self(0);

    /// Those given.
    pub fn of(mechanisms: impl IntoIterator<Item = Mechanism>) -> Self {
        let bits = mechanisms.into_iter().map(Mechanism::bit);
        Self(bits.fold(0, |all, bit| all | bit))
    }

    /// The bits of its mechanisms.
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// By those bits.
    pub const fn of_bits(bits: u8) -> Self {
        Self(bits)
    }

    /// Whether it has this one.
    pub const fn has(self, mechanism: Mechanism) -> bool {
        self.0 & mechanism.bit() != 0
    }
}

/// Libraries that tell what a thread works for (`labels`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LabelSource {
    /// `com.sun.net.httpserver`.
    HttpServer,
    /// Tomcat.
    Tomcat,
    /// Spring MVC.
    Spring,
    /// OpenTelemetry in the application.
    Otel,
    /// The Java agent of OpenTelemetry, which has a copy of its own.
    OtelAgent,
    /// The diagnostic contexts of SLF4J and Log4j.
    Mdc,
    /// Jetty.
    Jetty,
    /// Netty, and Reactor Netty.
    Netty,
    /// Spring `WebFlux`.
    WebFlux,
    /// Servers of gRPC.
    Grpc,
    /// The Java agent of Datadog.
    Datadog,
    /// Consumers of Kafka.
    Kafka,
    /// Jersey.
    Jersey,
    /// Coroutines of Kotlin.
    Coroutines,
    /// Observations of Micrometer.
    Observation,
}

impl LabelSource {
    /// Each one.
    pub const ALL: [Self; 15] = [
        Self::HttpServer,
        Self::Tomcat,
        Self::Spring,
        Self::Otel,
        Self::OtelAgent,
        Self::Mdc,
        Self::Jetty,
        Self::Netty,
        Self::WebFlux,
        Self::Grpc,
        Self::Datadog,
        Self::Kafka,
        Self::Jersey,
        Self::Coroutines,
        Self::Observation,
    ];

    /// Its name.
    pub const fn word(self) -> &'static str {
        match self {
            Self::HttpServer => "httpserver",
            Self::Tomcat => "tomcat",
            Self::Spring => "spring",
            Self::Otel => "otel",
            Self::OtelAgent => "otel-agent",
            Self::Mdc => "mdc",
            Self::Jetty => "jetty",
            Self::Netty => "netty",
            Self::WebFlux => "webflux",
            Self::Grpc => "grpc",
            Self::Datadog => "datadog",
            Self::Kafka => "kafka",
            Self::Jersey => "jersey",
            Self::Coroutines => "coroutines",
            Self::Observation => "observation",
        }
    }

    /// The word of `labels` that asks for it.
    pub const fn group(self) -> &'static str {
        match self {
            Self::HttpServer
            | Self::Tomcat
            | Self::Spring
            | Self::Jetty
            | Self::Netty
            | Self::WebFlux
            | Self::Grpc
            | Self::Kafka
            | Self::Jersey
            | Self::Coroutines
            | Self::Observation => "route",
            Self::Otel | Self::OtelAgent | Self::Datadog => "otel",
            Self::Mdc => "mdc",
        }
    }

    /// A bit of its own.
    pub const fn bit(self) -> u32 {
        1 << self as u32
    }
}

/// The sampling signal (`signal`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Signal {
    /// `SIGPROF`.
    Prof,
    /// `SIGVTALRM`.
    VtAlrm,
    /// A real-time signal by number.
    RealTime(u8),
}

impl Signal {
    /// Number on Linux.
    pub const fn number(self) -> i32 {
        match self {
            Self::Prof => 27,
            Self::VtAlrm => 26,
            Self::RealTime(number) => number as i32,
        }
    }
}

/// Where messages go (`log`).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Log {
    /// Standard error.
    Stderr,
    /// A file; the same patterns as `file` but `%n`.
    File(Pattern),
}

/// The messages that are written (`loglevel`), each level with those above it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LogLevel {
    /// None.
    Off,
    /// The agent stops working.
    Error,
    /// The recording is less than requested.
    Warn,
    /// What the agent records and where, or that it does not record.
    Notice,
    /// Also the place of the recording when the JVM ends.
    Info,
    /// Everything.
    Debug,
}
