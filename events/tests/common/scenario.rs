//! A recording with everything in it: several chunks, threads, contexts, odd texts.

use std::time::Duration;

use ctxagent_events::*;
use jfr_format::write::*;

/// Start of all test recordings: 2023-11-14 22:13:20 UTC.
pub(crate) const EPOCH_NANOS: u64 = 1_700_000_000_000_000_000;

/// Texts that have broken readers.
pub(crate) fn odd_texts() -> Vec<String> {
    [
        "",
        "NUL \0 inside",
        "😀 beyond the BMP",
        "quotes \" ' \\ and\nnewline\ttab",
        "日本語 é",
    ]
    .into_iter()
    .map(str::to_owned)
    .chain(["x".repeat(5000)])
    .collect()
}

pub(crate) fn config(columns: Columns) -> ProfileConfig {
    ProfileConfig {
        clock: Clock {
            start_epoch_nanos: EPOCH_NANOS,
            start_monotonic_nanos: 5_000_000,
        },
        columns,
        interval: Duration::from_millis(20),
        wall_interval: Some(Duration::from_millis(40)),
        settings: vec![
            Setting {
                event: "jdk.JavaMonitorEnter".into(),
                name: "threshold".into(),
                value: "1 ms".into(),
            },
            Setting {
                event: "no.SuchEvent".into(),
                name: "a".into(),
                value: "b".into(),
            },
        ],
        environment: Environment {
            jvm: Some(JvmInformation {
                name: Some("OpenJDK 64-Bit Server VM".into()),
                version: Some("21.0.8+9".into()),
                start_epoch_millis: EPOCH_NANOS / 1_000_000,
                pid: 4711,
                ..JvmInformation::default()
            }),
            os: Some("Linux 6.1".into()),
            cpu: Some(CpuInformation {
                cpu: Some("x86-64".into()),
                sockets: 1,
                cores: 1,
                hardware_threads: 2,
                ..CpuInformation::default()
            }),
            properties: vec![("java.vendor".into(), "nobody".into())],
        },
        reserve_bytes: 64 << 10,
        ..ProfileConfig::default()
    }
}

pub(crate) fn named(names: &[&str]) -> Columns {
    Columns::Named(names.iter().map(|n| (*n).to_owned()).collect())
}

/// What a scenario wrote, to be found again.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) execution_samples: usize,
    pub(crate) chunks: usize,
}

/// Threads, methods and a stack of the current chunk.
pub(crate) fn stack<S: Storage>(r: &mut Recording<S>, depth: usize, seed: usize) -> StackKey {
    let frames: Vec<Frame> = (0..depth)
        .map(|i| Frame {
            method: r.method(&Method::new(
                &format!("app/shop/Service{}", (seed + i) % 5),
                ["order", "<init>", "lambda$main$0"][(seed + i) % 3],
                "(Ljava/lang/String;[I)V",
                1,
            )),
            line: [12, 70_000, -1][i % 3],
            bci: i32::try_from(i).unwrap(),
            kind: FrameKind::ALL[(seed + i) % 4].0,
        })
        .collect();
    r.stack(&StackTrace {
        truncated: seed % 2 == 1,
        frames: &frames,
    })
}

/// Writes a CPU sample of weight 1.
pub(crate) fn runnable_sample<S: Storage>(
    r: &mut Recording<S>,
    at: Ticks,
    thread: ThreadKey,
    stack: StackKey,
    context: Context,
) {
    let state = r.state("STATE_RUNNABLE");
    r.execution_sample(&Sample {
        at,
        thread,
        stack,
        state,
        context,
        weight: 1,
    });
}

/// Events of things that take time or fail.
fn waits_and_exceptions<S: Storage>(
    r: &mut Recording<S>,
    at: Ticks,
    (thread, stack, class): (ThreadKey, StackKey, ClassKey),
    context: Context,
) {
    let duration = Ticks(250);
    r.monitor_enter(&MonitorEnter {
        at,
        duration,
        thread,
        stack,
        class,
        previous_owner: ThreadKey::NONE,
        owner_context: 3,
        address: 0xdead_beef,
        context,
    });
    r.thread_park(&ThreadPark {
        at,
        duration,
        thread,
        stack,
        class,
        address: 0xdead_beef,
        context,
        weight: 2,
    });
    r.exception_throw(&ExceptionThrow {
        at,
        thread,
        stack,
        class,
        context,
        weight: 3,
    });
}

