//! What the agent knows of a recording before its first byte, as the writer wants it.

use std::time::Duration;

use jfr_format::declare::{EventId, Schema};
use jfr_format::write::{ChunkEvent, Clock, Columns, Config};

use crate::declarations::{
    ACTIVE_RECORDING, ACTIVE_SETTING, CPU_INFORMATION, EXECUTION_SAMPLE, INITIAL_SYSTEM_PROPERTY,
    JVM_INFORMATION, OS_INFORMATION, SCHEMA, WALL_CLOCK_SAMPLE,
};
use crate::environment::{CpuInformation, Environment, JvmInformation};

/// A line of the recording's settings: `jdk.ActiveSetting`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// Name of an event in [`EVENTS`](crate::EVENTS); others are left out, they would break JMC.
    pub event: String,
    /// Name of the setting.
    pub name: String,
    /// Its value.
    pub value: String,
}

/// What a recording is made with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfileConfig {
    /// The clock.
    pub clock: Clock,
    /// The event types: [`SCHEMA`], unless a test has more.
    pub schema: Schema,
    /// The attribute columns.
    pub columns: Columns,
    /// Kind of the profile: `cpu`, `wall`, `alloc`, `lock` or `exception`; Grafana reads it.
    pub event: String,
    /// Sampling interval of CPU time.
    pub interval: Duration,
    /// Period of wall-clock samples, if there are any.
    pub wall_interval: Option<Duration>,
    /// Longest time between flushes, told to readers.
    pub flush_interval: Duration,
    /// Settings besides `event`, `interval` and `wall`.
    pub settings: Vec<Setting>,
    /// Where the recording is made.
    pub environment: Environment,
    /// Name of the recording.
    pub name: String,
    /// Where the recording goes, told to readers; may be empty.
    pub destination: String,
    /// Size of the sparse tail into which flushes write; costs no disk.
    pub reserve_bytes: u64,
    /// A finished file up to this size is cut behind its content; a larger one keeps its tail.
    pub compact_below_bytes: u64,
}

impl Default for ProfileConfig {
    /// Named columns: none. Reserve 64 MiB; every file is cut in the end.
    fn default() -> Self {
        Self {
            clock: Clock::default(),
            schema: SCHEMA,
            columns: Columns::Named(Vec::new()),
            event: "cpu".into(),
            interval: Duration::from_millis(10),
            wall_interval: None,
            flush_interval: Duration::from_secs(1),
            settings: Vec::new(),
            environment: Environment::default(),
            name: "ctxagent".into(),
            destination: String::new(),
            reserve_bytes: 64 << 20,
            compact_below_bytes: u64::MAX,
        }
    }
}

impl From<ProfileConfig> for Config {
    fn from(config: ProfileConfig) -> Self {
        Self {
            chunk_events: chunk_events(&config),
            clock: config.clock,
            schema: config.schema,
            columns: config.columns,
            reserve_bytes: config.reserve_bytes,
            compact_below_bytes: config.compact_below_bytes,
        }
    }
}

/// "No limit" of a duration: `jfr print` says "Forever".
const FOREVER: i64 = i64::MAX;
const RECORDING_ID: u64 = 1;

/// The events that each chunk begins with.
fn chunk_events(config: &ProfileConfig) -> Vec<ChunkEvent> {
    let mut events = vec![recording_event(config)];
    put_settings(&mut events, config);
    put_environment(&mut events, &config.environment);
    events
}

fn recording_event(config: &ProfileConfig) -> ChunkEvent {
    ChunkEvent::new(ACTIVE_RECORDING.id, |f| {
        f.unsigned(RECORDING_ID).text(&config.name);
        f.optional_text(Some(&*config.destination).filter(|d| !d.is_empty()));
        f.flag(true)
            .signed(FOREVER)
            .unsigned(millis(config.flush_interval))
            .unsigned(0);
        f.unsigned(config.clock.start_epoch_nanos / 1_000_000)
            .signed(FOREVER);
    })
}

fn put_settings(out: &mut Vec<ChunkEvent>, config: &ProfileConfig) {
    // async-profiler's converter takes `interval` and `wall` for numbers of nanoseconds, and knows
    // one setting of a name, whatever its event.
    let interval = config.interval.as_nanos().to_string();
    // Grafana takes `event` as the kind of the profile.
    let own = [("event", config.event.as_str()), ("interval", &interval)];
    for (name, value) in own {
        put_setting(out, EXECUTION_SAMPLE.id, name, value);
    }
    if let Some(period) = config.wall_interval {
        let period = period.as_nanos().to_string();
        put_setting(out, WALL_CLOCK_SAMPLE.id, "wall", &period);
    }
    for setting in &config.settings {
        // JMC refuses a recording with a setting of an undeclared event.
        if let Some(event) = config.schema.by_name(&setting.event) {
            put_setting(out, event.id, &setting.name, &setting.value);
        }
    }
}

fn put_setting(out: &mut Vec<ChunkEvent>, id: EventId, name: &str, value: &str) {
    out.push(ChunkEvent::new(ACTIVE_SETTING.id, |f| {
        f.unsigned(u64::from(id)).text(name).text(value);
    }));
}

fn put_environment(out: &mut Vec<ChunkEvent>, environment: &Environment) {
    if let Some(jvm) = &environment.jvm {
        out.push(jvm_event(jvm));
    }
    if let Some(os) = &environment.os {
        out.push(ChunkEvent::new(OS_INFORMATION.id, |f| {
            f.text(os);
        }));
    }
    if let Some(cpu) = &environment.cpu {
        out.push(cpu_event(cpu));
    }
    for (key, value) in &environment.properties {
        out.push(ChunkEvent::new(INITIAL_SYSTEM_PROPERTY.id, |f| {
            f.text(key).text(value);
        }));
    }
}

fn jvm_event(jvm: &JvmInformation) -> ChunkEvent {
    ChunkEvent::new(JVM_INFORMATION.id, |f| {
        for text in [
            &jvm.name,
            &jvm.version,
            &jvm.arguments,
            &jvm.flags,
            &jvm.java_arguments,
        ] {
            f.optional_text(text.as_deref());
        }
        f.unsigned(jvm.start_epoch_millis)
            .unsigned(u64::from(jvm.pid));
    })
}

fn cpu_event(cpu: &CpuInformation) -> ChunkEvent {
    ChunkEvent::new(CPU_INFORMATION.id, |f| {
        f.optional_text(cpu.cpu.as_deref())
            .optional_text(cpu.description.as_deref());
        for count in [cpu.sockets, cpu.cores, cpu.hardware_threads] {
            f.unsigned(u64::from(count));
        }
    })
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
