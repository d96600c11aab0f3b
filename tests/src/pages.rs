//! The pages of the source tree, and the shell commands in them.

use std::fs;
use std::path::PathBuf;

use crate::workspace::{root, sources};

/// What stands on the line before a block that no test runs, followed by the reason.
const NOT_RUN: &str = "<!-- not run by a test: ";

/// A page and its text.
#[derive(Debug)]
pub struct Page {
    /// Where it is, from the root of the source tree.
    pub name: String,
    /// What it holds.
    pub text: String,
}

impl Page {
    /// Where it is.
    pub fn path(&self) -> PathBuf {
        root().join(&self.name)
    }

    /// Whether users and contributors read it: its words are counted.
    pub fn is_documentation(&self) -> bool {
        self.name.starts_with("docs/") || !self.name.contains('/')
    }

    /// Code spans, in tables too, that begin with one of the words, as `make check` does.
    pub fn commands(&self, words: &[&str]) -> Vec<String> {
        let lines = self.text.lines();
        let spans = lines.flat_map(|line| line.split('`').skip(1).step_by(2));
        let is_command = |span: &&str| {
            let word = span.split_once(' ').map(|(word, _)| word);
            word.is_some_and(|word| words.contains(&word))
        };
        spans.filter(is_command).map(str::to_owned).collect()
    }

    /// Its fenced blocks of shell commands.
    pub fn shell_blocks(&self) -> Vec<ShellBlock> {
        let mut blocks = Vec::new();
        let mut before = "";
        let mut lines = self.text.lines().enumerate();
        while let Some((number, line)) = lines.next() {
            if line == "```sh" {
                let script = lines.by_ref().map(|(_, line)| line);
                let script: Vec<&str> = script.take_while(|line| *line != "```").collect();
                let reason = before.strip_prefix(NOT_RUN);
                blocks.push(ShellBlock {
                    place: format!("{}:{}", self.name, number + 1),
                    script: script.join("\n"),
                    reason_not_to_run: reason.map(|end| end.trim_end_matches("-->").trim().into()),
                });
            }
            before = line;
        }
        blocks
    }
}

/// A fenced block of shell commands.
#[derive(Debug)]
pub struct ShellBlock {
    /// Page and line.
    pub place: String,
    /// The commands.
    pub script: String,
    /// Why no test runs it, from the comment above it.
    pub reason_not_to_run: Option<String>,
}

/// Every page of the source tree, sorted by name.
pub fn all() -> Vec<Page> {
    let page = |path: PathBuf| Page {
        name: path.strip_prefix(root()).unwrap().display().to_string(),
        text: fs::read_to_string(&path).unwrap(),
    };
    sources(root(), &["md"]).into_iter().map(page).collect()
}
