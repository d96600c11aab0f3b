//! The pools that samples need, decoded once per chunk: texts, threads, methods, stacks.
//!
//! Everything refers to everything by place, never by copied text: a hostile file can make one long
//! symbol the name of a million methods, and that must cost a million numbers, not a million texts.

use std::borrow::Cow;

use super::cursor::{Cursor, RawString};
use super::metadata::{Field, Metadata, Shape, TypeIndex};
use super::open::Core;
use super::pools::{EntryIndex, Pool};
use crate::error::Error;

/// Most threads, classes and methods of a chunk that get their names; bounds memory where entries are two bytes long.
const MOST_ROWS: usize = 1 << 20;
/// No entry: null, dangling key, or not readable.
pub(crate) const NONE: u32 = u32::MAX;

/// A text field of a table: its own, or one of the pool of strings.
#[derive(Debug, Clone, Default)]
enum Text<'a> {
    #[default]
    Null,
    Here(Cow<'a, str>),
    Pooled(u32),
}

/// A thread as the sample's chunk describes it.
#[derive(Debug, Clone)]
pub struct Thread<'c> {
    os_name: Option<&'c str>,
    java_name: Option<&'c str>,
    /// Id that the operating system gave.
    pub os_id: i64,
    /// Java id; 0 = not a Java thread.
    pub java_id: i64,
    /// Whether it is a virtual thread.
    pub is_virtual: bool,
}

impl<'c> Thread<'c> {
    /// Name that the operating system knows.
    pub fn os_name(&self) -> Option<&'c str> {
        self.os_name
    }

    /// Java name; `None` = not a Java thread, or one without a name.
    pub fn java_name(&self) -> Option<&'c str> {
        self.java_name
    }

    /// The Java name, else the other one, else nothing.
    pub fn name(&self) -> &'c str {
        let non_empty = |name: Option<&'c str>| name.filter(|name| !name.is_empty());
        non_empty(self.java_name)
            .or(non_empty(self.os_name))
            .unwrap_or("")
    }
}

#[derive(Debug, Default)]
struct RawThread<'a> {
    os_name: Text<'a>,
    java_name: Text<'a>,
    os_id: i64,
    java_id: i64,
    is_virtual: bool,
}

#[derive(Debug, Clone, Copy)]
struct RawMethod {
    /// Place of the class's name among the symbols.
    class: u32,
    name: u32,
    descriptor: u32,
    hidden: bool,
}

#[derive(Debug, Clone, Copy)]
struct RawFrame {
    method: u32,
    line: i32,
    bci: i32,
    kind: u32,
}

#[derive(Debug, Clone, Copy)]
struct RawStack {
    first: u32,
    len: u32,
    truncated: bool,
}

/// See the module. No interior mutability: lent for any lifetime.
#[derive(Debug)]
pub(crate) struct Tables<'a> {
    /// By type: the texts of a simple type over strings, by place in its pool.
    texts: Vec<Vec<Option<Cow<'a, str>>>>,
    strings: Option<TypeIndex>,
    symbols: Option<TypeIndex>,
    frame_kinds: Option<TypeIndex>,
    threads: Vec<RawThread<'a>>,
    methods: Vec<RawMethod>,
    stacks: Vec<RawStack>,
    frames: Vec<RawFrame>,
}

/// The type of a field of a named type, where it is a reference to a pool.
fn referenced(metadata: &Metadata, owner: Option<TypeIndex>, field: &str) -> Option<TypeIndex> {
    let ty = metadata.at(owner?);
    let field = &ty.fields[ty.field_position(field)?];
    field.constant_pool.then_some(field.type_index?)
}

