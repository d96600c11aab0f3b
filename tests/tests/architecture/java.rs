//! The packages of the Java API and what each uses: imports, and names written out in full. Inside a
//! package: the files and the classes of other files that each names.

use super::graph::Graph;
use e2e::workspace::sources;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The package that all others are in.
const ROOT: &str = "io.ctxagent";

/// A source file.
#[derive(Debug)]
struct SourceFile {
    package: String,
    /// The top-level class, by which other files of the package name it.
    class: String,
    /// Without comments.
    text: String,
}

/// The graph of packages below [`ROOT`]; `.` is the root itself.
pub(crate) fn packages(source: &Path) -> Graph {
    let files = source_files(source);
    let names: Vec<String> = files.iter().map(|file| file.package.clone()).collect();
    let mut graph = Graph::default();
    for file in &files {
        graph.add_unit(&short(&file.package));
        for used in used(&file.text, &names) {
            graph.add(&short(&file.package), &short(&used));
        }
    }
    graph
}

/// The graph of the files of each package.
pub(crate) fn files(source: &Path) -> BTreeMap<String, Graph> {
    let files = source_files(source);
    let mut graphs = BTreeMap::<String, Graph>::new();
    for file in &files {
        let graph = graphs.entry(short(&file.package)).or_default();
        graph.add_unit(&file.class);
        let names = words(&file.text);
        let same_package = files.iter().filter(|other| other.package == file.package);
        for used in same_package.filter(|other| names.contains(&other.class.as_str())) {
            graph.add(&file.class, &used.class);
        }
    }
    graphs
}

fn source_files(source: &Path) -> Vec<SourceFile> {
    let paths = sources(source, &["java"]);
    assert!(!paths.is_empty(), "{}", source.display());
    let file = |path: PathBuf| {
        let text = without_comments(&fs::read_to_string(&path).expect("a source file"));
        let package = text.lines().find_map(|l| l.trim().strip_prefix("package "));
        let package = package?.trim_end_matches(';').to_owned();
        let class = path.file_stem().unwrap_or_default();
        let class = class.to_string_lossy().into_owned();
        Some(SourceFile {
            package,
            class,
            text,
        })
    };
    paths.into_iter().filter_map(file).collect()
}

/// All packages of ours that the text names: the longest package that begins a qualified name.
fn used(text: &str, packages: &[String]) -> Vec<String> {
    let is_part = |c: char| c.is_alphanumeric() || c == '.' || c == '_';
    text.lines()
        .filter(|line| !line.trim_start().starts_with("package "))
        .flat_map(|line| line.split(|c| !is_part(c)))
        .filter(|word| word.starts_with(ROOT))
        .filter_map(|word| {
            let holds = |p: &&String| {
                let rest = word.strip_prefix(p.as_str());
                let class = rest.and_then(|rest| rest.strip_prefix('.'));
                class.is_some_and(|c| c.is_empty() || c.starts_with(char::is_uppercase))
            };
            packages
                .iter()
                .filter(holds)
                .max_by_key(|p| p.len())
                .cloned()
        })
        .collect()
}

/// The words of a text without comments, those in strings left out.
fn words(text: &str) -> Vec<&str> {
    text.lines()
        .flat_map(|line| line.split('"').step_by(2))
        .flat_map(|code| code.split(|c: char| !c.is_alphanumeric() && c != '_'))
        .collect()
}

fn without_comments(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("/*") {
        out.push_str(&rest[..at]);
        rest = rest[at..].split_once("*/").map_or("", |(_, after)| after);
    }
    out.push_str(rest);
    let code = |line: &str| line.split("//").next().unwrap_or_default().to_owned();
    out.lines().map(code).collect::<Vec<_>>().join("\n")
}

fn short(package: &str) -> String {
    let rest = package.strip_prefix(ROOT).unwrap_or(package);
    if rest.is_empty() {
        ".".into()
    } else {
        rest.trim_start_matches('.').to_owned()
    }
}

#[test]
fn imports_and_full_names_count_and_comments_do_not() {
    let text = without_comments(
        "package io.ctxagent;\nimport io.ctxagent.internal.block.Slab;\n/** {@link io.ctxagent.no.X} */\n\
         // io.ctxagent.no.Y\nclass A { io.ctxagent.internal.Native n; }",
    );
    let packages = [
        "io.ctxagent",
        "io.ctxagent.internal",
        "io.ctxagent.internal.block",
        "io.ctxagent.no",
    ];
    let used = used(&text, &packages.map(str::to_owned));
    assert_eq!(used, ["io.ctxagent.internal.block", "io.ctxagent.internal"]);
}

#[test]
fn words_of_code_count_and_those_in_strings_do_not() {
    let words = words("Slab.find(\"no Misuse here\", key); new Scope()");
    assert!(words.contains(&"Slab") && words.contains(&"Scope"));
    assert!(!words.contains(&"Misuse"));
}
