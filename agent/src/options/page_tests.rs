//! The documentation matches the program: every option string in it is valid, every message in it
//! is real.
#![expect(clippy::unwrap_used, reason = "a test reports by panicking")]

use super::table::aliased;
use super::*;
use crate::entry::lifecycle;
use std::fs;
use std::path::{Path, PathBuf};

/// README, `docs/`, `examples/` and the sources of the Java API, with their texts.
fn pages() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut paths = vec![root.join("README.md")];
    for directory in ["docs", "examples", "java-api/src/main"] {
        collect(&root.join(directory), &mut paths);
    }
    paths.sort();
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).unwrap();
        (path, text)
    };
    paths.into_iter().map(read).collect()
}

fn collect(directory: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let is_page = path
            .extension()
            .is_some_and(|end| end == "md" || end == "java");
        if path.is_dir() {
            collect(&path, into);
        } else if is_page {
            into.push(path);
        }
    }
}

/// Each text between `begin` and the first of `ends`.
fn after<'t>(text: &'t str, begin: &'t str, ends: &'t [char]) -> impl Iterator<Item = &'t str> {
    let parts = text.split(begin).skip(1);
    parts.filter_map(move |rest| rest.split(ends).next())
}

/// Words in code spans that give one of our options a value: `wall=50ms`.
fn spans(text: &str) -> Vec<&str> {
    let is_option = |span: &&str| {
        let name = span.split_once('=').filter(|(_, value)| !value.is_empty());
        name.is_some_and(|(name, _)| TABLE.iter().any(|row| row.name == aliased(name)))
    };
    let spans = text
        .lines()
        .flat_map(|line| line.split('`').skip(1).step_by(2));
    spans
        .filter(is_option)
        .filter(|span| !span.contains([' ', '|', '…']))
        .collect()
}

/// Some options are about events that must be recorded, or of another command than `start`.
fn with_all_events(span: &str) -> String {
    if span.starts_with("format=") {
        format!("status,{span}")
    } else if span.starts_with("event=") {
        format!("start,{span}")
    } else {
        let events = ["cpu", "wall", "alloc", "lock"].map(|event| {
            let given = span.strip_prefix(event).is_some_and(|s| s.starts_with('='));
            if given { "" } else { event }
        });
        let mut events = events.to_vec();
        events.retain(|event| !event.is_empty());
        format!("start,event={},{span}", events.join("+"))
    }
}

#[test]
fn every_option_string_in_the_docs_is_valid() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for (path, text) in pages() {
        let is_page = path.extension().is_some_and(|end| end == "md");
        let mut strings: Vec<String> = Vec::new();
        let ends = &[' ', '\n', '`', '"', '\'', '}', '<'];
        strings.extend(after(&text, "libctxagent.so=", ends).map(str::to_owned));
        strings.extend(after(&text, "AgentControl.execute(\"", &['"']).map(str::to_owned));
        if is_page {
            // As jcmd expects them.
            strings.extend(after(&text, "'\"", &['"']).map(str::to_owned));
            strings.extend(spans(&text).into_iter().map(with_all_events));
        }
        count += strings.len();
        for string in strings {
            if let Err(why) = parse(&string) {
                wrong.push(format!("{}: {string}: {why}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 40, "{count} found: the pages are written otherwise");
}

#[test]
fn every_message_in_the_docs_is_real() {
    let page = include_str!("../../../docs/user-guide/options.md");
    let lines: Vec<&str> = page.lines().collect();
    let mut kinds = [0; 3];
    for pair in lines.windows(2) {
        let [given, said] = pair else { continue };
        let Some(said) = said.strip_prefix("ctxagent: ") else {
            continue;
        };
        let expected = match parse(given) {
            Err(error) => {
                kinds[0] += 1;
                let follows = lifecycle::consequence(error.strict());
                format!("error: {error}; {follows}")
            }
            Ok(options) if options.command == Command::Start => {
                kinds[1] += 1;
                let file = options.file.as_ref().unwrap().text().replace("%p", "4711");
                options.start_line(Path::new(&file), "vm, then asgct", None)
            }
            Ok(_) => {
                kinds[2] += 1;
                lifecycle::IDLE.to_owned()
            }
        };
        assert_eq!(*said, expected, "after {given:?}");
    }
    assert!(kinds.iter().all(|count| *count > 0), "{kinds:?}");
}

#[test]
fn the_page_has_every_command() {
    let page = include_str!("../../../docs/user-guide/options.md");
    for command in Command::ALL {
        let item = format!("\n- `{}`: {}\n", command.word(), command.purpose());
        assert!(
            page.contains(&item),
            "docs/user-guide/options.md lacks: {item}"
        );
    }
}
