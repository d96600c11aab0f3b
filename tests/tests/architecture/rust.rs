//! The modules of a Rust crate and what each file imports, read from its tokens: comments and
//! strings do not count, paths in expressions and macros do. Test code is left out.

use super::graph::Graph;
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A module by its path from the crate's root; the root itself is empty.
type Module = Vec<String>;

/// The graph of the files of a crate, named by module; `crate` is the root.
pub(crate) fn files(source: &Path) -> Graph {
    let modules = modules(source);
    let mut graph = Graph::default();
    for (module, path) in &modules {
        graph.add_unit(&name(module));
        let text = fs::read_to_string(path).expect("a source file");
        let tokens: TokenStream = text.parse().expect("Rust");
        let mut paths = Vec::new();
        collect(&tokens.into_iter().collect::<Vec<_>>(), module, &mut paths);
        for path in paths {
            if let Some(used) = owner(&path, &modules) {
                graph.add(&name(module), &name(&used));
            }
        }
    }
    graph
}

/// The same arrows between top-level modules, without the root.
pub(crate) fn top_level(files: &Graph) -> Graph {
    let top = |unit: &str| unit.split("::").next().unwrap_or_default().to_owned();
    let mut graph = Graph::default();
    files
        .units()
        .filter(|u| *u != "crate")
        .for_each(|unit| graph.add_unit(&top(unit)));
    for (from, to) in files.arrows().filter(|a| a.0 != "crate" && a.1 != "crate") {
        graph.add(&top(from), &top(to));
    }
    graph
}

/// The same arrows between the modules directly inside a top-level module, without its root.
pub(crate) fn inside(files: &Graph, module: &str) -> Graph {
    let inner = |unit: &str| {
        let rest = unit.strip_prefix(module)?.strip_prefix("::")?;
        Some(rest.split("::").next().unwrap_or(rest).to_owned())
    };
    let mut graph = Graph::default();
    files
        .units()
        .filter_map(inner)
        .for_each(|unit| graph.add_unit(&unit));
    for (from, to) in files.arrows() {
        if let (Some(from), Some(to)) = (inner(from), inner(to)) {
            graph.add(&from, &to);
        }
    }
    graph
}

fn name(module: &Module) -> String {
    if module.is_empty() {
        return "crate".into();
    }
    module.join("::")
}

fn modules(source: &Path) -> BTreeMap<Module, PathBuf> {
    let mut found = BTreeMap::new();
    visit(source, &mut Vec::new(), &mut found);
    found
}

fn visit(directory: &Path, prefix: &mut Module, found: &mut BTreeMap<Module, PathBuf>) {
    for entry in fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        let stem = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if stem == "tests" || stem.ends_with("_tests") {
            continue;
        }
        prefix.push(stem.clone());
        if path.is_dir() {
            visit(&path, prefix, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            let is_root = matches!(stem.as_str(), "mod" | "lib" | "main");
            let end = prefix.len() - usize::from(is_root);
            found.insert(prefix[..end].to_vec(), path);
        }
        prefix.pop();
    }
}

/// The module that a path leads into: the longest beginning that is a file.
fn owner(path: &[String], modules: &BTreeMap<Module, PathBuf>) -> Option<Module> {
    (0..=path.len())
        .rev()
        .map(|end| path[..end].to_vec())
        .find(|module| modules.contains_key(module))
}

/// Collects all paths that begin with `crate`, `self`, `super` or a child module of `here`.
fn collect(tokens: &[TokenTree], here: &Module, paths: &mut Vec<Module>) {
    collect_in(tokens, here, &children(tokens), paths);
}

/// The same within a module whose child modules are known.
fn collect_in(tokens: &[TokenTree], here: &Module, children: &[String], paths: &mut Vec<Module>) {
    let mut at = 0;
    while at < tokens.len() {
        if let Some(end) = end_of_test_item(tokens, at) {
            at = end;
            continue;
        }
        if let Some((name, body)) = inline_module(tokens, at) {
            let mut inner = here.clone();
            inner.push(name);
            collect(&body, &inner, paths);
            at += 3;
            continue;
        }
        if begins_path(tokens, at, children) {
            at = take_path(tokens, at, here, paths);
            continue;
        }
        if let TokenTree::Group(group) = &tokens[at] {
            let inner: Vec<TokenTree> = group.stream().into_iter().collect();
            collect_in(&inner, here, children, paths);
        }
        at += 1;
    }
}

