//! The layers that `docs/contributing/architecture.md` draws, and the arrows that they forbid.
//!
//! A block fenced with `layers PLACE` lists the layers of that place, the uppermost first. Units on
//! one line do not use each other.

use super::graph::Graph;
use std::collections::BTreeMap;

/// Level of each unit; 0 is the uppermost.
#[derive(Debug)]
pub(crate) struct Layers {
    level: BTreeMap<String, usize>,
}

impl Layers {
    /// The block of `place` in `page`. Text behind `#` is a comment.
    pub(crate) fn find(page: &str, place: &str) -> Option<Self> {
        let begin = format!("```layers {place}");
        let block = page.lines().skip_while(|line| line.trim_end() != begin);
        let lines: Vec<&str> = block
            .skip(1)
            .take_while(|l| !l.starts_with("```"))
            .collect();
        let mut level = BTreeMap::new();
        for (number, line) in lines.iter().enumerate() {
            let units = line.split('#').next().unwrap_or_default();
            for unit in units.split_whitespace() {
                level.insert(unit.to_owned(), number);
            }
        }
        (!level.is_empty()).then_some(Self { level })
    }

    /// What is wrong with `graph`: units without a layer, layers without a unit, arrows that do not
    /// point down.
    pub(crate) fn faults(&self, graph: &Graph) -> Vec<String> {
        let unknown = graph
            .units()
            .filter(|unit| !self.level.contains_key(*unit))
            .map(|unit| format!("{unit} has no layer in docs/contributing/architecture.md"));
        let gone = self
            .level
            .keys()
            .filter(|layer| !graph.units().any(|unit| unit == *layer))
            .map(|layer| {
                format!(
                    "{layer} is a layer in docs/contributing/architecture.md but does not exist"
                )
            });
        let upward = graph.arrows().filter_map(|(from, to)| {
            let (upper, lower) = (self.level.get(from)?, self.level.get(to)?);
            (lower <= upper).then(|| format!("{from} -> {to} does not point down"))
        });
        unknown.chain(gone).chain(upward).collect()
    }
}

#[test]
fn only_arrows_that_point_down_are_allowed() {
    let page = "text\n```layers x\ntop # comment\nleft right\nlow\n```\n";
    let layers = Layers::find(page, "x").expect("the block");
    assert!(Layers::find(page, "y").is_none());
    let mut graph = Graph::default();
    graph.add("top", "left");
    graph.add("top", "low");
    graph.add("right", "low");
    graph.add_unit("left");
    graph.add_unit("low");
    assert_eq!(layers.faults(&graph), Vec::<String>::new());
    graph.add("left", "right");
    graph.add("low", "top");
    graph.add_unit("new");
    assert_eq!(layers.faults(&graph).len(), 3);
}
