//! A word that one thread waits at and handlers wake it by.

use core::ptr;
use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::SeqCst;
use core::time::Duration;

/// The waiting thread is at work, or there is none.
const AWAKE: u32 = 0;
/// It waits.
const WAITING: u32 = 1;

/// See the module.
#[derive(Debug)]
pub struct WakeWord(AtomicU32);

impl WakeWord {
    /// Nobody waits.
    pub const fn new() -> Self {
        Self(AtomicU32::new(AWAKE))
    }

    /// Set-up: waits until it is woken or `time` has passed, unless `has_work` says that there is
    /// work. `SeqCst` with [`WakeWord::wake`]: either the waker sees that we wait, or we see its
    /// work.
    pub fn wait(&self, time: Duration, has_work: impl FnOnce() -> bool) {
        self.0.store(WAITING, SeqCst);
        if !has_work() {
            let time = libc::timespec {
                tv_sec: i64::try_from(time.as_secs()).unwrap_or(i64::MAX),
                tv_nsec: i64::from(time.subsec_nanos()),
            };
            self.futex(libc::FUTEX_WAIT, WAITING, &raw const time);
        }
        self.0.store(AWAKE, SeqCst);
    }

    /// Signal-safe: wakes the waiting thread. The caller has stored its work by `SeqCst`.
    pub fn wake(&self) {
        let was_waiting = self.0.compare_exchange(WAITING, AWAKE, SeqCst, SeqCst);
        if was_waiting.is_ok() {
            self.futex(libc::FUTEX_WAKE, 1, ptr::null());
        }
    }

    fn futex(&self, operation: i32, value: u32, time: *const libc::timespec) {
        // SAFETY: reads our word and, where it is given, the time; on the list of system calls. A
        // handler only wakes.
        unsafe {
            libc::syscall(
                libc::SYS_futex,
                self.0.as_ptr(),
                operation | libc::FUTEX_PRIVATE_FLAG,
                value,
                time,
            )
        };
    }
}

impl Default for WakeWord {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::sync::atomic::AtomicBool;
    use std::time::Instant;

    const LONG: Duration = Duration::from_mins(1);

    #[test]
    fn waiter_is_woken_by_work_and_does_not_wait_where_there_is_some() {
        static WORD: WakeWord = WakeWord::new();
        static WORK: AtomicBool = AtomicBool::new(false);
        let begin = Instant::now();
        let waiter = std::thread::spawn(|| {
            while !WORK.load(SeqCst) {
                WORD.wait(LONG, || WORK.load(SeqCst));
            }
        });
        WORK.store(true, SeqCst);
        WORD.wake();
        waiter.join().expect("no panic");
        assert!(begin.elapsed() < LONG);
    }
}
