//! Option string → [`Options`]. Every error is one line that names the option, the value, the
//! allowed values and, for an unknown name, the nearest known one.

use super::filter::Condition;
use super::hints;
use super::kind::Kind;
use super::near::{nearest, shown};
use super::parsed::Options;
use super::read::value_of;
use super::table::{Row, TABLE, aliased, alone};
use super::types::{Command, WallThreads};
use super::value::Value;
use std::fmt;

/// Longest option string, in bytes.
pub const MAX_LEN_BYTES: usize = 65_536;
/// Environment variable with options, see [`parse_with_environment`].
pub const ENVIRONMENT: &str = "CTXAGENT_OPTS";
/// Environment variable that switches the agent off, whatever its options say.
pub const KILL_SWITCH: &str = "CTXAGENT_OFF";

impl Options {
    /// Takes the settings that are fixed at load time from `load`. If `text`, the string of a later
    /// start, gives another value, it is refused.
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
                        "option '{name}' is fixed when the agent is loaded; it cannot be changed \
                         now"
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

/// Options of other profilers that are planned; their error says so.
const NOT_YET: &[&str] = &["floor", "otelctx"];
/// Options of other profilers that are not supported, with an alternative.
const NEVER: &[(&[&str], &str)] = &[
    (
        &["flamegraph", "html", "svg", "tree"],
        "the agent writes JFR; then run: ctxjfr flame RECORDING.jfr -o OUT.html",
    ),
    (
        &["collapsed", "traces"],
        "the agent writes JFR; then run: ctxjfr convert RECORDING.jfr -o collapsed",
    ),
    (
        &["text", "flat", "summary"],
        "the agent writes JFR; then run: ctxjfr report RECORDING.jfr --by thread",
    ),
    (
        &["otlp", "pprof"],
        "the agent writes JFR; then run: ctxjfr convert RECORDING.jfr -o pprof, or otlp",
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
/// Planned commands.
const COMMANDS_NOT_YET: &[&str] = &["list", "metrics"];

/// Reason why an option string was refused; `Display` is one line without the prefix `ctxagent: `.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionsError {
    message: String,
    strict: bool,
}

impl OptionsError {
    /// Whether the refused string has `strict=true`: only then may the agent stop the JVM.
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
/// One line about the first problem.
pub fn parse(text: &str) -> Result<Options, OptionsError> {
    parse_with_environment(text, None)
}

/// Parses the option string of the agent together with the value of `CTXAGENT_OPTS`.
///
/// The environment gives defaults for `start`: options and command of the agent's own string win.
/// If its command is not `start` (for example a `stop` by attach), the environment is not used.
///
/// # Errors
/// One line about the first problem; it names the environment if the problem is there.
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
                    "{origin}command '{word}' has no use for option '{name}' (at position \
                     {position}){}",
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
            "option 'loop' needs %t or %n in 'file' (%n{{1}} is always 0), or each file would \
             replace the one before it: '{}'",
            shown(file.text())
        )));
    }
    check_interval(&options, &own_items).map_err(fail)?;
    check_filter(&options).map_err(fail)?;
    check_events(&options, &own_items).map_err(fail)?;
    Ok(options)
}

/// Refuses `@none` with `wallthreads=context`: no sample could match.
fn check_filter(options: &Options) -> Result<(), String> {
    let contradicts = options.wall.is_some()
        && options.wall_threads == WallThreads::Context
        && options.filter.contains(&Condition::NoContext);
    if contradicts {
        return Err(
            "option 'filter': '@none' leaves out every wall-clock sample that \
             'wallthreads=context' takes; drop one of them"
                .to_owned(),
        );
    }
    Ok(())
}

/// An alternative to this option for this command.
fn instead_of(command: Command, option: &str) -> &'static str {
    match (command, option) {
        (Command::Stop, "file") => {
            "; the recording has the file that its start named, dump,file=NAME makes a copy"
        }
        _ => "",
    }
}

/// Refuses options without an effect: about events that are not recorded.
fn check_events(options: &Options, own: &[(&'static str, usize)]) -> Result<(), String> {
    let without = |option: &str, event: &str| {
        let given = own.iter().find(|(name, _)| *name == option);
        given.map_or(Ok(()), |(_, position)| {
            Err(format!(
                "option '{option}' (at position {position}) is about {event} samples, and none \
                 are taken; add '{event}' to 'event'"
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
        ("park", options.park.is_some(), limits.park),
        ("exception", options.exceptions, limits.exception),
    ] {
        if limit.is_some() && !is_taken {
            without("ratelimit", event)?;
        }
    }
    Ok(())
}

/// Refuses `interval` without CPU samples: users of other profilers mean the rate of the event.
fn check_interval(options: &Options, own: &[(&'static str, usize)]) -> Result<(), String> {
    let given = |option: &str| own.iter().find(|(name, _)| *name == option);
    let Some((_, position)) = given("interval").filter(|_| !options.cpu) else {
        return Ok(());
    };
    let others = [
        ("wall", options.wall.is_some()),
        ("alloc", options.alloc_bytes.is_some()),
        ("lock", options.lock.is_some()),
        ("park", options.park.is_some()),
    ];
    let mut sampled = others.iter().filter(|(_, is_sampled)| *is_sampled);
    match (sampled.next(), sampled.next()) {
        (Some((event, _)), None) if given(event).is_none() => {
            let row = TABLE.iter().find(|row| row.name == *event);
            let rate = row.and_then(alone).unwrap_or_default();
            Err(format!(
                "option 'interval' (at position {position}) is the CPU time between samples, and \
                 'event' has no cpu; the rate of {event} is an option of its own: {event}={rate}"
            ))
        }
        _ => Ok(()),
    }
}

/// Whether an option string gives an option a value.
pub(crate) fn gives(text: &str, name: &str) -> bool {
    let mut items = text.split(',').filter_map(|item| item.split_once('='));
    items.any(|(given, _)| given == name)
}

/// Whether what `text` gives, a valid start, is what `running` has.
pub(crate) fn asks_nothing_else(text: &str, running: &Options) -> bool {
    let mut asked = running.clone();
    for item in Items::read(text).unwrap_or_default().values {
        (item.row.set)(&mut asked, item.value);
    }
    asked == *running
}

/// Whether an item is `strict` or `strict=true`, whatever the others are.
fn asks_strict(text: &str) -> bool {
    text.split(',')
        .any(|item| item == "strict" || item == "strict=true")
}

struct Item {
    row: &'static Row,
    value: Value,
    position: usize,
}

/// The parts of one string; each value is checked on its own.
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
                "the option string has a control character U+{:04X} (at position {position}), \
                 none is allowed",
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
        let standard = alone(row);
        let value = value.or(standard.as_deref());
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

/// The message for an unknown name.
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
    // Hints about other tools come before similar names.
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
mod tests;
