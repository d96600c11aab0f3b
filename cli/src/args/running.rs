//! Arguments of the commands about running JVMs.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

/// Arguments of `ps`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctxjfr ps\n  \
    ctxjfr ps --attributes --json")]
pub(crate) struct PsArgs {
    /// Also ask the agents for their attributes; this attaches to their JVMs.
    #[arg(long)]
    pub(crate) attributes: bool,
    /// Print JSON (schema: docs/user-guide/ctxjfr.md).
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `doctor`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctxjfr doctor 4711\n  \
    ctxjfr doctor shop.Shop --trial --json")]
pub(crate) struct DoctorArgs {
    /// Process id, or a part of a main class or the begin of a container's id that one JVM has.
    #[arg(value_name = "JVM")]
    pub(crate) jvm: String,
    /// Load the agent and record for a second: what it chooses here, not what is to be expected.
    #[arg(long)]
    pub(crate) trial: bool,
    /// Print JSON (schema: docs/user-guide/ctxjfr.md).
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of a command for a loaded agent.
#[derive(Debug, Args)]
pub(crate) struct CommandArgs {
    /// Process id, or a part of a main class or the begin of a container's id that one JVM has.
    #[arg(value_name = "JVM")]
    pub(crate) jvm: String,
    /// Options of the agent (docs/user-guide/options.md): NAME=VALUE,...
    #[arg(value_name = "OPTIONS")]
    pub(crate) options: Vec<String>,
}

/// Arguments of `status`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctxjfr status 4711\n  \
    ctxjfr status shop.Shop | grep lost\n  \
    ctxjfr status 4711 format=prometheus")]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    pub(crate) command: CommandArgs,
    /// Print JSON (schema: docs/user-guide/options.md).
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `start`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctxjfr start 4711 file=/tmp/shop-%t.jfr\n  \
    ctxjfr start shop.Shop event=cpu+wall,interval=5ms,loop=1h,file=/tmp/%n{24}.jfr")]
pub(crate) struct StartArgs {
    /// Process id, or a part of a main class or the begin of a container's id that one JVM has.
    #[arg(value_name = "JVM")]
    pub(crate) jvm: String,
    /// Options of the agent (docs/user-guide/options.md): NAME=VALUE,...
    #[arg(value_name = "OPTIONS")]
    pub(crate) options: Vec<String>,
    /// The agent's library as the JVM sees it; else the one beside ctxjfr is lent to the JVM.
    #[arg(long, value_name = "LIBRARY")]
    pub(crate) agent: Option<PathBuf>,
}

/// Arguments of `record`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctxjfr record 4711 -d 30s --by http.route,tenant\n  \
    ctxjfr record shop.Shop -d 1m event=cpu+wall --flame shop.html")]
pub(crate) struct RecordArgs {
    /// Process id, or a part of a main class or the begin of a container's id that one JVM has.
    #[arg(value_name = "JVM")]
    pub(crate) jvm: String,
    /// Options of the agent (docs/user-guide/options.md): NAME=VALUE,...
    #[arg(value_name = "OPTIONS")]
    pub(crate) options: Vec<String>,
    /// How long: 30s, 5m, 1h; a number alone is seconds. Ctrl-C ends earlier.
    #[arg(short, long, value_name = "TIME", default_value = "30s", value_parser = time)]
    pub(crate) duration: Duration,
    /// The recording. Default: record-PID.jfr, or the next free name.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Keys of the report, as in `report`. Default: the attribute that most CPU time has, or
    /// `thread`.
    #[arg(long, value_name = "KEY[,KEY]", value_delimiter = ',')]
    pub(crate) by: Vec<String>,
    /// Also draw a flame graph, as `flame` does.
    #[arg(long, value_name = "FILE")]
    pub(crate) flame: Option<PathBuf>,
    /// Most rows shown; 0 = all.
    #[arg(long, default_value_t = 25, value_name = "N")]
    pub(crate) limit: usize,
    /// Print the report as JSON (schema: docs/user-guide/ctxjfr.md).
    #[arg(long)]
    pub(crate) json: bool,
    /// Replace existing files.
    #[arg(long)]
    pub(crate) force: bool,
    /// The agent's library as the JVM sees it; else the one beside ctxjfr is lent to the JVM.
    #[arg(long, value_name = "LIBRARY")]
    pub(crate) agent: Option<PathBuf>,
}

/// Arguments of `top`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctxjfr top 4711 --by http.route\n  \
    ctxjfr top shop.Shop --by tenant,http.route -i 10s\n  \
    ctxjfr top 4711 --by tenant -i 10s -n 6 --json")]
pub(crate) struct TopArgs {
    /// Process id, or a part of a main class or the begin of a container's id that one JVM has.
    #[arg(value_name = "JVM")]
    pub(crate) jvm: String,
    /// Options of the agent (docs/user-guide/options.md): NAME=VALUE,... Not for a JVM that is
    /// recorded already.
    #[arg(value_name = "OPTIONS")]
    pub(crate) options: Vec<String>,
    /// Keys of the table, as in `report`. Default: the attribute that most CPU time has, or
    /// `thread`.
    #[arg(long, value_name = "KEY[,KEY]", value_delimiter = ',')]
    pub(crate) by: Vec<String>,
    /// Time that a table is about: 1s, 10s, 1m; a number alone is seconds.
    #[arg(short, long, value_name = "TIME", default_value = "1s", value_parser = time)]
    pub(crate) interval: Duration,
    /// Ends after so many tables. Default: with Ctrl-C.
    #[arg(short = 'n', long, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) count: Option<u64>,
    /// Most rows shown; 0 = all.
    #[arg(long, default_value_t = 25, value_name = "N")]
    pub(crate) limit: usize,
    /// Print a line of JSON for each table (schema: docs/user-guide/ctxjfr.md).
    #[arg(long)]
    pub(crate) json: bool,
    /// The agent's library as the JVM sees it; else the one beside ctxjfr is lent to the JVM.
    #[arg(long, value_name = "LIBRARY")]
    pub(crate) agent: Option<PathBuf>,
}

/// A time from a second to a day.
fn time(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_lowercase());
    let factor = match &text[digits.len()..] {
        "" | "s" => Some(1),
        "m" => Some(60),
        "h" => Some(3600),
        _ => None,
    };
    let seconds = digits.parse::<u64>().ok().zip(factor);
    let seconds = seconds.and_then(|(number, factor)| number.checked_mul(factor));
    let seconds = seconds.filter(|seconds| (1..=86_400).contains(seconds));
    seconds
        .map(Duration::from_secs)
        .ok_or_else(|| "a time from 1s to 24h, like 30s or 5m".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_a_unit_or_are_seconds() {
        for (text, seconds) in [("30s", 30), ("30", 30), ("5m", 300), ("24h", 86_400)] {
            assert_eq!(time(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for text in [
            "",
            "s",
            "0",
            "25h",
            "1d",
            "-1s",
            "1.5s",
            "1ss",
            "99999999999999999999h",
        ] {
            assert!(time(text).is_err(), "{text}");
        }
    }
}
