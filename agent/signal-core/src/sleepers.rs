//! The threads that sleep between short bursts: their own handlers put them into this set, a thread of the agent polls those that are in it.
//!
//! Assumptions: one thread polls at a time. Guarantees: to add or remove a thread takes a bounded number of steps; the poll waits without
//! waking up while the set is empty, and is woken by the first thread that is added.

use core::sync::atomic::Ordering::{Relaxed, SeqCst};
use core::sync::atomic::{AtomicU32, AtomicU64};
use core::time::Duration;

/// Records beyond this index are never in the set.
const CAPACITY: usize = 65_536;
const BITS: usize = 64;

/// `bell`: nobody polls.
const OFF: u32 = 0;
/// `bell`: the poll is at work, or waits for its next moment.
const AWAKE: u32 = 1;
/// `bell`: the poll waits until a thread is added.
const IDLE: u32 = 2;

/// A set of thread records, by index.
#[derive(Debug)]
pub struct Sleepers {
    words: [AtomicU64; CAPACITY / BITS],
    /// What the poll waits at.
    bell: AtomicU32,
}

/// For the poll.
impl Sleepers {
    /// The empty set; nobody polls.
    pub const fn new() -> Self {
        Self {
            words: [const { AtomicU64::new(0) }; CAPACITY / BITS],
            bell: AtomicU32::new(OFF),
        }
    }

    /// Empties the set and lets threads be added.
    pub fn open(&self) {
        self.words.iter().for_each(|word| word.store(0, Relaxed));
        self.bell.store(AWAKE, SeqCst);
    }

    /// Ends the poll: its wait returns at once, and no thread is added any more.
    pub fn close(&self) {
        self.bell.store(OFF, SeqCst);
        futex(&self.bell, libc::FUTEX_WAKE, 1, None);
    }

    /// The indices in the set.
    pub fn each(&self, mut take: impl FnMut(u32)) {
        for (number, word) in (0_u32..).zip(&self.words) {
            let mut left = word.load(SeqCst);
            while left != 0 {
                let bit = left.trailing_zeros();
                left &= left.wrapping_sub(1);
                take(number.wrapping_mul(64).wrapping_add(bit));
            }
        }
    }

    /// Waits for `time`, or less if the poll is to end; `None`: until a thread is added. `false`: the poll is to end.
    pub fn wait(&self, time: Option<Duration>) -> bool {
        match time {
            Some(time) => {
                futex(&self.bell, libc::FUTEX_WAIT, AWAKE, Some(time));
            }
            None => self.wait_for_one(),
        }
        self.bell.load(SeqCst) != OFF
    }

    fn wait_for_one(&self) {
        // SeqCst with `add`: either it sees that we wait, or we see what it added.
        if self
            .bell
            .compare_exchange(AWAKE, IDLE, SeqCst, SeqCst)
            .is_err()
        {
            return;
        }
        let is_empty = self.words.iter().all(|word| word.load(SeqCst) == 0);
        while is_empty && self.bell.load(SeqCst) == IDLE {
            futex(&self.bell, libc::FUTEX_WAIT, IDLE, None);
        }
        let _ = self.bell.compare_exchange(IDLE, AWAKE, SeqCst, SeqCst);
    }
}

impl Default for Sleepers {
    fn default() -> Self {
        Self::new()
    }
}

/// Signal-safe methods.
impl Sleepers {
    /// Adds a thread; `false` if nobody polls.
    pub fn add(&self, index: u32) -> bool {
        let Some((word, bit)) = self.place(index) else {
            return false;
        };
        if self.bell.load(SeqCst) == OFF {
            return false;
        }
        word.fetch_or(bit, SeqCst);
        if self
            .bell
            .compare_exchange(IDLE, AWAKE, SeqCst, SeqCst)
            .is_ok()
        {
            futex(&self.bell, libc::FUTEX_WAKE, 1, None);
        }
        true
    }

    /// Whether a thread is in the set.
    pub fn has(&self, index: u32) -> bool {
        self.place(index)
            .is_some_and(|(word, bit)| word.load(Relaxed) & bit != 0)
    }

    /// Takes a thread out.
    pub fn remove(&self, index: u32) {
        if let Some((word, bit)) = self.place(index)
            && word.load(Relaxed) & bit != 0
        {
            word.fetch_and(!bit, SeqCst);
        }
    }

    fn place(&self, index: u32) -> Option<(&AtomicU64, u64)> {
        let word = self.words.get((index as usize).checked_div(BITS)?)?;
        Some((word, 1_u64.wrapping_shl(index)))
    }
}

/// `FUTEX_WAIT` or `FUTEX_WAKE` at `word`. A wait ends at a wake, at a signal, after `time`, or at once if the word is not `value`.
fn futex(word: &AtomicU32, operation: i32, value: u32, time: Option<Duration>) {
    let time = time.map(|time| libc::timespec {
        tv_sec: i64::try_from(time.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(time.subsec_nanos()),
    });
    // SAFETY: a word that lives as long as the set, and a time or none; `FUTEX_WAKE` is allowed in handlers (list of system calls).
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            operation | libc::FUTEX_PRIVATE_FLAG,
            value,
            time.as_ref().map_or(core::ptr::null(), core::ptr::from_ref),
        )
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn members(set: &Sleepers) -> Vec<u32> {
        let mut found = Vec::new();
        set.each(|index| found.push(index));
        found
    }

    #[test]
    fn threads_are_in_the_set_until_they_are_taken_out() {
        let set = Sleepers::new();
        assert!(!set.add(1), "nobody polls");
        set.open();
        let last = u32::try_from(CAPACITY).expect("fits") - 1;
        for index in [64, 0, last, 63, 64] {
            assert!(set.add(index));
        }
        assert!(!set.add(last + 1));
        assert_eq!(members(&set), [0, 63, 64, last]);
        set.remove(63);
        set.remove(5);
        assert_eq!(members(&set), [0, 64, last]);
        set.close();
        assert!(!set.add(9));
        set.open();
        assert!(members(&set).is_empty());
    }

    #[test]
    fn the_wait_ends_with_the_first_thread_with_the_time_and_with_the_poll() {
        static SET: Sleepers = Sleepers::new();
        for _ in 0..200 {
            SET.open();
            let poll = std::thread::spawn(|| SET.wait(None).then(|| members(&SET)));
            SET.add(7);
            assert_eq!(poll.join().expect("no panic"), Some(std::vec![7]));
            assert!(SET.wait(None), "there is one already");
            assert!(SET.wait(Some(Duration::from_micros(1))));
            SET.remove(7);
            let poll = std::thread::spawn(|| SET.wait(None));
            SET.close();
            assert!(!poll.join().expect("no panic"));
            assert!(!SET.wait(Some(Duration::from_hours(1))));
        }
    }
}
