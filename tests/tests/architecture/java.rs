//! The packages of the Java API and what each uses: imports, and names written out in full.

use super::graph::Graph;
use std::fs;
use std::path::Path;

/// The package that all others are in.
const ROOT: &str = "io.ctxagent";

/// The graph of packages below [`ROOT`]; `.` is the root itself.
pub(crate) fn packages(source: &Path) -> Graph {
    let mut files = Vec::new();
    visit(source, &mut files);
    let names: Vec<String> = files.iter().map(|(package, _)| package.clone()).collect();
    let mut graph = Graph::default();
    for (package, text) in &files {
        graph.add_unit(&short(package));
        for used in used(text, &names) {
            graph.add(&short(package), &short(&used));
        }
    }
    graph
}

fn visit(directory: &Path, files: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            visit(&path, files);
        } else if path.extension().is_some_and(|e| e == "java") {
            let text = without_comments(&fs::read_to_string(&path).expect("a source file"));
            let package = text.lines().find_map(|l| l.trim().strip_prefix("package "));
            if let Some(package) = package.map(|p| p.trim_end_matches(';').to_owned()) {
                files.push((package, text));
            }
        }
    }
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
