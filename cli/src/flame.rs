//! `flame`: where the CPU time went, as one page, as text, or as JSON.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::json;
use sha2::{Digest, Sha256};

use crate::args::{FlameArgs, FlameFormat};
use crate::collect::{self, Collected, FrameKind, FrameName, GroupKey, Query, Sum, TypeSums};
use crate::filter::{Filter, Unit};
use crate::output::{self, Failure, Output};
use crate::text;

const PAGE: &str = include_str!("flame/page.html");
const STYLE: &str = include_str!("flame/page.css");
const SCRIPT: &str = include_str!("flame/page.js");
/// Beyond this, the thinnest frames are folded into their parents: no browser enjoys more.
const MAX_NODES: usize = 200_000;

/// A frame in the tree. Children are found by (parent, frame) while the tree grows.
#[derive(Debug, Clone, Copy, Default)]
struct Node {
    frame: u32,
    sum: Sum,
    /// Parts of the sum's value by the kind of the frame: a method is compiled in one sample and interpreted in the next.
    by_kind: [u64; FrameKind::COUNT],
}

/// The tree; node 0 is the root.
struct Tree {
    frames: Vec<FrameName>,
    /// Of each frame the first one of the same method: a method has one node, whatever its kinds.
    methods: Vec<u32>,
    nodes: Vec<Node>,
    children: Vec<Vec<u32>>,
    places: HashMap<(u32, u32), u32>,
    max_nodes: usize,
}

/// For each frame the first one with its text, if both stand for code; a label or a missing stack is never a method.
fn methods_of(frames: &[FrameName]) -> Vec<u32> {
    let mut first: HashMap<(&str, Option<FrameKind>), u32> = HashMap::new();
    (0u32..)
        .zip(frames)
        .map(|(place, frame)| {
            let kind = (!frame.kind.is_code()).then_some(frame.kind);
            *first.entry((&frame.text, kind)).or_insert(place)
        })
        .collect()
}

/// The tree as it is drawn.
#[derive(Debug, Default, PartialEq)]
struct FlatTree {
    /// In preorder, four numbers each: frame, samples, value, number of children.
    nodes: Vec<u64>,
    /// Of nodes that are not all of their frame's kind: number of the node, then kind and value of each part.
    kinds: Vec<Vec<u64>>,
    /// Number of the node, and value of the children that were folded into it.
    folded: Vec<(u64, u64)>,
}

impl Tree {
    fn new(frames: Vec<FrameName>) -> Self {
        Self {
            methods: methods_of(&frames),
            frames,
            nodes: vec![Node::default()],
            children: vec![Vec::new()],
            places: HashMap::new(),
            max_nodes: MAX_NODES,
        }
    }

    fn add(&mut self, outermost_first: impl Iterator<Item = u32>, sum: &Sum) {
        let mut at = 0u32;
        self.nodes[0].sum.add(sum);
        for frame in outermost_first {
            let kind = self.frames[frame as usize].kind;
            let frame = self.methods[frame as usize];
            at = if let Some(&place) = self.places.get(&(at, frame)) {
                place
            } else {
                let place = u32::try_from(self.nodes.len()).unwrap_or(u32::MAX);
                self.nodes.push(Node {
                    frame,
                    ..Node::default()
                });
                self.children.push(Vec::new());
                self.children[at as usize].push(place);
                self.places.insert((at, frame), place);
                place
            };
            let node = &mut self.nodes[at as usize];
            node.sum.add(sum);
            let part = &mut node.by_kind[kind as usize];
            *part = part.saturating_add(sum.value);
        }
    }

    /// Children by name, as flame graphs are read; labels by weight, as tables are.
    fn sort(&mut self) {
        let Self {
            frames,
            nodes,
            children,
            ..
        } = self;
        for siblings in children {
            siblings.sort_by(|&a, &b| {
                let (a, b) = (&nodes[a as usize], &nodes[b as usize]);
                let (x, y) = (&frames[a.frame as usize], &frames[b.frame as usize]);
                if x.kind == FrameKind::Label && y.kind == FrameKind::Label {
                    return b
                        .sum
                        .value
                        .cmp(&a.sum.value)
                        .then_with(|| x.text.cmp(&y.text));
                }
                x.text.cmp(&y.text).then(x.kind.cmp(&y.kind))
            });
        }
    }

    /// Value below which frames are left out, so that at most `max_nodes` stay.
    fn threshold(&self) -> u64 {
        if self.nodes.len() <= self.max_nodes {
            return 0;
        }
        let mut times: Vec<u64> = self.nodes.iter().map(|node| node.sum.value).collect();
        let (_, &mut threshold, _) = times.select_nth_unstable_by(self.max_nodes, |a, b| b.cmp(a));
        threshold + 1
    }

