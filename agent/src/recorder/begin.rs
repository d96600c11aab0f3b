//! Start of a recording: its clock, its settings, its file.

use crate::options::{Condition, Options, RateLimits};
use crate::recorder::environment::environment;
use crate::recorder::files::{FinalName, NewFile};
use crate::recorder::sources::{RecordingStatus, Sources};
use ctxagent_events::{ProfileConfig, Setting};
use jfr_format::write::{Clock, Columns, FileStorage, Recording};
use signal_core::engine::monotonic_nanos;
use std::time::SystemTime;

/// Wall clock and monotonic clock at this moment: the clock mapping of the file.
pub(super) fn clock() -> Clock {
    let epoch = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .map_or(0, |d| d.as_nanos());
    Clock {
        start_epoch_nanos: u64::try_from(epoch).unwrap_or(0),
        start_monotonic_nanos: monotonic_nanos(),
    }
}

/// A condition in the settings of the recording; a redacted value is hidden here, too.
fn shown(condition: &Condition, options: &Options) -> String {
    match condition {
        Condition::Entry(name, _) if options.redact.iter().any(|r| r.name == *name) => {
            Condition::Entry(name.clone(), "(redacted)".into()).to_string()
        }
        _ => condition.to_string(),
    }
}

/// The kind of the profile, for readers that know one kind per file.
fn kind(options: &Options) -> &'static str {
    if options.cpu {
        "cpu"
    } else if options.wall.is_some() {
        "wall"
    } else if options.alloc_bytes.is_some() {
        "alloc"
    } else if options.lock.is_some() || options.park.is_some() {
        "lock"
    } else {
        "exception"
    }
}

/// Starts a recording in `file`, readable from its first moment.
pub(super) fn create(
    sources: &Sources,
    options: &Options,
    file: NewFile,
    clock: Clock,
    status: &RecordingStatus,
) -> Result<(Recording<FileStorage>, Option<FinalName>), String> {
    let setting = |event: &str, name: &str, value: &str| Setting {
        event: event.into(),
        name: name.into(),
        value: value.into(),
    };
    let mut settings = Vec::new();
    if !options.filter.is_empty() {
        let conditions: Vec<String> = options.filter.iter().map(|c| shown(c, options)).collect();
        settings.push(setting(
            "jdk.ExecutionSample",
            "filter",
            &conditions.join("+"),
        ));
    }
    if !options.redact.is_empty() {
        let entries: Vec<String> = options.redact.iter().map(ToString::to_string).collect();
        settings.push(setting("jdk.ExecutionSample", "redact", &entries.join("+")));
    }
    if options.rate_limits != RateLimits::default() {
        let limits = options.rate_limits.to_string();
        settings.push(setting("jdk.ExecutionSample", "ratelimit", &limits));
    }
    let destination = file
        .final_name
        .as_ref()
        .map_or(&file.path, |last| &last.path);
    let config = ProfileConfig {
        clock,
        columns: Columns::Auto,
        event: kind(options).into(),
        interval: options.interval,
        wall_interval: options.wall,
        flush_interval: options.flush,
        settings,
        environment: environment(sources.jvmti, sources.identity, options.system_info),
        destination: destination.display().to_string(),
        ..ProfileConfig::default()
    };
    let recording = Recording::create(file.storage, config).map_err(|error| {
        format!(
            "file '{}' cannot be written: {error}",
            file.path.display().to_string().escape_debug()
        )
    })?;
    if let Some(number) = file.number {
        number.confirm();
    }
    status.set_path(file.path);
    Ok((recording, file.final_name))
}