/// Names of the modules that are declared here without a body: `mod name;`.
fn children(tokens: &[TokenTree]) -> Vec<String> {
    tokens
        .windows(3)
        .filter(|w| is_word(&w[0], "mod") && is_sign(&w[2], ';'))
        .map(|w| w[1].to_string())
        .collect()
}

/// Where the item ends that `#[cfg(test)]` at `at` stands for.
fn end_of_test_item(tokens: &[TokenTree], at: usize) -> Option<usize> {
    let [sign, TokenTree::Group(attribute), rest @ ..] = &tokens[at..] else {
        return None;
    };
    let text = attribute.stream().to_string().replace(' ', "");
    if !is_sign(sign, '#') || !text.starts_with("cfg(test") {
        return None;
    }
    let end = rest.iter().position(|token| {
        is_sign(token, ';')
            || matches!(token, TokenTree::Group(g) if g.delimiter() == Delimiter::Brace)
    });
    Some(at + 2 + end? + 1)
}

fn inline_module(tokens: &[TokenTree], at: usize) -> Option<(String, Vec<TokenTree>)> {
    let [word, TokenTree::Ident(name), TokenTree::Group(body), ..] = &tokens[at..] else {
        return None;
    };
    let is_module = is_word(word, "mod") && body.delimiter() == Delimiter::Brace;
    is_module.then(|| (name.to_string(), body.stream().into_iter().collect()))
}

fn begins_path(tokens: &[TokenTree], at: usize, children: &[String]) -> bool {
    let TokenTree::Ident(word) = &tokens[at] else {
        return false;
    };
    let word = word.to_string();
    let goes_on = is_separator(tokens, at + 1);
    let is_continued = at >= 2 && is_separator(tokens, at - 2);
    let is_relative = matches!(word.as_str(), "crate" | "self" | "super");
    goes_on && !is_continued && (is_relative || children.contains(&word))
}

/// Takes the path that begins at `at`, with all branches of its braces; answers where it ends.
fn take_path(tokens: &[TokenTree], mut at: usize, here: &Module, paths: &mut Vec<Module>) -> usize {
    let mut path = here.clone();
    loop {
        match &tokens[at] {
            TokenTree::Ident(word) => match word.to_string().as_str() {
                "crate" => path.clear(),
                "self" => {}
                "super" => {
                    path.pop();
                }
                word => path.push(word.to_owned()),
            },
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                let branches: Vec<TokenTree> = group.stream().into_iter().collect();
                for branch in branches.split(|token| is_sign(token, ',')) {
                    if !branch.is_empty() {
                        take_path(branch, 0, &path, paths);
                    }
                }
                return at + 1;
            }
            _ => {}
        }
        if !is_separator(tokens, at + 1) || at + 3 >= tokens.len() {
            paths.push(path);
            return at + 1;
        }
        at += 3;
    }
}

fn is_separator(tokens: &[TokenTree], at: usize) -> bool {
    matches!(tokens.get(at..at + 2), Some([a, b]) if is_sign(a, ':') && is_sign(b, ':'))
}

fn is_word(token: &TokenTree, word: &str) -> bool {
    matches!(token, TokenTree::Ident(ident) if ident == word)
}

fn is_sign(token: &TokenTree, sign: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == sign)
}

#[test]
fn paths_are_found_wherever_they_stand() {
    let source = r#"
        mod child;
        use crate::a::{self, b::C, d};
        use super::e::F;
        // crate::comment::X
        fn f() { child::g(crate::h::I); let _ = "crate::text::Y"; println!("{}", crate::j::K); }
        mod inner { use super::l; }
        #[cfg(test)]
        mod tests { use crate::only_in_tests; }
        use std::child::fs;
    "#;
    let tokens: TokenStream = source.parse().expect("Rust");
    let mut paths = Vec::new();
    let here = vec!["x".to_owned(), "y".to_owned()];
    collect(&tokens.into_iter().collect::<Vec<_>>(), &here, &mut paths);
    let mut found: Vec<String> = paths.iter().map(name).collect();
    found.sort();
    let expected = [
        "a",
        "a::b::C",
        "a::d",
        "h::I",
        "j::K",
        "x::e::F",
        "x::y::child::g",
        "x::y::l",
    ];
    assert_eq!(found, expected);
}
