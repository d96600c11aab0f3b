//! Which threads to check for timers that no longer fire.

use std::collections::{HashMap, HashSet};

/// New threads that one check covers: each costs two system calls. The next check continues with
/// the next ones.
const MAX_NEW_PER_CHECK: u32 = 512;

/// Threads that had no armed timer at the last check, and where the next check begins.
#[derive(Debug, Default)]
pub(super) struct StalledTimers {
    /// Index of the record, by serial.
    pub(super) suspects: HashMap<u64, u32>,
    cursor: u32,
}

impl StalledTimers {
    /// The record indices below `end` that the next check covers: the suspects of the last check,
    /// and the next ones in turn.
    pub(super) fn next_indices(&mut self, end: u32) -> Vec<u32> {
        let count = end.min(MAX_NEW_PER_CHECK);
        let next = (0..count).map(|i| (self.cursor + i) % end);
        let suspects = self.suspects.values().copied();
        let indices: HashSet<u32> = next.chain(suspects).collect();
        self.cursor = (self.cursor + count).checked_rem(end).unwrap_or(0);
        indices.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_cover_all_threads_in_turn_and_suspects_again() {
        let mut stalled = StalledTimers::default();
        assert_eq!(stalled.next_indices(0), [0; 0]);
        assert_eq!(stalled.next_indices(3).len(), 3, "few of them each time");
        assert_eq!(stalled.next_indices(3).len(), 3);
        let mut stalled = StalledTimers::default();
        let mut covered = HashSet::new();
        for _ in 0..4 {
            let indices = stalled.next_indices(4 * MAX_NEW_PER_CHECK);
            assert_eq!(indices.len(), MAX_NEW_PER_CHECK as usize);
            covered.extend(indices);
        }
        assert_eq!(covered.len(), 4 * MAX_NEW_PER_CHECK as usize);
        stalled.suspects.insert(70, 1000);
        let indices = stalled.next_indices(4 * MAX_NEW_PER_CHECK);
        assert!(
            indices.contains(&1000) && indices.contains(&0),
            "the suspect, and the next ones"
        );
        // The table never shrinks, but a smaller `end` must not fail.
        let indices = stalled.next_indices(2);
        assert!(indices.iter().all(|i| *i < 2 || *i == 1000));
    }
}
