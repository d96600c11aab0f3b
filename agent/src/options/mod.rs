//! Option string → [`Options`]. One table, [`TABLE`], holds every name with its kind, limits, default and help;
//! `value` reads a value by its kind, `names` tells what an attribute may be called, `near` makes messages helpful and harmless.
//!
//! Plain room: no `unsafe`, no I/O, no panic on any input.
//!
//! Grammar, with async-profiler's habits: items separated by commas, each `name=value`; the first item may be a [`Command`] without a
//! value. Without a command but with options the command is `start`; with nothing at all it is [`Command::Load`]. Empty items are skipped.
//! A value may hold any character but a comma and control characters. An option given twice is an error, and so is one that
//! the command has no use for: nothing that a user wrote is ignored.
//!
//! Every error is one line that names the option, the value, what is allowed and, for an unknown name, the nearest known one.

use std::fmt;
use std::time::Duration;

use crate::output::{Existing, Pattern};

mod events;
mod filter;
mod hints;
mod names;
mod near;
mod rates;
mod redact;
mod suffix;
mod table;
mod value;

pub use filter::{Condition, MAX_CONDITIONS};
pub use names::{NameProblem, RESERVED_NAMES, check_attribute_name};
pub use rates::RateLimits;
pub use redact::{Redact, Redaction};
pub use table::{Kind, Row, Scope, TABLE, help, table_text};
use table::{aliased, alone};

use near::{nearest, shown};
use value::{Value, value_of};

/// Longest option string, in bytes.
pub const MAX_LEN_BYTES: usize = 65_536;
/// Environment variable with options, see [`parse_with_environment`].
pub const ENVIRONMENT: &str = "CTXAGENT_OPTS";
/// Environment variable that switches the agent off, whatever its options say.
pub const KILL_SWITCH: &str = "CTXAGENT_OFF";

/// What to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Command {
    /// Nothing asked: be there for the Java API and for later commands, do not record. Has no word.
    Load,
    /// Begin a recording.
    Start,
    /// End the recording.
    Stop,
    /// Take no samples until `resume`; the recording goes on.
    Pause,
    /// Take samples again.
    Resume,
    /// Write what was recorded up to now, go on recording.
    Dump,
    /// Tell what is going on.
    Status,
    /// Tell the version.
    Version,
    /// Tell commands and options.
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

    /// What it does, in a few words: for `help` and for `docs/user-guide/options.md`.
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

    fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|command| command.word() == word)
    }
}

/// How native and Java frames are walked (`cstack`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CStack {
    /// What this JVM can do; `no` where its walker is known to crash.
    Auto,
    /// Our own walker, `AsyncGetCallTrace` where it fails and that is safe.
    Vm,
    /// `AsyncGetCallTrace`, also on a JVM that is on the deny list.
    Asgct,
    /// `AsyncGetCallTrace`; one sample in 16 is walked by both and compared.
    Shadow,
    /// No stacks: samples carry context, thread and weight only.
    No,
}

/// How sample points are chosen (`engine`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Engine {
    /// Random points of CPU time; no sleep is interrupted twice for one.
    Stratified,
    /// Random points of CPU time, also within short bursts.
    Precise,
    /// The kernel's tick.
    Tick,
}

impl Engine {
    /// The word in the option string.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Stratified => "stratified",
            Self::Precise => "precise",
            Self::Tick => "tick",
        }
    }
}

/// Which threads wall-clock samples are taken of (`wallthreads`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WallThreads {
    /// All Java threads.
    All,
    /// Those that have a context.
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

/// The signal that samples (`signal`).
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

/// Which messages are written (`loglevel`), each level with those above it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LogLevel {
    /// None.
    Off,
    /// What makes the agent give up.
    Error,
    /// What makes a recording less than asked for.
    Warn,
    /// What the agent does: where it records and which events, or that it does not.
    Notice,
    /// Also where the recording is as the JVM ends.
    Info,
    /// Everything.
    Debug,
}

