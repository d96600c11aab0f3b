//! speedscope: <https://www.speedscope.app/file-format-schema.json>, a profile for each kind of
//! samples. The format has no labels; the keys of `--by` become the outermost frames.

use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::Arc;

use serde_json::json;

use super::profile::{Kind, Profile, Row};
use crate::filter::Unit;
use crate::text;

const SCHEMA: &str = "https://www.speedscope.app/file-format-schema.json";

/// The frames of all profiles, each with its number.
#[derive(Default)]
struct Frames {
    places: HashMap<(Arc<str>, u32), usize>,
    list: Vec<(Arc<str>, u32)>,
}

impl Frames {
    fn place(&mut self, name: Arc<str>, line: u32) -> usize {
        let next = self.list.len();
        let frame = (name, line);
        *self.places.entry(frame.clone()).or_insert_with(|| {
            self.list.push(frame);
            next
        })
    }
}

/// Writes the file piece by piece.
pub(super) fn write(profile: &Profile, out: &mut dyn Write) -> io::Result<()> {
    let name = text::json(&json!(profile.name));
    let exporter = concat!("ctxjfr ", env!("CARGO_PKG_VERSION"));
    write!(
        out,
        "{{\"$schema\":\"{SCHEMA}\",\"exporter\":\"{exporter}\",\"name\":{name},\"profiles\":["
    )?;
    let mut frames = Frames::default();
    for (number, kind) in profile.kinds.iter().enumerate() {
        if number > 0 {
            out.write_all(b",")?;
        }
        write_kind(kind, &mut frames, out)?;
    }
    out.write_all(b"],\"shared\":{\"frames\":[")?;
    for (number, (name, line)) in frames.list.iter().enumerate() {
        let frame = match line {
            0 => json!({"name": **name}),
            line => json!({"name": **name, "line": line}),
        };
        let separator = if number > 0 { "," } else { "" };
        write!(out, "{separator}{}", text::json(&frame))?;
    }
    out.write_all(b"]}}\n")
}

fn write_kind(kind: &Kind, frames: &mut Frames, out: &mut dyn Write) -> io::Result<()> {
    let unit = match kind.unit {
        Unit::Cpu | Unit::Wall | Unit::Lock => "nanoseconds",
        Unit::Bytes => "bytes",
        Unit::Samples => "none",
    };
    write!(
        out,
        "{{\"type\":\"sampled\",\"name\":\"{}\",\"unit\":\"{unit}\",\"startValue\":0,\
         \"endValue\":{},\"samples\":[",
        kind.unit.head(),
        kind.total.value
    )?;
    let places = kind.frames.iter();
    let places: Vec<usize> = places
        .map(|frame| frames.place(frame.text.clone(), frame.line))
        .collect();
    let roots = (0u32..).zip(&kind.groups).map(|(group, _)| {
        let roots = kind.roots(group);
        roots.map(|root| frames.place(root.into(), 0)).collect()
    });
    let roots: Vec<Vec<usize>> = roots.collect();
    write_list(kind, out, |row| {
        let outermost_first = kind.stack(row).iter().rev();
        let stack = outermost_first.map(|&frame| places[frame as usize]);
        json!(
            [
                roots[row.group as usize].as_slice(),
                &stack.collect::<Vec<usize>>()
            ]
            .concat()
        )
    })?;
    out.write_all(b"],\"weights\":[")?;
    write_list(kind, out, |row| json!(row.sum.value))?;
    out.write_all(b"]}")
}

/// What is shown of each row, with commas between.
fn write_list(
    kind: &Kind,
    out: &mut dyn Write,
    shown: impl Fn(&Row) -> serde_json::Value,
) -> io::Result<()> {
    for (number, row) in kind.rows.iter().enumerate() {
        let separator = if number > 0 { "," } else { "" };
        write!(out, "{separator}{}", shown(row))?;
    }
    Ok(())
}
