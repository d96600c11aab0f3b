//! The pages: links lead somewhere, the index is complete, no page knows the machine it was written on.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test panics on failure and tells what it measured"
)]

use std::fs;
use std::path::{Path, PathBuf};

use e2e::workspace::root;

/// Folders that hold results, not sources.
const NOT_SOURCES: &[&str] = &["target", "build", "node_modules"];

fn pages(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && !name.starts_with('.') && !NOT_SOURCES.contains(&name.as_str()) {
            pages(&path, into);
        } else if path.extension().is_some_and(|ext| ext == "md") {
            into.push(path);
        }
    }
}

fn all_pages() -> Vec<(PathBuf, String)> {
    let mut paths = Vec::new();
    pages(root(), &mut paths);
    paths.sort();
    paths
        .into_iter()
        .map(|path| {
            let text = fs::read_to_string(&path).unwrap();
            (path, text)
        })
        .collect()
}

/// Text outside fenced blocks and code spans.
fn prose(text: &str) -> String {
    let mut out = String::new();
    let mut fenced = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            out.extend(line.split('`').step_by(2));
        }
        out.push('\n');
    }
    out
}

/// Targets of `[text](target)`.
fn links(text: &str) -> Vec<String> {
    let prose = prose(text);
    prose
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next())
        .map(str::to_owned)
        .collect()
}

/// The anchor that a heading gets: lower case, spaces to hyphens, other signs dropped.
fn anchors(text: &str) -> Vec<String> {
    let headings = text
        .lines()
        .filter(|line| line.starts_with('#'))
        .map(|line| line.trim_start_matches('#').trim());
    headings
        .map(|heading| {
            let kept = heading
                .to_lowercase()
                .chars()
                .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
                .collect::<String>();
            kept.replace(' ', "-")
        })
        .collect()
}

#[test]
fn every_link_leads_somewhere() {
    let mut broken = Vec::new();
    let mut count = 0;
    for (page, text) in all_pages() {
        for link in links(&text) {
            if link.contains("://") || link.starts_with("mailto:") {
                continue;
            }
            count += 1;
            let (file, anchor) = link
                .split_once('#')
                .map_or((link.as_str(), None), |(file, anchor)| (file, Some(anchor)));
            let target = if file.is_empty() {
                page.clone()
            } else {
                page.parent().unwrap().join(file)
            };
            let found = target.exists()
                && anchor.is_none_or(|anchor| {
                    fs::read_to_string(&target)
                        .is_ok_and(|text| anchors(&text).iter().any(|known| known == anchor))
                });
            if !found {
                broken.push(format!(
                    "{}: {link}",
                    page.strip_prefix(root()).unwrap().display()
                ));
            }
        }
    }
    println!("{count} links");
    assert!(
        broken.is_empty(),
        "links that lead nowhere:\n{}",
        broken.join("\n")
    );
}

#[test]
fn the_index_has_every_page_and_says_when_to_read_it() {
    let index = fs::read_to_string(root().join("docs/README.md")).unwrap();
    let mut missing = Vec::new();
    for (page, _) in all_pages() {
        let Ok(name) = page.strip_prefix(root().join("docs")) else {
            continue;
        };
        let name = name.to_string_lossy();
        let row = format!("| [{name}]({name}) | ");
        if name != "README.md"
            && !index
                .lines()
                .any(|line| line.starts_with(&row) && line.len() > row.len() + 10)
        {
            missing.push(row);
        }
    }
    assert!(
        missing.is_empty(),
        "rows that docs/README.md lacks:\n{}",
        missing.join("\n")
    );
}

#[test]
fn no_page_knows_the_machine_it_was_written_on() {
    let mut found = Vec::new();
    for (page, text) in all_pages() {
        for (number, line) in text.lines().enumerate() {
            if ["/root/", "/home/", "/work/"]
                .iter()
                .any(|path| line.contains(path))
            {
                found.push(format!(
                    "{}:{}: {line}",
                    page.strip_prefix(root()).unwrap().display(),
                    number + 1
                ));
            }
        }
    }
    assert!(
        found.is_empty(),
        "paths of one machine:\n{}",
        found.join("\n")
    );
}
