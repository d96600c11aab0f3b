//! Stacks, their frames and the methods of those, decoded when first asked for.

use std::sync::Arc;

use super::cursor::Cursor;
use super::metadata::{Type, TypeIndex};
use super::open::Core;
use super::pools::{EntryIndex, Pool};
use super::tables::{NONE, place_in};
use super::ways::{ClassStep, FrameStep, MethodStep, StackStep, Way, Ways};
use crate::error::Error;

/// Most frames of a stack reserved at once: no known writer walks deeper.
const RESERVED_FRAMES: usize = 2048;

/// A method. Its names are shared with the table of texts.
#[derive(Debug)]
pub(crate) struct RawMethod {
    class: Option<Arc<str>>,
    name: Option<Arc<str>>,
    /// Where it stands among its type's texts; most readers do not ask.
    descriptor: u32,
    hidden: bool,
}

impl Default for RawMethod {
    fn default() -> Self {
        Self {
            class: None,
            name: None,
            descriptor: NONE,
            hidden: false,
        }
    }
}

impl RawMethod {
    /// Reads the entry at a place; `None` if it cannot be read.
    pub(crate) fn read(core: &Core<'_>, way: &Way<MethodStep>, place: u32) -> Option<Self> {
        let ways = core.metadata.ways();
        let mut cursor = core.entry_at(way.ty, place)?;
        let ty = core.metadata.at(way.ty);
        let pool = |ty: Option<_>| ty.and_then(|ty| core.pools.of(ty));
        let mut method = Self::default();
        let mut class = NONE;
        for step in &way.steps {
            match *step {
                MethodStep::Class => {
                    class = place_in(pool(ways.method_class), cursor.varint().ok()?);
                }
                MethodStep::Name => {
                    let place = place_in(pool(ways.symbols), cursor.varint().ok()?);
                    method.name = core.shared_text(ways.symbols, place);
                }
                MethodStep::Descriptor => {
                    method.descriptor =
                        place_in(pool(ways.method_descriptor), cursor.varint().ok()?);
                }
                MethodStep::Hidden => method.hidden = cursor.byte().ok()? != 0,
                MethodStep::Other(place) => {
                    core.metadata.skip(&ty.fields[place], &mut cursor).ok()?;
                }
            }
        }
        method.class = class_name(core, ways, class);
        Some(method)
    }
}

/// The name of the class at a place.
fn class_name(core: &Core<'_>, ways: &Ways, class: u32) -> Option<Arc<str>> {
    let way = ways.class.as_ref()?;
    let mut cursor = core.entry_at(way.ty, class)?;
    let ty = core.metadata.at(way.ty);
    for step in &way.steps {
        match *step {
            ClassStep::Name => {
                let pool = ways.class_name.and_then(|ty| core.pools.of(ty));
                let place = place_in(pool, cursor.varint().ok()?);
                return core.shared_text(ways.class_name, place);
            }
            ClassStep::Other(place) => core.metadata.skip(&ty.fields[place], &mut cursor).ok()?,
        }
    }
    None
}

#[derive(Debug, Clone, Copy)]
struct RawFrame {
    method: u32,
    line: i32,
    bci: i32,
    kind: u32,
}

/// A stack; without frames and truncated where it cannot be read.
#[derive(Debug, Default)]
pub(crate) struct RawStack {
    frames: Box<[RawFrame]>,
    truncated: bool,
}

impl RawStack {
    pub(crate) fn read(core: &Core<'_>, way: &Way<StackStep>, place: u32) -> Self {
        let mut frames = Vec::new();
        let truncated = core
            .entry_at(way.ty, place)
            .and_then(|mut cursor| read_stack(core, way, &mut cursor, &mut frames).ok());
        match truncated {
            Some(truncated) => Self {
                frames: frames.into(),
                truncated,
            },
            None => Self {
                frames: Box::default(),
                truncated: true,
            },
        }
    }
}

/// Reads the frames of a stack; gives whether some are missing.
fn read_stack(
    core: &Core<'_>,
    way: &Way<StackStep>,
    cursor: &mut Cursor<'_>,
    frames: &mut Vec<RawFrame>,
) -> Result<bool, Error> {
    let ty = core.metadata.at(way.ty);
    let mut truncated = false;
    for step in &way.steps {
        match *step {
            StackStep::Truncated => truncated = cursor.byte()? != 0,
            StackStep::Frames => read_frames(core, cursor, frames)?,
            StackStep::Other(place) => core.metadata.skip(&ty.fields[place], cursor)?,
        }
    }
    Ok(truncated)
}

fn read_frames(
    core: &Core<'_>,
    cursor: &mut Cursor<'_>,
    frames: &mut Vec<RawFrame>,
) -> Result<(), Error> {
    let ways = core.metadata.ways();
    let Some(way) = &ways.frame else {
        return Ok(());
    };
    let pool = |ty: Option<_>| ty.and_then(|ty| core.pools.of(ty));
    let (methods, kinds) = (pool(ways.frame_method), pool(ways.frame_kinds));
    let ty = core.metadata.at(way.ty);
    let count = cursor.count(1)?;
    frames.reserve_exact(count.min(RESERVED_FRAMES));
    for _ in 0..count {
        frames.push(read_frame(core, ty, &way.steps, methods, kinds, cursor)?);
    }
    Ok(())
}

