//! The threads that sleep between short bursts. Their own handlers add them to this set, the
//! idle-thread sampler of the agent probes its members.
//!
//! Assumption: there is one sampler at a time. Guarantees: to add or remove a thread takes a
//! bounded number of steps; the sampler waits without waking up while the set is empty, and the
//! first thread that is added wakes it.

use core::sync::atomic::Ordering::{Relaxed, SeqCst};
use core::sync::atomic::{AtomicU32, AtomicU64};
use core::time::Duration;

/// Records from this index on are never in the set.
pub const CAPACITY: usize = 65_536;
const BITS: usize = 64;
const WORDS: usize = CAPACITY / BITS;

/// `futex_word`: there is no sampler.
const OFF: u32 = 0;
/// `futex_word`: the sampler is at work, or waits for its next probe.
const AWAKE: u32 = 1;
/// `futex_word`: the sampler waits until a thread is added.
const IDLE: u32 = 2;

/// A set of thread records, by index.
#[derive(Debug)]
pub struct IdleSet {
    words: [AtomicU64; WORDS],
    /// 1 since a thread was added.
    has_new: AtomicU32,
    /// What the sampler waits at.
    futex_word: AtomicU32,
}

/// For the sampler.
impl IdleSet {
    /// The empty set, without a sampler.
    pub const fn new() -> Self {
        Self {
            words: [const { AtomicU64::new(0) }; WORDS],
            has_new: AtomicU32::new(0),
            futex_word: AtomicU32::new(OFF),
        }
    }

    /// Empties the set and lets threads be added.
    pub fn open(&self) {
        self.words.iter().for_each(|word| word.store(0, Relaxed));
        self.futex_word.store(AWAKE, SeqCst);
    }

    /// Ends sampling: the sampler's wait returns at once, and no thread is added any more.
    pub fn close(&self) {
        self.futex_word.store(OFF, SeqCst);
        futex(&self.futex_word, libc::FUTEX_WAKE, 1, None);
    }

    /// Calls `take` with each member that is not in `known` yet, and adds it there.
    pub fn each_new(&self, known: &mut KnownMembers, mut take: impl FnMut(u32)) {
        if self.has_new.swap(0, SeqCst) == 0 {
            return;
        }
        for ((number, word), known) in (0_u32..).zip(&self.words).zip(&mut known.words) {
            let mut new = word.load(SeqCst) & !*known;
            *known |= new;
            while new != 0 {
                take(number.wrapping_mul(64).wrapping_add(new.trailing_zeros()));
                new &= new.wrapping_sub(1);
            }
        }
    }

    /// Waits for `time`, or with `None` until a thread is added; `false` if sampling is to end.
    pub fn wait(&self, time: Option<Duration>) -> bool {
        match time {
            Some(time) => {
                futex(&self.futex_word, libc::FUTEX_WAIT, AWAKE, Some(time));
            }
            None => self.wait_for_one(),
        }
        self.futex_word.load(SeqCst) != OFF
    }

    fn wait_for_one(&self) {
        // SeqCst with `add`: either it sees that we wait, or we see what it added.
        if self
            .futex_word
            .compare_exchange(AWAKE, IDLE, SeqCst, SeqCst)
            .is_err()
        {
            return;
        }
        let is_empty = self.words.iter().all(|word| word.load(SeqCst) == 0);
        while is_empty && self.futex_word.load(SeqCst) == IDLE {
            futex(&self.futex_word, libc::FUTEX_WAIT, IDLE, None);
        }
        let _ = self
            .futex_word
            .compare_exchange(IDLE, AWAKE, SeqCst, SeqCst);
    }
}

/// The members of the set that the sampler knows of.
#[derive(Debug)]
pub struct KnownMembers {
    words: [u64; WORDS],
}

impl KnownMembers {
    /// The index is new again, if it is in the set.
    pub fn forget(&mut self, index: u32) {
        let (word, bit) = word_and_bit(index);
        if let Some(word) = self.words.get_mut(word) {
            *word &= !bit;
        }
    }
}

impl Default for KnownMembers {
    fn default() -> Self {
        Self { words: [0; WORDS] }
    }
}

