//! Timeouts that tolerate stalls. They count steps instead of reading the clock: a stall of the
//! whole machine or process (a paused virtual machine, a debugger, `SIGSTOP`) counts as one step
//! and does not end the wait. Without stalls such a timeout is a deadline.

use std::thread;
use std::time::{Duration, Instant};

/// How long one step waits.
const STEP: Duration = Duration::from_millis(5);
/// After so long [`until`] looks again.
const LOOK_AGAIN: Duration = Duration::from_micros(500);

/// Repeats `attempt` until it returns a value; `None` after `limit`. An attempt waits at most for
/// the duration that it gets.
pub(crate) fn wait<T>(
    limit: Duration,
    mut attempt: impl FnMut(Duration) -> Option<T>,
) -> Option<T> {
    let steps = limit.as_millis().div_ceil(STEP.as_millis());
    (0..steps).find_map(|_| attempt(STEP))
}

/// Waits until something holds; `false` if it does not within `limit`.
pub(crate) fn until(limit: Duration, holds: impl Fn() -> bool) -> bool {
    first_value(limit, || holds().then_some(())).is_some()
}

/// The first value that `look` gives, which is called at least once; `None` if it gives none within
/// `limit`.
pub(crate) fn first_value<T>(limit: Duration, look: impl Fn() -> Option<T>) -> Option<T> {
    let attempt = |step: Duration| {
        let end = Instant::now() + step;
        loop {
            let value = look();
            if value.is_some() || Instant::now() >= end {
                return value;
            }
            thread::park_timeout(LOOK_AGAIN);
        }
    };
    look().or_else(|| wait(limit, attempt))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn the_first_value_ends_the_wait() {
        let mut steps = 0;
        let answer = wait(Duration::from_secs(1), |_| {
            steps += 1;
            (steps == 3).then_some("here")
        });
        assert_eq!((answer, steps), (Some("here"), 3));
    }

    #[test]
    fn the_wait_ends_after_its_steps() {
        let mut waited = Duration::ZERO;
        let answer = wait(Duration::from_millis(500), |step| {
            waited += step;
            None::<()>
        });
        assert_eq!((answer, waited), (None, Duration::from_millis(500)));
    }

    /// Each step takes its time, however often it looks.
    #[test]
    fn what_never_holds_is_waited_for_until_the_limit() {
        let limit = Duration::from_millis(40);
        let begin = Instant::now();
        let looks = Cell::new(0);
        let holds = || {
            looks.set(looks.get() + 1);
            false
        };
        assert!(!until(limit, holds));
        assert!(begin.elapsed() >= limit && looks.get() > 8, "{looks:?}");
        assert!(until(STEP, || true));
    }

    #[test]
    fn a_stall_longer_than_the_timeout_is_one_step() {
        let limit = Duration::from_millis(20);
        let begin = Instant::now();
        let mut steps = 0;
        let answer = wait(limit, |_| {
            steps += 1;
            while steps == 1 && begin.elapsed() < 2 * limit {
                std::hint::spin_loop();
            }
            (steps == 2).then_some(())
        });
        assert_eq!(answer, Some(()));
    }
}
