//! The tree of frames that a flame graph draws.

use std::collections::HashMap;

use crate::collect::{FrameKind, FrameName, GroupKey, StackList, Sum, TypeSums};

/// Beyond this, the thinnest frames are folded into their parents: browsers get slow.
const MAX_NODES: usize = 200_000;

/// A frame in the tree. Children are found by (parent, frame) while the tree grows.
#[derive(Debug, Clone, Copy, Default)]
struct Node {
    frame: u32,
    sum: Sum,
    /// The sum's value by kind of frame: a method is compiled in one sample and interpreted in
    /// the next.
    by_kind: [u64; FrameKind::COUNT],
}

/// The tree; node 0 is the root.
pub(super) struct Tree {
    pub(super) frames: Vec<FrameName>,
    /// For each frame the first one of the same method: a method has one node for all its kinds.
    methods: Vec<u32>,
    nodes: Vec<Node>,
    children: Vec<Vec<u32>>,
    places: HashMap<(u32, u32), u32>,
    max_nodes: usize,
}

/// For each frame the first one with its text, if both stand for code. A label or a missing stack
/// is never a method.
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
pub(super) struct FlatTree {
    /// In preorder, four numbers each: frame, samples, value, number of children.
    pub(super) nodes: Vec<u64>,
    /// For nodes of several kinds: number of the node, then kind and value of each part.
    pub(super) kinds: Vec<Vec<u64>>,
    /// Number of the node, and value of the children that were folded into it.
    pub(super) folded: Vec<(u64, u64)>,
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
    pub(super) fn threshold(&self) -> u64 {
        if self.nodes.len() <= self.max_nodes {
            return 0;
        }
        let mut times: Vec<u64> = self.nodes.iter().map(|node| node.sum.value).collect();
        let (_, &mut threshold, _) = times.select_nth_unstable_by(self.max_nodes, |a, b| b.cmp(a));
        threshold + 1
    }

    /// The tree in preorder. Iterative: stacks may be deep.
    pub(super) fn flat(&self) -> FlatTree {
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
            line: 0,
        };
        *places.entry(frame.clone()).or_insert_with(|| {
            frames.push(frame);
            u32::try_from(frames.len() - 1).unwrap_or(u32::MAX)
        })
    };
    group.named_values(keys).map(&mut place).collect()
}

pub(super) fn grow(
    total: &TypeSums,
    keys: &[String],
    mut frames: Vec<FrameName>,
    stack_list: &StackList,
) -> Tree {
    let mut places = HashMap::new();
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
        line: 0,
    });
    let root = u32::try_from(frames.len() - 1).unwrap_or(u32::MAX);
    let mut tree = Tree::new(frames);
    tree.nodes[0].frame = root;
    for ((_, stacks), labels) in groups.iter().zip(&labels) {
        for (stack, of_stack) in &stacks.by_stack {
            tree.add(
                labels
                    .iter()
                    .chain(stack_list.get(*stack).iter().rev())
                    .copied(),
                &of_stack.sum,
            );
        }
    }
    tree.sort();
    tree
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
            line: 0,
        }
    }

    #[test]
    fn a_method_has_one_node() {
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
    fn folded_values_go_to_their_parent() {
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
}
