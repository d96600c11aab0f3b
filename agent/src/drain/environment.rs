//! What viewers show of the machine and the JVM. Command line and system properties only if the user asked (`sysinfo`); the environment never.

use crate::agent::{Agent, Live};
use crate::os::copies;
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

/// Options, main class and arguments of the process, as they were given, but our own options: a condition of `filter` may name a value that is redacted,
/// and what of them matters is among the settings.
fn command_line() -> String {
    let bytes = fs::read("/proc/self/cmdline").unwrap_or_default();
    let words = bytes.split(|b| *b == 0).filter(|w| !w.is_empty());
    let own = copies::own_name().unwrap_or_default();
    words
        .map(|word| without_our_options(&String::from_utf8_lossy(word), &own).to_owned())
        .collect::<Vec<_>>()
        .join(" ")
}

/// A word of the command line up to the `=` of `-agentpath:LIBRARY=OPTIONS` or `-agentlib:LIBRARY=OPTIONS`, if that library is this one, in the file `own`.
fn without_our_options<'w>(word: &'w str, own: &str) -> &'w str {
    let library = ["-agentpath:", "-agentlib:"]
        .into_iter()
        .find_map(|option| word.strip_prefix(option));
    let Some((library, options)) = library.and_then(|rest| rest.split_once('=')) else {
        return word;
    };
    let name = library.rsplit('/').next().unwrap_or(library);
    // Another file of ours may be there too, that was refused; or what is named is a link to this one.
    let is_ours = name.contains("ctxagent") || name == own || format!("lib{name}.so") == own;
    if is_ours {
        &word[..word.len() - options.len() - 1]
    } else {
        word
    }
}

#[cfg(test)]
mod tests {
    use super::without_our_options;

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
