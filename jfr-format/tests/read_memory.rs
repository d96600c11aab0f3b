//! What a file says about lengths and counts costs no memory: only bytes that are there do, a small
//! constant for each.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "tests"
)]

#[allow(dead_code, reason = "shared, each test uses its part")]
mod read_common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use jfr_format::read::{ChunkParser, ChunkStream};
use jfr_format::varint;
use read_common::*;

/// Bytes of memory for a byte of the file, and on top of it. An entry of a pool may be two bytes
/// long, and a decoded method takes some fifty.
const FACTOR: usize = 64;
const BASE: usize = 256 << 10;

struct Counting;

// Relaxed: only counted, by the one thread of the one test here.
static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is handed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let live = LIVE.fetch_add(layout.size(), Relaxed) + layout.size();
        PEAK.fetch_max(live, Relaxed);
        // SAFETY: the caller's duties are the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller's duties are the same.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Reads everything at all levels; gives the most memory that it took.
fn peak_of(file: &[u8]) -> usize {
    let before = LIVE.load(Relaxed);
    PEAK.store(before, Relaxed);
    let (mut chunks, mut parser) = (ChunkStream::new(file), ChunkParser::new());
    while let Some(chunk) = chunks.next_chunk().unwrap() {
        let chunk = chunk.as_chunk();
        let Ok(open) = parser.parse(&chunk) else {
            continue;
        };
        for event in open.events().flatten() {
            event.fields().for_each(drop);
        }
        let _ = (
            open.settings(),
            copied_texts(&open, "ctxagent.Stats", &["name"]),
            copied_texts(&open, "ctxagent.ContextAttribute", &["name", "contextType"]),
        );
        for ty in open.metadata().types() {
            let index = open.metadata().index_of(ty.id).unwrap();
            open.pool(index).for_each(drop);
        }
        for sample in open.samples(|_| true).flatten() {
            let _ = (sample.thread(), sample.state(), sample.context().count());
            for frame in sample.stack().into_iter().flat_map(|stack| stack.frames()) {
                let _ = (frame.class(), frame.method(), frame.descriptor());
            }
        }
    }
    PEAK.load(Relaxed) - before
}

fn check(what: &str, file: &[u8]) {
    let peak = peak_of(file);
    assert!(
        peak <= FACTOR * file.len() + BASE,
        "{what}: {peak} bytes of memory for {} bytes",
        file.len()
    );
    if file.len() > BASE {
        println!(
            "{what}: {:.1} times its size",
            peak as f64 / file.len() as f64
        );
    }
}

/// Events about the recording itself whose every text is the same one of the pool of strings.
fn one_text_in_each(id: u64, name: &str, fields: &[(&str, u64)], text_bytes: usize) -> Vec<u8> {
    let declared = fields.iter().map(|&(name, ty)| field(name, ty, &[]));
    let mut types = types();
    types.push(class(id, name, &[EVENT], declared.collect()));
    // Columns that are called what the events say.
    let with_column = |n: u64| {
        class(
            2_000 + n,
            "x.Y",
            &[EVENT],
            vec![field("c", ids::VALUE, &[POOL])],
        )
    };
    types.extend((0..1_000u64).map(with_column));
    let values = fields.iter().flat_map(|&(_, ty)| match ty {
        ids::STRING => vec![2, 1],
        _ => vec![0],
    });
    let told = event(id, &values.collect::<Vec<u8>>());
    let mut entry = Vec::new();
    text(&mut entry, &"x".repeat(text_bytes));
    let mut pools = pools();
    pools.push((ids::STRING, vec![(1, entry)]));
    let mut events = vec![metadata(types), checkpoint(0, &pools)];
    events.extend((0..1_000u64).map(|n| event(2_000 + n, &[129, 1])));
    events.extend(vec![told; 10_000]);
    chunk(&events)
}

fn checkpoint_of(pools: &[Pool], events: &[Vec<u8>]) -> Vec<u8> {
    let first = [metadata(types()), checkpoint(0, pools)];
    chunk(&[&first[..], events].concat())
}

#[test]
fn memory_is_bounded_by_the_bytes_that_are_there() {
    // A lying byte, or eight, at every place.
    let good = small();
    for at in 0..good.len() {
        let mut bad = good.clone();
        bad[at] = 0xff;
        check("one byte", &bad);
        let end = (at + 8).min(bad.len());
        bad[at..end].fill(0xff);
        check("eight bytes", &bad);
    }
    // Huge counts with nothing behind them.
    for count in [1 << 20, 1 << 31, 1 << 62, u64::MAX] {
        let mut payload = vec![0, 0, 0, 0, 1];
        varint::put(&mut payload, ids::STRING);
        varint::put(&mut payload, count);
        check("pool", &chunk(&[metadata(types()), event(1, &payload)]));
        let mut payload = vec![0, 0, 7];
        varint::put(&mut payload, count);
        check("texts", &chunk(&[event(0, &payload)]));
    }
    // As many small things as bytes can hold.
    let methods: Vec<_> = (1..150_000).map(|key| (key, vec![1, 2, 3, 0, 0])).collect();
    let mut stack = vec![0];
    varint::put(&mut stack, 149_999);
    for method in 1..150_000 {
        varint::put(&mut stack, method);
        stack.extend([1, 1, 1]);
    }
    let mut all = pools();
    for pool in &mut all {
        if pool.0 == ids::METHOD {
            pool.1.clone_from(&methods);
        } else if pool.0 == ids::STACK {
            pool.1 = vec![(1, stack.clone())];
        }
    }
    check(
        "methods, each in a frame",
        &checkpoint_of(&all, &[sample()]),
    );
    let mut all = pools();
    for pool in &mut all {
        if pool.0 == ids::STACK {
            pool.1 = (1..300_000).map(|key| (key, vec![0, 0])).collect();
        }
    }
    check("stacks without frames", &checkpoint_of(&all, &[sample()]));
    let texts = vec![String::new(); 400_000];
    check(
        "texts of metadata",
        &chunk(&[metadata_of(&texts, &[0, 0, 0])]),
    );
    let many = (0..60_000).map(|id| class(1_000_000 + id, "t", &[], vec![]));
    check("types", &chunk(&[metadata(many.collect())]));
    // One long text that ten thousand events refer to.
    for (name, fields) in [
        (
            "ctxagent.Stats",
            [
                ("name", ids::STRING),
                ("value", ids::LONG),
                ("total", ids::LONG),
            ],
        ),
        (
            "jdk.ActiveSetting",
            [
                ("id", ids::LONG),
                ("name", ids::STRING),
                ("value", ids::STRING),
            ],
        ),
        (
            "ctxagent.ContextAttribute",
            [
                ("slot", ids::LONG),
                ("name", ids::STRING),
                ("contextType", ids::STRING),
            ],
        ),
    ] {
        check(name, &one_text_in_each(101, name, &fields, 100_000));
    }
}
