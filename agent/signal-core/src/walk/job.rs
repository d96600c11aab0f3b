//! What every walker works on.

use crate::handler_state::HandlerState;
use crate::record::ThreadRecord;
use crate::slots::Claim;
use core::ffi::c_void;

/// A thread to be walked, and where to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Job<'a> {
    pub(super) handler: &'a HandlerState,
    pub(super) record: &'a ThreadRecord,
    pub(super) claim: &'a Claim<'a>,
    pub(super) vm_state: i32,
    pub(super) ucontext: *mut c_void,
    /// Frames to write at most.
    pub(super) depth: usize,
}
