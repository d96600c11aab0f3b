//! What viewers show of the machine and the JVM. Command line and system properties only if the user asked (`sysinfo`); the environment never.

use crate::agent::{Agent, Live};
use jfr_format::planted;
use jfr_format::write::{CpuInformation, Environment, JvmInformation};
use std::fs;

/// Facts about this process, for the recording.
pub(crate) fn environment(agent: &Agent, live: &Live, system_info: bool) -> Environment {
    let text = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let cpu_info = text("/proc/cpuinfo");
    let model = cpu_info
        .lines()
        .find_map(|l| l.strip_prefix("model name"))
        .and_then(|l| l.split_once(':'));
    let threads = std::thread::available_parallelism()
        .map_or(1, |n| u32::try_from(n.get()).unwrap_or(u32::MAX));
    let model = model.map(|(_, name)| name.trim().to_owned());
    Environment {
        jvm: Some(JvmInformation {
            name: Some(live.identity.name.clone()),
            version: Some(live.identity.version.clone()),
            java_arguments: (system_info || planted::is("command-line-recorded"))
                .then(command_line),
            pid: std::process::id(),
            ..JvmInformation::default()
        }),
        os: Some(text("/proc/sys/kernel/osrelease").trim().to_owned()),
        cpu: Some(CpuInformation {
            cpu: Some(std::env::consts::ARCH.to_owned()),
            description: model,
            sockets: 1,
            cores: threads,
            hardware_threads: threads,
        }),
        properties: if system_info {
            agent.jvmti.properties()
        } else {
            Vec::new()
        },
    }
}

/// Options, main class and arguments of the process, as they were given.
fn command_line() -> String {
    let bytes = fs::read("/proc/self/cmdline").unwrap_or_default();
    let words = bytes.split(|b| *b == 0).filter(|w| !w.is_empty());
    words
        .map(String::from_utf8_lossy)
        .collect::<Vec<_>>()
        .join(" ")
}
