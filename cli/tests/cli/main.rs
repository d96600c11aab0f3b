//! What users of `ctxjfr` see: results, exit codes, messages, files.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "tests")]

mod accounting;
mod calls;
#[allow(dead_code, reason = "shared, each test uses its part")]
#[path = "../common/mod.rs"]
mod common;
mod coverage;
mod flame;
mod help;
mod print;
mod report;
mod selection;
mod untrusted;

use ctxagent_events::{GcPhasePause, ProfileEvents as _};
use jfr_format::write::{Thread, Ticks};

use common::Shop;

/// A sample of a thread of the VM, without a context.
fn sample_of_vm(shop: &mut Shop, name: &str, id: u64, at: u64) {
    shop.at = at;
    let thread = Thread::native(name, id);
    shop.sample_of(&thread, "STATE_RUNNABLE", [None, None], "m", 1);
}

/// A sample of each kind of thread: GC, JIT, VM inside and outside of a pause, native, Java.
pub(crate) fn record_every_thread_kind() -> Vec<u8> {
    let mut shop = Shop::new();
    shop.sample(Some("r"), Some("t"), "m", 1);
    shop.sample(None, None, "m", 1);
    sample_of_vm(&mut shop, "GC Thread#0", 81, 100_000);
    sample_of_vm(&mut shop, "C2 CompilerThre", 82, 200_000);
    sample_of_vm(&mut shop, "VM Thread", 83, 300_000);
    sample_of_vm(&mut shop, "VM Thread", 83, 400_000);
    sample_of_vm(&mut shop, "my-library", 84, 500_000);
    let thread = shop.r.thread(&Thread::native("VM Thread", 83));
    // The sample is taken 10 ms after the time that was set.
    shop.r.gc_phase_pause(&GcPhasePause {
        at: Ticks(305_000),
        duration: Ticks(20_000),
        thread,
        gc_id: 1,
        name: "GC Pause",
    });
    shop.bytes()
}
