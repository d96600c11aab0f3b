//! The only place that writes to stdout and stderr.

use std::fmt::Display;
use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::ops::Range;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use rustix::termios::tcgetwinsize;

use crate::text;

/// Why a command ended early. What was wrong in a file but did not stop the reading is not here:
/// see [`crate::input::Outcome`].
#[derive(Debug)]
pub(crate) enum Failure {
    /// The call makes no sense: exit code 2.
    Usage(String),
    /// Nothing could be read or written, or nothing in the file matches: exit code 1.
    Finding(String),
    /// The reader of our stdout went away: quiet.
    Closed,
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            Self::Closed
        } else {
            Self::Finding(format!("stdout: {error}"))
        }
    }
}

/// Narrowest cell of a column that is cut for a narrow terminal.
const MIN_PLACES: usize = 10;

/// Where text goes.
#[derive(Debug)]
pub(crate) struct Output {
    stdout: BufWriter<io::Stdout>,
    colour: bool,
    raw: bool,
    progress: bool,
}

impl Output {
    pub(crate) fn new(raw: bool) -> Self {
        let stdout = io::stdout();
        let no_colour = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let colour = stdout.is_terminal() && !no_colour && !is_dumb();
        let progress = io::stderr().is_terminal();
        Self {
            stdout: BufWriter::with_capacity(64 << 10, stdout),
            colour,
            raw,
            progress,
        }
    }

    /// A line that we made.
    pub(crate) fn line(&mut self, line: impl Display) -> Result<(), Failure> {
        Ok(writeln!(self.stdout, "{line}")?)
    }

