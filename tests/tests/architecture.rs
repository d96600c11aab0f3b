//! Layers with arrows one way, as `docs/contributing/architecture.md` draws them: no upward arrow
//! and no cycle, between crates, between modules, between files, and between the packages and files
//! of the Java API.

mod graph;
mod java;
mod layers;
mod rust;

use e2e::workspace::root;
use graph::Graph;
use layers::Layers;
use std::fs;

/// The crates by directory.
const CRATES: &[&str] = &[
    "agent",
    "agent/class-patcher",
    "agent/jvmti-sys",
    "agent/signal-core",
    "agent/stack-walker",
    "cli",
    "cli/attach",
    "events",
    "jfr-format",
    "schema",
    "tests",
];

/// Modules that have layers of their own.
const NESTED: [(&str, &str); 2] = [("jfr-format", "read"), ("jfr-format", "write")];

fn page() -> String {
    fs::read_to_string(root().join("docs/contributing/architecture.md")).expect("the page")
}

/// Fails with all faults, a line each.
fn assert_none(faults: &[String]) {
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

#[test]
fn crates_use_only_crates_below() {
    let mut graph = Graph::default();
    for directory in CRATES {
        graph.add_unit(directory);
        for used in dependencies(directory) {
            graph.add(directory, used);
        }
    }
    let layers =
        Layers::find(&page(), "crates").expect("the crates in docs/contributing/architecture.md");
    assert_none(&layers.faults(&graph));
}

/// The crates of this workspace that a crate is built with, tests left out.
fn dependencies(directory: &str) -> Vec<&'static str> {
    let manifest = manifest(&format!("{directory}/Cargo.toml"));
    let workspace = manifest_paths();
    let begin = manifest
        .find("\n[dependencies]")
        .map_or("", |at| &manifest[at + 1..]);
    let section = begin.split("\n[").next().unwrap_or_default();
    let names = section
        .lines()
        .filter_map(|line| line.split([' ', '.', '=']).next());
    names
        .filter_map(|name| workspace.iter().find(|(n, _)| n == name))
        .filter_map(|(_, path)| CRATES.iter().copied().find(|c| c == path))
        .collect()
}

/// Name and path of each crate of ours, from the workspace's manifest.
fn manifest_paths() -> Vec<(String, String)> {
    let text = manifest("Cargo.toml");
    let with_path = text
        .lines()
        .filter_map(|line| line.split_once(" = { path = \""));
    with_path
        .map(|(name, rest)| {
            let path = rest.split('"').next().unwrap_or_default();
            (name.to_owned(), path.to_owned())
        })
        .collect()
}

fn manifest(path: &str) -> String {
    fs::read_to_string(root().join(path)).expect("a manifest")
}

#[test]
fn every_crate_is_checked() {
    let members = manifest("Cargo.toml");
    let members = members.split("members = [").nth(1).expect("members");
    let members = members.split(']').next().unwrap_or_default();
    let mut names: Vec<&str> = members.split('"').skip(1).step_by(2).collect();
    names.sort_unstable();
    assert_eq!(names, CRATES);
}

#[test]
fn modules_use_only_modules_below() {
    let page = page();
    let mut faults = Vec::new();
    for directory in CRATES {
        let graph = rust::top_level(&rust::files(&root().join(directory).join("src")));
        let place = format!("{directory}/src");
        match Layers::find(&page, &place) {
            Some(layers) => faults.extend(layers.faults(&graph)),
            None if graph.units().count() > 6 => {
                faults.push(format!(
                    "docs/contributing/architecture.md has no layers for {place}"
                ));
            }
            None => {}
        }
    }
    for (directory, module) in NESTED {
        let files = rust::files(&root().join(directory).join("src"));
        let place = format!("{directory}/src/{module}");
        let layers =
            Layers::find(&page, &place).expect("the module in docs/contributing/architecture.md");
        faults.extend(layers.faults(&rust::inside(&files, module)));
    }
    assert_none(&faults);
}

#[test]
fn files_have_no_import_cycle() {
    let mut faults = Vec::new();
    for directory in CRATES {
        let graph = rust::files(&root().join(directory).join("src"));
        assert!(graph.units().count() > 0, "no files in {directory}");
        let cycles = graph.cycles();
        faults.extend(cycles.iter().map(|cycle| format!("{directory}: {cycle}")));
    }
    assert_none(&faults);
}

#[test]
fn java_files_have_no_cycle() {
    let graphs = java::files(&root().join("java-api/src/main/java"));
    assert!(graphs.contains_key("."), "no files in the root package");
    let cycles = graphs.iter().flat_map(|(package, graph)| {
        let cycles = graph.cycles().into_iter();
        cycles.map(move |cycle| format!("{package}: {cycle}"))
    });
    assert_none(&cycles.collect::<Vec<_>>());
}

#[test]
fn java_packages_use_only_packages_below() {
    let place = "java-api/src/main/java";
    let graph = java::packages(&root().join(place));
    let layers =
        Layers::find(&page(), place).expect("the packages in docs/contributing/architecture.md");
    assert_none(&layers.faults(&graph));
    assert_none(&graph.cycles());
}
