//! Arrows between named units, and the cycles among them.

use std::collections::{BTreeMap, BTreeSet};

/// Who uses whom, by name.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    uses: BTreeMap<String, BTreeSet<String>>,
}

impl Graph {
    /// Adds a unit that may have no arrow at all.
    pub(crate) fn add_unit(&mut self, unit: &str) {
        self.uses.entry(unit.to_owned()).or_default();
    }

    /// Adds an arrow. A unit that uses itself is no arrow.
    pub(crate) fn add(&mut self, from: &str, to: &str) {
        if from != to {
            self.uses
                .entry(from.to_owned())
                .or_default()
                .insert(to.to_owned());
        }
    }

    pub(crate) fn units(&self) -> impl Iterator<Item = &str> {
        self.uses.keys().map(String::as_str)
    }

    pub(crate) fn arrows(&self) -> impl Iterator<Item = (&str, &str)> {
        self.uses
            .iter()
            .flat_map(|(from, to)| to.iter().map(move |to| (from.as_str(), to.as_str())))
    }

    /// Sets of units that reach each other, as lists of their arrows.
    pub(crate) fn cycles(&self) -> Vec<String> {
        let reach: BTreeMap<&str, BTreeSet<&str>> =
            self.units().map(|unit| (unit, self.reach(unit))).collect();
        let together = |a: &str, b: &str| {
            reach.get(a).is_some_and(|r| r.contains(b))
                && reach.get(b).is_some_and(|r| r.contains(a))
        };
        self.arrows()
            .filter(|(from, to)| together(from, to))
            .map(|(from, to)| format!("{from} -> {to} is part of a cycle"))
            .collect()
    }

    fn reach(&self, from: &str) -> BTreeSet<&str> {
        let mut seen = BTreeSet::new();
        let mut open = vec![from];
        while let Some(unit) = open.pop() {
            for next in self.uses.get(unit).into_iter().flatten() {
                if seen.insert(next.as_str()) {
                    open.push(next);
                }
            }
        }
        seen
    }
}

#[test]
fn cycles_are_found_and_trees_have_none() {
    let mut graph = Graph::default();
    graph.add("a", "b");
    graph.add("b", "c");
    graph.add("a", "c");
    assert_eq!(graph.cycles(), Vec::<String>::new());
    graph.add("c", "a");
    assert_eq!(graph.cycles().len(), 4);
}
