//! Misuse of the Java API: `io.ctxagent.internal.agent.Misuse` has the same numbers and names.

use crate::counter::Counter;

/// The counter of each misuse, by its number.
pub const COUNTERS: [Counter; 12] = [
    Counter::ApiDoubleClose,
    Counter::ApiCloseOutOfOrder,
    Counter::ApiCloseOnOtherThread,
    Counter::ApiNoFreeBlock,
    Counter::ApiNoSlot,
    Counter::ApiValueCut,
    Counter::ApiRawAreaFull,
    Counter::ApiValueOther,
    Counter::ApiTextReplaced,
    Counter::ApiFiltered,
    Counter::ApiAllEnded,
    Counter::ApiMadeBeforeAgent,
];

/// The counter of the misuse with this number; `None` for a number that does not exist.
pub fn counter(number: i32) -> Option<Counter> {
    COUNTERS.get(usize::try_from(number).ok()?).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_numbers_of_the_contract_have_a_counter() {
        assert_eq!(counter(-1), None);
        assert_eq!(counter(0), Some(Counter::ApiDoubleClose));
        assert_eq!(counter(11), Some(Counter::ApiMadeBeforeAgent));
        assert_eq!(counter(12), None);
    }
}
