//! When this process started.
//!
//! Rule for `unsafe`: (1) the calls write memory of the caller only.

#![expect(unsafe_code, reason = "boundary to the operating system")]

use super::tasks;
use std::time::{Duration, SystemTime};

/// Index of the start time, field 22, in what [`tasks::stat`] returns.
const START_FIELD: usize = 22 - 3;

/// When the process started, by the current wall clock; `None` where the system does not say.
pub(crate) fn process_start() -> Option<SystemTime> {
    let first_thread = i32::try_from(std::process::id()).ok()?;
    let fields = tasks::stat(first_thread)?;
    let ticks_since_boot: u64 = fields.split(' ').nth(START_FIELD)?.parse().ok()?;
    // SAFETY: rule 1.
    let per_second = u64::try_from(unsafe { libc::sysconf(libc::_SC_CLK_TCK) }).ok()?;
    let millis = ticks_since_boot
        .checked_mul(1000)?
        .checked_div(per_second)?;
    let age = since_boot()?.checked_sub(Duration::from_millis(millis))?;
    SystemTime::now().checked_sub(age)
}

/// The clock of the kernel's start times, which also counts while the machine is suspended.
fn since_boot() -> Option<Duration> {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: rule 1.
    let refused = unsafe { libc::clock_gettime(libc::CLOCK_BOOTTIME, &raw mut time) };
    let seconds = u64::try_from(time.tv_sec).ok()?;
    let nanos = u32::try_from(time.tv_nsec).ok()?;
    (refused == 0).then(|| Duration::new(seconds, nanos))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_started_recently() {
        let age = process_start().expect("on Linux").elapsed();
        let age = age.expect("in the past");
        assert!(age < Duration::from_hours(1), "{age:?}");
    }
}
