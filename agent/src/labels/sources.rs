//! Which methods of which libraries tell what a thread works for: the table in `sources.txt`.

use crate::class_hooks::{self, Row};
use crate::options::LabelSource;
use std::sync::LazyLock;

/// The API of servlets as the table and classes of ours name it, and as libraries up to 2022 do.
pub(super) const JAKARTA: &str = "jakarta/servlet/";
pub(super) const JAVAX: &str = "javax/servlet/";

const TABLE: &str = include_str!("sources.txt");
/// The package of the classes that hooks call, unless they are named with theirs.
pub(super) const PACKAGE: &str = "io/ctxagent/labels/source/";
/// That of their copies for [`JAVAX`].
pub(super) const JAVAX_PACKAGE: &str = "io/ctxagent/labels/javax/";

static ROWS: LazyLock<Vec<(LabelSource, Row)>> = LazyLock::new(|| rows(TABLE, PACKAGE));
static JAVAX_TABLE: LazyLock<String> = LazyLock::new(|| {
    let name = |api: &str| api.replace('/', ".");
    TABLE.replace(&name(JAKARTA), &name(JAVAX))
});
static JAVAX_ROWS: LazyLock<Vec<(LabelSource, Row)>> =
    LazyLock::new(|| rows(&JAVAX_TABLE, JAVAX_PACKAGE));

fn rows(table: &'static str, package: &str) -> Vec<(LabelSource, Row)> {
    let rows = class_hooks::rows(table, |class| {
        if class.contains('.') {
            class.replace('.', "/")
        } else {
            format!("{package}{class}")
        }
    });
    let of_source = |row: Row| Some((source(row.group)?, row));
    rows.filter_map(of_source).collect()
}

fn source(word: &str) -> Option<LabelSource> {
    let mut sources = LabelSource::ALL.into_iter();
    sources.find(|source| source.word() == word)
}

/// The source that a class is of, by its name with slashes.
pub(super) fn of_class(class: &str) -> Option<LabelSource> {
    let row = ROWS.iter().find(|(_, row)| row.class() == class);
    row.map(|(source, _)| *source)
}

/// The rows of a class. `constants`, its pool or all of its bytes, tell which servlets it knows.
pub(super) fn of_constants(class: &str, constants: &[u8]) -> impl Iterator<Item = &'static Row> {
    let rows = if is_in(constants, JAVAX) {
        &JAVAX_ROWS
    } else {
        &ROWS
    };
    let rows = rows.iter().filter(move |(_, row)| row.class() == class);
    rows.map(|(_, row)| row)
}

/// Whether a text is among constants.
pub(super) fn is_in(constants: &[u8], text: &str) -> bool {
    let mut texts = constants.windows(text.len());
    texts.any(|found| found == text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::labels::classes;

    #[test]
    fn each_line_is_a_hook_whose_helper_is_there() {
        for rows in [&ROWS, &JAVAX_ROWS] {
            assert_eq!(class_hooks::lines(TABLE).count(), rows.len());
            for (source, row) in rows.iter() {
                assert_eq!(of_class(row.class()), Some(*source));
                let class = row.helper().class;
                assert!(!classes::are_there() || classes::class_file(class).is_some());
            }
        }
    }

    #[test]
    fn class_that_knows_older_servlets_gets_hooks_for_those() {
        let helper = |constants| {
            let class = "org/apache/catalina/connector/CoyoteAdapter";
            let row = of_constants(class, constants).next();
            row.map(|row| row.helper().class)
        };
        let older = b"\x01\0\x1Ajavax/servlet/ReadListener";
        assert_eq!(helper(older), Some("io/ctxagent/labels/javax/Tomcat"));
        let newer = b"\x01\0\x1Cjakarta/servlet/ReadListener";
        assert_eq!(helper(newer), Some("io/ctxagent/labels/source/Tomcat"));
    }
}
