//! `record`: attach, record for a time, print the answer.

use std::fs::File;
use std::io;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use hotspot_attach::JvmProcess;
use indicatif::{ProgressBar, ProgressStyle};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use signal_hook::consts::{SIGINT, SIGTERM};

use crate::args::{FilterArgs, FlameArgs, RecordArgs, ReportArgs};
use crate::collect::{self, Query, key_of};
use crate::filter::Filter;
use crate::guard::Guard;
use crate::output::{self, Failure, Output};
use crate::target::{self, Agent};
use crate::text;
use crate::{flame, report};

/// The recording, in the exchange.
const RECORDING: &str = "recording.jfr";
/// The recording ends by itself so long after the time asked for, if nobody ends it.
const GRACE: Duration = Duration::from_secs(30);
/// How often the progress is shown.
const TICK: Duration = Duration::from_millis(100);
/// Exit code after a second Ctrl-C, as shells have it.
const INTERRUPTED: i32 = 130;
/// Options of a start that this command sets, or that make more than one file.
const NO_OPTIONS: [&str; 6] = ["file", "loop", "timeout", "duration", "overwrite", "reply"];

/// Runs the command. Returns whether everything is fine.
pub(crate) fn run(args: &RecordArgs, output: &mut Output) -> Result<bool, Failure> {
    check_options(&args.options)?;
    let jvm = target::find(&args.jvm)?;
    let file = match &args.output {
        Some(file) => file.clone(),
        None => free_name(jvm.pid()),
    };
    output::check_target(&file, args.force)?;
    if let Some(page) = &args.flame {
        output::check_target(page, args.force)?;
    }
    let (ended, is_whole) = record(args, &jvm, &file)?;
    if let Some(line) = &ended {
        output::warn(line);
    }
    let is_fine = show(args, &file, output)?;
    Ok(is_fine && is_whole)
}

/// Records into `file`. Returns a line about an early end, and whether the recording is what was
/// asked for.
fn record(
    args: &RecordArgs,
    jvm: &JvmProcess,
    file: &Path,
) -> Result<(Option<String>, bool), Failure> {
    let pid = jvm.pid();
    let agent = Agent::new(jvm, args.agent.as_deref())?;
    let guard = Guard::start(jvm, agent.exchange())
        .map_err(|error| Failure::Finding(format!("cannot start a process: {error}")))?;
    let interrupt = Interrupt::new()
        .map_err(|error| Failure::Finding(format!("cannot wait for Ctrl-C: {error}")))?;
    let started = agent.command(&start_options(args, &agent.exchange().path_of(RECORDING)))?;
    started.into_result(pid)?;
    guard.recording_has_begun();
    let begun = Instant::now();
    let progress = progress(jvm, args.duration);
    let end = wait(jvm, &interrupt, args.duration, &progress);
    progress.finish_and_clear();
    let lasted = text::duration(u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX));
    let (line, is_whole) = match end {
        End::Time => (None, true),
        End::Interrupt => (Some(format!("stopped by Ctrl-C after {lasted}")), true),
        End::Process => (
            Some(format!(
                "process {pid} has ended after {lasted}; so has the recording"
            )),
            false,
        ),
    };
    let stopped = match end {
        End::Process => Ok(String::new()),
        End::Time | End::Interrupt => agent
            .command("stop")
            .and_then(|answer| answer.into_result(pid)),
    };
    let copied = copy(agent.exchange().open(RECORDING), file, args.force);
    drop(guard);
    // What could be copied is there, whatever the stop says.
    let copied = copied.map_err(|why| match &stopped {
        Err(Failure::Finding(stop)) => Failure::Finding(format!("{stop}; {why}")),
        _ => Failure::Finding(format!("process {pid}: {why}")),
    });
    copied?;
    match stopped {
        Ok(_) => Ok((line, is_whole)),
        Err(Failure::Finding(why)) => Ok((Some(why), false)),
        Err(other) => Err(other),
    }
}

fn check_options(options: &[String]) -> Result<(), Failure> {
    let items = options.iter().flat_map(|text| text.split(','));
    let mut names = items.map(|item| item.split('=').next().unwrap_or(item));
    match names.find(|name| NO_OPTIONS.contains(name)) {
        Some(name) => Err(Failure::Usage(format!(
            "record sets '{name}' itself: use -o and -d, or ctxjfr start"
        ))),
        None => Ok(()),
    }
}

fn start_options(args: &RecordArgs, file: &str) -> String {
    let limit = args.duration + GRACE;
    let mut items = vec!["start".to_owned()];
    items.extend(args.options.iter().cloned());
    items.push(format!("file={file},timeout={}s", limit.as_secs()));
    items.join(",")
}

/// `record-4711.jfr`, or the next free name.
fn free_name(pid: u32) -> PathBuf {
    let names = std::iter::once(format!("record-{pid}.jfr"));
    let mut names = names.chain((2..).map(|number| format!("record-{pid}-{number}.jfr")));
    let free = names.find(|name| Path::new(name).symlink_metadata().is_err());
    free.unwrap_or_default().into()
}

