//! Timers of the kernel, as a handler arms them.

use core::ptr;
use core::sync::atomic::AtomicI32;
use core::sync::atomic::Ordering::Relaxed;

const NANOS_PER_SECOND: u64 = 1_000_000_000;

/// Arms `timer` (kernel id plus one) on its clock: first after `delay`, then each `period`.
pub(super) fn arm_periodic(timer: &AtomicI32, delay: u64, period: u64) {
    set(timer, 0, delay.max(1), period);
}

/// Arms `timer` once, at this time of its clock; `false` if the kernel refuses.
pub(super) fn arm_at(timer: &AtomicI32, at_ns: u64) -> bool {
    set(timer, libc::TIMER_ABSTIME, at_ns, 0)
}

fn set(timer: &AtomicI32, flags: i32, value: u64, period: u64) -> bool {
    let Some(id) = timer.load(Relaxed).checked_sub(1).filter(|id| *id >= 0) else {
        return false;
    };
    let spec = libc::itimerspec {
        it_interval: timespec(period),
        it_value: timespec(value),
    };
    let none: *mut libc::itimerspec = ptr::null_mut();
    // SAFETY: timer_settime reads `spec`, writes nothing (no old value asked); allowed in a handler
    // (list of system calls).
    let result = unsafe {
        libc::syscall(
            libc::SYS_timer_settime,
            libc::c_long::from(id),
            libc::c_long::from(flags),
            &raw const spec,
            none,
        )
    };
    result == 0
}

fn timespec(nanos: u64) -> libc::timespec {
    libc::timespec {
        tv_sec: i64::try_from(nanos.wrapping_div(NANOS_PER_SECOND)).unwrap_or(i64::MAX),
        tv_nsec: i64::try_from(nanos.wrapping_rem(NANOS_PER_SECOND)).unwrap_or(0),
    }
}