    /// The tree in preorder. Iterative: stacks may be deep.
    fn flat(&self) -> FlatTree {
        let threshold = self.threshold();
        let mut flat = FlatTree::default();
        let mut open = vec![0u32];
        for number in 0.. {
            let Some(place) = open.pop() else { break };
            let node = &self.nodes[place as usize];
            let value = |child: u32| self.nodes[child as usize].sum.value;
            let children = self.children[place as usize].iter().copied();
            let (kept, folded): (Vec<u32>, Vec<u32>) =
                children.partition(|&child| value(child) >= threshold);
            flat.nodes.extend([
                u64::from(node.frame),
                node.sum.samples,
                node.sum.value,
                kept.len() as u64,
            ]);
            if !folded.is_empty() {
                let sum = folded.iter().map(|&child| value(child));
                flat.folded.push((number, sum.fold(0, u64::saturating_add)));
            }
            flat.kinds.extend(self.kinds_of(number, node));
            open.extend(kept.iter().rev());
        }
        flat
    }

    /// The parts of a node by kind, unless all of it is of its frame's kind.
    fn kinds_of(&self, number: u64, node: &Node) -> Option<Vec<u64>> {
        let usual = self.frames[node.frame as usize].kind as usize;
        let parts = (0u64..).zip(node.by_kind).filter(|&(_, value)| value > 0);
        let mut numbers = vec![number];
        let mut has_other = false;
        for (kind, value) in parts {
            has_other |= kind != usual as u64;
            numbers.extend([kind, value]);
        }
        has_other.then_some(numbers)
    }
}

/// The frames that stand for a group's values, outermost first.
fn label_frames(
    keys: &[String],
    group: &GroupKey,
    frames: &mut Vec<FrameName>,
    places: &mut HashMap<FrameName, u32>,
) -> Vec<u32> {
    let mut place = |text: String| {
        let frame = FrameName {
            text: text.into(),
            kind: FrameKind::Label,
        };
        *places.entry(frame.clone()).or_insert_with(|| {
            frames.push(frame);
            u32::try_from(frames.len() - 1).unwrap_or(u32::MAX)
        })
    };
    label_texts(keys, group).map(&mut place).collect()
}

/// `KEY=VALUE` of each key, with the names of the table where there is no value.
fn label_texts(keys: &[String], group: &GroupKey) -> impl Iterator<Item = String> {
    let keys = keys.iter().enumerate();
    keys.map(|(place, key)| format!("{key}={}", group.value_or_name(place)))
}

fn grow(total: &TypeSums, keys: &[String], mut frames: Vec<FrameName>) -> Tree {
    let mut places = HashMap::new();
    // Place 0 is the root's.
    let mut groups: Vec<(&GroupKey, _)> = total
        .groups
        .iter()
        .map(|(key, (_, stacks))| (key, stacks))
        .collect();
    groups.sort_by(|a, b| a.0.cmp(b.0));
    let labels: Vec<Vec<u32>> = groups
        .iter()
        .map(|(group, _)| label_frames(keys, group, &mut frames, &mut places))
        .collect();
    frames.push(FrameName {
        text: "all".into(),
        kind: FrameKind::Label,
    });
    let root = u32::try_from(frames.len() - 1).unwrap_or(u32::MAX);
    let mut tree = Tree::new(frames);
    tree.nodes[0].frame = root;
    for ((_, stacks), labels) in groups.iter().zip(&labels) {
        for (stack, sum) in &stacks.by_stack {
            tree.add(
                labels.iter().copied().chain(stack.iter().rev().copied()),
                sum,
            );
        }
    }
    tree.sort();
    tree
}

/// Where the result goes, and as what.
enum Target {
    Stdout,
    File(PathBuf),
}

fn target(args: &FlameArgs) -> Result<(Target, FlameFormat), Failure> {
    let named = |path: &Path| match path.extension().and_then(|extension| extension.to_str()) {
        Some("html" | "htm") => Some(FlameFormat::Html),
        Some("collapsed" | "folded" | "txt") => Some(FlameFormat::Collapsed),
        Some("json") => Some(FlameFormat::Json),
        _ => None,
    };
    let wanted = if args.json {
        Some(FlameFormat::Json)
    } else {
        args.format
    };
    match args.output.as_deref() {
        Some(path) if path == Path::new("collapsed") => {
            Ok((Target::Stdout, FlameFormat::Collapsed))
        }
        Some(path) if path == Path::new("-") => {
            Ok((Target::Stdout, wanted.unwrap_or(FlameFormat::Html)))
        }
        Some(path) => match wanted.or_else(|| named(path)) {
            Some(format) => Ok((Target::File(path.to_owned()), format)),
            None => Err(Failure::Usage(format!(
                "-o {}: no known ending (.html, .collapsed, .json); say --format",
                path.display()
            ))),
        },
        None => match (wanted, args.files.first()) {
            (None | Some(FlameFormat::Html), Some(file)) => {
                Ok((Target::File(file.with_extension("html")), FlameFormat::Html))
            }
            (wanted, _) => Ok((Target::Stdout, wanted.unwrap_or(FlameFormat::Html))),
        },
    }
}

