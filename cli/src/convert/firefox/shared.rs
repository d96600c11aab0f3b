//! What all threads of a file share: strings, functions, frames, stacks; and tables as columns.

use std::collections::HashMap;
use std::fmt::Display;
use std::hash::Hash;
use std::io::{self, Write};

use serde_json::json;

use crate::collect::{FrameKind, FrameName};
use crate::convert::profile::Kind;
use crate::text;

/// Categories with their colours, and their parts; the first part is of everything else.
pub(super) const CATEGORIES: [(&str, &str, &[&str]); 4] = [
    ("Other", "grey", &["Other"]),
    (
        "Java",
        "green",
        &["Other", "Compiled", "Inlined", "Interpreted"],
    ),
    ("Native", "blue", &["Other", "C++"]),
    ("Kernel", "orange", &["Other"]),
];
pub(super) const OTHER: u32 = 0;

/// Places in [`CATEGORIES`].
fn category(kind: FrameKind) -> (u32, u32) {
    match kind {
        FrameKind::Label | FrameKind::Missing => (OTHER, 0),
        FrameKind::Compiled => (1, 1),
        FrameKind::Inlined => (1, 2),
        FrameKind::Interpreted => (1, 3),
        FrameKind::Native => (2, 0),
        FrameKind::Cpp => (2, 1),
        FrameKind::Kernel => (3, 0),
    }
}

/// Things with their places, in the order in which they came.
pub(super) struct Table<K> {
    places: HashMap<K, usize>,
    list: Vec<K>,
}

impl<K: Copy + Eq + Hash> Table<K> {
    fn new() -> Self {
        Self {
            places: HashMap::new(),
            list: Vec::new(),
        }
    }

    pub(super) fn place(&mut self, key: K) -> usize {
        let next = self.list.len();
        *self.places.entry(key).or_insert_with(|| {
            self.list.push(key);
            next
        })
    }
}

/// A frame: its function, line and kind.
type FrameKey = (usize, u32, FrameKind);
/// A stack: that of the callers, and the innermost frame.
type StackKey = (Option<usize>, usize);

/// What all threads share.
pub(super) struct Shared<'p> {
    pub(super) strings: Table<&'p str>,
    /// By place of the name.
    functions: Table<usize>,
    frames: Table<FrameKey>,
    stacks: Table<StackKey>,
}

impl<'p> Shared<'p> {
    pub(super) fn new() -> Self {
        Self {
            strings: Table::new(),
            functions: Table::new(),
            frames: Table::new(),
            stacks: Table::new(),
        }
    }

    fn frame(&mut self, frame: &'p FrameName) -> usize {
        let name = self.strings.place(&frame.text);
        let function = self.functions.place(name);
        self.frames.place((function, frame.line, frame.kind))
    }

    /// The places of the kind's stacks.
    pub(super) fn stacks(&mut self, kind: &'p Kind) -> Vec<usize> {
        let frames = kind.frames.iter().map(|frame| self.frame(frame));
        let frames: Vec<usize> = frames.collect();
        let stacks = kind.stacks.iter().map(|stack| {
            let outermost_first = stack.iter().rev();
            let stack = outermost_first.fold(None, |callers, &frame| {
                Some(self.stacks.place((callers, frames[frame as usize])))
            });
            stack.unwrap_or_default()
        });
        stacks.collect()
    }
}

/// Writes `"NAME":[...],`.
pub(super) fn column<T: Display>(
    out: &mut dyn Write,
    name: &str,
    values: impl Iterator<Item = T>,
) -> io::Result<()> {
    write!(out, "\"{name}\":[")?;
    for (number, value) in values.enumerate() {
        let separator = if number > 0 { "," } else { "" };
        write!(out, "{separator}{value}")?;
    }
    out.write_all(b"],")
}

/// Writes columns that have one value in all rows.
fn columns_of(out: &mut dyn Write, names: &[&str], value: &str, len: usize) -> io::Result<()> {
    names
        .iter()
        .try_for_each(|name| column(out, name, std::iter::repeat_n(value, len)))
}

/// Writes the tables.
pub(super) fn write_shared(shared: &Shared<'_>, out: &mut dyn Write) -> io::Result<()> {
    let or_null =
        |number: Option<usize>| number.map_or("null".to_owned(), |number| number.to_string());
    let (stacks, frames) = (&shared.stacks.list, &shared.frames.list);
    out.write_all(b"{\"stackTable\":{")?;
    column(
        out,
        "prefix",
        stacks.iter().map(|&(callers, _)| or_null(callers)),
    )?;
    column(out, "frame", stacks.iter().map(|(_, frame)| frame))?;
    write!(out, "\"length\":{}}},\"frameTable\":{{", stacks.len())?;
    column(out, "func", frames.iter().map(|(function, ..)| function))?;
    column(
        out,
        "category",
        frames.iter().map(|frame| category(frame.2).0),
    )?;
    column(
        out,
        "subcategory",
        frames.iter().map(|frame| category(frame.2).1),
    )?;
    let line = |frame: &FrameKey| or_null(Some(frame.1 as usize).filter(|&line| line > 0));
    column(out, "line", frames.iter().map(line))?;
    columns_of(out, &["column", "nativeSymbol"], "null", frames.len())?;
    columns_of(out, &["address"], "-1", frames.len())?;
    columns_of(out, &["inlineDepth", "innerWindowID"], "0", frames.len())?;
    let functions = &shared.functions.list;
    write!(out, "\"length\":{}}},\"funcTable\":{{", frames.len())?;
    column(out, "name", functions.iter())?;
    columns_of(out, &["isJS", "relevantForJS"], "false", functions.len())?;
    columns_of(out, &["resource"], "-1", functions.len())?;
    columns_of(
        out,
        &["source", "lineNumber", "columnNumber"],
        "null",
        functions.len(),
    )?;
    write!(out, "\"length\":{}}},", functions.len())?;
    let empty = [
        ("resourceTable", &["lib", "name", "host", "type"][..]),
        (
            "nativeSymbols",
            &["libIndex", "address", "name", "functionSize"],
        ),
        (
            "sources",
            &["id", "filename", "startLine", "startColumn", "sourceMapURL"],
        ),
    ];
    for (table, columns) in empty {
        write!(out, "\"{table}\":{{")?;
        columns_of(out, columns, "", 0)?;
        out.write_all(b"\"length\":0},")?;
    }
    out.write_all(b"\"stringArray\":[")?;
    for (number, string) in shared.strings.list.iter().enumerate() {
        let separator = if number > 0 { "," } else { "" };
        write!(out, "{separator}{}", text::json(&json!(string)))?;
    }
    out.write_all(b"]}")
}
