//! Test builds only: natives of `io.ctxagent.oracle.Truth`. A program declares the active context
//! of an OS thread, without blocking in between. The handler copies the declaration into the
//! sample, and the writer compares both. A storm of signals hits rare moments.
//!
//! Rule for `unsafe`: (1) the exported symbols are those of `Truth`, which no other library
//! defines.

#![expect(unsafe_code, reason = "boundary: what the VM calls")]
#![expect(
    unreachable_pub,
    reason = "the JVM finds natives by name in the dynamic symbol table"
)]

use crate::entry::agent::session;
use crate::guard::{OnFailure, enter};
use crate::os::agent_thread::{AgentThreadGuard, BlockedSignals};
use crate::os::{send, timers};
use crate::recorder::contexts::text_of;
use jni::EnvUnowned;
use jni::objects::JClass;
use jni::sys::{jint, jlong};
use signal_core::block::{ReadOutcome, Values};
use signal_core::engine::Source;
use signal_core::seeded_faults::{self, Fault};
use signal_core::tls::truth;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

static STORM: AtomicBool = AtomicBool::new(false);

/// `static native void declare(int context)`: 0 ends the declaration, -1 declares that no context
/// is active.
#[unsafe(no_mangle)]
pub extern "system" fn Java_io_ctxagent_oracle_Truth_declare(
    _env: EnvUnowned<'_>,
    _class: JClass<'_>,
    context: jint,
) {
    enter(OnFailure::IgnoreAndCount, "declare", (), || {
        truth::set(u64::from(context.cast_unsigned()));
    });
}

/// `static native void change(int from, int to)`: declares that one of both is active, completely.
#[unsafe(no_mangle)]
pub extern "system" fn Java_io_ctxagent_oracle_Truth_change(
    _env: EnvUnowned<'_>,
    _class: JClass<'_>,
    from: jint,
    to: jint,
) {
    enter(OnFailure::IgnoreAndCount, "change", (), || {
        let half = |context: jint| u64::from(context.cast_unsigned());
        truth::set(half(from) | half(to) << 32);
    });
}

/// `static native void plant(int bug)`: injects this fault into the agent.
#[unsafe(no_mangle)]
pub extern "system" fn Java_io_ctxagent_oracle_Truth_plant(
    _env: EnvUnowned<'_>,
    _class: JClass<'_>,
    bug: jint,
) {
    enter(OnFailure::IgnoreAndCount, "plant", (), || match bug {
        1 => seeded_faults::choose(Fault::SequenceIgnored),
        2 => seeded_faults::choose(Fault::OwnerIgnored),
        3 => seeded_faults::choose(Fault::OtherVirtualThread),
        _ => {}
    });
}

/// `static native int beside(long thread)`: reads the context of another thread. The result is one
/// of the constants of `Truth`.
#[unsafe(no_mangle)]
pub extern "system" fn Java_io_ctxagent_oracle_Truth_beside(
    _env: EnvUnowned<'_>,
    _class: JClass<'_>,
    thread: jlong,
) -> jint {
    enter(OnFailure::IgnoreAndCount, "beside", -1, || {
        let Some(session) = session() else {
            return -1;
        };
        let live = &session.components;
        let mut values = Values::default();
        match live.handler.blocks.read_remote(thread, &mut values) {
            ReadOutcome::Nothing => 0,
            ReadOutcome::Torn | ReadOutcome::Foreign => 2,
            ReadOutcome::Values => {
                let texts = [0, 1, 2].map(|slot| text_of(&live.registry, &values, slot));
                let is_whole = texts[0].is_some() && texts.iter().all(|text| *text == texts[0]);
                if is_whole { 1 } else { 3 }
            }
        }
    })
}

/// `static native void storm(int signalsPerSecond)`: signals every registered thread; 0 ends it.
#[unsafe(no_mangle)]
pub extern "system" fn Java_io_ctxagent_oracle_Truth_storm(
    _env: EnvUnowned<'_>,
    _class: JClass<'_>,
    per_second: jint,
) {
    enter(OnFailure::IgnoreAndCount, "storm", (), || {
        let was_on = STORM.swap(per_second > 0, Relaxed);
        if !was_on && per_second > 0 {
            let pause = Duration::from_nanos(1_000_000_000 / u64::from(per_second.unsigned_abs()));
            std::thread::spawn(move || run_storm(pause));
        }
    });
}

/// Signals the registered threads in turn, if they have used CPU since their last turn; one signal
/// per pause.
fn run_storm(pause: Duration) {
    let Some(session) = session() else { return };
    let live = &session.components;
    let signal = live.signal();
    let _guard = AgentThreadGuard::enter(BlockedSignals::WallClock(signal));
    let mut cpu_ns_by_tid: HashMap<i32, u64> = HashMap::new();
    let mut next = Instant::now();
    while STORM.load(Relaxed) {
        let records = (0..4096)
            .filter_map(|index| live.handler.records.at(index))
            .filter(|record| record.running());
        for tid in records.map(|record| record.os_tid.load(Relaxed)) {
            let cpu_ns = timers::thread_cpu_nanos(tid);
            if cpu_ns_by_tid.insert(tid, cpu_ns) == Some(cpu_ns) {
                continue;
            }
            let _ = send::to_thread(tid, signal, Source::Storm); // fails for an exited thread
            next += pause;
            while Instant::now() < next {
                std::thread::yield_now();
            }
        }
    }
}