/// The options, typed and within their limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// What to do.
    pub command: Command,
    /// `event`: sample CPU time.
    pub cpu: bool,
    /// `event`: the word of another profiler that was used for it.
    pub cpu_synonym: Option<&'static str>,
    /// `interval`: CPU time between two samples of a thread.
    pub interval: Duration,
    /// `wall`, `event`: wall-clock time between two samples of a thread; `None` = none are taken.
    pub wall: Option<Duration>,
    /// `wallthreads`.
    pub wall_threads: WallThreads,
    /// `alloc`, `event`: mean bytes between two sampled allocations; `None` = none are.
    pub alloc_bytes: Option<u64>,
    /// `lock`, `event`: shortest wait for a monitor that is recorded; `None` = none is.
    pub lock: Option<Duration>,
    /// `file`: where to write; `None` if not given, see [`Options::recording_file`].
    pub file: Option<Pattern>,
    /// `overwrite`: what becomes of an older recording that has the file's name.
    pub existing: Existing,
    /// `loop`: begin a new file after this time; `None` = one file.
    pub loop_time: Option<Duration>,
    /// `timeout`: end the recording after this time; `None` = it goes on until it is stopped.
    pub timeout: Option<Duration>,
    /// `chunktime`: begin a new chunk after this time.
    pub chunk_time: Duration,
    /// `chunksize`: begin a new chunk after this many bytes.
    pub chunk_size_bytes: u64,
    /// `jstackdepth`: frames kept of a stack.
    pub stack_depth: u16,
    /// `ctx`: attributes that get the first slots, in this order.
    pub attributes: Vec<String>,
    /// `filter`: what the context of a sample must be like; empty = anything.
    pub filter: Vec<Condition>,
    /// `redact`: attributes whose values are not written as they are.
    pub redact: Vec<Redact>,
    /// `ratelimit`: events per second at most.
    pub rate_limits: RateLimits,
    /// `ctxcap`: distinct values in the dictionary.
    pub value_cap: u32,
    /// `ctxvalue`: longest value in UTF-8 bytes.
    pub value_limit_bytes: u8,
    /// `ctxblocks`: blocks in the slab, a power of two.
    pub blocks: u32,
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
    /// `flush`: what was recorded is readable in the file after this time.
    pub flush: Duration,
    /// `strict`: a start that fails stops the JVM.
    pub strict: bool,
    /// `sysinfo`: write command line and system properties into the recording.
    pub system_info: bool,
}

impl Default for Options {
    /// The defaults of [`TABLE`]; a test compares them.
    fn default() -> Self {
        Self {
            command: Command::Load,
            cpu: true,
            cpu_synonym: None,
            interval: Duration::from_millis(10),
            wall: None,
            wall_threads: WallThreads::All,
            alloc_bytes: None,
            lock: None,
            file: None,
            existing: Existing::Keep,
            loop_time: None,
            timeout: None,
            chunk_time: Duration::from_mins(1),
            chunk_size_bytes: 12 << 20,
            stack_depth: 2048,
            attributes: Vec::new(),
            filter: Vec::new(),
            redact: Vec::new(),
            rate_limits: RateLimits::default(),
            value_cap: 65_536,
            value_limit_bytes: 255,
            blocks: 65_536,
            cstack: CStack::Auto,
            engine: Engine::Stratified,
            virtual_threads: VirtualThreads::Auto,
            signal: Signal::Prof,
            log: Log::Stderr,
            log_level: LogLevel::Notice,
            flush: Duration::from_secs(1),
            strict: false,
            system_info: false,
        }
    }
}

impl Options {
    /// Where to record: `file`, or a name in the working directory that tells process and, with `loop`, time.
    pub fn recording_file(&self) -> Pattern {
        match &self.file {
            Some(pattern) => pattern.clone(),
            None if self.loop_time.is_some() => Pattern::known("ctxagent-%p-%t.jfr"),
            None => Pattern::known("ctxagent-%p.jfr"),
        }
    }
}