/// Runs the command; gives whether everything is fine.
pub(crate) fn run(args: &FlameArgs, output: &mut Output) -> Result<bool, Failure> {
    let (target, format) = target(args)?;
    if let Target::File(path) = &target
        && args.force
        && args.files.iter().any(|file| same_file(file, path))
    {
        return Err(Failure::Usage(format!("{} is an input", path.display())));
    }
    if let Target::File(path) = &target {
        output::check_target(path, args.force)?;
    }
    let filter = Filter::new(&args.filter)?;
    let unit = filter.unit();
    let query = Query {
        keys: args.by.clone(),
        filter: filter.clone(),
        stacks: true,
        lines: args.lines,
    };
    let collected = collect::collect(&args.files, &query, output)?;
    let (total, types, mut collected) = collected.into_total(&filter);
    collected.warn_left_out();
    if total.total.samples == 0 {
        collected.outcome.warn_damages();
        let why = collected.terms.nothing_passes(&filter);
        let why = why.unwrap_or_else(|| "no sample passes".to_owned());
        return Err(Failure::Finding(format!("{why}; nothing to draw")));
    }
    let frames = std::mem::take(&mut collected.frames);
    let tree = grow(&total, &args.by, frames);
    let result = match format {
        FlameFormat::Html => page(args, unit, &total, &types, &collected, &tree),
        FlameFormat::Json => format!(
            "{}\n",
            text::json(&data(args, unit, &total, &types, &collected, &tree))
        ),
        FlameFormat::Collapsed => collapsed(unit, &total, &args.by, &tree),
    };
    match target {
        Target::Stdout => output.bytes(result.as_bytes())?,
        Target::File(path) => {
            output::write_file(&path, result.as_bytes(), args.force)?;
            let samples = text::count(total.total.samples, "sample");
            output.line(format!(
                " {} ({samples}, {} KB)",
                output.clean(&path.display().to_string()),
                result.len() / 1024
            ))?;
        }
    }
    Ok(collected.outcome.warn_damages())
}

