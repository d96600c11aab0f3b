//! The stack of a virtual thread that no carrier runs.

use crate::jvm::jni::LocalRef;
use crate::jvm::raw_frame::RawFrame;
use signal_core::handler_state::{HandlerState, OwnWalker, WalkMode};
use signal_core::walk;
use stack_walker::cache::prefetch_hints::PrefetchHints;
use stack_walker::{CallFrame, Memory as _, UnmountedThread, Walk};
use std::ptr;
use std::sync::atomic::Ordering::Relaxed;

/// Reads stacks, one at a time.
pub(super) struct StackReader {
    handler: &'static HandlerState,
    hints: PrefetchHints,
    frames: Vec<CallFrame>,
    again: Vec<CallFrame>,
}

impl StackReader {
    pub(super) fn new(handler: &'static HandlerState) -> Self {
        let depth = handler.depth.load(Relaxed) as usize;
        let nothing = CallFrame {
            bci: 0,
            kind: 0,
            method: ptr::null_mut(),
        };
        Self {
            handler,
            hints: PrefetchHints::default(),
            frames: vec![nothing; depth],
            again: vec![nothing; depth],
        }
    }

    fn walker(&self) -> Option<&'static OwnWalker> {
        let is_chosen = self.handler.walk_mode.load(Relaxed) == WalkMode::Own as u32;
        self.handler.stack_walker().filter(|_| is_chosen)
    }

    /// Pauses of the VM so far; `None` within one, and if stacks in the heap cannot be read.
    pub(super) fn pauses(&self) -> Option<usize> {
        self.walker()?.pauses()
    }

    /// Walks `thread`, whose reference is younger than `pauses`.
    pub(super) fn read(&mut self, thread: &LocalRef<'_>, pauses: Option<usize>) -> Option<Walk> {
        let walker = self.walker()?;
        let thread = UnmountedThread {
            // A local reference is the address of the object's address.
            object: walker.memory().word(thread.raw().addr())?,
            pauses: pauses?,
        };
        let walk = walker.walk_unmounted(&thread, &self.hints, &mut self.frames);
        let again = walker.walk_unmounted(&thread, &self.hints, &mut self.again);
        let is_same = walk.end == again.end
            && walk.heap == again.heap
            && walked(&self.frames, &walk).eq(walked(&self.again, &again));
        is_same.then_some(walk)
    }

    /// Outcome and flags of a walk, as a slot has them.
    pub(super) fn judge(&self, walk: Option<Walk>) -> (i32, u32) {
        walk::unmounted(self.handler, walk)
    }

    /// The frames of the last walk.
    pub(super) fn frames(&self, outcome: i32) -> Box<[RawFrame]> {
        let count = usize::try_from(outcome).unwrap_or(0);
        self.frames.iter().take(count).map(RawFrame::from).collect()
    }
}

fn walked<'a>(frames: &'a [CallFrame], walk: &Walk) -> impl Iterator<Item = RawFrame> + use<'a> {
    frames.iter().take(walk.frames).map(RawFrame::from)
}
