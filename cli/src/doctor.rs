//! `doctor`: what would work in a JVM, and why not. Nothing is sent to the JVM, unless it has an
//! agent to ask.

use hotspot_attach::JvmProcess;
use serde_json::json;

use crate::args::DoctorArgs;
use crate::output::{Failure, Output};
use crate::target::{self, Agent};

/// The JDKs whose stacks and virtual threads the agent follows.
const SUPPORTED: [&str; 3] = ["17", "21", "25"];
/// The kernel that has timers per CPU as the agent needs them.
const MIN_KERNEL: (u32, u32) = (6, 4);
/// Number of SIGPROF.
const PROF: u32 = 27;
/// Fewer timers than this do not last for the threads of a usual server (`engine=tick`).
const MIN_TIMERS: u64 = 1024;

/// How a check went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    Fine,
    /// It works, but not as well as it could.
    Note,
    /// It does not work.
    Bad,
}

impl Level {
    const fn name(self) -> &'static str {
        match self {
            Self::Fine => "ok",
            Self::Note => "note",
            Self::Bad => "no",
        }
    }
}

/// Level, topic, text.
type Check = (Level, &'static str, String);

/// Runs the command. Returns whether a recording would work.
pub(crate) fn run(args: &DoctorArgs, output: &mut Output) -> Result<bool, Failure> {
    let jvm = target::find(&args.jvm)?;
    let mut checks = vec![process(&jvm)];
    checks.extend(attach(&jvm));
    checks.extend(agent(&jvm)?);
    checks.extend(version(&jvm));
    checks.push(kernel());
    checks.extend(signal(&jvm));
    checks.extend(timers(&jvm));
    checks.extend(sandbox(&jvm));
    checks.extend(other_agents(&jvm));
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
        let line = format!(" {mark}  {topic:width$}  {}", output.clean(text));
        output.line(line)?;
    }
    Ok(works)
}

fn process(jvm: &JvmProcess) -> Check {
    let unknown = || "unknown".to_owned();
    let text = format!(
        "{} {}, JDK {}, user {}, process {} as it sees itself",
        jvm.pid(),
        jvm.main_class().unwrap_or_else(unknown),
        jvm.java_version().unwrap_or_else(unknown),
        jvm.owner().user,
        jvm.inner_pid(),
    );
    (Level::Fine, "process", text)
}

fn attach(jvm: &JvmProcess) -> Vec<Check> {
    let obstacles = jvm.obstacles();
    if obstacles.is_empty() {
        let text = "catches SIGQUIT, and nothing forbids to load an agent".to_owned();
        return vec![(Level::Fine, "attach", text)];
    }
    let check = |error| {
        (
            Level::Bad,
            "attach",
            format!("process {} {error}", jvm.pid()),
        )
    };
    obstacles.into_iter().map(check).collect()
}

/// The agent that is loaded, as it describes itself; else whether ours can be lent.
fn agent(jvm: &JvmProcess) -> Result<Vec<Check>, Failure> {
    let Some(path) = target::loaded(jvm) else {
        return Ok(vec![match Agent::new(jvm, None) {
            Ok(agent) => {
                let (place, _) = agent.exchange().place();
                let text = format!("not loaded; can be lent in {}", place.display());
                (Level::Fine, "agent", text)
            }
            Err(Failure::Finding(why) | Failure::Usage(why)) => (Level::Bad, "agent", why),
            Err(closed @ Failure::Closed) => return Err(closed),
        }]);
    };
    let mut checks = vec![(
        Level::Fine,
        "agent",
        format!("loaded from {}", path.display()),
    )];
    if !jvm.obstacles().is_empty() {
        return Ok(checks);
    }
    let status = Agent::new(jvm, None)
        .and_then(|agent| agent.command("status"))
        .and_then(|reply| reply.into_result(jvm.pid()));
    match status {
        Ok(status) => {
            // Without the counters.
            let lines = status.lines().filter(|line| {
                let value = line.split_once(": ").map(|(_, value)| value);
                value.is_none_or(|value| value.parse::<u64>().is_err())
            });
            checks.extend(lines.map(|line| (Level::Fine, "status", line.to_owned())));
        }
        Err(Failure::Finding(why) | Failure::Usage(why)) => {
            checks.push((Level::Bad, "status", why));
        }
        Err(closed @ Failure::Closed) => return Err(closed),
    }
    Ok(checks)
}

fn version(jvm: &JvmProcess) -> Option<Check> {
    let version = jvm.java_version()?;
    let feature = version.split('.').next().unwrap_or_default();
    let (level, text) = if SUPPORTED.contains(&feature) {
        (
            Level::Fine,
            "whole stacks, and contexts of virtual threads".to_owned(),
        )
    } else {
        let text = format!("{version}: totals by context; stacks only of 17, 21 and 25");
        (Level::Note, text)
    };
    Some((level, "jdk", text))
}

fn kernel() -> Check {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let release = release.trim();
    match is_new_enough(release) {
        Some(true) => (
            Level::Fine,
            "kernel",
            format!("{release}: exact CPU samples"),
        ),
        Some(false) => {
            let text = format!("{release}: engine=tick, biased; exact samples need Linux 6.4");
            (Level::Note, "kernel", text)
        }
        None => (Level::Note, "kernel", format!("unknown: '{release}'")),
    }
}

fn is_new_enough(release: &str) -> Option<bool> {
    let mut numbers = release.split(['.', '-']).map(str::parse::<u32>);
    let version = (numbers.next()?.ok()?, numbers.next()?.ok()?);
    Some(version >= MIN_KERNEL)
}

/// Another owner of the signal, told by a handler that is not ours.
fn signal(jvm: &JvmProcess) -> Option<Check> {
    if !jvm.catches(PROF) || target::loaded(jvm).is_some() {
        return None;
    }
    let text = "SIGPROF has a handler, perhaps of another profiler: use signal=34".to_owned();
    Some((Level::Note, "signal", text))
}

fn timers(jvm: &JvmProcess) -> Option<Check> {
    let limit = jvm.limit("Max pending signals")?;
    let is_low = limit.parse().is_ok_and(|number: u64| number < MIN_TIMERS);
    is_low.then(|| {
        let text =
            format!("at most {limit} (ulimit -i): too few for engine=tick with many threads");
        (Level::Note, "timers", text)
    })
}

fn sandbox(jvm: &JvmProcess) -> Option<Check> {
    jvm.is_filtered().then(|| {
        let text =
            "a seccomp filter is on; an engine that it forbids is replaced, which status says";
        (Level::Note, "seccomp", text.to_owned())
    })
}

fn other_agents(jvm: &JvmProcess) -> Option<Check> {
    let options = jvm.options();
    let is_agent = |word: &&String| {
        let is_ours = word.contains("ctxagent");
        let prefixes = ["-javaagent:", "-agentpath:", "-agentlib:"];
        !is_ours && prefixes.iter().any(|prefix| word.starts_with(prefix))
    };
    // Their options may hold secrets.
    let name = |word: &String| word.split('=').next().unwrap_or_default().to_owned();
    let others: Vec<String> = options.iter().filter(is_agent).map(name).collect();
    (!others.is_empty()).then(|| (Level::Fine, "others", others.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_are_compared_by_number() {
        for (release, is_new) in [
            ("6.18.44-fc-v669", Some(true)),
            ("6.4", Some(true)),
            ("6.4-rc1", Some(true)),
            ("6.3.99", Some(false)),
            ("5.15.0-91-generic", Some(false)),
            ("", None),
            ("x.y", None),
        ] {
            assert_eq!(is_new_enough(release), is_new, "{release}");
        }
    }
}
