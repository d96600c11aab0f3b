//! `top`: who uses the CPU now, from what the agent has written since the last time.

mod live;
mod screen;

use std::fs::File;
use std::time::{Duration, Instant};

use hotspot_attach::JvmProcess;
use jfr_format::read::ParsedChunk;
use serde_json::json;

use crate::args::TopArgs;
use crate::collect::{Collected, Query, Start, THREAD, TypeSums, collect_chunk_from};
use crate::filter::{Filter, Unit};
use crate::guard;
use crate::interrupt::{EarlyEnd, Interrupt};
use crate::output::{Failure, Output};
use crate::report::{Column, Row, Table, coverage, coverage_line, rows, rows_json};
use crate::statistics::share;
use crate::target::{self, Agent};
use crate::text;
use live::{FileState, LiveFile};
use screen::Screen;

/// How often the file is looked at.
const POLL: Duration = Duration::from_millis(100);
/// After this time without a flush the agent is asked for its file.
const MAX_SILENCE: Duration = Duration::from_secs(10);
/// Rows of a table besides those with a label: the head, threads without one, what is not shown.
const FIXED_ROWS: usize = 7;
/// Options of a start that this command sets.
const OWN_OPTIONS: [&str; 6] = ["file", "loop", "timeout", "duration", "overwrite", "reply"];
/// The recording of this command, in the exchange: two files, of which the older one is replaced,
/// so that it takes bounded space; an end if nobody else ends it.
const RECORDING: &str = "top-%n{2}.jfr";
const RECORDING_OPTIONS: &str = "loop=1m,timeout=1d";

/// Runs the command. Returns whether it ended as it was asked to.
pub(crate) fn run(args: &TopArgs, output: &mut Output) -> Result<bool, Failure> {
    target::check_options("top", &OWN_OPTIONS, &args.options)?;
    let jvm = target::find(&args.jvm)?;
    let pid = jvm.pid();
    let is_recorded = target::is_recording(&jvm);
    if is_recorded && !args.options.is_empty() {
        return Err(Failure::Usage(format!(
            "process {pid} is recorded already, with options of its own; leave out '{}'",
            args.options.join(",")
        )));
    }
    let agent = Agent::new(&jvm, args.agent.as_deref())?;
    agent.warn_of_other_release()?;
    let interrupt = Interrupt::new()?;
    if is_recorded {
        return Top::new(args, &agent, &jvm, output).show(false, &interrupt);
    }
    let mut items = vec!["start".to_owned()];
    items.extend(args.options.iter().cloned());
    let file = agent.exchange().path_of(RECORDING);
    items.push(format!("file={file},{RECORDING_OPTIONS}"));
    let guard = guard::begin_recording(&jvm, &agent, &items.join(","))?;
    let shown = Top::new(args, &agent, &jvm, output).show(true, &interrupt);
    let stopped = if jvm.has_ended() {
        Ok(String::new())
    } else {
        let stopped = agent.command("stop");
        stopped.and_then(|answer| answer.into_result(pid))
    };
    drop(guard);
    let shown = shown?;
    stopped.map(|_| shown)
}

/// What is added up for one table.
#[derive(Debug, Default)]
struct Interval {
    sums: Collected,
    /// The last moment that it covers, in nanoseconds since 1970.
    end_nanos: i64,
}

struct Top<'t, 'j> {
    args: &'t TopArgs,
    agent: &'t Agent<'j>,
    jvm: &'j JvmProcess,
    output: &'t mut Output,
    screen: Screen,
    query: Query,
    /// Whether the key is still to be picked, among the attributes that are seen.
    is_key_open: bool,
    interval: Interval,
}

impl<'t, 'j> Top<'t, 'j> {
    fn new(
        args: &'t TopArgs,
        agent: &'t Agent<'j>,
        jvm: &'j JvmProcess,
        output: &'t mut Output,
    ) -> Self {
        let is_key_open = args.by.is_empty();
        let keys = if is_key_open {
            vec![THREAD.to_owned()]
        } else {
            args.by.clone()
        };
        let query = Query::by(keys, Filter::cpu());
        Self {
            args,
            agent,
            jvm,
            output,
            screen: Screen::default(),
            query,
            is_key_open,
            interval: Interval::default(),
        }
    }

