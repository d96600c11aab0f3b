//! Collapsed stacks: a line for each, as flame graph tools read them.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::profile::Profile;
use crate::filter::Unit;
use crate::text;

/// Writes the lines, outermost frame first, and behind each its width.
pub(super) fn write(profile: &Profile, out: &mut dyn Write) -> io::Result<()> {
    // By text: a method has one line for all its kinds of frame.
    let mut lines: BTreeMap<String, u64> = BTreeMap::new();
    for kind in &profile.kinds {
        let frames = kind.frame_texts();
        for row in &kind.rows {
            let roots = kind.roots(row.group).map(|root| text::collapsed(&root));
            let mut line: Vec<String> = roots.collect();
            let outermost_first = kind.stack(row).iter().rev();
            line.extend(outermost_first.map(|&frame| frames[frame as usize].clone()));
            // A number of samples, which other tools can multiply; waits have no interval.
            let width = match kind.unit {
                Unit::Lock => row.sum.value,
                _ => row.sum.weight,
            };
            let known = lines.entry(line.join(";")).or_default();
            *known = known.saturating_add(width);
        }
    }
    lines
        .iter()
        .try_for_each(|(line, width)| writeln!(out, "{line} {width}"))
}
