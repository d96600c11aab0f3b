//! Bytes of a sample: counted, not timed, over ten hours of a program that goes on loading code.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::wildcard_imports,
    clippy::cast_precision_loss,
    reason = "tests, and what they share"
)]

mod common;

use common::checker;
use common::scenario::{config, named, runnable_sample, stack};
use ctxagent_events::*;
use jfr_format::write::*;

const EIGHT: [&str; 8] = ["http.route", "tenant", "c", "d", "e", "f", "g", "h"];
/// Bytes of a sample: with eight declared attributes of which two are set, and without any.
const MAX_WITH_COLUMNS: f64 = 24.0;
const MAX_WITHOUT: f64 = 13.0;
/// Microseconds that five bytes hold, nine and a half hours; then a sample is one byte longer.
const FIVE_BYTES: u64 = 1 << 35;
/// Five minutes each.
const CHUNKS: u64 = 120;
const CHUNK_TICKS: u64 = 300 * Ticks::PER_SECOND;
const SAMPLES_PER_CHUNK: u64 = 120;

/// As measured for the format description: 300 stacks, 50 threads, 200 contexts of ten routes and
/// twenty tenants; keys are handed out in the order of first use, as in life. One sample in fifty
/// has a stack that never comes again.
fn sample(r: &mut Recording<MemoryStorage>, at: Ticks, i: u64) {
    let n = usize::try_from(i.wrapping_mul(2_654_435_761) >> 7).unwrap();
    let thread = r.thread(&Thread::native("t", (n % 50) as u64));
    let stack = if i.is_multiple_of(50) {
        r.synthetic_stack(&format!("once{i}"))
    } else {
        stack(r, 3 + n % 20, n / 20 % 15)
    };
    let mut values = [AttributeKey::NONE; 8];
    values[0] = r.attribute_value(&format!("/route/{}", n % 10));
    values[1] = r.attribute_value(&format!("tenant-{}", n / 10 % 20));
    let context = r.context(at, &values);
    runnable_sample(r, at, thread, stack, context);
}

/// Mean size of the samples of each chunk.
fn sizes(columns: &[&str]) -> Vec<f64> {
    let mut config = config(named(columns));
    config.reserve_bytes = 16 << 20;
    let mut r = Recording::create(MemoryStorage::new(), config).unwrap();
    for chunk in 0..CHUNKS {
        for i in 0..SAMPLES_PER_CHUNK {
            let at = Ticks(chunk * CHUNK_TICKS + i * CHUNK_TICKS / SAMPLES_PER_CHUNK);
            sample(&mut r, at, chunk * SAMPLES_PER_CHUNK + i);
        }
        if chunk + 1 < CHUNKS {
            r.rotate(Ticks((chunk + 1) * CHUNK_TICKS)).unwrap();
        }
    }
    r.finish(Ticks(CHUNKS * CHUNK_TICKS)).unwrap();
    let file = checker::read(r.storage().bytes());
    let mut sums = vec![0; file.chunks.len()];
    for event in file.named("jdk.ExecutionSample") {
        sums[event.chunk] += event.size;
    }
    assert_eq!(sums.len() as u64, CHUNKS);
    let mean = |sum| sum as f64 / SAMPLES_PER_CHUNK as f64;
    sums.into_iter().map(mean).collect()
}

#[test]
fn samples_stay_as_small_as_promised_for_ten_hours() {
    for (columns, most) in [(&EIGHT[..], MAX_WITH_COLUMNS), (&[], MAX_WITHOUT)] {
        let sizes = sizes(columns);
        let last = usize::try_from(FIVE_BYTES / CHUNK_TICKS).unwrap() - 1;
        // Shown with `cargo test -- --nocapture`.
        println!(
            "{} columns: {:.1} bytes in the first five minutes, {:.1} in the last of nine and a half hours, then {:.1}",
            columns.len(),
            sizes[0],
            sizes[last],
            sizes[last + 2]
        );
        for (chunk, size) in sizes.iter().enumerate() {
            let most = if chunk <= last { most } else { most + 1.0 };
            assert!(
                *size <= most,
                "{} columns, chunk {chunk}: {size}",
                columns.len()
            );
        }
    }
}
