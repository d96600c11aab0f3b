//! `record`: attach, record for a time, print the answer.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use hotspot_attach::JvmProcess;
use indicatif::{ProgressBar, ProgressStyle};

use crate::args::{FilterArgs, FlameArgs, RecordArgs, ReportArgs};
use crate::collect::{self, Query, THREAD};
use crate::filter::Filter;
use crate::guard;
use crate::interrupt::{EarlyEnd, Interrupt};
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
/// Places of the progress bar, and of the words in front of it.
const MIN_BAR: usize = 8;
const MAX_BAR: usize = 40;
const MAX_MESSAGE: usize = 44;
/// Options of a start that this command sets, or that make more than one file.
const NO_OPTIONS: [&str; 6] = ["file", "loop", "timeout", "duration", "overwrite", "reply"];

/// Runs the command. Returns whether everything is fine.
pub(crate) fn run(args: &RecordArgs, output: &mut Output) -> Result<bool, Failure> {
    target::check_options("record", &NO_OPTIONS, &args.options)?;
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
    agent.warn_of_other_release()?;
    let interrupt = Interrupt::new()?;
    let file_in_jvm = agent.exchange().path_of(RECORDING);
    let guard = guard::begin_recording(jvm, &agent, &start_options(args, &file_in_jvm))?;
    let begun = Instant::now();
    let progress = progress(jvm, args.duration);
    let end = wait(jvm, &interrupt, args.duration, &progress);
    progress.finish_and_clear();
    let lasted = text::duration(u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX));
    let (line, is_whole) = match end {
        None => (None, true),
        Some(EarlyEnd::Interrupt) => (Some(format!("stopped by Ctrl-C after {lasted}")), true),
        Some(EarlyEnd::Process) => (
            Some(format!(
                "process {pid} has ended after {lasted}; so has the recording"
            )),
            false,
        ),
    };
    let stopped = match end {
        Some(EarlyEnd::Process) => Ok(String::new()),
        None | Some(EarlyEnd::Interrupt) => agent
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

/// Waits for the end of the recording; `None` at its time.
fn wait(
    jvm: &JvmProcess,
    interrupt: &Interrupt,
    limit: Duration,
    progress: &ProgressBar,
) -> Option<EarlyEnd> {
    let begun = Instant::now();
    loop {
        let passed = begun.elapsed();
        let left = limit.checked_sub(passed).filter(|left| !left.is_zero())?;
        progress.set_position(u64::try_from(passed.as_millis()).unwrap_or(u64::MAX));
        if let Some(end) = interrupt.wait(jvm, left.min(TICK)) {
            return Some(end);
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
    // The bar gets what the words leave of the line.
    let message = text::cut(&format!("recording {what}"), MAX_MESSAGE);
    let words = text::width(&message) + " [] 100 %, Ctrl-C ends it".len() + 2;
    let room = output::stderr_columns().unwrap_or(0).saturating_sub(words);
    let bar_len = room.clamp(MIN_BAR, MAX_BAR);
    let template = format!(" {{msg}} [{{bar:{bar_len}}}] {{percent}} %, Ctrl-C ends it");
    let style = ProgressStyle::with_template(&template);
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        .with_message(message)
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
    let filter = Filter::cpu();
    let query = Query::by(Vec::new(), filter.clone());
    let collected = collect::collect(&[file.to_owned()], &query, output)?;
    let (total, ..) = collected.into_total(&filter);
    Ok(total.best_key().unwrap_or_else(|| THREAD.to_owned()))
}
