//! A Java frame before its method has a name.

use stack_walker::{CallFrame, FrameKind};

/// A frame as it was walked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct RawFrame {
    /// Method id.
    pub(crate) id: usize,
    pub(crate) bci: i32,
    /// A [`FrameKind`] as a number.
    pub(crate) kind: u32,
}

impl From<&CallFrame> for RawFrame {
    fn from(frame: &CallFrame) -> Self {
        Self {
            id: frame.method.expose_provenance(),
            bci: frame.bci,
            kind: frame.kind,
        }
    }
}

impl From<&(usize, i32)> for RawFrame {
    /// A frame that the VM itself reported.
    fn from((id, bci): &(usize, i32)) -> Self {
        Self {
            id: *id,
            bci: *bci,
            kind: FrameKind::Unknown as u32,
        }
    }
}
