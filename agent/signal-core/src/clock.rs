//! Clocks of a handler.

const NANOS_PER_SECOND: u64 = 1_000_000_000;

/// CPU time of the calling thread.
pub fn thread_cpu_nanos() -> u64 {
    clock(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// Monotonic time.
pub fn monotonic_nanos() -> u64 {
    clock(libc::CLOCK_MONOTONIC)
}

fn clock(id: libc::clockid_t) -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: writes one timespec; async-signal-safe by POSIX.
    unsafe { libc::clock_gettime(id, &raw mut time) };
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    seconds
        .wrapping_mul(NANOS_PER_SECOND)
        .wrapping_add(u64::try_from(time.tv_nsec).unwrap_or(0))
}
