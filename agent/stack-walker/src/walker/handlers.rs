//! Handlers of other signals, such as those by which the JDK's recorder suspends a thread: what was
//! interrupted within one is walked from where that one interrupted it. The words between are left
//! from earlier calls, and among them are return addresses.
//!
//! Handlers that ran before leave their frames on the stack, too. The one that still runs has its
//! signal blocked. One can interrupt another: the recorder lets a thread go on by the same signal,
//! whose handler then runs within the one that waits for it.

use super::{InterruptedThread, StackWalker};
use crate::arch::frame_state::Arch;
use crate::arch::registers::Registers;
use crate::memory::Memory;
use core::iter;

/// Words of a handler's own frames at most.
const MAX_HANDLER_WORDS: usize = 512;
/// Bytes of a signal's frame, up to the last word that is read, at most.
const SIGNAL_FRAME: usize = 1024;

/// Handlers that interrupt each other at most.
const MAX_HANDLERS: usize = 4;

impl<M: Memory> StackWalker<M> {
    /// The thread as the first of other handlers has found it; `None` if it runs none.
    #[inline(never)]
    pub(super) fn below_handlers<A: Arch>(
        &self,
        thread: &InterruptedThread,
    ) -> Option<InterruptedThread> {
        let next = |above: &InterruptedThread| self.below_handler::<A>(above);
        iter::successors(next(thread), next)
            .take(MAX_HANDLERS)
            .last()
    }

    /// The same of the handler that was called last.
    fn below_handler<A: Arch>(&self, thread: &InterruptedThread) -> Option<InterruptedThread> {
        let Registers { pc, sp, .. } = thread.registers;
        if thread.blocked_signals == 0 || !thread.in_java || self.tables.in_code_cache(pc) {
            return None;
        }
        let last = thread.stack_high.saturating_sub(SIGNAL_FRAME);
        let is_blocked = |signal: u32| match signal.checked_sub(1) {
            Some(bit @ ..64) => thread.blocked_signals & (1u64.wrapping_shl(bit)) != 0,
            _ => false,
        };
        let frame = (sp..last)
            .step_by(8)
            .take(MAX_HANDLER_WORDS)
            .filter_map(|at| A::signal_frame(&self.memory, at..thread.stack_high))
            .find(|frame| is_blocked(frame.signal))?;
        Some(InterruptedThread {
            registers: frame.registers,
            blocked_signals: frame.blocked_signals,
            ..*thread
        })
    }
}