impl<'a> Tables<'a> {
    pub(crate) fn new(core: &Core<'a>) -> Self {
        let metadata = &core.metadata;
        let method_type = metadata.index_of_name("jdk.types.Method");
        let class_type = metadata.index_of_name("java.lang.Class");
        let stack_type = metadata.index_of_name("jdk.types.StackTrace");
        let frame_type = metadata.index_of_name("jdk.types.StackFrame");
        let symbols = referenced(metadata, method_type, "name");
        let frame_kinds = referenced(metadata, frame_type, "type");
        let texts = (0u32..)
            .zip(metadata.types())
            .map(|(index, _)| texts(core, TypeIndex(index)))
            .collect();
        let mut tables = Self {
            texts,
            strings: core.string_type,
            symbols,
            frame_kinds,
            threads: Vec::new(),
            methods: Vec::new(),
            stacks: Vec::new(),
            frames: Vec::new(),
        };
        if let Some(index) = metadata.index_of_name("java.lang.Thread") {
            tables.threads = table(core, index, |cursor| read_thread(core, index, cursor));
        }
        if let Some(index) = method_type {
            tables.methods = table(core, index, |cursor| read_method(core, index, cursor));
        }
        if let Some(index) = class_type {
            let names = table(core, index, |cursor| read_class(core, index, cursor));
            for method in &mut tables.methods {
                let name = names.get(method.class as usize);
                method.class = name.map_or(NONE, |name| name.0);
            }
        }
        if let Some(index) = stack_type {
            tables.read_stacks(core, index);
        }
        tables
    }

    fn read_stacks(&mut self, core: &Core<'a>, index: TypeIndex) {
        let Some(pool) = core.pools.of(index) else {
            return;
        };
        let steps = frame_steps(core, frame_type(core, index));
        for &offset in pool.offsets() {
            let mut cursor = core.cursor_at(offset);
            let first = self.frames.len();
            let truncated = self.read_stack(core, index, &steps, &mut cursor);
            if truncated.is_err() {
                self.frames.truncate(first);
            }
            // Frames take at least one byte each in a chunk below 4 GiB.
            let number = |count: usize| u32::try_from(count).unwrap_or(NONE);
            self.stacks.push(RawStack {
                first: number(first),
                len: number(self.frames.len() - first),
                truncated: truncated.unwrap_or(true),
            });
        }
    }

    fn read_stack(
        &mut self,
        core: &Core<'a>,
        index: TypeIndex,
        steps: &[FrameStep<'_>],
        cursor: &mut Cursor<'a>,
    ) -> Result<bool, Error> {
        let metadata = &core.metadata;
        let mut truncated = false;
        for field in &metadata.at(index).fields {
            match &*field.name {
                "truncated" if field.shape == Shape::Boolean && !field.array => {
                    truncated = cursor.byte()? != 0;
                }
                "frames" if has_frames(field) => {
                    for _ in 0..cursor.count(1)? {
                        let frame = read_frame(core, steps, cursor)?;
                        self.frames.push(frame);
                    }
                }
                _ => metadata.skip(field, cursor)?,
            }
        }
        Ok(truncated)
    }

    fn text_at(&self, ty: Option<TypeIndex>, place: u32) -> Option<&str> {
        self.texts.get(ty?.usize())?.get(place as usize)?.as_deref()
    }

    /// The text of an entry of a simple type.
    #[inline]
    pub(crate) fn text(&self, ty: TypeIndex, entry: EntryIndex) -> Option<&str> {
        self.text_at(Some(ty), entry.0)
    }

    fn resolve<'c>(&'c self, text: &'c Text<'a>) -> Option<&'c str> {
        match text {
            Text::Null => None,
            Text::Here(text) => Some(text),
            Text::Pooled(place) => self.text_at(self.strings, *place),
        }
    }

    pub(crate) fn thread(&self, entry: EntryIndex) -> Option<Thread<'_>> {
        let raw = self.threads.get(entry.usize())?;
        Some(Thread {
            os_name: self.resolve(&raw.os_name),
            java_name: self.resolve(&raw.java_name),
            os_id: raw.os_id,
            java_id: raw.java_id,
            is_virtual: raw.is_virtual,
        })
    }
}

fn has_frames(field: &Field) -> bool {
    field.array && !field.constant_pool && field.shape == Shape::Struct
}

/// The type of the frames of a type of stacks.
fn frame_type(core: &Core<'_>, stack: TypeIndex) -> Option<TypeIndex> {
    let fields = &core.metadata.at(stack).fields;
    let frames = fields.iter().find(|field| &*field.name == "frames")?;
    frames.type_index.filter(|_| has_frames(frames))
}

/// One element per entry of a pool; the default where an entry cannot be read.
fn table<'a, T>(
    core: &Core<'a>,
    index: TypeIndex,
    mut read: impl FnMut(&mut Cursor<'a>) -> Result<T, Error>,
) -> Vec<T>
where
    T: Default,
{
    let Some(pool) = core.pools.of(index) else {
        return Vec::new();
    };
    pool.offsets()
        .iter()
        .take(MOST_ROWS)
        .map(|&offset| read(&mut core.cursor_at(offset)).unwrap_or_default())
        .collect()
}