fn same_file(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

/// What the page, and `--json`, are made of.
fn data(
    args: &FlameArgs,
    unit: Unit,
    total: &TypeSums,
    types: &[String],
    collected: &Collected,
    tree: &Tree,
) -> serde_json::Value {
    let files: Vec<String> = args
        .files
        .iter()
        .map(|file| {
            file.file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    // Texts are made visible here, so that the page has nothing to decide.
    let frames: Vec<serde_json::Value> = tree
        .frames
        .iter()
        .map(|frame| json!([text::terminal(&frame.text), frame.kind as u8]))
        .collect();
    let flat = tree.flat();
    let title = args.title.clone().unwrap_or_else(|| files.join(", "));
    json!({
        "schema": "ctxjfr.flame.1", "title": title, "files": files, "by": args.by, "where": args.filter.filters, "events": types,
        "samples": total.total.samples, "unit": unit.name(), "value": total.total.value, "covered_ns": collected.covered_nanos(),
        "interval_ns": collected.interval_nanos, "interval_assumed": collected.interval_guessed,
        "folded": tree.threshold() > 0, "damaged": !collected.outcome.damages.is_empty(), "damages": collected.outcome.damages,
        "frames": frames, "nodes": flat.nodes, "kinds": flat.kinds, "folded_values": flat.folded,
    })
}

/// The page: no request to anywhere, and no script but ours, by the hash in its policy.
fn page(
    args: &FlameArgs,
    unit: Unit,
    total: &TypeSums,
    types: &[String],
    collected: &Collected,
    tree: &Tree,
) -> String {
    let data = data(args, unit, total, types, collected, tree);
    let title = data["title"].as_str().unwrap_or_default();
    let policy = format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
        base64(&Sha256::digest(SCRIPT)),
        base64(&Sha256::digest(STYLE)),
    );
    // One pass over the template, so that no text can bring in another mark.
    let mut page = String::new();
    for (number, part) in PAGE.split("@@").enumerate() {
        match (number % 2, part) {
            (0, text) => page.push_str(text),
            (_, "POLICY") => page.push_str(&policy),
            (_, "TITLE") => page.push_str(&text::html(title)),
            (_, "STYLE") => page.push_str(STYLE),
            (_, "SCRIPT") => page.push_str(SCRIPT),
            (_, "DATA") => page.push_str(&text::json(&data)),
            (_, other) => page.push_str(other),
        }
    }
    page
}

fn collapsed(unit: Unit, total: &TypeSums, keys: &[String], tree: &Tree) -> String {
    // By text: a method that is compiled in one sample and interpreted in another has one line.
    let mut lines: BTreeMap<String, u64> = BTreeMap::new();
    for (group, (_, stacks)) in &total.groups {
        let labels: Vec<String> = label_texts(keys, group)
            .map(|label| text::collapsed(&label))
            .collect();
        for (stack, sum) in &stacks.by_stack {
            let mut line = labels.join(";");
            for &frame in stack.iter().rev() {
                if !line.is_empty() {
                    line.push(';');
                }
                line.push_str(&text::collapsed(&tree.frames[frame as usize].text));
            }
            // Samples by number, so that other tools can multiply; waiting has no interval.
            let width = match unit {
                Unit::Lock => sum.value,
                _ => sum.weight,
            };
            let known = lines.entry(line).or_default();
            *known = known.saturating_add(width);
        }
    }
    let mut text = String::new();
    for (line, width) in lines {
        let _ = writeln!(text, "{line} {width}");
    }
    text
}

fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let bits = group
            .iter()
            .fold(0u32, |bits, &byte| bits << 8 | u32::from(byte))
            << (8 * (3 - group.len()));
        for digit in 0..4 {
            let index = (bits >> (18 - 6 * digit) & 63) as usize;
            text.push(if digit > group.len() {
                '='
            } else {
                char::from(ALPHABET[index])
            });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(value: u64) -> Sum {
        Sum {
            samples: 1,
            weight: 1,
            value,
            ..Sum::default()
        }
    }

    fn frame(text: &str, kind: FrameKind) -> FrameName {
        FrameName {
            text: text.into(),
            kind,
        }
    }

    #[test]
    fn a_method_has_one_node_with_the_shares_of_its_kinds() {
        use FrameKind::{Compiled, Interpreted, Label};
        let frames = vec![
            frame("a.b", Interpreted),
            frame("a.b", Compiled),
            frame("c.d", Compiled),
            frame("all", Label),
            // A label may be called like a method.
            frame("a.b", Label),
        ];
        let mut tree = Tree::new(frames);
        tree.nodes[0].frame = 3;
        tree.add([0, 2].into_iter(), &sum(5));
        tree.add([1, 2].into_iter(), &sum(7));
        tree.add([4].into_iter(), &sum(1));
        tree.sort();
        let flat = tree.flat();
        let expected = [[3, 3, 13, 2], [4, 1, 1, 0], [0, 2, 12, 1], [2, 2, 12, 0]];
        assert_eq!(flat.nodes, expected.as_flattened());
        assert_eq!(flat.kinds, [[2, 1, 7, 3, 5]]);
        assert_eq!(flat.folded, []);
    }

    #[test]
    fn folded_values_are_told_where_they_were() {
        let names = ["all", "wide", "thin", "thinner"];
        let kinds = |name: &&str| frame(name, FrameKind::Native);
        let mut tree = Tree::new(names.iter().map(kinds).collect());
        tree.max_nodes = 2;
        tree.add([1].into_iter(), &sum(50));
        tree.add([1, 2].into_iter(), &sum(3));
        tree.add([1, 3].into_iter(), &sum(2));
        let flat = tree.flat();
        assert_eq!(flat.nodes, [0, 3, 55, 1, 1, 3, 55, 0]);
        assert_eq!(flat.folded, [(1, 5)]);
    }

    #[test]
    fn base64_vectors_of_rfc_4648() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }

    #[test]
    fn the_page_knows_every_unit() {
        for unit in Unit::ALL {
            let entry = format!("{}: [", unit.name());
            assert!(SCRIPT.contains(&entry), "{entry}");
        }
    }

    #[test]
    fn template_has_its_five_marks_and_script_and_style_none() {
        let marks: Vec<&str> = PAGE.split("@@").skip(1).step_by(2).collect();
        assert_eq!(marks, ["POLICY", "TITLE", "STYLE", "DATA", "SCRIPT"]);
        assert!(!SCRIPT.contains("</") && !STYLE.contains("</"));
    }
}
