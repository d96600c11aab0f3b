//! Chunks whose metadata is sound and whose pools and events are any bytes.

#[allow(dead_code, reason = "shared with the tests, each uses its own part")]
#[path = "../../tests/read_common/mod.rs"]
mod read_common;

use read_common::{ARRAY, EVENT, Element, POOL, class, event, field, ids};

/// Types of the small recording, and one event with every shape of field.
fn types() -> Vec<Element> {
    const FLOAT: u64 = 2_000;
    const DOUBLE: u64 = 2_001;
    const BYTE: u64 = 2_002;
    const NODE: u64 = 2_003;
    const SHORT: u64 = 2_004;
    const CHAR: u64 = 2_005;
    let mut types = read_common::types();
    for (id, name) in [
        (FLOAT, "float"),
        (DOUBLE, "double"),
        (BYTE, "byte"),
        (SHORT, "short"),
        (CHAR, "char"),
    ] {
        types.push(class(id, name, &[], vec![]));
    }
    let links = vec![
        field("next", NODE, &[POOL]),
        field("all", NODE, &[POOL, ARRAY]),
        field("text", ids::STRING, &[]),
        field("texts", ids::STRING, &[ARRAY]),
    ];
    types.push(class(NODE, "x.Node", &[], links));
    let shapes = vec![
        field("startTime", ids::LONG, &[]),
        field("float", FLOAT, &[]),
        field("double", DOUBLE, &[]),
        field("byte", BYTE, &[]),
        field("short", SHORT, &[]),
        field("char", CHAR, &[]),
        field("bytes", BYTE, &[ARRAY]),
        field("floats", FLOAT, &[ARRAY]),
        field("node", NODE, &[POOL]),
        field("inline", NODE, &[]),
        field("nodes", NODE, &[ARRAY]),
        field("pooled", ids::STRING, &[POOL]),
        field("undeclared", 77_777, &[]),
    ];
    types.push(class(101, "x.Shapes", &[EVENT], shapes));
    types
}

/// A chunk of the input: two bytes with the length of the checkpoint's payload, that payload,
/// events as they come.
pub(crate) fn chunk(input: &[u8]) -> Vec<u8> {
    let (length, rest) = input.split_at_checked(2).unwrap_or((&[0, 0], input));
    let length = usize::from(length[0]) | usize::from(length[1]) << 8;
    let (pools, events) = rest.split_at(length.min(rest.len()));
    read_common::chunk(&[
        read_common::metadata(types()),
        event(1, pools),
        events.to_vec(),
    ])
}
