//! Data about the machine and the JVM for viewers. Command line and system properties only if the
//! user asked (`sysinfo`); environment variables never.

use crate::hotspot::identity::Identity;
use crate::jvm::jvmti::Jvmti;
use crate::os::{copies, start, tasks};
use ctxagent_events::{CpuInformation, Environment, JvmInformation};
use std::collections::HashSet;
use std::fs::{self, File};
use std::io::Read;
use std::time::UNIX_EPOCH;

/// Maximum size read of such a file: `/proc/cpuinfo` has less than 2 KiB per CPU.
const MAX_BYTES: u64 = 1 << 20;

/// Facts about this process, for the recording.
pub(crate) fn environment(jvmti: Jvmti, identity: &Identity, system_info: bool) -> Environment {
    Environment {
        jvm: Some(JvmInformation {
            name: Some(identity.name.clone()),
            version: Some(identity.version.clone()),
            java_arguments: system_info.then(command_line),
            start_epoch_millis: start_epoch_millis(),
            pid: std::process::id(),
            ..JvmInformation::default()
        }),
        os: Some(text("/proc/sys/kernel/osrelease").trim().to_owned()),
        cpu: Some(cpu_information(&text("/proc/cpuinfo"))),
        properties: if system_info {
            jvmti.properties()
        } else {
            Vec::new()
        },
    }
}

/// The text of a file, up to a limit; empty if it cannot be read.
fn text(path: &str) -> String {
    let mut bytes = Vec::new();
    if let Ok(file) = File::open(path) {
        // After an error, the part that was read is used.
        let _ = file.take(MAX_BYTES).read_to_end(&mut bytes);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Start time of the process, a moment before the JVM's. 0 if it is not known.
fn start_epoch_millis() -> u64 {
    let since_epoch = start::process_start().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    since_epoch.map_or(0, |d| u64::try_from(d.as_millis()).unwrap_or(0))
}

/// The machine's CPUs, by `/proc/cpuinfo`. If it does not name sockets and cores (aarch64), they
/// count as one socket, and each thread as a core.
fn cpu_information(cpu_info: &str) -> CpuInformation {
    let (mut model, mut threads, mut socket) = (None, 0, "");
    let (mut sockets, mut cores) = (HashSet::new(), HashSet::new());
    for (key, value) in cpu_info.lines().filter_map(|line| line.split_once(':')) {
        let value = value.trim();
        match key.trim() {
            "processor" => threads += 1,
            "model name" => model = model.or_else(|| Some(value.to_owned())),
            "physical id" => {
                socket = value;
                sockets.insert(value);
            }
            // This line comes after the socket's.
            "core id" => {
                cores.insert((socket, value));
            }
            _ => {}
        }
    }
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    if threads == 0 {
        threads = count(tasks::processors());
    }
    CpuInformation {
        cpu: Some(std::env::consts::ARCH.to_owned()),
        description: model,
        sockets: count(sockets.len()).max(1),
        cores: match cores.len() {
            0 => threads,
            n => count(n),
        },
        hardware_threads: threads,
    }
}

/// Options, main class and arguments of the process as given, except our own options: `filter` may
/// name a redacted value, and the settings event has the others.
fn command_line() -> String {
    let bytes = fs::read("/proc/self/cmdline").unwrap_or_default();
    let words = bytes.split(|b| *b == 0).filter(|w| !w.is_empty());
    let own = copies::own_name().unwrap_or_default();
    words
        .map(|word| without_our_options(&String::from_utf8_lossy(word), &own).to_owned())
        .collect::<Vec<_>>()
        .join(" ")
}

/// A word of the command line up to the `=` of `-agentpath:LIBRARY=OPTIONS` or
/// `-agentlib:LIBRARY=OPTIONS`, if LIBRARY is this library, in the file `own`.
fn without_our_options<'w>(word: &'w str, own: &str) -> &'w str {
    let library = ["-agentpath:", "-agentlib:"]
        .into_iter()
        .find_map(|option| word.strip_prefix(option));
    let Some((library, options)) = library.and_then(|rest| rest.split_once('=')) else {
        return word;
    };
    let name = library.rsplit('/').next().unwrap_or(library);
    // The word may name another copy of the agent, which refused to start, or a link to this file.
    let is_ours = name.contains("ctxagent") || name == own || format!("lib{name}.so") == own;
    if is_ours {
        &word[..word.len() - options.len() - 1]
    } else {
        word
    }
}

#[cfg(test)]
mod tests {
    use super::{cpu_information, without_our_options};

    #[test]
    fn sockets_and_cores_are_counted_if_the_system_reports_them() {
        let numbers = |text: &str| {
            let cpu = cpu_information(text);
            (cpu.sockets, cpu.cores, cpu.hardware_threads)
        };
        // Two sockets of two cores of two threads each.
        let cpu = |n: u32| {
            format!(
                "processor\t: {n}\nmodel name\t: Some CPU: 3 GHz\nphysical id\t: {}\nsiblings\t: \
                 4\ncore id\t\t: {}\ncpu cores\t: 2\n\n",
                n / 4,
                n % 2
            )
        };
        let text: String = (0..8).map(cpu).collect();
        assert_eq!(numbers(&text), (2, 4, 8));
        let model = cpu_information(&text).description;
        assert_eq!(model.as_deref(), Some("Some CPU: 3 GHz"));
        // As on aarch64.
        let bare = "processor\t: 0\nBogoMIPS\t: 50.00\n\nprocessor\t: 1\n";
        assert_eq!(numbers(bare), (1, 2, 2));
        let (sockets, cores, threads) = numbers("");
        assert!(sockets == 1 && cores == threads && threads > 0);
    }

    #[test]
    fn our_options_are_left_out_and_nothing_else() {
        for (word, shown) in [
            (
                "-agentpath:/a/libctxagent.so=start,filter=a=b",
                "-agentpath:/a/libctxagent.so",
            ),
            ("-agentlib:ctxagent=redact=a:drop", "-agentlib:ctxagent"),
            (
                "-agentpath:/a/libctxagent-0.1.so=",
                "-agentpath:/a/libctxagent-0.1.so",
            ),
            (
                "-agentpath:/a/libctxagent.so",
                "-agentpath:/a/libctxagent.so",
            ),
            (
                "-agentpath:/ctxagent/libother.so=a=b",
                "-agentpath:/ctxagent/libother.so=a=b",
            ),
            (
                "-agentlib:jdwp=transport=ctxagent",
                "-agentlib:jdwp=transport=ctxagent",
            ),
            ("-Dctxagent=a=b", "-Dctxagent=a=b"),
            (
                "-agentpath:/a/libown.so=filter=a=b",
                "-agentpath:/a/libown.so",
            ),
            ("-agentlib:own=filter=a=b", "-agentlib:own"),
            ("=", "="),
        ] {
            assert_eq!(without_our_options(word, "libown.so"), shown);
        }
    }
}
