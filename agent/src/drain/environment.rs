//! What viewers show of the machine and the JVM. No command line, no property, no environment variable.

use crate::agent::Live;
use jfr_format::write::{CpuInformation, Environment, JvmInformation};
use std::fs;

/// Facts about this process, for the recording.
pub(crate) fn environment(live: &Live) -> Environment {
    let text = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let cpu_info = text("/proc/cpuinfo");
    let model = cpu_info.lines().find_map(|l| l.strip_prefix("model name")).and_then(|l| l.split_once(':'));
    let threads = std::thread::available_parallelism().map_or(1, |n| u32::try_from(n.get()).unwrap_or(u32::MAX));
    let model = model.map(|(_, name)| name.trim().to_owned());
    Environment {
        jvm: Some(JvmInformation {
            name: Some(live.identity.name.clone()),
            version: Some(live.identity.version.clone()),
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
        properties: Vec::new(),
    }
}