    /// Bytes that are complete as they are.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        Ok(self.stdout.write_all(bytes)?)
    }

    /// For results that are written piece by piece.
    pub(crate) fn writer(&mut self) -> &mut dyn Write {
        &mut self.stdout
    }

    pub(crate) fn json(&mut self, value: &serde_json::Value) -> Result<(), Failure> {
        let text = text::json(value);
        self.line(text)
    }

    pub(crate) fn flush(&mut self) -> Result<(), Failure> {
        Ok(self.stdout.flush()?)
    }

    /// Text from a recording, for the terminal.
    pub(crate) fn clean(&self, text: &str) -> String {
        self.cleaner().clean(text)
    }

    /// What [`Output::clean`] does, for those who write later.
    pub(crate) fn cleaner(&self) -> Cleaner {
        Cleaner { raw: self.raw }
    }

    pub(crate) fn bold(&self, text: &str) -> String {
        if self.colour {
            format!("\x1b[1m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }

    pub(crate) fn dim(&self, text: &str) -> String {
        if self.colour {
            format!("\x1b[2m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }

    pub(crate) fn style_warning(&self, text: &str) -> String {
        if self.colour {
            format!("\x1b[31m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }

    /// Prints rows of cells, see [`Output::table`].
    pub(crate) fn print_table(&mut self, rows: &[Vec<String>], left: usize) -> Result<(), Failure> {
        self.table(rows, left)
            .iter()
            .try_for_each(|line| self.line(line))
    }

    /// Rows of cells as lines: the first `left` columns to the left, the others to the right. The
    /// first row is the head.
    pub(crate) fn table(&self, rows: &[Vec<String>], left: usize) -> Vec<String> {
        let columns = rows.first().map_or(0, Vec::len);
        let widths: Vec<usize> = (0..columns)
            .map(|column| {
                rows.iter()
                    .map(|row| text::width(&row[column]))
                    .max()
                    .unwrap_or(0)
            })
            .collect();
        let mut lines = Vec::with_capacity(rows.len());
        for (number, row) in rows.iter().enumerate() {
            let mut line = String::new();
            for (column, cell) in row.iter().enumerate() {
                let gap = " ".repeat(widths[column] - text::width(cell));
                line.push_str(if column == 0 { " " } else { "  " });
                if column < left {
                    line.push_str(cell);
                    line.push_str(&gap);
                } else {
                    line.push_str(&gap);
                    line.push_str(cell);
                }
            }
            let line = line.trim_end();
            lines.push(if number == 0 {
                self.bold(line)
            } else {
                line.to_owned()
            });
        }
        lines
    }

    /// A text behind `begin`, on a terminal in lines that fit, each `indent` places from the left.
    pub(crate) fn hanging(&self, begin: &str, indent: usize, text: &str) -> Vec<String> {
        let room = self.columns().map_or(usize::MAX, |places| {
            places.saturating_sub(indent).max(MIN_PLACES)
        });
        let mut lines = vec![begin.to_owned()];
        let mut used = 0;
        for word in text.split(' ') {
            let width = text::width(word);
            if used > 0 && used + 1 + width > room {
                lines.push(" ".repeat(indent));
                used = 0;
            } else if used > 0 {
                used += 1;
            }
            if let Some(line) = lines.last_mut() {
                if used > 0 {
                    line.push(' ');
                }
                line.push_str(word);
            }
            used += width;
        }
        lines
    }

    /// Cuts the cells of some columns to `most` places, and on a terminal so that a row fits into a
    /// line.
    pub(crate) fn fit(&self, rows: &mut [Vec<String>], columns: Range<usize>, most: usize) {
        let all = rows.first().map_or(0, Vec::len);
        let width = |column: usize| {
            let widths = rows.iter().map(|row| text::width(&row[column]));
            widths.max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..all).map(width).collect();
        let others = widths.iter().enumerate();
        let others = others.filter(|(column, _)| !columns.contains(column));
        // A blank at the begin, two between columns.
        let taken = others.map(|(_, width)| width).sum::<usize>() + 2 * all.saturating_sub(1) + 1;
        let room = self
            .columns()
            .map_or(usize::MAX, |places| places.saturating_sub(taken));
        let wanted = widths[columns.clone()].iter().map(|&width| width.min(most));
        let places = share_places(&wanted.collect::<Vec<_>>(), room);
        for row in rows {
            for (cell, &places) in row[columns.clone()].iter_mut().zip(&places) {
                *cell = text::cut(cell, places);
            }
        }
    }

    /// Columns of the terminal that stdout is; `None` if it is none.
    pub(crate) fn columns(&self) -> Option<usize> {
        self.size().map(|(columns, _)| columns)
    }

    /// Columns and rows of a terminal that can be drawn on again.
    pub(crate) fn redrawable(&self) -> Option<(usize, usize)> {
        self.size().filter(|_| !is_dumb())
    }

    /// Columns and rows of the terminal that stdout is; `None` if it is none. It may change.
    fn size(&self) -> Option<(usize, usize)> {
        size_of(self.stdout.get_ref())
    }

    /// Whether long work may show how far it is.
    pub(crate) fn shows_progress(&self) -> bool {
        self.progress
    }
}

/// Whether the terminal knows no control sequences.
fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// Columns of the terminal that stderr is.
pub(crate) fn stderr_columns() -> Option<usize> {
    size_of(&io::stderr()).map(|(columns, _)| columns)
}

fn size_of(stream: &(impl AsFd + IsTerminal)) -> Option<(usize, usize)> {
    if !stream.is_terminal() {
        return None;
    }
    let size = tcgetwinsize(stream).ok()?;
    // Some terminals do not know theirs.
    let is_known = size.ws_col > 0 && size.ws_row > 0;
    is_known.then_some((size.ws_col.into(), size.ws_row.into()))
}

/// Shares `room` among columns that want so many places: what one does not need another one gets.
fn share_places(wanted: &[usize], mut room: usize) -> Vec<usize> {
    let mut places = vec![0; wanted.len()];
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by_key(|&column| wanted[column]);
    for (done, &column) in order.iter().enumerate() {
        let share = (room / (wanted.len() - done)).max(MIN_PLACES);
        places[column] = wanted[column].min(share);
        room = room.saturating_sub(places[column]);
    }
    places
}

/// Makes text from a recording fit for the terminal, or leaves it with `--raw`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cleaner {
    raw: bool,
}

impl Cleaner {
    pub(crate) fn clean(self, text: &str) -> String {
        if self.raw {
            text.to_owned()
        } else {
            text::terminal(text).into_owned()
        }
    }
}

/// Warns on stderr; never part of the result.
pub(crate) fn warn(message: &str) {
    // Nothing can report a failure of stderr.
    let _ = writeln!(io::stderr(), "ctxjfr: {}", text::terminal(message));
}

/// Shows the progress of long work, over the line before.
pub(crate) fn progress(message: &str) {
    let _ = write!(io::stderr(), "\r\x1b[K{message}");
    let _ = io::stderr().flush();
}

/// Fails if [`write_file`] would; also called before long work.
pub(crate) fn check_target(path: &Path, replace: bool) -> Result<(), Failure> {
    let Ok(existing) = path.symlink_metadata() else {
        return Ok(());
    };
    let why = match existing.file_type() {
        _ if !replace => "exists; --force replaces it",
        kind if kind.is_file() || kind.is_symlink() => return Ok(()),
        // A rename would take away the device, for everybody.
        _ => "is no regular file; `-` is stdout",
    };
    Err(Failure::Finding(format!("{} {why}", path.display())))
}

/// Writes a new file: mode 0600, never through a link, complete or not at all. An existing file
/// stays unless `replace`.
pub(crate) fn write_file(path: &Path, bytes: &[u8], replace: bool) -> Result<(), Failure> {
    write_file_with(path, replace, |file| file.write_all(bytes))
}

/// The same with what `write` writes.
pub(crate) fn write_file_with(
    path: &Path,
    replace: bool,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> Result<(), Failure> {
    StagedFile::write(path, replace, write)?.publish()
}

/// A complete file that does not have its name yet. It is gone if it does not get it.
#[derive(Debug)]
pub(crate) struct StagedFile {
    path: PathBuf,
    temporary: PathBuf,
    replace: bool,
}

impl StagedFile {
    /// Writes it.
    pub(crate) fn write(
        path: &Path,
        replace: bool,
        write: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> Result<Self, Failure> {
        use std::os::unix::fs::OpenOptionsExt;
        check_target(path, replace)?;
        let Some(name) = path.file_name() else {
            return Err(Failure::Usage(format!(
                "'{}' names no file",
                path.display()
            )));
        };
        let mut temporary_name = std::ffi::OsString::from(".");
        temporary_name.push(name);
        temporary_name.push(format!(".{}.tmp", std::process::id()));
        let temporary = path.with_file_name(temporary_name);
        let mut options = std::fs::OpenOptions::new();
        let mut file = options
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&temporary)
            .map_err(|error| cannot("create", path, &error))?;
        let staged = Self {
            path: path.to_owned(),
            temporary,
            replace,
        };
        let written = write(&mut file).and_then(|()| file.sync_data());
        written.map_err(|error| cannot("write", path, &error))?;
        Ok(staged)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Gives it its name.
    pub(crate) fn publish(self) -> Result<(), Failure> {
        // A link fails if the name exists, so that a file made meanwhile is not lost.
        let published = if self.replace {
            std::fs::rename(&self.temporary, &self.path)
        } else {
            std::fs::hard_link(&self.temporary, &self.path)
        };
        published.map_err(|error| cannot("write", &self.path, &error))
    }
}

impl Drop for StagedFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.temporary); // renamed, or to be forgotten
    }
}

fn cannot(what: &str, path: &Path, error: &io::Error) -> Failure {
    Failure::Finding(format!("{}: cannot {what}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_share_the_room_that_others_leave() {
        assert_eq!(share_places(&[50], 30), [30]);
        assert_eq!(share_places(&[12, 50], 40), [12, 28]);
        assert_eq!(share_places(&[50, 60], 41), [20, 21]);
        assert_eq!(share_places(&[50, 4], 3), [MIN_PLACES, 4]);
        assert_eq!(share_places(&[50, 4], usize::MAX), [50, 4]);
    }
}
