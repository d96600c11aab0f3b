//! Ended threads: when the writer may forget them.

use super::intake::Slots;
use std::mem;

/// Serials of ended threads. Each is due after the second drain of all slots since its end: the
/// first drain finds its last samples, also in slots claimed late. Reports of others, such as that
/// it held a monitor, may come a moment later.
#[derive(Debug, Default)]
pub(super) struct EndedThreads {
    fresh: Vec<u64>,
    due: Vec<u64>,
}

impl EndedThreads {
    /// Called before these slots are drained. `take` appends the threads that have ended since its
    /// last call.
    pub(super) fn before(&mut self, slots: Slots, take: impl FnOnce(&mut Vec<u64>)) {
        if slots == Slots::All {
            self.due.append(&mut self.fresh);
            take(&mut self.fresh);
        }
    }

    /// Called after the samples are written: returns the threads that may be forgotten.
    pub(super) fn due(&mut self) -> Vec<u64> {
        mem::take(&mut self.due)
    }

    /// Returns all threads: no more samples come.
    pub(super) fn all(&mut self) -> Vec<u64> {
        self.due.append(&mut self.fresh);
        self.due()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_forgotten_after_two_full_drains() {
        let mut ended = EndedThreads::default();
        let drain = |ended: &mut EndedThreads, slots, since: &[u64]| {
            ended.before(slots, |into| into.extend(since));
            ended.due()
        };
        let none: [u64; 0] = [];
        assert_eq!(drain(&mut ended, Slots::All, &[1]), none);
        // A slot claimed late is not among these.
        for _ in 0..3 {
            assert_eq!(drain(&mut ended, Slots::Tried, &[]), none);
        }
        assert_eq!(drain(&mut ended, Slots::All, &[2, 3]), [1]);
        assert_eq!(drain(&mut ended, Slots::All, &[]), [2, 3]);
        assert_eq!(drain(&mut ended, Slots::All, &[4]), none);
        assert_eq!(ended.all(), [4]);
        assert_eq!(ended.all(), none);
    }
}
