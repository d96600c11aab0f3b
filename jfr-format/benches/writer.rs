//! What a sample costs the writer: the budget is one million a second on one core.
#![allow(clippy::unwrap_used, missing_docs, reason = "a bench")]

mod sample_event;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use jfr_format::write::{
    AttributeKey, FileStorage, Frame, FrameKind, Method, Recording, StackTrace, Thread, Ticks,
};
use sample_event::Sample;

const SAMPLES: u64 = 100_000;
const STACKS: usize = 300;
const DEPTH: usize = 20;

fn recording() -> Recording<FileStorage> {
    let dir = tempfile::tempdir().unwrap();
    // The directory goes, the open file stays until it is closed.
    let storage = FileStorage::create(&dir.path().join("bench.jfr")).unwrap();
    Recording::create(storage, sample_event::config()).unwrap()
}

/// As a drain thread hands samples over: frames with method keys that it has cached.
fn stacks(r: &mut Recording<FileStorage>) -> Vec<Vec<Frame>> {
    let method = |r: &mut Recording<_>, n| {
        r.method(&Method::new(
            &format!("app/Service{}", n % 50),
            &format!("m{n}"),
            "()V",
            1,
        ))
    };
    let frame = |r: &mut Recording<_>, s: usize, i: usize| Frame {
        method: method(r, (s * 7 + i * 3) % 700),
        line: 10 + i32::try_from(i).unwrap(),
        bci: 4,
        kind: FrameKind::Jit,
    };
    (0..STACKS)
        .map(|s| (0..DEPTH).map(|i| frame(r, s, i)).collect())
        .collect()
}

/// Stack, thread, attribute values and context are looked up by content for every sample.
fn write(r: &mut Recording<FileStorage>, stacks: &[Vec<Frame>]) {
    let state = r.state("STATE_RUNNABLE");
    let tenants: Vec<String> = (0..20).map(|n| format!("tenant-{n}")).collect();
    for i in 0..SAMPLES {
        let at = Ticks(i * 100);
        let n = usize::try_from(i.wrapping_mul(2_654_435_761) >> 8).unwrap();
        let thread = r.thread(&Thread::native("pool-1-thread-1", (n % 50) as u64));
        let stack = r.stack(&StackTrace {
            truncated: false,
            frames: &stacks[n % STACKS],
        });
        let mut values = [AttributeKey::NONE; 8];
        values[0] = r.attribute_value("/orders/{id}");
        values[1] = r.attribute_value(&tenants[n % 20]);
        let context = r.context(at, &values);
        let sample = Sample {
            at,
            thread,
            stack,
            state,
            context,
        };
        sample_event::put(r, &sample);
        if i % 20_000 == 0 {
            r.flush(at).unwrap();
        }
    }
    r.flush(Ticks(SAMPLES * 100)).unwrap();
}

fn bench(c: &mut Criterion) {
    let mut group = c.benchmark_group("writer");
    group
        .throughput(Throughput::Elements(SAMPLES))
        .sample_size(20);
    group.bench_function(
        "samples with 20 frames, 8 columns, everything by content",
        |b| {
            b.iter_batched_ref(
                || {
                    let mut r = recording();
                    let stacks = stacks(&mut r);
                    (r, stacks)
                },
                |(r, stacks)| write(r, stacks),
                BatchSize::PerIteration,
            );
        },
    );
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
