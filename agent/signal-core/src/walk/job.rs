//! What every walker works on.

use crate::handler_state::HandlerState;
use crate::java_thread::CurrentThread;
use crate::slots::Claim;
use crate::ucontext::InterruptedContext;

/// A thread to be walked, and where to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Job<'a> {
    pub(super) handler: &'a HandlerState,
    pub(super) thread: CurrentThread,
    pub(super) claim: &'a Claim<'a>,
    pub(super) vm_state: i32,
    pub(super) context: InterruptedContext<'a>,
    /// Frames to write at most.
    pub(super) depth: usize,
}
