//! When this process started.
//!
//! Rule: system calls into places of our own only.

#![expect(unsafe_code, reason = "boundary to the operating system")]

use super::tasks;
use std::time::{Duration, SystemTime};

/// Place of the start among the fields that [`tasks::stat`] gives: field 22 of all.
const START_FIELD: usize = 22 - 3;

/// When the process started, by the wall clock of now; `None` where the system does not tell.
pub(crate) fn process_start() -> Option<SystemTime> {
    let first_thread = i32::try_from(std::process::id()).ok()?;
    let fields = tasks::stat(first_thread)?;
    let started: u64 = fields.split(' ').nth(START_FIELD)?.parse().ok()?; // in ticks since the machine's own start
    // SAFETY: no memory is touched by the question.
    let per_second = u64::try_from(unsafe { libc::sysconf(libc::_SC_CLK_TCK) }).ok()?;
    let millis = started.checked_mul(1000)?.checked_div(per_second)?;
    let age = since_boot()?.checked_sub(Duration::from_millis(millis))?;
    SystemTime::now().checked_sub(age)
}

/// The clock that the kernel notes starts by: it goes on while the machine sleeps.
fn since_boot() -> Option<Duration> {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: writes one timespec.
    let refused = unsafe { libc::clock_gettime(libc::CLOCK_BOOTTIME, &raw mut time) };
    let seconds = u64::try_from(time.tv_sec).ok()?;
    let nanos = u32::try_from(time.tv_nsec).ok()?;
    (refused == 0).then(|| Duration::new(seconds, nanos))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_started_before_now_and_not_long_ago() {
        let age = process_start().expect("on Linux").elapsed();
        let age = age.expect("in the past");
        assert!(age < Duration::from_hours(1), "{age:?}");
    }
}
