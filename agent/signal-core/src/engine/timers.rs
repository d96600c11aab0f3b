//! The timers of a thread, as the kernel arms them.

use core::ptr;
use core::sync::atomic::AtomicI32;
use core::sync::atomic::Ordering::Relaxed;

const NANOS_PER_SECOND: u64 = 1_000_000_000;

pub(super) fn has_timer(timer: &AtomicI32) -> bool {
    timer.load(Relaxed) > 0
}

/// Arms `timer` (kernel id plus one): first after `delay`, then each `period`, 0 = once. A delay of
/// 0 means now.
pub(super) fn set_timer(timer: &AtomicI32, delay: u64, period: u64) {
    let Some(id) = timer.load(Relaxed).checked_sub(1).filter(|id| *id >= 0) else {
        return;
    };
    let spec = libc::itimerspec {
        it_interval: timespec(period),
        it_value: timespec(delay.max(1)),
    };
    let none: *mut libc::itimerspec = ptr::null_mut();
    // SAFETY: timer_settime reads `spec`, writes nothing (no old value asked); allowed in a handler
    // (list of system calls).
    unsafe {
        libc::syscall(
            libc::SYS_timer_settime,
            libc::c_long::from(id),
            0,
            &raw const spec,
            none,
        )
    };
}

fn timespec(nanos: u64) -> libc::timespec {
    libc::timespec {
        tv_sec: i64::try_from(nanos.wrapping_div(NANOS_PER_SECOND)).unwrap_or(i64::MAX),
        tv_nsec: i64::try_from(nanos.wrapping_rem(NANOS_PER_SECOND)).unwrap_or(0),
    }
}
