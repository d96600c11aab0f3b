//! The pools that samples need: texts, threads, methods, stacks. An entry is decoded when it is first asked for, once per chunk.
//!
//! A recording of the JDK has stacks of a hundred event types; who wants the samples of one of them must not pay for all.
//! Everything refers to everything by place, never by copied text: a hostile file can make one long
//! symbol the name of a million methods, and that must cost a million numbers, not a million texts.

use std::sync::{Arc, OnceLock};

use super::cursor::{Cursor, RawString};
use super::metadata::{Field, Metadata, Shape, TypeIndex};
use super::open::Core;
use super::pools::{EntryIndex, Pool};
use super::stacks::{RawMethod, RawStack};
use super::ways::{MethodStep, StackStep, ThreadStep, Way};
use crate::error::Error;

/// Most threads and methods of a chunk that get their names; bounds memory where entries are two bytes long.
const MOST_ROWS: usize = 1 << 20;
/// No entry: null, dangling key, or not readable.
pub(crate) const NONE: u32 = u32::MAX;

/// A cell per entry of a pool, filled when first asked for.
#[derive(Debug)]
struct Cells<T>(OnceLock<Box<[OnceLock<T>]>>);

impl<T> Default for Cells<T> {
    fn default() -> Self {
        Self(OnceLock::new())
    }
}

impl<T> Cells<T> {
    /// The cell at a place; `len` and `read` are called where there is none yet.
    #[inline]
    fn get(&self, place: u32, len: impl FnOnce() -> usize, read: impl FnOnce() -> T) -> Option<&T> {
        let new_cells = || (0..len()).map(|_| OnceLock::new()).collect();
        let cells = self.0.get_or_init(new_cells);
        Some(cells.get(place as usize)?.get_or_init(read))
    }
}

/// A text field of a table: its own, or one of the pool of strings.
#[derive(Debug, Default)]
enum Text {
    #[default]
    Null,
    Here(Box<str>),
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
struct RawThread {
    os_name: Text,
    java_name: Text,
    os_id: i64,
    java_id: i64,
    is_virtual: bool,
}

/// What has been decoded. Borrows nothing from the chunk, so that it can be lent for any lifetime.
#[derive(Debug)]
pub(crate) struct Tables {
    /// By type: the texts of a simple type over strings, by place in its pool.
    texts: Vec<Cells<Option<Arc<str>>>>,
    threads: Cells<RawThread>,
    methods: Cells<RawMethod>,
    stacks: Cells<RawStack>,
}

impl Tables {
    pub(crate) fn new(metadata: &Metadata) -> Self {
        let mut texts = Vec::new();
        texts.resize_with(metadata.types().len(), Cells::default);
        Self {
            texts,
            threads: Cells::default(),
            methods: Cells::default(),
            stacks: Cells::default(),
        }
    }
}

impl Core<'_> {
    /// The text of an entry of the pool of strings, or of a simple type over one.
    #[inline]
    pub(crate) fn text_at(&self, ty: Option<TypeIndex>, place: u32) -> Option<&str> {
        self.text_cell(ty?, place)?.as_deref()
    }

    pub(crate) fn shared_text(&self, ty: Option<TypeIndex>, place: u32) -> Option<Arc<str>> {
        self.text_cell(ty?, place)?.clone()
    }

    #[inline]
    fn text_cell(&self, ty: TypeIndex, place: u32) -> Option<&Option<Arc<str>>> {
        self.tables.texts.get(ty.usize())?.get(
            place,
            || rows(text_pool(self, ty), usize::MAX),
            || self.read_text(ty, place),
        )
    }

