//! What became of a walk, as a sample carries it: the number of frames, or a negative code. Codes
//! down to -10 are those of `AsyncGetCallTrace`.

use crate::counters::Counter;
use crate::handler_state::HandlerState;
use stack_walker::{Failure, HeapFailure, HeapFrames};

/// `walk` code: the walker is off.
pub(crate) const OFF: i32 = -101;
/// `walk` code: not enough stack left for a walk.
pub(crate) const HEADROOM: i32 = -102;
/// `walk` code: thread state outside native..blocked.
pub(crate) const STATE: i32 = -103;
/// `walk` code: the VM is stopped for a collection.
pub(crate) const GC: i32 = -104;
/// `walk` code: the frames of a virtual thread that waits were not read.
pub(crate) const HEAP: i32 = -105;
/// `walk` codes of our own walker: this one less the number of the [`Failure`].
pub(super) const OWN: i32 = -110;

/// Counts why our own walker ended a walk.
pub(super) fn count_failure(handler: &HandlerState, why: Failure) {
    use Counter as C;
    handler.counters.add(match why {
        Failure::Deoptimization => C::OwnDeoptimization,
        Failure::Native => C::OwnNative,
        Failure::Stub => C::OwnStub,
        Failure::Compiled => C::OwnCompiled,
        Failure::Interpreter => C::OwnInterpreter,
        Failure::Caller => C::OwnCaller,
        Failure::Scope => C::OwnScope,
        Failure::Method => C::OwnMethod,
        Failure::Stack => C::OwnStack,
        Failure::Entry => C::OwnEntry,
        Failure::Fault => C::OwnFault,
        Failure::Steps => C::OwnSteps,
    });
}

/// Counts what became of frames in the heap.
pub(super) fn count_heap_frames(handler: &HandlerState, found: HeapFrames) {
    let why = match found {
        HeapFrames::NotMet => return,
        HeapFrames::Whole => return handler.counters.add(Counter::OwnHeap),
        HeapFrames::Cut(why) => why,
    };
    handler.counters.add(match why {
        HeapFailure::Off => Counter::FrozenOff,
        HeapFailure::Pause => Counter::FrozenPause,
        HeapFailure::Stale => Counter::FrozenStale,
        HeapFailure::Object => Counter::FrozenObject,
        HeapFailure::Frame => Counter::FrozenFrame,
    });
}

/// Which counter an outcome belongs to.
pub(crate) fn counter(outcome: i32) -> Counter {
    match outcome {
        OFF => Counter::WalkOff,
        HEADROOM => Counter::WalkHeadroom,
        STATE => Counter::WalkState,
        GC => Counter::WalkGc,
        0 => Counter::WalkNoFrame,
        n if n < 0 => Counter::WalkFailed,
        _ => Counter::WalkOk,
    }
}

/// The reason of a failed walk, as it appears in recordings; `None` for a good walk.
pub fn reason(outcome: i32) -> Option<&'static str> {
    Some(match outcome {
        n if n > 0 => return None,
        OFF => "walker_off",
        HEADROOM => "stack_headroom",
        STATE => "thread_state",
        GC => "gc_pause",
        HEAP => "frames_in_heap",
        0 => "no_Java_frame",
        -1 => "no_class_load",
        -2 => "GC_active",
        -3 => "unknown_not_Java",
        -4 => "not_walkable_not_Java",
        -5 => "unknown_Java",
        -6 => "not_walkable_Java",
        -7 => "unknown_state",
        -8 => "thread_exit",
        -9 => "deopt",
        -10 => "safepoint",
        n if n <= OWN => own_reason(OWN.wrapping_sub(n)),
        _ => "unknown_code",
    })
}

/// The reason of a failure of our own walker, by its number.
fn own_reason(number: i32) -> &'static str {
    let why = usize::try_from(number)
        .ok()
        .and_then(|n| Failure::ALL.get(n));
    match why {
        Some(Failure::Deoptimization) => "deoptimization",
        Some(Failure::Native) => "native_without_anchor",
        Some(Failure::Stub) => "in_stub",
        Some(Failure::Compiled) => "in_compiled_code",
        Some(Failure::Interpreter) => "in_interpreter",
        Some(Failure::Caller) => "bad_caller",
        Some(Failure::Scope) => "no_debug_info",
        Some(Failure::Method) => "bad_method",
        Some(Failure::Stack) => "bad_stack_pointer",
        Some(Failure::Entry) => "bad_entry_frame",
        Some(Failure::Fault) => "unreadable",
        Some(Failure::Steps) => "too_many_steps",
        None => "unknown_code",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The codes of AsyncGetCallTrace, as HotSpot's forte.cpp has them.
    #[test]
    fn each_code_has_its_own_reason() {
        let known = [
            (OFF, "walker_off"),
            (HEADROOM, "stack_headroom"),
            (STATE, "thread_state"),
            (GC, "gc_pause"),
            (HEAP, "frames_in_heap"),
            (0, "no_Java_frame"),
            (-1, "no_class_load"),
            (-2, "GC_active"),
            (-3, "unknown_not_Java"),
            (-4, "not_walkable_not_Java"),
            (-5, "unknown_Java"),
            (-6, "not_walkable_Java"),
            (-7, "unknown_state"),
            (-8, "thread_exit"),
            (-9, "deopt"),
            (-10, "safepoint"),
            (-11, "unknown_code"),
        ];
        for (code, expected) in known {
            assert_eq!(reason(code), Some(expected), "{code}");
        }
        assert_eq!([reason(1), reason(2048)], [None, None]);
    }

    #[test]
    fn each_failure_of_our_walker_has_its_own_reason() {
        let mut seen = std::collections::HashSet::new();
        for (number, why) in (0..).zip(Failure::ALL) {
            assert_eq!(why as i32, number);
            let text = reason(OWN.wrapping_sub(number)).unwrap_or("");
            assert!(seen.insert(text), "{text} twice");
        }
        assert!(!seen.contains("unknown_code") && !seen.contains(""));
        let beyond = i32::try_from(Failure::ALL.len()).unwrap_or(0);
        assert_eq!(reason(OWN.wrapping_sub(beyond)), Some("unknown_code"));
    }

    #[test]
    fn each_outcome_is_counted_under_its_cause() {
        for (outcome, expected) in [
            (OFF, Counter::WalkOff),
            (HEADROOM, Counter::WalkHeadroom),
            (STATE, Counter::WalkState),
            (GC, Counter::WalkGc),
            (0, Counter::WalkNoFrame),
            (-1, Counter::WalkFailed),
            (OWN, Counter::WalkFailed),
            (1, Counter::WalkOk),
        ] {
            assert_eq!(counter(outcome) as u32, expected as u32, "{outcome}");
        }
    }
}
