//! Where tables go: over the one before on a terminal, one after the other elsewhere.

use std::fmt::Write as _;

use crate::output::{Failure, Output};

/// Goes up so many lines and clears what is below.
const CLEAR_BELOW: &str = "\x1b[J";
/// Cut a line at the edge of the terminal, and wrap it again.
const NO_WRAP: &str = "\x1b[?7l";
const WRAP: &str = "\x1b[?7h";

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Screen {
    /// Lines of the last table.
    shown: usize,
}

/// Lines that fit, with one for the cursor; `None` where all do.
pub(super) fn rows(output: &Output) -> Option<usize> {
    let (_, rows) = output.redrawable()?;
    Some(rows.saturating_sub(1))
}

impl Screen {
    /// Shows these lines instead of those before.
    pub(super) fn show(&mut self, lines: &[String], output: &mut Output) -> Result<(), Failure> {
        let Some(rows) = rows(output) else {
            for line in lines {
                output.line(line)?;
            }
            output.line("")?;
            return output.flush();
        };
        let mut text = String::new();
        // A terminal that has become lower has lost the first lines.
        let up = self.shown.min(rows);
        if up > 0 {
            let _ = write!(text, "\x1b[{up}A");
        }
        text.push_str(CLEAR_BELOW);
        text.push_str(NO_WRAP);
        let lines = &lines[..lines.len().min(rows)];
        for line in lines {
            text.push_str(line);
            text.push('\n');
        }
        text.push_str(WRAP);
        self.shown = lines.len();
        output.bytes(text.as_bytes())?;
        output.flush()
    }
}
