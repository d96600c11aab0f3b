//! Level 2: under sound metadata, pools and events are any bytes.
#![no_main]

mod shared;

use jfr_format::read::{Chunks, ParsedChunk, Value};
use libfuzzer_sys::fuzz_target;

/// Looks at a value and at what it refers to. References may go in circles: that is the caller's to
/// bound.
fn walk(value: Value<'_>, depth: u32, budget: &mut u32) {
    if depth == 0 || *budget == 0 {
        return;
    }
    *budget -= 1;
    match value {
        Value::Struct(value) => value.fields().for_each(|(_, v)| {
            let _ = v.map(|v| walk(v, depth - 1, budget));
        }),
        Value::Array(array) => {
            let count = array.iter().fold(0, |count, v| {
                let _ = v.map(|v| walk(v, depth - 1, budget));
                count + 1
            });
            assert!(count <= array.len());
        }
        Value::Ref(reference) => {
            let _ = (
                reference.ty(),
                reference.resolve().map(|v| walk(v, depth - 1, budget)),
            );
        }
        other => {
            let _ = (other.as_long(), other.into_text());
        }
    }
}

fuzz_target!(|input: &[u8]| {
    let file = shared::chunk(input);
    for chunk in Chunks::new(&file) {
        let Ok(open) = ParsedChunk::new(&chunk) else {
            continue;
        };
        let mut budget = 5_000;
        for event in open.events().flatten() {
            let _ = (event.bytes_left_over(), event.start_nanos());
            for (field, value) in event.fields() {
                let _ = (event.get(&field.name), event.text(&field.name));
                let _ = value.map(|v| walk(v, 20, &mut budget));
            }
        }
        for ty in open.metadata().types() {
            let index = open.metadata().index_of(ty.id).expect("declared");
            let count = open.pool(index).count();
            assert!(count <= open.pool_len(index) && open.pool_len(index) <= file.len());
        }
    }
});
