//! Where the JDK takes a task and runs it, by mechanism: the table in `hooks.txt`.
//!
//! A task that the JDK keeps in a private field is replaced where the field is set: nobody sees it.
//! One that others see runs as it is; its context is noted where it is taken and found where it
//! runs.

use crate::class_hooks::{self, ClassHooks, Row};
use crate::jvm::task_entry::{CALLS, ENTRY};
use crate::options::{Mechanism, MechanismSet};
use std::sync::LazyLock;

const TABLE: &str = include_str!("hooks.txt");

static ROWS: LazyLock<Vec<(Mechanism, Row)>> = LazyLock::new(|| {
    let rows = class_hooks::rows(TABLE, |class| class_of(class).to_owned());
    let of_mechanism = |row: Row| Some((mechanism(row.group)?, row));
    rows.filter_map(of_mechanism).collect()
});

fn mechanism(word: &str) -> Option<Mechanism> {
    let mut mechanisms = Mechanism::ALL.into_iter();
    mechanisms.find(|mechanism| mechanism.word() == word)
}

fn class_of(helper: &str) -> &'static str {
    if helper == "calls" { CALLS } else { ENTRY }
}

/// The classes of a mechanism in a version of the JDK, each once.
pub(super) fn classes(mechanism: Mechanism, version: u32) -> impl Iterator<Item = &'static str> {
    let mut last = "";
    let is_wanted = move |(of, row): &&(Mechanism, Row)| *of == mechanism && row.is_of(version);
    let rows = ROWS.iter().filter(is_wanted);
    rows.map(|(_, row)| row.class()).filter(move |class| {
        let is_new = *class != last;
        last = class;
        is_new
    })
}

/// The hooks of a class, of these mechanisms in a version of the JDK.
pub(super) fn of_class(class: &str, mechanisms: MechanismSet, version: u32) -> ClassHooks {
    let is_wanted = |(mechanism, row): &&(Mechanism, Row)| {
        row.class() == class && row.is_of(version) && mechanisms.has(*mechanism)
    };
    class_hooks::hooks_of(ROWS.iter().filter(is_wanted).map(|(_, row)| row))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_of_the_table_is_a_hook() {
        assert_eq!(class_hooks::lines(TABLE).count(), ROWS.len());
        for mechanism in Mechanism::ALL {
            assert!(classes(mechanism, 25).count() > 0, "{mechanism:?}");
        }
    }

    #[test]
    fn each_class_of_a_mechanism_is_named_once() {
        for mechanism in Mechanism::ALL {
            for version in [17, 21, 25] {
                let mut classes: Vec<_> = classes(mechanism, version).collect();
                let count = classes.len();
                classes.sort_unstable();
                classes.dedup();
                assert_eq!(classes.len(), count, "{mechanism:?}, JDK {version}");
            }
        }
    }
}
