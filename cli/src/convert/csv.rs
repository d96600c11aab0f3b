//! CSV: a line for each stack with its labels, outermost frame first. No cell is a formula to a
//! spreadsheet.

use std::collections::BTreeSet;
use std::io::{self, Write};

use super::profile::{Kind, Profile};
use crate::text;

/// Writes head and lines. A label is a column, which is empty where a kind does not have it.
pub(super) fn write(profile: &Profile, out: &mut dyn Write) -> io::Result<()> {
    let keys = profile.keys();
    let mut head = vec!["unit".to_owned()];
    head.extend(keys.iter().map(|key| text::csv(key)));
    head.extend(["samples", "weight", "value", "stack"].map(str::to_owned));
    writeln!(out, "{}", head.join(","))?;
    for kind in &profile.kinds {
        write_kind(kind, &keys, out)?;
    }
    Ok(())
}

fn write_kind(kind: &Kind, keys: &BTreeSet<&str>, out: &mut dyn Write) -> io::Result<()> {
    let frames = kind.frame_texts();
    // Where the values of the columns stand in a group.
    let places = keys.iter().map(|&wanted| {
        let mut names = kind.keys.iter();
        names.position(|key| key == wanted)
    });
    let places: Vec<Option<usize>> = places.collect();
    for rows in kind.rows.chunk_by(|a, b| a.group == b.group) {
        let values = &kind.groups[rows[0].group as usize].values;
        let labels = places.iter().map(|place| {
            let value = place.and_then(|place| values.get(place)?.as_deref());
            match value {
                None => String::new(),
                // Quotes tell an empty value from none.
                Some("") => "\"\"".to_owned(),
                Some(value) => text::csv(value),
            }
        });
        let labels: Vec<String> = labels.collect();
        let labels = labels.join(",");
        for row in rows {
            let outermost_first = kind.stack(row).iter().rev();
            let stack = outermost_first.map(|&frame| frames[frame as usize].as_str());
            let stack = text::csv(&stack.collect::<Vec<_>>().join(";"));
            let sum = &row.sum;
            let (unit, samples, weight) = (kind.unit.name(), sum.samples, sum.weight);
            writeln!(
                out,
                "{unit},{labels},{samples},{weight},{},{stack}",
                sum.value
            )?;
        }
    }
    Ok(())
}
