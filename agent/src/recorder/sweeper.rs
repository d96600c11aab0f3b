//! When to create method ids for all loaded classes again: if stacks have frames without one.
//!
//! Known causes: 21 posts no ClassPrepare inside a mount transition (it loads the classes behind a
//! virtual thread's timed park there); methods added by a redefinition (ids of the others move to
//! their new versions); and classes after the 200 000th loaded during a recording
//! (`jvm/method_ids.rs`, which also limits a sweep).

use std::time::{Duration, Instant};

const FIRST_PAUSE: Duration = Duration::from_millis(500);
const MAX_PAUSE: Duration = Duration::from_mins(1);

/// Sweeps soon after the first frame without a method, then less and less often while such frames
/// continue.
#[derive(Debug)]
pub(crate) struct Sweeper {
    seen: u64,
    last: Instant,
    pause: Duration,
}

impl Default for Sweeper {
    fn default() -> Self {
        Self {
            seen: 0,
            last: Instant::now(),
            pause: FIRST_PAUSE,
        }
    }
}

impl Sweeper {
    /// Whether to sweep now; `without_id` counts frames without a method since the start.
    pub(crate) fn is_due(&mut self, without_id: u64) -> bool {
        self.is_due_at(without_id, Instant::now())
    }

    fn is_due_at(&mut self, without_id: u64, now: Instant) -> bool {
        if without_id == self.seen || now.duration_since(self.last) < self.pause {
            return false;
        }
        self.seen = without_id;
        self.last = now;
        self.pause = (self.pause * 2).min(MAX_PAUSE);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sweeps_only_for_new_frames_and_ever_more_rarely() {
        let mut sweeper = Sweeper::default();
        let start = sweeper.last;
        let at = |millis| start + Duration::from_millis(millis);
        assert!(!sweeper.is_due_at(0, at(10_000)), "nothing is missing");
        assert!(!sweeper.is_due_at(3, at(100)), "too soon");
        assert!(sweeper.is_due_at(3, at(600)));
        assert!(!sweeper.is_due_at(3, at(50_000)), "the sweep has helped");
        assert!(sweeper.is_due_at(4, at(50_000)));
        assert!(
            !sweeper.is_due_at(5, at(51_000)),
            "pause has doubled twice to 2 s"
        );
        assert!(sweeper.is_due_at(5, at(52_100)));
    }
}