/// One of every kind of event of the agent but the samples.
pub(crate) fn one_of_each<S: Storage>(r: &mut Recording<S>, at: Ticks, context: Context) {
    let group = r.thread_group(ThreadGroupKey::NONE, "main");
    let thread = r.thread(&Thread {
        os_name: Some("worker"),
        os_id: 17,
        java_name: Some("worker-1"),
        java_id: 31,
        group,
        is_virtual: false,
    });
    let stack = stack(r, 3, 1);
    let state = r.state("STATE_SLEEPING");
    let class = r.class("java/util/concurrent/locks/ReentrantLock");
    let duration = Ticks(250);
    r.wall_sample(&WallSample {
        at,
        thread,
        stack,
        state,
        context,
        samples: 3,
    });
    let allocation = Allocation {
        at,
        thread,
        stack,
        class,
        bytes: 4096,
        size_bytes: 104,
        context,
    };
    r.allocation_sample(&allocation);
    waits_and_exceptions(r, at, (thread, stack, class), context);
    r.gc_phase_pause(&GcPhasePause {
        at,
        duration,
        thread,
        gc_id: 7,
        name: "GC Pause",
    });
    let (before, value) = (r.attribute_value("GET"), r.attribute_value("GET /orders"));
    r.late_label(&LateLabel {
        at,
        duration,
        thread,
        attribute: "operation",
        before,
        value,
    });
    r.scope(&Scope {
        at,
        duration,
        thread,
        begin_nanos: 7_000_000,
        end_nanos: 9_000_000,
        slots: 1,
        changed: 0x201,
        context,
    });
    r.jfr_clock(&JfrClock {
        at,
        nanos: 7_000_000,
        ticks: 21_000_000,
        uncertainty_nanos: 90,
    });
    r.mark(&Mark {
        at,
        duration,
        thread,
        name: "warm-up",
        context,
    });
    r.stat(at, "samples written", 10, 20);
}

/// Three chunks with several flushes each; samples carry the odd texts in the first column.
pub(crate) fn write_full<S: Storage>(r: &mut Recording<S>) -> Written {
    let mut written = Written::default();
    let texts = odd_texts();
    for chunk in 0..3u64 {
        for (i, text) in texts.iter().enumerate() {
            let at = Ticks(chunk * 100_000 + i as u64 * 10_000 + 1_000);
            sample_with(r, at, chunk, i, text);
            written.execution_samples += 2;
            if i % 2 == 1 {
                r.flush(at).unwrap();
            }
        }
        let at = Ticks(chunk * 100_000 + 90_000);
        one_of_each(r, at, Context::NONE);
        written.chunks += 1;
        if chunk < 2 {
            r.rotate(Ticks((chunk + 1) * 100_000)).unwrap();
        }
    }
    written
}

/// Writes two samples, one of them without a stack.
fn sample_with<S: Storage>(r: &mut Recording<S>, at: Ticks, chunk: u64, i: usize, text: &str) {
    let mut values = [AttributeKey::NONE; 8];
    values[0] = r.attribute_value(text);
    values[1] = r.attribute_value("acme");
    let context = r.context(at, &values);
    let java_name = format!("worker-{chunk}-{i}");
    let thread = r.thread(&Thread {
        os_name: Some("pool-1-thread-1"),
        os_id: 100 + i as u64,
        java_name: Some(&java_name),
        java_id: 40 + i as u64,
        group: ThreadGroupKey::NONE,
        is_virtual: i.is_multiple_of(2),
    });
    let (state, stack) = (r.state("STATE_RUNNABLE"), stack(r, 4 + i, i));
    let sample = Sample {
        at,
        thread,
        stack,
        state,
        context,
        weight: 1,
    };
    r.execution_sample(&sample);
    let failed = r.synthetic_stack("walk_failed");
    r.execution_sample(&Sample {
        stack: failed,
        weight: 2,
        ..sample
    });
}