fn read_frame(
    core: &Core<'_>,
    ty: &Type,
    steps: &[FrameStep],
    methods: Option<&Pool>,
    kinds: Option<&Pool>,
    cursor: &mut Cursor<'_>,
) -> Result<RawFrame, Error> {
    let mut frame = RawFrame {
        method: NONE,
        line: -1,
        bci: -1,
        kind: NONE,
    };
    for step in steps {
        match *step {
            FrameStep::Method => frame.method = place_in(methods, cursor.varint()?),
            FrameStep::Line => frame.line = cursor.int()?,
            FrameStep::Bci => frame.bci = cursor.int()?,
            FrameStep::Kind => frame.kind = place_in(kinds, cursor.varint()?),
            FrameStep::Other(place) => core.metadata.skip(&ty.fields[place], cursor)?,
        }
    }
    Ok(frame)
}

/// A stack trace, innermost frame first.
#[derive(Debug, Clone, Copy)]
pub struct Stack<'c> {
    core: &'c Core<'c>,
    entry: EntryIndex,
    raw: &'c RawStack,
}

impl<'c> Stack<'c> {
    pub(crate) fn new(core: &'c Core<'c>, entry: EntryIndex) -> Option<Self> {
        let raw = core.raw_stack(entry.0)?;
        Some(Self { core, entry, raw })
    }

    /// Its place in the chunk's pool: equal places are equal stacks.
    pub fn entry(&self) -> EntryIndex {
        self.entry
    }

    /// Whether frames are missing at the outer end.
    pub fn is_truncated(&self) -> bool {
        self.raw.truncated
    }

    /// The frames, innermost first.
    pub fn frames(&self) -> Frames<'c> {
        Frames {
            core: self.core,
            frames: self.raw.frames.iter(),
        }
    }
}

/// Iterator over the frames of a [`Stack`].
#[derive(Debug, Clone)]
pub struct Frames<'c> {
    core: &'c Core<'c>,
    frames: std::slice::Iter<'c, RawFrame>,
}

impl<'c> Frames<'c> {
    #[inline]
    fn frame(&self, raw: RawFrame) -> Frame<'c> {
        Frame {
            core: self.core,
            method: self.core.raw_method(raw.method),
            raw,
        }
    }
}

impl<'c> Iterator for Frames<'c> {
    type Item = Frame<'c>;

    fn next(&mut self) -> Option<Frame<'c>> {
        let raw = *self.frames.next()?;
        Some(self.frame(raw))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.frames.size_hint()
    }
}

impl DoubleEndedIterator for Frames<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        let raw = *self.frames.next_back()?;
        Some(self.frame(raw))
    }
}

impl ExactSizeIterator for Frames<'_> {}

/// A frame of a stack. Names are empty where the file does not tell.
#[derive(Debug, Clone, Copy)]
pub struct Frame<'c> {
    core: &'c Core<'c>,
    method: Option<&'c RawMethod>,
    raw: RawFrame,
}

impl<'c> Frame<'c> {
    /// Place of the method in the chunk's pool: equal places are equal methods.
    pub fn method_entry(&self) -> Option<EntryIndex> {
        (self.raw.method != NONE).then_some(EntryIndex(self.raw.method))
    }

    #[inline]
    fn text(&self, ty: Option<TypeIndex>, place: u32) -> &'c str {
        self.core.text_at(ty, place).unwrap_or("")
    }

    /// Class with slashes: `java/lang/String`.
    #[inline]
    pub fn class(&self) -> &'c str {
        let name = self.method.and_then(|method| method.class.as_deref());
        name.unwrap_or("")
    }

    /// Method name.
    #[inline]
    pub fn method(&self) -> &'c str {
        let name = self.method.and_then(|method| method.name.as_deref());
        name.unwrap_or("")
    }

    /// Descriptor: `(I)V`.
    pub fn descriptor(&self) -> &'c str {
        let place = self.method.map_or(NONE, |method| method.descriptor);
        self.text(self.core.metadata.ways().method_descriptor, place)
    }

    /// Whether viewers should leave the method out.
    pub fn is_hidden(&self) -> bool {
        self.method.is_some_and(|method| method.hidden)
    }

    /// Line, if known.
    pub fn line(&self) -> Option<u32> {
        u32::try_from(self.raw.line).ok().filter(|&line| line > 0)
    }

    /// Index of the byte code, if known.
    pub fn bytecode_index(&self) -> Option<u32> {
        u32::try_from(self.raw.bci).ok()
    }

    /// Place of the kind of frame in its pool.
    pub fn kind_entry(&self) -> Option<EntryIndex> {
        (self.raw.kind != NONE).then_some(EntryIndex(self.raw.kind))
    }

    /// Kind: `Interpreted`, `JIT compiled`, `Inlined`, `Native`, `C++`, `Kernel`.
    pub fn kind(&self) -> &'c str {
        self.text(self.core.metadata.ways().frame_kinds, self.raw.kind)
    }
}