impl Options {
    /// Takes from the load's options what the agent was made with. Where `text`, the own string of a later start, asks for something else, it is refused.
    pub(crate) fn keep_what_a_load_sets(
        &mut self,
        load: &Self,
        text: &str,
    ) -> Result<(), OptionsError> {
        let changes = [
            ("ctxcap", self.value_cap != load.value_cap),
            ("ctxvalue", self.value_limit_bytes != load.value_limit_bytes),
            ("ctxblocks", self.blocks != load.blocks),
            ("vthreads", self.virtual_threads != load.virtual_threads),
        ];
        for (name, differs) in changes {
            if differs && gives(text, name) {
                return Err(OptionsError {
                    message: format!(
                        "option '{name}' is taken when the agent is loaded; it cannot be changed now"
                    ),
                    strict: self.strict,
                });
            }
        }
        self.value_cap = load.value_cap;
        self.value_limit_bytes = load.value_limit_bytes;
        self.blocks = load.blocks;
        self.virtual_threads = load.virtual_threads;
        Ok(())
    }
}

/// Names that users of other profilers will try; they are planned, and say so.
const NOT_YET: &[&str] = &["floor", "otelctx", "scopes"];
/// Names that they will try and that will not come, with what to do instead.
const NEVER: &[(&[&str], &str)] = &[
    (
        &["jfrsync"],
        "run -XX:StartFlightRecording beside it (docs/contributing/rationale.md)",
    ),
    (
        &["flamegraph", "html", "svg", "tree"],
        "the agent writes JFR; then run: ctxjfr flame RECORDING.jfr -o OUT.html",
    ),
    (
        &["collapsed", "traces"],
        "the agent writes JFR; then run: ctxjfr flame RECORDING.jfr -o OUT.collapsed",
    ),
    (
        &["text", "flat", "summary"],
        "the agent writes JFR; then run: ctxjfr report RECORDING.jfr --by thread",
    ),
    (
        &["otlp", "pprof"],
        "the agent writes JFR; jfrconv of async-profiler makes other formats of it",
    ),
    (
        &["threads"],
        "every sample has its thread: ctxjfr report RECORDING.jfr --by thread",
    ),
    (
        &["include", "exclude", "begin", "end"],
        "everything is recorded, or what 'filter' says of the context: filter=NAME=VALUE",
    ),
];
/// The same for commands.
const COMMANDS_NOT_YET: &[&str] = &["list", "metrics"];

/// Why an option string was refused; `Display` is one line without the prefix `ctxagent: `.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionsError {
    message: String,
    strict: bool,
}

impl OptionsError {
    /// Whether the refused string asks for `strict=true`: only then may the JVM be stopped for it.
    pub const fn strict(&self) -> bool {
        self.strict
    }
}

impl fmt::Display for OptionsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for OptionsError {}

/// Parses an option string.
///
/// # Errors
/// One line about the first thing that is wrong.
pub fn parse(text: &str) -> Result<Options, OptionsError> {
    parse_with_environment(text, None)
}

/// Parses the option string of the agent together with the value of `CTXAGENT_OPTS`.
///
/// The environment gives defaults for `start`: an option that the agent's string also has is taken from there, and its command wins.
/// When the command is not `start` (a `stop` by attach, say) the environment is not looked at.
///
/// # Errors
/// One line about the first thing that is wrong; one in the environment says so.
pub fn parse_with_environment(
    text: &str,
    environment: Option<&str>,
) -> Result<Options, OptionsError> {
    let strict = asks_strict(text) || environment.is_some_and(asks_strict);
    let fail = |message: String| OptionsError { message, strict };
    let own = Items::read(text).map_err(fail)?;
    let lower = match environment {
        Some(environment) if matches!(own.command, None | Some(Command::Start)) => {
            Items::read(environment)
                .map_err(|message| fail(format!("in {ENVIRONMENT}: {message}")))?
        }
        _ => Items::default(),
    };
    let own_items: Vec<(&str, usize)> = own
        .values
        .iter()
        .map(|item| (item.row.name, item.position))
        .collect();
    let given = !own.values.is_empty() || !lower.values.is_empty();
    let command = match own.command.or(lower.command) {
        Some(command) => command,
        None if given => Command::Start,
        None => Command::Load,
    };
    let mut options = Options {
        command,
        ..Options::default()
    };
    for (items, origin) in [(lower, format!("in {ENVIRONMENT}: ")), (own, String::new())] {
        for Item {
            row,
            value,
            position,
        } in items.values
        {
            if !row.scope.has(command) {
                let (name, word) = (row.name, command.word());
                return Err(fail(format!(
                    "{origin}command '{word}' has no use for option '{name}' (at position {position}){}",
                    instead_of(command, name)
                )));
            }
            (row.set)(&mut options, value);
        }
    }
    if let (Some(_), Some(file)) = (options.loop_time, &options.file)
        && !file.varies()
    {
        return Err(fail(format!(
            "option 'loop' needs %t or %n in 'file' (%n{{1}} is always 0), or each file would replace the one before it: '{}'",
            shown(file.text())
        )));
    }
    check_interval(&options, &own_items).map_err(fail)?;
    check_filter(&options).map_err(fail)?;
    check_events(&options, &own_items).map_err(fail)?;
    Ok(options)
}