/// The texts of a type's pool, if it is that of strings, or simple over a string.
fn texts<'a>(core: &Core<'a>, index: TypeIndex) -> Vec<Option<Cow<'a, str>>> {
    let ty = core.metadata.at(index);
    let is_text = match &ty.fields[..] {
        _ if ty.shape == Shape::Text => true,
        [field] => ty.simple && field.shape == Shape::Text && !field.array && !field.constant_pool,
        _ => false,
    };
    let Some(pool) = core.pools.of(index).filter(|_| is_text) else {
        return Vec::new();
    };
    let text = |&offset: &u32| match core.cursor_at(offset).string() {
        Ok(RawString::Text(text)) => Some(text),
        // Only HotSpot's own Java events use the pool of strings; inside of pools nobody does.
        _ => None,
    };
    pool.offsets().iter().map(text).collect()
}

impl Default for RawMethod {
    fn default() -> Self {
        Self {
            class: NONE,
            name: NONE,
            descriptor: NONE,
            hidden: false,
        }
    }
}

struct ClassName(u32);

impl Default for ClassName {
    fn default() -> Self {
        Self(NONE)
    }
}

/// Reads a reference: the place of its entry.
fn place(core: &Core<'_>, field: &Field, cursor: &mut Cursor<'_>) -> Result<u32, Error> {
    let pool = field.type_index.and_then(|ty| core.pools.of(ty));
    Ok(place_in(pool, cursor.varint()?))
}

#[inline]
fn place_in(pool: Option<&Pool>, key: u64) -> u32 {
    pool.and_then(|pool| pool.index_of(key))
        .map_or(NONE, |entry| entry.0)
}

fn text_field<'a>(core: &Core<'a>, cursor: &mut Cursor<'a>) -> Result<Text<'a>, Error> {
    Ok(match cursor.string()? {
        RawString::Null => Text::Null,
        RawString::Text(text) => Text::Here(text),
        RawString::PoolKey(key) => core
            .string_type
            .and_then(|ty| core.pools.of(ty)?.index_of(key))
            .map_or(Text::Null, |entry| Text::Pooled(entry.0)),
    })
}

fn is_integer(field: &Field) -> bool {
    matches!(
        field.shape,
        Shape::Int | Shape::Long | Shape::Short | Shape::Char
    ) && !field.constant_pool
        && !field.array
}

fn is_flag(field: &Field) -> bool {
    field.shape == Shape::Boolean && !field.constant_pool && !field.array
}

fn is_inline_text(field: &Field) -> bool {
    field.shape == Shape::Text && !field.constant_pool && !field.array
}

fn is_reference(field: &Field) -> bool {
    field.constant_pool && !field.array
}

fn read_thread<'a>(
    core: &Core<'a>,
    index: TypeIndex,
    cursor: &mut Cursor<'a>,
) -> Result<RawThread<'a>, Error> {
    let mut thread = RawThread::default();
    for field in &core.metadata.at(index).fields {
        match &*field.name {
            "osName" if is_inline_text(field) => thread.os_name = text_field(core, cursor)?,
            "javaName" if is_inline_text(field) => thread.java_name = text_field(core, cursor)?,
            "osThreadId" if is_integer(field) => thread.os_id = cursor.long()?,
            "javaThreadId" if is_integer(field) => thread.java_id = cursor.long()?,
            "virtual" if is_flag(field) => thread.is_virtual = cursor.byte()? != 0,
            _ => core.metadata.skip(field, cursor)?,
        }
    }
    Ok(thread)
}

fn read_class(
    core: &Core<'_>,
    index: TypeIndex,
    cursor: &mut Cursor<'_>,
) -> Result<ClassName, Error> {
    for field in &core.metadata.at(index).fields {
        if &*field.name == "name" && is_reference(field) {
            return place(core, field, cursor).map(ClassName);
        }
        core.metadata.skip(field, cursor)?;
    }
    Ok(ClassName::default())
}

fn read_method(
    core: &Core<'_>,
    index: TypeIndex,
    cursor: &mut Cursor<'_>,
) -> Result<RawMethod, Error> {
    let mut method = RawMethod::default();
    for field in &core.metadata.at(index).fields {
        match &*field.name {
            "type" if is_reference(field) => method.class = place(core, field, cursor)?,
            "name" if is_reference(field) => method.name = place(core, field, cursor)?,
            "descriptor" if is_reference(field) => method.descriptor = place(core, field, cursor)?,
            "hidden" if is_flag(field) => method.hidden = cursor.byte()? != 0,
            _ => core.metadata.skip(field, cursor)?,
        }
    }
    Ok(method)
}

