//! The events that every chunk begins with, so that each chunk can be read alone.

use std::time::Duration;

use super::buffer::put_event;
use super::columns::ColumnSet;
use super::config::{Attribute, Config, CpuInformation, Environment, JvmInformation, Ticks};
use crate::events;

/// "No limit" of a duration: `jfr print` says "Forever".
const FOREVER: i64 = i64::MAX;
const RECORDING_ID: u64 = 1;

/// Appends the events that a chunk begins with.
pub(super) fn put(out: &mut Vec<u8>, at: Ticks, config: &Config, columns: &ColumnSet) {
    put_recording(out, at, config);
    put_settings(out, at, config);
    put_environment(out, at, &config.environment);
    for (slot, attribute) in columns.attributes() {
        put_attribute(out, at, slot, attribute);
    }
}

/// Appends what a column means.
pub(super) fn put_attribute(out: &mut Vec<u8>, at: Ticks, slot: usize, attribute: &Attribute) {
    let Attribute {
        name,
        label,
        description,
        context_type,
    } = attribute;
    put_event(out, events::CONTEXT_ATTRIBUTE.id, at, |f| {
        f.unsigned(slot as u64)
            .text(name)
            .text(if label.is_empty() { name } else { label });
        f.text(description).text(context_type);
    });
}

fn put_recording(out: &mut Vec<u8>, at: Ticks, config: &Config) {
    put_event(out, events::ACTIVE_RECORDING.id, at, |f| {
        f.unsigned(RECORDING_ID).text(&config.name);
        f.optional_text(Some(&*config.destination).filter(|d| !d.is_empty()));
        f.flag(true)
            .signed(FOREVER)
            .unsigned(millis(config.flush_interval))
            .unsigned(0);
        f.unsigned(config.clock.start_epoch_nanos / 1_000_000)
            .signed(FOREVER);
    });
}

fn put_settings(out: &mut Vec<u8>, at: Ticks, config: &Config) {
    // async-profiler's converter takes `interval` and `wall` for numbers of nanoseconds, and knows one setting of a name, whatever its event.
    let interval = config.interval.as_nanos().to_string();
    // Grafana takes `event` as the kind of the profile.
    let own = [("event", config.event.as_str()), ("interval", &interval)];
    for (name, value) in own {
        put_setting(out, at, events::EXECUTION_SAMPLE.id, name, value);
    }
    if let Some(period) = config.wall_interval {
        let period = period.as_nanos().to_string();
        put_setting(out, at, events::WALL_CLOCK_SAMPLE.id, "wall", &period);
    }
    for setting in &config.settings {
        // JMC refuses a recording with a setting of an undeclared event.
        if let Some(event) = events::by_name(&setting.event) {
            put_setting(out, at, event.id, &setting.name, &setting.value);
        }
    }
}

fn put_setting(out: &mut Vec<u8>, at: Ticks, id: events::EventId, name: &str, value: &str) {
    put_event(out, events::ACTIVE_SETTING.id, at, |f| {
        f.unsigned(u64::from(id)).text(name).text(value);
    });
}

fn put_environment(out: &mut Vec<u8>, at: Ticks, environment: &Environment) {
    if let Some(jvm) = &environment.jvm {
        put_jvm(out, at, jvm);
    }
    if let Some(os) = &environment.os {
        put_event(out, events::OS_INFORMATION.id, at, |f| {
            f.text(os);
        });
    }
    if let Some(cpu) = &environment.cpu {
        put_cpu(out, at, cpu);
    }
    for (key, value) in &environment.properties {
        put_event(out, events::INITIAL_SYSTEM_PROPERTY.id, at, |f| {
            f.text(key).text(value);
        });
    }
}

fn put_jvm(out: &mut Vec<u8>, at: Ticks, jvm: &JvmInformation) {
    put_event(out, events::JVM_INFORMATION.id, at, |f| {
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
    });
}

fn put_cpu(out: &mut Vec<u8>, at: Ticks, cpu: &CpuInformation) {
    put_event(out, events::CPU_INFORMATION.id, at, |f| {
        f.optional_text(cpu.cpu.as_deref())
            .optional_text(cpu.description.as_deref());
        for count in [cpu.sockets, cpu.cores, cpu.hardware_threads] {
            f.unsigned(u64::from(count));
        }
    });
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
