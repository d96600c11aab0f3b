//! The hot path allocates nothing: a sample of known values costs no call of the allocator.
#![allow(clippy::unwrap_used, reason = "tests")]

use ctxagent_events::ProfileEvents as _;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use ctxagent_events::{ProfileConfig, Sample};
use jfr_format::write::{
    AttributeKey, Columns, Frame, FrameKind, MemoryStorage, Method, Recording, StackTrace, Thread,
    Ticks,
};

struct Counting;

/// Relaxed: only counted, by the one thread of the one test here.
static CALLS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is handed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        CALLS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's duties are the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's duties are the same.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn samples(r: &mut Recording<MemoryStorage>, count: u64) {
    for i in 0..count {
        let method = r.method(&Method::new("app/Shop", "order", "()V", 1));
        let frames = [Frame {
            method,
            line: 1,
            bci: 2,
            kind: FrameKind::Jit,
        }; 20];
        let stack = r.stack(&StackTrace {
            truncated: false,
            frames: &frames,
        });
        let thread = r.thread(&Thread::native("worker", i % 10));
        let state = r.state("STATE_RUNNABLE");
        let mut values = [AttributeKey::NONE; 8];
        values[0] = r.attribute_value("/orders/{id}");
        let context = r.context(Ticks(i), &values);
        r.execution_sample(&Sample {
            at: Ticks(i),
            thread,
            stack,
            state,
            context,
            weight: 1,
        });
    }
}

#[test]
fn samples_of_known_values_do_not_allocate() {
    let columns = Columns::Named(vec!["route".into()]);
    let config = ProfileConfig {
        columns,
        reserve_bytes: 1 << 20,
        ..ProfileConfig::default()
    };
    let mut r = Recording::create(MemoryStorage::new(), config).unwrap();
    samples(&mut r, 2_000);
    r.flush(Ticks(2_000)).unwrap();
    let before = CALLS.load(Ordering::Relaxed);
    samples(&mut r, 1_500);
    assert_eq!(CALLS.load(Ordering::Relaxed) - before, 0);
}
