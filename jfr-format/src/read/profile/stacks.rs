//! Stacks and their frames, decoded when first asked for.

use super::decode_plan::{DecodePlan, FrameField, StackField};
use super::rows::{NONE, RawFrame, RawMethod, RawStack, place_in};
use super::tables::{ProfileData, row_count};
use crate::error::Error;
use crate::read::raw::cursor::Cursor;
use crate::read::typed::metadata::{Type, TypeIndex};
use crate::read::typed::pool::{EntryIndex, Pool};

/// Most frames of a stack reserved at once: no known writer walks deeper.
const RESERVED_FRAMES: usize = 2048;

impl ProfileData<'_> {
    #[inline]
    pub(crate) fn raw_stack(&self, place: u32) -> Option<&RawStack> {
        self.tables.stacks.get(
            place,
            || {
                row_count(
                    self.stack_plan()
                        .and_then(|plan| self.data.pools.of(plan.ty)),
                    usize::MAX,
                )
            },
            || {
                let stack = self
                    .stack_plan()
                    .map(|plan| RawStack::read(self, plan, place));
                stack.unwrap_or_default()
            },
        )
    }

    fn stack_plan(&self) -> Option<&DecodePlan<StackField>> {
        self.plans.stack.as_ref()
    }
}

impl ProfileData<'_> {
    /// Puts the frames of a stack into `frames`, and keeps nothing of it: for who asks for each
    /// stack once. Returns whether frames are missing at the outer end; `None` where there is no
    /// such stack.
    pub(crate) fn decode_stack(&self, place: u32, frames: &mut Vec<RawFrame>) -> Option<bool> {
        let plan = self.stack_plan()?;
        let pool = self.data.pools.of(plan.ty)?;
        pool.offset(EntryIndex(place))?;
        Some(read_or_clear(self, plan, place, frames))
    }
}

/// Gives whether frames are missing; a stack that cannot be read has none.
fn read_or_clear(
    profile: &ProfileData<'_>,
    plan: &DecodePlan<StackField>,
    place: u32,
    frames: &mut Vec<RawFrame>,
) -> bool {
    let entry = profile.data.entry_at(plan.ty, EntryIndex(place));
    let truncated =
        entry.and_then(|mut cursor| read_stack(profile, plan, &mut cursor, frames).ok());
    truncated.unwrap_or_else(|| {
        frames.clear();
        true
    })
}

impl RawStack {
    pub(crate) fn read(
        profile: &ProfileData<'_>,
        plan: &DecodePlan<StackField>,
        place: u32,
    ) -> Self {
        let mut frames = Vec::new();
        let truncated = read_or_clear(profile, plan, place, &mut frames);
        Self {
            frames: frames.into(),
            truncated,
        }
    }
}

/// Reads the frames of a stack; gives whether some are missing.
fn read_stack(
    profile: &ProfileData<'_>,
    plan: &DecodePlan<StackField>,
    cursor: &mut Cursor<'_>,
    frames: &mut Vec<RawFrame>,
) -> Result<bool, Error> {
    let ty = profile.data.metadata.at(plan.ty);
    let mut truncated = false;
    for field in &plan.fields {
        match *field {
            StackField::Truncated => truncated = cursor.byte()? != 0,
            StackField::Frames => read_frames(profile, cursor, frames)?,
            StackField::Other(place) => profile.data.metadata.skip(&ty.fields[place], cursor)?,
        }
    }
    Ok(truncated)
}

fn read_frames(
    profile: &ProfileData<'_>,
    cursor: &mut Cursor<'_>,
    frames: &mut Vec<RawFrame>,
) -> Result<(), Error> {
    let plans = &profile.plans;
    let Some(plan) = &plans.frame else {
        return Ok(());
    };
    let pool = |ty: Option<_>| ty.and_then(|ty| profile.data.pools.of(ty));
    let (methods, kinds) = (pool(plans.frame_method), pool(plans.frame_kinds));
    let ty = profile.data.metadata.at(plan.ty);
    let count = cursor.count(1)?;
    frames.reserve(count.min(RESERVED_FRAMES));
    for _ in 0..count {
        frames.push(read_frame(
            profile,
            ty,
            &plan.fields,
            methods,
            kinds,
            cursor,
        )?);
    }
    Ok(())
}

fn read_frame(
    profile: &ProfileData<'_>,
    ty: &Type,
    plan: &[FrameField],
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
    for field in plan {
        match *field {
            FrameField::Method => frame.method = place_in(methods, cursor.varint()?),
            FrameField::Line => frame.line = cursor.int()?,
            FrameField::Bci => frame.bci = cursor.int()?,
            FrameField::Kind => frame.kind = place_in(kinds, cursor.varint()?),
            FrameField::Other(place) => profile.data.metadata.skip(&ty.fields[place], cursor)?,
        }
    }
    Ok(frame)
}

/// A stack trace, innermost frame first.
#[derive(Debug, Clone, Copy)]
pub struct Stack<'c> {
    profile: &'c ProfileData<'c>,
    entry: EntryIndex,
    raw: &'c RawStack,
}

impl<'c> Stack<'c> {
    pub(crate) fn new(profile: &'c ProfileData<'c>, entry: EntryIndex) -> Option<Self> {
        let raw = profile.raw_stack(entry.0)?;
        Some(Self {
            profile,
            entry,
            raw,
        })
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
            profile: self.profile,
            frames: self.raw.frames.iter(),
        }
    }
}

/// Iterator over the frames of a [`Stack`].
#[derive(Debug, Clone)]
pub struct Frames<'c> {
    profile: &'c ProfileData<'c>,
    frames: std::slice::Iter<'c, RawFrame>,
}

impl<'c> Frames<'c> {
    #[inline]
    fn frame(&self, raw: RawFrame) -> Frame<'c> {
        Frame::new(self.profile, raw)
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

/// A frame of a stack. Names are empty where the file does not say.
#[derive(Debug, Clone, Copy)]
pub struct Frame<'c> {
    profile: &'c ProfileData<'c>,
    method: Option<&'c RawMethod>,
    raw: RawFrame,
}

impl<'c> Frame<'c> {
    #[inline]
    pub(crate) fn new(profile: &'c ProfileData<'c>, raw: RawFrame) -> Self {
        Self {
            profile,
            method: profile.raw_method(raw.method),
            raw,
        }
    }

    /// Place of the method in the chunk's pool: equal places are equal methods.
    pub fn method_entry(&self) -> Option<EntryIndex> {
        self.raw.method_entry()
    }

    #[inline]
    fn text(&self, ty: Option<TypeIndex>, place: u32) -> &'c str {
        self.profile.text_at(ty, place).unwrap_or("")
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
        self.text(self.profile.plans.method_descriptor, place)
    }

    /// Whether viewers should leave the method out.
    pub fn is_hidden(&self) -> bool {
        self.method.is_some_and(|method| method.hidden)
    }

    /// Line, if known.
    pub fn line(&self) -> Option<u32> {
        self.raw.line()
    }

    /// Index of the byte code, if known.
    pub fn bytecode_index(&self) -> Option<u32> {
        u32::try_from(self.raw.bci).ok()
    }

    /// Place of the kind of frame in its pool.
    pub fn kind_entry(&self) -> Option<EntryIndex> {
        self.raw.kind_entry()
    }

    /// Kind: `Interpreted`, `JIT compiled`, `Inlined`, `Native`, `C++`, `Kernel`.
    pub fn kind(&self) -> &'c str {
        self.text(self.profile.plans.frame_kinds, self.raw.kind)
    }
}