impl Default for IdleSet {
    fn default() -> Self {
        Self::new()
    }
}

/// Signal-safe methods.
impl IdleSet {
    /// Adds a thread; `false` if there is no sampler.
    pub fn add(&self, index: u32) -> bool {
        let (word, bit) = word_and_bit(index);
        let Some(word) = self.words.get(word) else {
            return false;
        };
        if self.futex_word.load(SeqCst) == OFF {
            return false;
        }
        if word.load(Relaxed) & bit != 0 {
            return true;
        }
        word.fetch_or(bit, SeqCst);
        // SeqCst with `each_new`: it sees the bit now, or the flag next time.
        self.has_new.store(1, SeqCst);
        if self
            .futex_word
            .compare_exchange(IDLE, AWAKE, SeqCst, SeqCst)
            .is_ok()
        {
            futex(&self.futex_word, libc::FUTEX_WAKE, 1, None);
        }
        true
    }

    /// Whether a thread is in the set. None is without a sampler: a handler may still add one while
    /// sampling ends.
    pub fn has(&self, index: u32) -> bool {
        let (word, bit) = word_and_bit(index);
        self.words
            .get(word)
            .is_some_and(|word| word.load(Relaxed) & bit != 0)
            && self.futex_word.load(Relaxed) != OFF
    }

    /// Takes a thread out.
    pub fn remove(&self, index: u32) {
        let (word, bit) = word_and_bit(index);
        if let Some(word) = self.words.get(word)
            && word.load(Relaxed) & bit != 0
        {
            word.fetch_and(!bit, SeqCst);
        }
    }
}

/// Word and bit of an index.
fn word_and_bit(index: u32) -> (usize, u64) {
    (
        (index as usize).wrapping_div(BITS),
        1_u64.wrapping_shl(index),
    )
}

/// `FUTEX_WAIT` or `FUTEX_WAKE` at `word`. A wait ends at a wake, at a signal, after `time`, or at
/// once if the word is not `value`.
fn futex(word: &AtomicU32, operation: i32, value: u32, time: Option<Duration>) {
    let time = time.map(|time| libc::timespec {
        tv_sec: i64::try_from(time.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(time.subsec_nanos()),
    });
    // SAFETY: a word that lives as long as the set, and a time or none; `FUTEX_WAKE` is allowed in
    // handlers (list of system calls).
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

    fn members(set: &IdleSet) -> Vec<u32> {
        (0..70_000).filter(|index| set.has(*index)).collect()
    }

    #[test]
    fn threads_are_members_until_they_are_removed() {
        let set = IdleSet::new();
        assert!(!set.add(1), "no sampler");
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
        assert!(members(&set).is_empty(), "no sampler");
        set.open();
        assert!(members(&set).is_empty());
    }

    #[test]
    fn a_thread_is_new_once_until_it_is_forgotten() {
        let set = IdleSet::new();
        set.open();
        set.add(70);
        let mut known = KnownMembers::default();
        let new = |known: &mut KnownMembers| {
            let mut found = Vec::new();
            set.each_new(known, |index| found.push(index));
            found
        };
        assert_eq!(new(&mut known), [70]);
        set.add(71);
        assert_eq!(new(&mut known), [71]);
        set.remove(70);
        known.forget(70);
        known.forget(u32::MAX);
        assert!(new(&mut known).is_empty());
        set.add(70);
        assert_eq!(new(&mut known), [70]);
    }

    #[test]
    fn wait_ends_with_the_first_thread_the_time_or_the_sampler() {
        static SET: IdleSet = IdleSet::new();
        for _ in 0..200 {
            SET.open();
            let sampler = std::thread::spawn(|| SET.wait(None).then(|| members(&SET)));
            SET.add(7);
            assert_eq!(sampler.join().expect("no panic"), Some(std::vec![7]));
            assert!(SET.wait(None), "there is one already");
            assert!(SET.wait(Some(Duration::from_micros(1))));
            SET.remove(7);
            let sampler = std::thread::spawn(|| SET.wait(None));
            SET.close();
            assert!(!sampler.join().expect("no panic"));
            assert!(!SET.wait(Some(Duration::from_hours(1))));
        }
    }
}
