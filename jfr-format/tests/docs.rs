//! The table of events in `docs/file-format.md` is the one in the code.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests")]

use std::fmt::Write;

use jfr_format::events::{EVENTS, EventType, Part};
use jfr_format::types::Field;

fn table() -> String {
    let mut text = String::from("| id | event | fields |\n|---|---|---|\n");
    for event in EVENTS {
        writeln!(
            text,
            "| {} | `{}` | {} |",
            event.id,
            event.name,
            fields(event)
        )
        .unwrap();
    }
    text
}

fn fields(event: &EventType) -> String {
    let parts = event.parts.iter().map(|part| match part {
        Part::Field(f) => field(f),
        Part::WithColumns(f) => format!("[{}]", field(f)),
        Part::Columns { contextual: false } => "*columns*".to_owned(),
        Part::Columns { contextual: true } => "*columns* (@Contextual)".to_owned(),
    });
    parts.collect::<Vec<_>>().join(", ")
}

fn field(f: &Field) -> String {
    let class = f.type_name.rsplit('.').next().unwrap();
    format!(
        "{} {class}{}",
        f.name,
        if f.constant_pool { "*" } else { "" }
    )
}

#[test]
fn documented_events_are_those_of_the_code() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/file-format.md");
    let document = std::fs::read_to_string(path).unwrap();
    let table = table();
    assert!(
        document.contains(&table),
        "put this into docs/file-format.md:\n{table}"
    );
}
