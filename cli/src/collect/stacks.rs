//! Stacks and frames of a chunk as numbers, and what a frame is called.

use std::sync::Arc;

use hashbrown::HashMap;
use jfr_format::read::{EntryIndex, Frame, Sample};

use crate::shared::cut;

/// Class of the frame that stands for a stack that could not be walked; its method is the reason.
const NO_STACK_CLASS: &str = "ctxagent/NoStack";

/// A frame's text and its kind.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct FrameName {
    pub(crate) text: Arc<str>,
    pub(crate) kind: FrameKind,
    /// 0: not known, or not wanted.
    pub(crate) line: u32,
}

impl FrameName {
    /// The text with the line.
    pub(crate) fn with_line(&self) -> Arc<str> {
        match self.line {
            0 => self.text.clone(),
            line => format!("{}:{line}", self.text).into(),
        }
    }
}

/// Kinds of frames, in the order of the colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum FrameKind {
    Label = 0,
    Compiled = 1,
    Inlined = 2,
    Interpreted = 3,
    Native = 4,
    Cpp = 5,
    Kernel = 6,
    Missing = 7,
}

impl FrameKind {
    pub(crate) const COUNT: usize = Self::Missing as usize + 1;

    /// Whether it is a kind of code, which one method can have several of.
    pub(crate) fn is_code(self) -> bool {
        !matches!(self, Self::Label | Self::Missing)
    }

    fn of(frame: &Frame<'_>) -> Self {
        if frame.class() == NO_STACK_CLASS {
            return Self::Missing;
        }
        match frame.kind() {
            "JIT compiled" | "C1 compiled" => Self::Compiled,
            "Inlined" => Self::Inlined,
            "Interpreted" => Self::Interpreted,
            "C++" => Self::Cpp,
            "Kernel" => Self::Kernel,
            _ => Self::Native,
        }
    }
}

/// Gives stacks and frames of a chunk numbers; equal texts of frames get equal numbers later, when
/// chunks are merged.
#[derive(Default)]
pub(super) struct StackNumbers {
    pub(super) frames: Vec<FrameName>,
    pub(super) stacks: Vec<Vec<u32>>,
    by_entry: HashMap<Option<EntryIndex>, u32>,
    by_frame: HashMap<(Option<EntryIndex>, Option<EntryIndex>, u32), u32>,
}

impl StackNumbers {
    pub(super) fn number(&mut self, sample: &Sample<'_>, lines: bool) -> u32 {
        let entry = sample.stack_entry();
        if let Some(&number) = self.by_entry.get(&entry) {
            return number;
        }
        let mut frames: Vec<u32> = Vec::new();
        if let Some(stack) = sample.stack() {
            for frame in stack.frames() {
                frames.push(self.frame(&frame, lines));
            }
            if stack.is_truncated() {
                frames.push(self.named("(truncated)", FrameKind::Missing));
            }
        }
        if frames.is_empty() {
            frames.push(self.named("(no stack)", FrameKind::Missing));
        }
        let number = u32::try_from(self.stacks.len()).unwrap_or(u32::MAX);
        self.stacks.push(frames);
        self.by_entry.insert(entry, number);
        number
    }

    fn push(&mut self, text: &str, kind: FrameKind, line: u32) -> u32 {
        let number = u32::try_from(self.frames.len()).unwrap_or(u32::MAX);
        self.frames.push(FrameName {
            text: text.into(),
            kind,
            line,
        });
        number
    }

    /// A frame of ours; there are few per chunk.
    fn named(&mut self, text: &str, kind: FrameKind) -> u32 {
        match self
            .frames
            .iter()
            .rposition(|frame| &*frame.text == text && frame.kind == kind)
        {
            Some(place) => u32::try_from(place).unwrap_or(u32::MAX),
            None => self.push(text, kind, 0),
        }
    }

    fn frame(&mut self, frame: &Frame<'_>, lines: bool) -> u32 {
        let line = if lines { frame.line().unwrap_or(0) } else { 0 };
        let key = (frame.method_entry(), frame.kind_entry(), line);
        if let Some(&number) = self.by_frame.get(&key) {
            return number;
        }
        let kind = FrameKind::of(frame);
        let number = self.push(&frame_text(frame), kind, line);
        self.by_frame.insert(key, number);
        number
    }
}

/// Whether a sample has a stack: ours without one has a frame that says why.
pub(crate) fn has_stack(sample: &Sample<'_>) -> bool {
    let first = sample.stack().and_then(|stack| stack.frames().next());
    first.is_some_and(|frame| frame.class() != NO_STACK_CLASS)
}

/// `java.lang.String.length`; a native frame without class is its name.
fn frame_text(frame: &Frame<'_>) -> String {
    let (class, method) = (cut(frame.class()), cut(frame.method()));
    if class == NO_STACK_CLASS {
        return format!("(no stack: {method})");
    }
    match (class.is_empty(), method.is_empty()) {
        (true, true) => "(unknown)".to_owned(),
        (true, false) => method.to_owned(),
        (false, true) => class.replace('/', "."),
        (false, false) => format!("{}.{method}", class.replace('/', ".")),
    }
}