fn copy(recording: io::Result<File>, to: &Path, replace: bool) -> Result<(), String> {
    let mut recording = recording.map_err(|error| format!("no recording: {error}"))?;
    let copied = output::write_file_with(to, replace, |file| {
        io::copy(&mut recording, file).map(|_| ())
    });
    copied.map_err(|failure| match failure {
        Failure::Usage(why) | Failure::Finding(why) => why,
        Failure::Closed => String::new(),
    })
}

/// Ctrl-C, or a request to end.
struct Interrupt {
    wake: UnixStream,
}

impl Interrupt {
    /// From now on the first one ends the recording, a second one ends the program at once.
    fn new() -> io::Result<Self> {
        let (wake, sender) = UnixStream::pair()?;
        let once = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            signal_hook::flag::register_conditional_shutdown(signal, INTERRUPTED, once.clone())?;
            signal_hook::flag::register(signal, once.clone())?;
            signal_hook::low_level::pipe::register(signal, sender.try_clone()?)?;
        }
        Ok(Self { wake })
    }
}

/// Why a recording ends.
#[derive(Debug, Clone, Copy)]
enum End {
    Time,
    Interrupt,
    Process,
}

fn wait(jvm: &JvmProcess, interrupt: &Interrupt, limit: Duration, progress: &ProgressBar) -> End {
    let begun = Instant::now();
    loop {
        let passed = begun.elapsed();
        let Some(left) = limit.checked_sub(passed).filter(|left| !left.is_zero()) else {
            return End::Time;
        };
        progress.set_position(u64::try_from(passed.as_millis()).unwrap_or(u64::MAX));
        let end = jvm.end_signal();
        let mut handles = [
            PollFd::new(&end, PollFlags::IN),
            PollFd::new(&interrupt.wake, PollFlags::IN),
        ];
        let step = Timespec::try_from(left.min(TICK)).unwrap_or_default();
        // A failure is an interruption by a signal, of which the next round hears.
        let _ = poll(&mut handles, Some(&step));
        if !handles[1].revents().is_empty() {
            return End::Interrupt;
        }
        if !handles[0].revents().is_empty() {
            return End::Process;
        }
    }
}

/// A bar on a terminal, a line elsewhere.
fn progress(jvm: &JvmProcess, limit: Duration) -> ProgressBar {
    let main = jvm.main_class().unwrap_or_default();
    let what = format!("{} {}", jvm.pid(), text::terminal(&main));
    let bar = ProgressBar::new(u64::try_from(limit.as_millis()).unwrap_or(u64::MAX));
    if bar.is_hidden() {
        let limit = text::duration(u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX));
        output::warn(&format!("recording {what} for {limit}"));
        return bar;
    }
    let style = ProgressStyle::with_template(" {msg} [{bar:40}] {percent} %, Ctrl-C ends it");
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        .with_message(format!("recording {what}"))
}

/// Prints the report and draws the flame graph.
fn show(args: &RecordArgs, file: &Path, output: &mut Output) -> Result<bool, Failure> {
    let by = if args.by.is_empty() {
        vec![best_key(file, output)?]
    } else {
        args.by.clone()
    };
    let report = ReportArgs {
        files: vec![file.to_owned()],
        by: by.clone(),
        filter: FilterArgs::default(),
        limit: args.limit,
        json: args.json,
        csv: false,
    };
    let is_fine = report::run(&report, output)?;
    let Some(page) = &args.flame else {
        return Ok(is_fine);
    };
    let flame = FlameArgs {
        files: vec![file.to_owned()],
        by,
        filter: FilterArgs::default(),
        output: Some(page.clone()),
        format: None,
        title: None,
        lines: false,
        force: args.force,
        json: false,
    };
    Ok(flame::run(&flame, output)? && is_fine)
}

/// The attribute that most of the CPU time has, or `thread`.
fn best_key(file: &Path, output: &Output) -> Result<String, Failure> {
    let filter = Filter::new(&FilterArgs::default())?;
    let query = Query {
        keys: Vec::new(),
        filter: filter.clone(),
        stacks: false,
        lines: false,
    };
    let collected = collect::collect(&[file.to_owned()], &query, output)?;
    let (total, ..) = collected.into_total(&filter);
    let used = total
        .attributes
        .iter()
        .filter(|(_, sums)| sums.set.value > 0);
    let best = used.max_by_key(|(_, sums)| sums.set.value);
    Ok(best.map_or_else(
        || "thread".to_owned(),
        |(name, _)| key_of(name).into_owned(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_that_record_sets_are_refused() {
        let check = |text: &str| check_options(&[text.to_owned()]).is_ok();
        assert!(check("event=cpu+wall,interval=5ms") && check("ctx=file"));
        assert!(!check("interval=5ms,file=x.jfr") && !check("loop=1m") && !check("timeout=1s"));
    }
}
