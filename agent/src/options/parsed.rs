//! The parsed options.

use super::filter::Condition;
use super::labels::Labels;
use super::rates::RateLimits;
use super::redact::Redact;
use super::types::{
    CStack, Command, Engine, Log, LogLevel, MechanismSet, Signal, StatusFormat, VirtualThreads,
    WallThreads,
};
use crate::output::{ExistingFile, Pattern};
use std::time::Duration;

/// The options, typed and within their limits.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "options that do not depend on each other"
)]
pub struct Options {
    /// What to do.
    pub command: Command,
    /// `event`: sample CPU time.
    pub cpu: bool,
    /// `event`: the synonym of another profiler that was used for it.
    pub cpu_synonym: Option<&'static str>,
    /// `interval`: CPU time between two samples of a thread.
    pub interval: Duration,
    /// `wall`, `event`: wall-clock time between two samples of a thread; `None` = off.
    pub wall: Option<Duration>,
    /// `wallthreads`.
    pub wall_threads: WallThreads,
    /// `alloc`, `event`: mean bytes between two sampled allocations; `None` = off.
    pub alloc_bytes: Option<u64>,
    /// `lock`, `event`: shortest recorded wait for a monitor; `None` = off.
    pub lock: Option<Duration>,
    /// `park`, `event`: shortest recorded park; `None` = off.
    pub park: Option<Duration>,
    /// `event`: record exceptions.
    pub exceptions: bool,
    /// `scopes`: shortest recorded scope; `None` = off.
    pub scopes: Option<Duration>,
    /// `jfrsync`: settings of the JDK's recording beside ours; `None` = no such recording.
    pub jdk_settings: Option<String>,
    /// `file`: name of the recording; `None` if not given, see [`Options::recording_file`].
    pub file: Option<Pattern>,
    /// `overwrite`: whether to replace an older recording of the file's name.
    pub existing: ExistingFile,
    /// `loop`: begin a new file after this time; `None` = one file.
    pub loop_time: Option<Duration>,
    /// `timeout`: end the recording after this time; `None` = no limit.
    pub timeout: Option<Duration>,
    /// `chunktime`: begin a new chunk after this time.
    pub chunk_time: Duration,
    /// `chunksize`: begin a new chunk after this many bytes.
    pub chunk_size_bytes: u64,
    /// `jstackdepth`: maximum number of frames of a stack.
    pub stack_depth: u16,
    /// `ctx`: attributes that get the first slots, in this order.
    pub attributes: Vec<String>,
    /// `filter`: conditions on the context of a sample; empty = none.
    pub filter: Vec<Condition>,
    /// `redact`: attributes with redacted values.
    pub redact: Vec<Redact>,
    /// `ratelimit`: events per second at most.
    pub rate_limits: RateLimits,
    /// `ctxcap`: distinct values in the dictionary.
    pub value_cap: u32,
    /// `ctxvalue`: longest value in UTF-8 bytes.
    pub value_limit_bytes: u8,
    /// `ctxblocks`: blocks in the slab, a power of two.
    pub blocks: u32,
    /// `propagate`.
    pub propagate: MechanismSet,
    /// `labels`.
    pub labels: Labels,
    /// `detach`; 0 = never.
    pub detach: Duration,
    /// `cstack`.
    pub cstack: CStack,
    /// `engine`.
    pub engine: Engine,
    /// `vthreads`.
    pub virtual_threads: VirtualThreads,
    /// `signal`.
    pub signal: Signal,
    /// `log`.
    pub log: Log,
    /// `loglevel`.
    pub log_level: LogLevel,
    /// `flush`: recorded events are in the file after this time.
    pub flush: Duration,
    /// `format`.
    pub status_format: StatusFormat,
    /// `strict`: a start that fails stops the JVM.
    pub strict: bool,
    /// `sysinfo`: write command line and system properties into the recording.
    pub system_info: bool,
}

impl Options {
    /// Every option at some value; those without a default are off.
    pub(super) fn unset() -> Self {
        Self {
            command: Command::Load,
            cpu: false,
            cpu_synonym: None,
            interval: Duration::ZERO,
            wall: None,
            wall_threads: WallThreads::All,
            alloc_bytes: None,
            lock: None,
            park: None,
            exceptions: false,
            scopes: None,
            jdk_settings: None,
            file: None,
            existing: ExistingFile::Keep,
            loop_time: None,
            timeout: None,
            chunk_time: Duration::ZERO,
            chunk_size_bytes: 0,
            stack_depth: 0,
            attributes: Vec::new(),
            filter: Vec::new(),
            redact: Vec::new(),
            rate_limits: RateLimits::default(),
            value_cap: 0,
            value_limit_bytes: 0,
            blocks: 0,
            propagate: MechanismSet::NONE,
            labels: Labels::default(),
            detach: Duration::ZERO,
            cstack: CStack::Auto,
            engine: Engine::Auto,
            virtual_threads: VirtualThreads::Auto,
            signal: Signal::Prof,
            log: Log::Stderr,
            log_level: LogLevel::Off,
            flush: Duration::ZERO,
            status_format: StatusFormat::Text,
            strict: false,
            system_info: false,
        }
    }

    /// Whether a recording with these wants hooks in classes.
    pub(crate) fn wants_hooks(&self) -> bool {
        self.propagate != MechanismSet::NONE
            || self.labels.bits() != 0
            || self.park.is_some()
            || self.exceptions
    }

    /// The name of the recording: `file`, or a name in the working directory with the process id
    /// and, with `loop`, the time.
    pub fn recording_file(&self) -> Pattern {
        match &self.file {
            Some(pattern) => pattern.clone(),
            None if self.loop_time.is_some() => Pattern::known("ctxagent-%p-%t.jfr"),
            None => Pattern::known("ctxagent-%p.jfr"),
        }
    }
}