    pub(crate) fn thread(&self, entry: EntryIndex) -> Option<Thread<'_>> {
        let way = self.metadata.ways().thread.as_ref()?;
        let raw = self.tables.threads.get(
            entry.0,
            || rows(self.pools.of(way.ty), MOST_ROWS),
            || {
                let cursor = self.entry_at(way.ty, entry.0);
                let thread = cursor.and_then(|mut at| {
                    read_thread(self, &self.metadata.at(way.ty).fields, &way.steps, &mut at).ok()
                });
                thread.unwrap_or_default()
            },
        )?;
        Some(Thread {
            os_name: self.resolve(&raw.os_name),
            java_name: self.resolve(&raw.java_name),
            os_id: raw.os_id,
            java_id: raw.java_id,
            is_virtual: raw.is_virtual,
        })
    }

    #[inline]
    pub(crate) fn raw_method(&self, place: u32) -> Option<&RawMethod> {
        self.tables.methods.get(
            place,
            || {
                rows(
                    self.method_way().and_then(|way| self.pools.of(way.ty)),
                    MOST_ROWS,
                )
            },
            || {
                let method = self
                    .method_way()
                    .and_then(|way| RawMethod::read(self, way, place));
                method.unwrap_or_default()
            },
        )
    }

    fn method_way(&self) -> Option<&Way<MethodStep>> {
        self.metadata.ways().method.as_ref()
    }

    #[inline]
    pub(crate) fn raw_stack(&self, place: u32) -> Option<&RawStack> {
        self.tables.stacks.get(
            place,
            || {
                rows(
                    self.stack_way().and_then(|way| self.pools.of(way.ty)),
                    usize::MAX,
                )
            },
            || {
                let stack = self.stack_way().map(|way| RawStack::read(self, way, place));
                stack.unwrap_or_default()
            },
        )
    }

    fn stack_way(&self) -> Option<&Way<StackStep>> {
        self.metadata.ways().stack.as_ref()
    }

    /// A cursor at the start of the entry at a place of a pool.
    pub(crate) fn entry_at(&self, ty: TypeIndex, place: u32) -> Option<Cursor<'_>> {
        let offset = self.pools.of(ty)?.offset(EntryIndex(place))?;
        Some(self.cursor_at(offset))
    }

    fn read_text(&self, ty: TypeIndex, place: u32) -> Option<Arc<str>> {
        match self.entry_at(ty, place)?.string().ok()? {
            RawString::Text(text) => Some(text.into()),
            // Only HotSpot's own Java events use the pool of strings; inside of pools nobody does.
            RawString::Null | RawString::PoolKey(_) => None,
        }
    }

    fn resolve<'c>(&'c self, text: &'c Text) -> Option<&'c str> {
        match text {
            Text::Null => None,
            Text::Here(text) => Some(text),
            Text::Pooled(place) => self.text_at(self.string_type, *place),
        }
    }
}

fn rows(pool: Option<&Pool>, most: usize) -> usize {
    pool.map_or(0, Pool::len).min(most)
}

/// The pool of a type of texts: that of strings, or of a simple type over a string.
fn text_pool<'c>(core: &'c Core<'_>, index: TypeIndex) -> Option<&'c Pool> {
    let ty = core.metadata.at(index);
    let is_text = match &ty.fields[..] {
        _ if ty.shape == Shape::Text => true,
        [field] => ty.simple && field.shape == Shape::Text && !field.array && !field.constant_pool,
        _ => false,
    };
    core.pools.of(index).filter(|_| is_text)
}

/// The place of a key in a pool; [`NONE`] if it is not there.
#[inline]
pub(crate) fn place_in(pool: Option<&Pool>, key: u64) -> u32 {
    pool.and_then(|pool| pool.index_of(key))
        .map_or(NONE, |entry| entry.0)
}

fn text_field(core: &Core<'_>, cursor: &mut Cursor<'_>) -> Result<Text, Error> {
    Ok(match cursor.string()? {
        RawString::Null => Text::Null,
        RawString::Text(text) => Text::Here(text.into()),
        RawString::PoolKey(key) => {
            match place_in(core.string_type.and_then(|ty| core.pools.of(ty)), key) {
                NONE => Text::Null,
                place => Text::Pooled(place),
            }
        }
    })
}

fn read_thread(
    core: &Core<'_>,
    fields: &[Field],
    steps: &[ThreadStep],
    cursor: &mut Cursor<'_>,
) -> Result<RawThread, Error> {
    let mut thread = RawThread::default();
    for step in steps {
        match *step {
            ThreadStep::OsName => thread.os_name = text_field(core, cursor)?,
            ThreadStep::JavaName => thread.java_name = text_field(core, cursor)?,
            ThreadStep::OsId => thread.os_id = cursor.long()?,
            ThreadStep::JavaId => thread.java_id = cursor.long()?,
            ThreadStep::IsVirtual => thread.is_virtual = cursor.byte()? != 0,
            ThreadStep::Other(place) => core.metadata.skip(&fields[place], cursor)?,
        }
    }
    Ok(thread)
}