/// What a field of a frame is for.
#[derive(Debug, Clone, Copy)]
enum FrameStep<'p> {
    Method(Option<&'p Pool>),
    Line,
    Bci,
    Kind(Option<&'p Pool>),
    Other(&'p Field),
}

/// How a frame is read: looked up by name once per chunk, not once per frame.
fn frame_steps<'p>(core: &'p Core<'_>, frame: Option<TypeIndex>) -> Vec<FrameStep<'p>> {
    let Some(frame) = frame else {
        return Vec::new();
    };
    let step = |field: &'p Field| {
        let pool = || field.type_index.and_then(|ty| core.pools.of(ty));
        match &*field.name {
            "method" if is_reference(field) => FrameStep::Method(pool()),
            "lineNumber" if is_integer(field) => FrameStep::Line,
            "bytecodeIndex" if is_integer(field) => FrameStep::Bci,
            "type" if is_reference(field) => FrameStep::Kind(pool()),
            _ => FrameStep::Other(field),
        }
    };
    core.metadata.at(frame).fields.iter().map(step).collect()
}

fn read_frame(
    core: &Core<'_>,
    steps: &[FrameStep<'_>],
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
            FrameStep::Method(pool) => frame.method = place_in(pool, cursor.varint()?),
            FrameStep::Line => frame.line = cursor.int()?,
            FrameStep::Bci => frame.bci = cursor.int()?,
            FrameStep::Kind(pool) => frame.kind = place_in(pool, cursor.varint()?),
            FrameStep::Other(field) => core.metadata.skip(field, cursor)?,
        }
    }
    Ok(frame)
}

/// A stack trace, innermost frame first.
#[derive(Debug, Clone, Copy)]
pub struct Stack<'c> {
    tables: &'c Tables<'c>,
    entry: EntryIndex,
    raw: RawStack,
}

impl<'c> Stack<'c> {
    pub(crate) fn new(tables: &'c Tables<'c>, entry: EntryIndex) -> Option<Self> {
        let raw = *tables.stacks.get(entry.usize())?;
        Some(Self { tables, entry, raw })
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
        let first = self.raw.first as usize;
        let frames = self
            .tables
            .frames
            .get(first..first + self.raw.len as usize)
            .unwrap_or_default();
        Frames {
            tables: self.tables,
            frames: frames.iter(),
        }
    }
}

/// Iterator over the frames of a [`Stack`].
#[derive(Debug, Clone)]
pub struct Frames<'c> {
    tables: &'c Tables<'c>,
    frames: std::slice::Iter<'c, RawFrame>,
}

impl<'c> Frames<'c> {
    fn frame(&self, raw: RawFrame) -> Frame<'c> {
        Frame {
            tables: self.tables,
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
    tables: &'c Tables<'c>,
    raw: RawFrame,
}

impl<'c> Frame<'c> {
    /// Place of the method in the chunk's pool: equal places are equal methods.
    pub fn method_entry(&self) -> Option<EntryIndex> {
        (self.raw.method != NONE).then_some(EntryIndex(self.raw.method))
    }

    fn method_row(&self) -> RawMethod {
        self.tables
            .methods
            .get(self.raw.method as usize)
            .copied()
            .unwrap_or_default()
    }

    fn symbol(&self, place: u32) -> &'c str {
        let tables = self.tables;
        tables.text_at(tables.symbols, place).unwrap_or("")
    }

    /// Class with slashes: `java/lang/String`.
    pub fn class(&self) -> &'c str {
        self.symbol(self.method_row().class)
    }

    /// Method name.
    pub fn method(&self) -> &'c str {
        self.symbol(self.method_row().name)
    }

    /// Descriptor: `(I)V`.
    pub fn descriptor(&self) -> &'c str {
        self.symbol(self.method_row().descriptor)
    }

    /// Whether viewers should leave the method out.
    pub fn is_hidden(&self) -> bool {
        self.method_row().hidden
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
        let tables = self.tables;
        tables
            .text_at(tables.frame_kinds, self.raw.kind)
            .unwrap_or("")
    }
}
