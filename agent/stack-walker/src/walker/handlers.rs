//! Handlers of other signals, such as those by which the JDK's recorder suspends a thread: what was
//! interrupted within one is walked from where that one interrupted it. The words between are left
//! from earlier calls, and among them are return addresses.
//!
//! Handlers that ran before leave their frames on the stack, too. The one that still runs has its
//! signal blocked. One can interrupt another: the recorder lets a thread go on by the same signal,
//! whose handler then runs within the one that waits for it.

use super::{InterruptedThread, StackWalker};
use crate::arch::frame_state::{Arch, SignalFrame};
use crate::arch::registers::Registers;
use crate::memory::Memory;

/// Bytes of a handler's own frames at most, and of what the kernel leaves where it calls one.
const MAX_HANDLER: usize = 4096;
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
        let mut found = None;
        for _ in 0..MAX_HANDLERS {
            let below = self.below_handler::<A>(found.as_ref().unwrap_or(thread));
            if below.is_none() {
                break;
            }
            found = below;
        }
        found
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
        let mut found: Option<SignalFrame> = None;
        let most = last.min(sp.saturating_add(2 * MAX_HANDLER));
        let mut end = most.min(sp.saturating_add(MAX_HANDLER));
        let mut at = sp;
        while at < end {
            let frame = A::signal_frame(&self.memory, at..thread.stack_high, thread.restorer);
            if let Some(frame) = frame.filter(|frame| is_blocked(frame.signal)) {
                // Another one within it would have overwritten it: then that one counts.
                end = most.min(frame.registers.sp);
                found = Some(frame);
            }
            at = at.wrapping_add(8);
        }
        let frame = found?;
        Some(InterruptedThread {
            registers: frame.registers,
            blocked_signals: frame.blocked_signals,
            ..*thread
        })
    }
}
