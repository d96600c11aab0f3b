//! `doctor`: what would work in a JVM, and why not. Nothing is sent to the JVM, unless it has an
//! agent to ask, or a trial is asked for.

mod checks;

use std::time::Duration;

use hotspot_attach::JvmProcess;
use serde_json::json;

use crate::args::DoctorArgs;
use crate::guard;
use crate::interrupt::{EarlyEnd, Interrupt};
use crate::output::{Failure, Output};
use crate::target::{self, Agent};
use checks::{Check, Level};

/// The recording of a trial, in the exchange, and how long it takes; its limit if nobody ends it.
const RECORDING: &str = "trial.jfr";
const TRIAL: Duration = Duration::from_secs(1);
const TRIAL_LIMIT: &str = "timeout=60s";

/// Runs the command. Returns whether a recording would work.
pub(crate) fn run(args: &DoctorArgs, output: &mut Output) -> Result<bool, Failure> {
    let jvm = target::find(&args.jvm)?;
    let mut checks = vec![checks::process(&jvm)];
    let attach = checks::attach(&jvm);
    let can_attach = attach.iter().all(|(level, ..)| *level != Level::Bad);
    checks.extend(attach);
    checks.extend(checks::version(&jvm));
    checks.extend(agent(&jvm, can_attach, args.trial)?);
    checks.push(checks::archive(&jvm));
    checks.extend(checks::signal(&jvm));
    checks.extend(checks::timers(&jvm));
    checks.push(checks::sandbox(&jvm));
    checks.extend(checks::other_agents(&jvm));
    let works = checks.iter().all(|(level, ..)| *level != Level::Bad);
    if args.json {
        let check = |(level, topic, text): &Check| json!({"level": level.name(), "topic": topic, "text": text});
        let checks: Vec<_> = checks.iter().map(check).collect();
        output.json(&json!({
            "schema": "ctxjfr.doctor.1", "pid": jvm.pid(), "works": works, "checks": checks,
        }))?;
        return Ok(works);
    }
    let topic_width = checks.iter().map(|(_, topic, _)| topic.len()).max();
    let width = topic_width.unwrap_or_default();
    for (level, topic, text) in &checks {
        let mark = format!("{:4}", level.name());
        let mark = match level {
            Level::Fine => mark,
            Level::Note => output.dim(&mark),
            Level::Bad => output.style_warning(&mark),
        };
        let begin = format!(" {mark}  {topic:width$}  ");
        let indent = 1 + 4 + 2 + width + 2;
        for line in output.hanging(&begin, indent, &output.clean(text)) {
            output.line(line)?;
        }
    }
    Ok(works)
}

/// A part of the checks that can fail, or else what could be found out.
fn or_bad(topic: &'static str, result: Result<Vec<Check>, Failure>) -> Result<Vec<Check>, Failure> {
    match result {
        Err(Failure::Finding(why) | Failure::Usage(why)) => Ok(vec![(Level::Bad, topic, why)]),
        other => other,
    }
}

/// The agent that is loaded, as it describes itself; else whether ours can be lent, and what is to
/// be expected of it, or what it has shown in a trial.
fn agent(jvm: &JvmProcess, can_attach: bool, trial: bool) -> Result<Vec<Check>, Failure> {
    let Some(path) = target::loaded(jvm) else {
        let mut checks = or_bad("agent", lent(jvm))?;
        checks.extend(if trial && can_attach {
            or_bad("trial", trial_status(jvm))?
        } else {
            checks::expected(jvm)
        });
        return Ok(checks);
    };
    let mut checks = vec![(
        Level::Fine,
        "agent",
        format!("loaded from {}", path.display()),
    )];
    if can_attach {
        checks.extend(if trial && !target::is_recording(jvm) {
            or_bad("trial", trial_status(jvm))?
        } else {
            or_bad("status", status(jvm))?
        });
    }
    Ok(checks)
}

fn lent(jvm: &JvmProcess) -> Result<Vec<Check>, Failure> {
    let agent = Agent::new(jvm, None)?;
    let (place, _) = agent.exchange().place();
    let text = format!("not loaded; can be lent in {}", place.display());
    Ok(vec![(Level::Fine, "agent", text)])
}

fn status(jvm: &JvmProcess) -> Result<Vec<Check>, Failure> {
    let agent = Agent::new(jvm, None)?;
    let other = agent.other_release()?;
    let other = other.map(|line| (Level::Note, "agent", line));
    let mut checks: Vec<Check> = other.into_iter().collect();
    checks.extend(status_lines(&agent, jvm, "status")?);
    Ok(checks)
}

/// Records for a moment: what the agent says then is what it would do.
fn trial_status(jvm: &JvmProcess) -> Result<Vec<Check>, Failure> {
    let agent = Agent::new(jvm, None)?;
    let interrupt = Interrupt::new()?;
    let file = agent.exchange().path_of(RECORDING);
    let start = format!("start,file={file},{TRIAL_LIMIT}");
    let guard = guard::begin_recording(jvm, &agent, &start)?;
    let end = interrupt.wait(jvm, TRIAL);
    if end == Some(EarlyEnd::Process) {
        return Err(target::failed(
            jvm.pid(),
            &hotspot_attach::AttachError::Ended,
        ));
    }
    let lines = status_lines(&agent, jvm, "trial");
    let stopped = agent
        .command("stop")
        .and_then(|answer| answer.into_result(jvm.pid()));
    drop(guard);
    let lines = lines?;
    stopped.map(|_| lines)
}

/// What `status` says, without the counters.
fn status_lines(
    agent: &Agent<'_>,
    jvm: &JvmProcess,
    topic: &'static str,
) -> Result<Vec<Check>, Failure> {
    let status = agent.command("status")?.into_result(jvm.pid())?;
    let is_told = |line: &&str| {
        let value = line.split_once(": ").map(|(_, value)| value);
        value.is_none_or(|value| value.parse::<u64>().is_err())
    };
    let check = |line: &str| {
        let is_off = line.contains(": off") || line.contains("degraded");
        let level = if is_off { Level::Note } else { Level::Fine };
        (level, topic, line.to_owned())
    };
    Ok(status.lines().filter(is_told).map(check).collect())
}