    /// Shows tables until somebody ends it. `is_new` says that the recording begins with this.
    fn show(&mut self, is_new: bool, interrupt: &Interrupt) -> Result<bool, Failure> {
        let failed = |error| Failure::Finding(format!("the recording: {error}"));
        let file = self.current_file()?;
        let mut live = if is_new {
            LiveFile::at_begin(file)
        } else {
            LiveFile::at_end(file).map_err(failed)?
        };
        let mut shown = 0;
        let mut last_flush = Instant::now();
        loop {
            match interrupt.wait(self.jvm, POLL) {
                None => {}
                Some(EarlyEnd::Interrupt) => return Ok(true),
                Some(EarlyEnd::Process) => {
                    return Err(Failure::Finding(format!(
                        "process {} has ended",
                        self.jvm.pid()
                    )));
                }
            }
            let mut has_grown = false;
            let state = live.read_new(|chunk, start| {
                has_grown = true;
                self.add(chunk, start);
            });
            let state = state.map_err(failed)?;
            if has_grown {
                last_flush = Instant::now();
            }
            if self.is_due() {
                self.show_interval()?;
                shown += 1;
                if Some(shown) == self.args.count {
                    return Ok(true);
                }
            }
            if state == FileState::Complete {
                live = LiveFile::at_begin(self.current_file()?);
            } else if last_flush.elapsed() > MAX_SILENCE {
                let file = self.current_file()?;
                if !live.is_file(&file).map_err(failed)? {
                    live = LiveFile::at_begin(file);
                }
                last_flush = Instant::now();
            }
        }
    }

    /// The file that the agent writes now.
    fn current_file(&self) -> Result<File, Failure> {
        let path = self.agent.recorded_file()?;
        let file = self.jvm.open_file(&path);
        file.map_err(|error| {
            let path = text::terminal(&path.to_string_lossy()).into_owned();
            Failure::Finding(format!("process {}: {path}: {error}", self.jvm.pid()))
        })
    }

    /// Adds what is new in a chunk.
    fn add(&mut self, chunk: &ParsedChunk<'_>, start: Start) {
        if self.is_key_open
            && let Some(key) = best_key(chunk, start)
        {
            self.query.keys = vec![key];
            self.is_key_open = false;
            // What was added by thread.
            self.interval = Interval::default();
        }
        let header = chunk.header();
        self.interval.end_nanos = header.start_nanos.saturating_add(header.duration_nanos);
        let sums = collect_chunk_from(start, 0, chunk, &self.query);
        self.interval.sums.merge(sums);
    }

    /// Whether the interval is over. A flush comes when the agent has time for it.
    fn is_due(&self) -> bool {
        let covered = Duration::from_nanos(self.interval.sums.covered_nanos());
        covered + self.args.interval / 20 >= self.args.interval
    }

    fn show_interval(&mut self) -> Result<(), Failure> {
        let interval = std::mem::take(&mut self.interval);
        let end_nanos = interval.end_nanos;
        let covered = interval.sums.covered_nanos();
        let (total, _, sums) = interval.sums.into_total(&self.query.filter);
        let rows = rows(&total, Unit::Cpu);
        if self.args.json {
            self.output.json(&json!({
                "schema": "ctxjfr.top.1", "pid": self.jvm.pid(), "by": self.query.keys,
                "end_epoch_ns": end_nanos, "covered_ns": covered,
                "interval_ns": sums.interval_nanos, "total": total.total.json(),
                "cores": share(total.total.value, covered),
                "coverage": coverage(&rows, &total), "rows": rows_json(&rows),
            }))?;
            return self.output.flush();
        }
        let mut head = vec![self.headline(&total, covered, sums.interval_nanos)];
        head.push(self.key_line(&rows, &total));
        head.push(String::new());
        let table = Table::new(&self.query.keys, Column::Cores(covered));
        let rows_that_fit = screen::rows(self.output).map(|lines| {
            let others = head.len() + FIXED_ROWS;
            lines.saturating_sub(others).max(1)
        });
        let limit = match (self.args.limit, rows_that_fit) {
            (limit, None) => limit,
            (0, Some(fit)) => fit,
            (limit, Some(fit)) => limit.min(fit),
        };
        head.extend(table.lines(&rows, limit, self.output));
        self.screen.show(&head, self.output)
    }

    fn headline(&self, total: &TypeSums, covered: u64, interval: Option<u64>) -> String {
        let main = self.jvm.main_class().unwrap_or_default();
        let interval = interval.map_or_else(String::new, |nanos| {
            format!(", one per {}", text::duration(nanos))
        });
        format!(
            " {} {}: {:.2} cores in {}; {}{interval}",
            self.jvm.pid(),
            text::terminal(&main),
            share(total.total.value, covered),
            text::duration(covered),
            text::count(total.total.samples, "sample"),
        )
    }

    /// How much the keys cover, or that nothing has them.
    fn key_line(&self, rows: &[Row], total: &TypeSums) -> String {
        let mut keys = self.query.keys.iter();
        if total.total.samples > 0
            && let Some(key) = keys.find(|key| !total.has_key(key))
        {
            let known = total.keys().collect::<Vec<_>>().join(", ");
            let line = format!(" no sample has '{key}' yet; there are: {known}");
            return self.output.style_warning(&self.output.clean(&line));
        }
        coverage_line(&self.query.keys, Unit::Cpu, rows, total, self.output)
    }
}

/// The attribute that most of the CPU time has, in what is new in a chunk.
fn best_key(chunk: &ParsedChunk<'_>, start: Start) -> Option<String> {
    let query = Query::by(Vec::new(), Filter::cpu());
    let mut sums = Collected::default();
    sums.merge(collect_chunk_from(start, 0, chunk, &query));
    sums.into_total(&query.filter).0.best_key()
}
