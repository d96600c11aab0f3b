//! The only place that writes to stdout and stderr.

use std::fmt::Display;
use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;

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
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let colour = stdout.is_terminal() && !no_colour && !dumb;
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
            format!("\x1b[33m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }

    /// Prints rows of cells in columns: the first `left` to the left, the others to the right.
    /// The first row is the head.
    pub(crate) fn columns(&mut self, rows: &[Vec<String>], left: usize) -> Result<(), Failure> {
        let columns = rows.first().map_or(0, Vec::len);
        let widths: Vec<usize> = (0..columns)
            .map(|column| {
                rows.iter()
                    .map(|row| text::width(&row[column]))
                    .max()
                    .unwrap_or(0)
            })
            .collect();
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
            self.line(if number == 0 {
                self.bold(line)
            } else {
                line.to_owned()
            })?;
        }
        Ok(())
    }

    /// Whether long work may show how far it is.
    pub(crate) fn shows_progress(&self) -> bool {
        self.progress
    }
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
    if !replace && path.symlink_metadata().is_ok() {
        return Err(Failure::Finding(format!(
            "{} exists; --force replaces it",
            path.display()
        )));
    }
    Ok(())
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
    use std::os::unix::fs::OpenOptionsExt;
    let fail = |what: &str, error: &io::Error| {
        Failure::Finding(format!("{}: {what}: {error}", path.display()))
    };
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
        .map_err(|error| fail("cannot create", &error))?;
    let written = write(&mut file).and_then(|()| file.sync_data());
    // A link fails if the name exists, so that a file made meanwhile is not lost.
    let published = written.and_then(|()| {
        if replace {
            std::fs::rename(&temporary, path)
        } else {
            std::fs::hard_link(&temporary, path)
        }
    });
    if published.is_err() || !replace {
        let _ = std::fs::remove_file(&temporary);
    }
    published.map_err(|error| fail("cannot write", &error))
}
