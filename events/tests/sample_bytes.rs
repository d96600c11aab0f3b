//! The bytes of a sample, so that a change of the format shows in review.
#![allow(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    reason = "tests; offsets in a small file"
)]

use ctxagent_events::{EXECUTION_SAMPLE, ProfileConfig, ProfileEvents as _, Sample};
use jfr_format::read::{Chunks, RawEvent};
use jfr_format::write::{AttributeKey, Columns, MemoryStorage, Recording, Thread, Ticks};

fn recording(columns: &[&str]) -> Recording<MemoryStorage> {
    let columns = Columns::Named(columns.iter().map(|c| (*c).to_owned()).collect());
    let config = ProfileConfig {
        columns,
        reserve_bytes: 64,
        ..ProfileConfig::default()
    };
    Recording::create(MemoryStorage::new(), config).unwrap()
}

/// Writes a sample; gives the bytes of all samples.
fn sample(r: &mut Recording<MemoryStorage>, weight: u32) -> Vec<u8> {
    let thread = r.thread(&Thread::native("t", 7));
    let (stack, state) = (r.synthetic_stack("x"), r.state("STATE_RUNNABLE"));
    let mut values = [AttributeKey::NONE; 8];
    values[0] = r.attribute_value("a");
    values[1] = r.attribute_value("b");
    let context = r.context(Ticks(1000), &values);
    r.execution_sample(&Sample {
        at: Ticks(2000),
        thread,
        stack,
        state,
        context,
        weight,
    });
    r.flush(Ticks(3000)).unwrap();
    let bytes = r.storage().bytes();
    let chunk = Chunks::new(bytes).next().unwrap();
    let is_sample = |event: &RawEvent<'_>| event.type_id == u64::from(EXECUTION_SAMPLE.id);
    let events = chunk.raw_events().map(Result::unwrap).filter(is_sample);
    let range = |event: RawEvent<'_>| event.offset as usize..(event.offset + event.size) as usize;
    let all: Vec<u8> = events
        .flat_map(|event| bytes[range(event)].to_vec())
        .collect();
    all
}

#[test]
fn sample_with_eight_columns_of_which_two_are_set() {
    let mut r = recording(&["a", "b", "c", "d", "e", "f", "g", "h"]);
    let expected = [
        0x13, 100, 0xd0, 0x0f, 1, 1, 1, // size, type, ticks 2000, thread, stack, state
        0x0c, 2, 3, 0, 0, 0, 0, 0, 0, 1, 1, 1, // trailer: columns, context id, weight, thread
    ];
    assert_eq!(sample(&mut r, 1), expected);
}

#[test]
fn sample_without_columns_has_only_the_weight_in_its_trailer() {
    let mut r = recording(&[]);
    let light = [9, 100, 0xd0, 0x0f, 1, 1, 1, 2, 99];
    assert_eq!(sample(&mut r, 99), light);
    let rest = [9, 100, 0xd0, 0x0f, 1, 1, 1, 2, 1];
    assert_eq!(sample(&mut recording(&[]), 1), rest);
    let split = [light, rest].concat();
    assert_eq!(sample(&mut recording(&[]), 100), split);
}
