//! Handlers of other signals, such as those by which the JDK's recorder suspends a thread: what was
//! interrupted within one is walked from where that one interrupted it. The words between are left
//! from earlier calls, and among them are return addresses.
//!
//! Handlers that ran before leave their frames on the stack, too. The one that still runs has its
//! signal blocked.

use super::{InterruptedThread, StackWalker};
use crate::arch::frame_state::Arch;
use crate::arch::registers::Registers;
use crate::memory::Memory;

/// Words of a handler's own frames at most.
const MAX_HANDLER_WORDS: usize = 512;
/// Bytes of a signal's frame, up to the last word that is read, at most.
const SIGNAL_FRAME: usize = 1024;

impl<M: Memory> StackWalker<M> {
    /// The thread as another handler has found it; `None` if it runs none.
    #[inline(never)]
    pub(super) fn below_handler<A: Arch>(
        &self,
        thread: &InterruptedThread,
    ) -> Option<InterruptedThread> {
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
            ..*thread
        })
    }
}
