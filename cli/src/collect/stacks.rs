//! Stacks and frames of a chunk as numbers, and what a frame is called.

use std::hash::BuildHasher as _;
use std::sync::Arc;

use hashbrown::{DefaultHashBuilder, HashMap, HashTable};
use jfr_format::read::{EntryIndex, Frame, RawFrame, Sample};

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

/// Stacks by their numbers, one behind the other in memory.
#[derive(Debug, Default)]
pub(crate) struct StackList {
    frames: Vec<u32>,
    /// Where each ends in `frames`.
    ends: Vec<usize>,
}

impl StackList {
    /// Numbers of the frames, innermost first.
    pub(crate) fn get(&self, number: u32) -> &[u32] {
        let number = number as usize;
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.frames[start..self.ends[number]]
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u32]> {
        (0..number_of(self.len())).map(|number| self.get(number))
    }

    fn push(&mut self, frames: &[u32]) -> u32 {
        let number = number_of(self.len());
        self.frames.extend_from_slice(frames);
        self.ends.push(self.frames.len());
        number
    }
}

/// Stacks, each once.
#[derive(Debug, Default)]
pub(super) struct StackTable {
    pub(super) list: StackList,
    numbers: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl StackTable {
    /// The number of a stack.
    pub(super) fn number(&mut self, frames: &[u32]) -> u32 {
        let Self {
            list,
            numbers,
            hasher,
        } = self;
        let hash = hasher.hash_one(frames);
        if let Some(&known) = numbers.find(hash, |&number| list.get(number) == frames) {
            return known;
        }
        let number = list.push(frames);
        numbers.insert_unique(hash, number, |&number| hasher.hash_one(list.get(number)));
        number
    }
}

fn number_of(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}

/// No number yet.
const UNNUMBERED: u32 = u32::MAX;

/// What distinguishes the frames of a chunk.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
struct FrameKey {
    method: Option<EntryIndex>,
    kind: Option<EntryIndex>,
    line: u32,
}

/// Frames of [`StackNumbers::recent_frames`]: 96 KiB.
const RECENT: usize = 1 << 12;

impl FrameKey {
    /// Its place among the recent ones.
    fn slot(self) -> usize {
        let number = |entry: Option<EntryIndex>| entry.map_or(0, u32::from);
        let mixed = number(self.method) ^ self.line.rotate_left(20) ^ number(self.kind) << 28;
        // Multiplication by the golden ratio; its upper bits depend on all of the number's.
        (mixed.wrapping_mul(0x9e37_79b9) >> (u32::BITS - RECENT.ilog2())) as usize
    }
}

/// Gives stacks and frames of a chunk numbers; equal texts of frames get equal numbers later, when
/// chunks are merged.
#[derive(Default)]
pub(super) struct StackNumbers {
    pub(super) frames: Vec<FrameName>,
    pub(super) stacks: StackList,
    /// By place in the chunk's pool.
    by_entry: Vec<u32>,
    /// Of samples without a stack.
    no_stack: Option<u32>,
    by_frame: HashMap<FrameKey, u32>,
    /// Of the methods: each has frames of several lines and kinds.
    texts: HashMap<EntryIndex, Arc<str>>,
    /// Some of `by_frame`, by hash: most frames are found here.
    recent_frames: Box<[(FrameKey, u32)]>,
    /// The stack at hand, before and after its frames have numbers.
    raw: Vec<RawFrame>,
    numbers: Vec<u32>,
}

impl StackNumbers {
    pub(super) fn number(&mut self, sample: &Sample<'_>, lines: bool) -> u32 {
        let Some(entry) = sample.stack_entry() else {
            if let Some(number) = self.no_stack {
                return number;
            }
            let number = self.add(sample, lines);
            self.no_stack = Some(number);
            return number;
        };
        let entry = u32::from(entry) as usize;
        match self.by_entry.get(entry) {
            Some(&number) if number != UNNUMBERED => return number,
            Some(_) => {}
            None => self.by_entry.resize(entry + 1, UNNUMBERED),
        }
        let number = self.add(sample, lines);
        self.by_entry[entry] = number;
        number
    }

    /// Numbers a stack that is new.
    fn add(&mut self, sample: &Sample<'_>, lines: bool) -> u32 {
        let mut raw = std::mem::take(&mut self.raw);
        let mut numbers = std::mem::take(&mut self.numbers);
        let is_truncated = sample.decode_stack(&mut raw);
        numbers.clear();
        numbers.extend(raw.iter().map(|&frame| self.frame(sample, frame, lines)));
        if is_truncated == Some(true) {
            numbers.push(self.named("(truncated)", FrameKind::Missing));
        }
        if numbers.is_empty() {
            numbers.push(self.named("(no stack)", FrameKind::Missing));
        }
        let number = self.stacks.push(&numbers);
        (self.raw, self.numbers) = (raw, numbers);
        number
    }

    fn push(&mut self, text: Arc<str>, kind: FrameKind, line: u32) -> u32 {
        let number = number_of(self.frames.len());
        self.frames.push(FrameName { text, kind, line });
        number
    }

    /// A frame of ours; there are few per chunk.
    fn named(&mut self, text: &str, kind: FrameKind) -> u32 {
        let mut frames = self.frames.iter();
        match frames.rposition(|frame| &*frame.text == text && frame.kind == kind) {
            Some(place) => number_of(place),
            None => self.push(text.into(), kind, 0),
        }
    }

    fn frame(&mut self, sample: &Sample<'_>, raw: RawFrame, lines: bool) -> u32 {
        let line = if lines { raw.line().unwrap_or(0) } else { 0 };
        let key = FrameKey {
            method: raw.method_entry(),
            kind: raw.kind_entry(),
            line,
        };
        let slot = key.slot();
        match self.recent_frames.get(slot) {
            Some(&(recent, number)) if recent == key && number != UNNUMBERED => return number,
            Some(_) => {}
            None => self.recent_frames = vec![(FrameKey::default(), UNNUMBERED); RECENT].into(),
        }
        let number = self.by_frame.get(&key).copied();
        let number = number.unwrap_or_else(|| {
            let frame = sample.frame(raw);
            let text = || Arc::from(frame_text(&frame));
            let text = match key.method {
                Some(method) => self.texts.entry(method).or_insert_with(text).clone(),
                None => text(),
            };
            let number = self.push(text, FrameKind::of(&frame), line);
            self.by_frame.insert(key, number);
            number
        });
        self.recent_frames[slot] = (key, number);
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