/// Wall-clock samples of threads that have a context never meet `@none`.
fn check_filter(options: &Options) -> Result<(), String> {
    let contradicts = options.wall.is_some()
        && options.wall_threads == WallThreads::Context
        && options.filter.contains(&Condition::NoContext);
    if contradicts {
        return Err(
            "option 'filter': '@none' leaves out every wall-clock sample that 'wallthreads=context' takes; drop one of them".to_owned(),
        );
    }
    Ok(())
}

/// What to do instead of giving this command this option.
fn instead_of(command: Command, option: &str) -> &'static str {
    match (command, option) {
        (Command::Stop, "file") => {
            "; the recording has the file that its start named, dump,file=NAME makes a copy"
        }
        _ => "",
    }
}

/// What has no effect is refused: options about events that are not recorded.
fn check_events(options: &Options, own: &[(&'static str, usize)]) -> Result<(), String> {
    let without = |option: &str, event: &str| {
        let given = own.iter().find(|(name, _)| *name == option);
        given.map_or(Ok(()), |(_, position)| {
            Err(format!(
                "option '{option}' (at position {position}) is about {event} samples, and none are taken; add '{event}' to 'event'"
            ))
        })
    };
    let limits = options.rate_limits;
    if options.wall.is_none() && options.wall_threads == WallThreads::Context {
        without("wallthreads", "wall")?;
    }
    for (event, is_taken, limit) in [
        ("cpu", options.cpu, limits.cpu),
        ("wall", options.wall.is_some(), limits.wall),
        ("alloc", options.alloc_bytes.is_some(), limits.alloc),
    ] {
        if limit.is_some() && !is_taken {
            without("ratelimit", event)?;
        }
    }
    Ok(())
}

/// An interval belongs to CPU samples here; users of other profilers mean the rate of the one event that they name.
fn check_interval(options: &Options, own: &[(&'static str, usize)]) -> Result<(), String> {
    let given = |option: &str| own.iter().find(|(name, _)| *name == option);
    let Some((_, position)) = given("interval").filter(|_| !options.cpu) else {
        return Ok(());
    };
    let others = [
        ("wall", options.wall.is_some(), "wall=50ms"),
        ("alloc", options.alloc_bytes.is_some(), "alloc=512k"),
        ("lock", options.lock.is_some(), "lock=1ms"),
    ];
    let mut taken = others.iter().filter(|(_, is_taken, _)| *is_taken);
    match (taken.next(), taken.next()) {
        (Some((event, _, rate)), None) if given(event).is_none() => Err(format!(
            "option 'interval' (at position {position}) is the CPU time between samples, and 'event' has no cpu; the rate of {event} is an option of its own: {rate}"
        )),
        _ => Ok(()),
    }
}

/// Whether an option string gives an option a value.
pub(crate) fn gives(text: &str, name: &str) -> bool {
    let mut items = text.split(',').filter_map(|item| item.split_once('='));
    items.any(|(given, _)| given == name)
}

/// Whether one of the items is `strict` or `strict=true`, whatever the others are.
fn asks_strict(text: &str) -> bool {
    text.split(',')
        .any(|item| item == "strict" || item == "strict=true")
}

struct Item {
    row: &'static Row,
    value: Value,
    position: usize,
}

/// The parts of one string, each value checked by itself.
#[derive(Default)]
struct Items {
    command: Option<Command>,
    values: Vec<Item>,
}

impl Items {
    fn read(text: &str) -> Result<Self, String> {
        if text.len() > MAX_LEN_BYTES {
            return Err(format!(
                "the option string has {} bytes, at most {MAX_LEN_BYTES} are allowed",
                text.len()
            ));
        }
        if let Some((position, c)) = text.char_indices().find(|(_, c)| c.is_control()) {
            return Err(format!(
                "the option string has a control character U+{:04X} (at position {position}), none is allowed",
                u32::from(c)
            ));
        }
        let mut items = Self::default();
        let mut position = 0;
        let mut first = true;
        for item in text.split(',') {
            if !item.is_empty() {
                items.add(item, position, first)?;
                first = false;
            }
            position += item.len() + 1;
        }
        Ok(items)
    }

    fn add(&mut self, item: &str, position: usize, first: bool) -> Result<(), String> {
        let (name, value) = match item.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (item, None),
        };
        if let Some(command) = Command::of(name) {
            return match value {
                Some(value) => Err(format!(
                    "command '{name}' (at position {position}) takes no value: '{}'",
                    shown(value)
                )),
                None if first => {
                    self.command = Some(command);
                    Ok(())
                }
                None => Err(format!(
                    "command '{name}' (at position {position}) must be the first word"
                )),
            };
        }
        let known = aliased(name);
        let Some(row) = TABLE.iter().find(|row| row.name == known) else {
            let before = self.values.last().map(|item| item.row);
            return Err(unknown(name, value.is_none(), position, first, before));
        };
        if self.values.iter().any(|item| item.row.name == known) {
            let same = if name == known {
                String::new()
            } else {
                format!(" (it is '{known}')")
            };
            return Err(format!(
                "option '{name}'{same} is given twice (the second at position {position})"
            ));
        }
        let value = value.or_else(|| alone(row));
        let value = value_of(row, value).map_err(|problem| match value {
            None | Some("") if row.kind != Kind::Alone => {
                format!(
                    "option '{name}' needs a value (at position {position}); allowed: {}",
                    row.kind
                )
            }
            _ => {
                let text = value.unwrap_or_default();
                let problem = match hints::for_value(row, text) {
                    Some(hint) => format!("{hint} allowed: {}", row.kind),
                    None => problem,
                };
                format!(
                    "option '{name}' cannot be '{}' (at position {position}): {problem}",
                    shown(text)
                )
            }
        })?;
        self.values.push(Item {
            row,
            value,
            position,
        });
        Ok(())
    }
}

/// The message for a name that is in no table.
fn unknown(name: &str, alone: bool, position: usize, first: bool, before: Option<&Row>) -> String {
    if name.is_empty() {
        return format!("'=' without an option's name (at position {position})");
    }
    let name_shown = shown(name);
    if let Some((_, instead)) = NEVER.iter().find(|(never, _)| never.contains(&name)) {
        return format!(
            "option '{name_shown}' is not supported (at position {position}); {instead}"
        );
    }
    if NOT_YET.contains(&name) {
        return format!("option '{name_shown}' is not supported yet (at position {position})");
    }
    if alone && COMMANDS_NOT_YET.contains(&name) {
        return format!("command '{name_shown}' is not supported yet (at position {position})");
    }
    let commands = Command::ALL
        .into_iter()
        .map(Command::word)
        .filter(|_| alone && first);
    let names = TABLE.iter().map(|row| row.name).chain(commands);
    let what = if alone && first {
        "command or option"
    } else {
        "option"
    };
    let head = format!("{what} '{name_shown}' is unknown (at position {position})");
    // What is known of other tools comes before what looks alike.
    if let Some(hint) = hints::for_name(name, None) {
        return format!("{head}; {hint}");
    }
    if let Some(near) = nearest(name, names) {
        return format!("{head}; did you mean '{near}'?");
    }
    if let Some(hint) = hints::for_name(name, before) {
        return format!("{head}; {hint}");
    }
    let list: Vec<&str> = TABLE.iter().map(|row| row.name).collect();
    format!("{head}; known: {}", list.join(" "))
}

#[cfg(test)]
mod page_tests;
#[cfg(test)]
mod tests;
