//! The public items of the crates that others can use are listed in the crate's `api.txt`, so that
//! a review sees each change. Nothing `pub` is out of reach: `unreachable_pub` is denied.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use e2e::workspace::{root, target};
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

const CRATES: [&str; 2] = ["agent/jvmti-sys", "jfr-format"];

fn is(token: Option<&TokenTree>, wanted: &str) -> bool {
    token.is_some_and(|token| token.to_string() == wanted)
}

fn braces(token: Option<&TokenTree>) -> Option<&Group> {
    match token {
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => Some(group),
        _ => None,
    }
}

/// Tokens as text, nearly as rustfmt would set them.
fn text(tokens: &[TokenTree]) -> String {
    let mut text = tokens.iter().cloned().collect::<TokenStream>().to_string();
    for token in ["::", ",", ":", ";", "(", ")", "<", ">", "[", "]", "!"] {
        text = text.replace(&format!(" {token}"), token);
    }
    for token in ["::", "(", "<", "[", "&"] {
        text = text.replace(&format!("{token} "), token);
    }
    let spaced = [
        ("->", " -> "),
        (":&", ": &"),
        (",&", ", &"),
        (":[", ": ["),
        ("  ", " "),
    ];
    spaced
        .iter()
        .fold(text, |text, (from, to)| text.replace(from, to))
}

/// The items of a body without attributes, documentation and tests. Fields and variants end with a
/// comma outside of `<…>`, other items with their body or a semicolon.
fn items(tokens: TokenStream, are_fields: bool) -> Vec<Vec<TokenTree>> {
    let mut tokens = tokens.into_iter().peekable();
    let (mut all, mut item) = (Vec::new(), Vec::new());
    let (mut is_of_tests, mut depth) = (false, 0);
    while let Some(token) = tokens.next() {
        if is(Some(&token), "#") && item.is_empty() {
            let _ = tokens.next_if(|token| is(Some(token), "!"));
            let attribute = tokens.next().map(|attribute| attribute.to_string());
            is_of_tests |= attribute.is_some_and(|a| a.replace(' ', "") == "[cfg(test)]");
            continue;
        }
        let is_arrow = is(item.last(), "-");
        depth += i32::from(is(Some(&token), "<"));
        depth -= i32::from(is(Some(&token), ">") && !is_arrow);
        let end = if are_fields { "," } else { ";" };
        let is_end = is(Some(&token), end) && (depth == 0 || !are_fields);
        let goes_on = is_use(&item) || has(&item, "=") && !has(&item, "fn");
        let is_body = braces(Some(&token)).is_some() && !are_fields && !goes_on;
        if !is_end {
            item.push(token);
        }
        if is_end || is_body || tokens.peek().is_none() {
            let ended = std::mem::take(&mut item);
            depth = 0;
            if !std::mem::take(&mut is_of_tests) && !ended.is_empty() {
                all.push(ended);
            }
        }
    }
    all
}

fn is_use(item: &[TokenTree]) -> bool {
    item.iter().take(2).any(|token| is(Some(token), "use"))
}

fn has(item: &[TokenTree], word: &str) -> bool {
    item.iter().any(|token| is(Some(token), word))
}

/// What kind of body items stand in.
#[derive(Clone, Copy, PartialEq)]
enum Body {
    Items,
    Fields,
    Variants,
    Trait,
}

/// Lists what is public in a body; all of it in that of an enum or a trait.
fn list(tokens: TokenStream, kind: Body, indent: &str, into: &mut Vec<String>) {
    for item in items(tokens, matches!(kind, Body::Fields | Body::Variants)) {
        let is_private = item.get(1).is_some_and(is_parenthesis) || !is(item.first(), "pub");
        let value = item.iter().position(|token| is(Some(token), "="));
        let value = value.filter(|_| !has(&item, "fn") && !has(&item, "impl"));
        let body = braces(item.last()).map(Group::stream);
        let head = &item[..value.unwrap_or(item.len() - usize::from(body.is_some()))];
        let inside = format!("{indent}  ");
        let is_macro = is(item.get(1), "!");
        if is_macro || is_use(&item) && !is_private {
            into.push(format!("{indent}{}", text(&item)));
        } else if is(item.first(), "impl") || is(item.get(1), "impl") {
            let mut members = Vec::new();
            list(body.unwrap_or_default(), Body::Items, &inside, &mut members);
            if has(head, "for") || !members.is_empty() {
                into.push(format!("{indent}{}", text(head)));
                into.append(&mut members);
            }
        } else if !is_private || matches!(kind, Body::Variants | Body::Trait) {
            into.push(format!("{indent}{}", text(head)));
            let kind = match () {
                () if has(head, "enum") => Body::Variants,
                () if has(head, "trait") => Body::Trait,
                () if has(head, "mod") => Body::Items,
                () if has(head, "fn") => continue,
                () if kind == Body::Variants => Body::Variants,
                () => Body::Fields,
            };
            list(body.unwrap_or_default(), kind, &inside, into);
        }
    }
}

fn is_parenthesis(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis)
}

/// The public items of each module in a directory, `module` is that of the directory.
fn visit(directory: &Path, module: &str, into: &mut BTreeMap<String, Vec<String>>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = match path.file_stem().unwrap().to_str().unwrap() {
            "tests" => continue,
            "lib" | "mod" => module.to_owned(),
            name => format!("{module}::{name}"),
        };
        if path.is_dir() {
            visit(&path, &name, into);
        } else if path.extension().is_some_and(|end| end == "rs") {
            let tokens = fs::read_to_string(&path).unwrap().parse().unwrap();
            list(tokens, Body::Items, "  ", into.entry(name).or_default());
        }
    }
}

fn first_word(text: &str) -> String {
    let is_word = |c: &char| c.is_alphanumeric() || *c == '_';
    text.chars().take_while(is_word).collect()
}

/// The type that a line declares.
fn declared(line: &str) -> Option<String> {
    let (_, name) = line
        .split_once("pub struct ")
        .or(line.split_once("pub enum "))?;
    Some(first_word(name))
}

/// The type for which a line implements a trait.
fn implementing(line: &str) -> Option<String> {
    let (_, implementation) = line.split_once("  impl")?;
    Some(first_word(implementation.split_once(" for ")?.1))
}

#[test]
fn public_items_are_as_listed() {
    for name in CRATES {
        let mut modules = BTreeMap::new();
        visit(&root().join(name).join("src"), "crate", &mut modules);
        let lines = modules.values().flatten();
        let public: Vec<String> = lines.filter_map(|line| declared(line)).collect();
        let mut found = String::new();
        for (module, mut items) in modules {
            items.retain(|line| implementing(line).is_none_or(|ty| public.contains(&ty)));
            if !items.is_empty() {
                writeln!(found, "{module}\n{}", items.join("\n")).unwrap();
            }
        }
        let listed = root().join(name).join("api.txt");
        let now = target().join(format!("{}-api.txt", name.replace('/', "-")));
        fs::write(&now, &found).unwrap();
        let is_same = fs::read_to_string(&listed).is_ok_and(|listed| listed == found);
        let (now, listed) = (now.display(), listed.display());
        assert!(is_same, "if meant, renew it: cp {now} {listed}");
    }
}
