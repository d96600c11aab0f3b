//! Which methods of which libraries tell what a thread works for: the table in `sources.txt`.

use crate::class_hooks::{self, ClassHooks, Row};
use crate::options::LabelSource;
use class_patcher::hook::Helper;
use std::sync::LazyLock;

const TABLE: &str = include_str!("sources.txt");
/// The package of the classes that hooks call, unless they are named with theirs.
const PACKAGE: &str = "io/ctxagent/labels/source/";

static ROWS: LazyLock<Vec<(LabelSource, Row)>> = LazyLock::new(|| {
    let rows = class_hooks::rows(TABLE, |class| {
        if class.contains('.') {
            class.replace('.', "/")
        } else {
            format!("{PACKAGE}{class}")
        }
    });
    let of_source = |row: Row| Some((source(row.group)?, row));
    rows.filter_map(of_source).collect()
});

fn source(word: &str) -> Option<LabelSource> {
    let mut sources = LabelSource::ALL.into_iter();
    sources.find(|source| source.word() == word)
}

/// The source that a class is of, by its name with slashes.
pub(super) fn of_class(class: &str) -> Option<LabelSource> {
    let row = ROWS.iter().find(|(_, row)| row.class() == class);
    row.map(|(source, _)| *source)
}

/// The hooks of a class.
pub(super) fn hooks(class: &str) -> ClassHooks {
    let mut hooks = ClassHooks::default();
    for (_, row) in ROWS.iter().filter(|(_, row)| row.class() == class) {
        row.add_to(&mut hooks);
    }
    hooks
}

/// What the hooks of a class call.
pub(super) fn helpers(class: &str) -> impl Iterator<Item = Helper<'static>> {
    let rows = ROWS.iter().filter(move |(_, row)| row.class() == class);
    rows.map(|(_, row)| row.helper())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::labels::classes;

    #[test]
    fn each_line_is_a_hook_whose_helper_is_there() {
        assert_eq!(class_hooks::lines(TABLE).count(), ROWS.len());
        for (source, row) in ROWS.iter() {
            assert_eq!(of_class(row.class()), Some(*source));
            for helper in helpers(row.class()) {
                assert!(!classes::are_there() || classes::class_file(helper.class).is_some());
            }
        }
    }
}
