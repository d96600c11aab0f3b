//! Panics of the agent: caught and counted, never an unwind into C.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

static CAUGHT: AtomicU64 = AtomicU64::new(0);

/// Runs `body`; counts a panic and returns its message.
pub(crate) fn catch<T>(body: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(body)).map_err(|panic| {
        CAUGHT.fetch_add(1, Relaxed);
        message(panic.as_ref()).to_owned()
    })
}

/// Panics caught so far; `status` shows them.
pub(crate) fn caught() -> u64 {
    CAUGHT.load(Relaxed)
}

fn message(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
}
