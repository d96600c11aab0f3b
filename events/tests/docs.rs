//! The list of events in `docs/contributing/file-format.md` is the one in the code.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests"
)]

use std::fmt::Write;

use ctxagent_events::EVENTS;
use jfr_format::declare::{EventType, Field, Part};

fn list() -> String {
    let mut text = String::new();
    for event in EVENTS {
        let (id, name) = (event.id, event.name);
        let fields = fields(event);
        let own = fields
            .strip_prefix("startTime:long, ")
            .unwrap_or_else(|| panic!("{name} begins with {fields}"));
        writeln!(text, "{id} {name}: {own}").unwrap();
    }
    text
}

fn fields(event: &EventType) -> String {
    let parts = event.parts.iter().map(|part| match part {
        Part::Field(f) => field(f),
        Part::WithColumns(f) => format!("[{}]", field(f)),
        Part::Columns => "columns".to_owned(),
    });
    parts.collect::<Vec<_>>().join(", ")
}

fn field(f: &Field) -> String {
    let class = f.type_name.rsplit('.').next().unwrap();
    format!(
        "{}:{class}{}",
        f.name,
        if f.constant_pool { "*" } else { "" }
    )
}

#[test]
fn documented_events_are_those_of_the_code() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../docs/contributing/file-format.md"
    );
    let document = std::fs::read_to_string(path).unwrap();
    let list = list();
    assert!(
        document.contains(&list),
        "put this into docs/contributing/file-format.md:\n{list}"
    );
}
