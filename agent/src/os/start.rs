//! When this process started.
//!
//! Rule: system calls into places of our own only.

use std::fs::File;
use std::io::Read;
use std::time::{Duration, SystemTime};

/// Longest text of `/proc/self/stat` that is read; it has some 300 bytes.
const MOST_BYTES: u64 = 4096;
/// Place of the start among the words behind the name, which may hold anything: word 22 of all, by proc(5).
const START_WORD: usize = 22 - 3;

/// When the process started, by the wall clock of now; `None` where the system does not tell.
pub(crate) fn process_start() -> Option<SystemTime> {
    let mut stat = Vec::new();
    let file = File::open("/proc/self/stat").ok()?;
    file.take(MOST_BYTES).read_to_end(&mut stat).ok()?;
    let started = start_ticks(&String::from_utf8_lossy(&stat))?;
    // SAFETY: no memory is touched by the question.
    let per_second = u64::try_from(unsafe { libc::sysconf(libc::_SC_CLK_TCK) }).ok()?;
    let millis = started.checked_mul(1000)?.checked_div(per_second)?;
    let age = since_boot()?.checked_sub(Duration::from_millis(millis))?;
    SystemTime::now().checked_sub(age)
}

/// The start, in ticks since the machine's own.
fn start_ticks(stat: &str) -> Option<u64> {
    let (_, words) = stat.rsplit_once(')')?;
    words.split_whitespace().nth(START_WORD)?.parse().ok()
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
    fn the_start_is_found_behind_any_name() {
        let rest = "S 1 7 7 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 33 0 987654 42 43";
        for name in ["java", "a b", ") (", "x) S 1"] {
            let stat = format!("7 ({name}) {rest}");
            assert_eq!(start_ticks(&stat), Some(987_654), "{name}");
        }
        assert_eq!(start_ticks("7 (java) S 1"), None);
        assert_eq!(start_ticks(""), None);
    }

    #[test]
    fn this_process_started_before_now_and_not_long_ago() {
        let age = process_start().expect("on Linux").elapsed();
        let age = age.expect("in the past");
        assert!(age < Duration::from_hours(1), "{age:?}");
    }
}
