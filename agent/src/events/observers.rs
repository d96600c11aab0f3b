//! What the application observes (`io.ctxagent.observe`): observers by type of entry, of all copies
//! of the API. Each copy has a bit mask for its own producers.

use std::sync::{Mutex, PoisonError};

/// Types of entries.
const TYPES: usize = 32;

/// The observers.
#[derive(Debug, Default)]
pub(super) struct Observers(Mutex<[u32; TYPES]>);

impl Observers {
    /// One more observes the type, or one less. Calls `turn` with the lock if it is the first one,
    /// or was the last.
    pub(super) fn change(&self, entry_type: usize, more: bool, turn: impl FnOnce(bool)) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(count) = counts.get_mut(entry_type) else {
            return;
        };
        let before = *count > 0;
        *count = if more {
            count.saturating_add(1)
        } else {
            count.saturating_sub(1)
        };
        let now = *count > 0;
        if now != before {
            turn(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_and_last_observer_turn_a_type() {
        let observers = Observers::default();
        let mut turns = Vec::new();
        for more in [true, true, false, false, false, true] {
            observers.change(3, more, |on| turns.push(on));
        }
        observers.change(TYPES, true, |_| turns.clear()); // there is no such type
        assert_eq!(turns, [true, false, true]);
    }
}
