//! The bytes themselves, so that a change of the format shows in review.

use super::{
    AttributeKey, Columns, Config, Context, MemoryStorage, PAGE, Recording, Sample, Thread, Ticks,
};
use crate::chunk::HEADER_LEN;
use crate::varint;

fn recording(columns: &[&str]) -> Recording<MemoryStorage> {
    let columns = Columns::Named(columns.iter().map(|c| (*c).to_owned()).collect());
    let config = Config {
        columns,
        reserve_bytes: 64,
        ..Config::default()
    };
    Recording::create(MemoryStorage::new(), config).unwrap_or_else(|e| unreachable!("{e}"))
}

fn sample(r: &mut Recording<MemoryStorage>, weight: u32) -> Vec<u8> {
    let thread = r.thread(&Thread::native("t", 7));
    let (stack, state) = (r.synthetic_stack("x"), r.state("STATE_RUNNABLE"));
    let mut values = [AttributeKey::NONE; 8];
    values[0] = r.attribute_value("a");
    values[1] = r.attribute_value("b");
    let context = r.context(Ticks(1000), &values);
    let before = r.events.bytes.len();
    r.execution_sample(&Sample {
        at: Ticks(2000),
        thread,
        stack,
        state,
        context,
        weight,
    });
    r.events.bytes[before..].to_vec()
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
    assert_eq!(sample(&mut r, 99), [9, 100, 0xd0, 0x0f, 1, 1, 1, 2, 99]);
    let split = [sample(&mut r, 99), sample(&mut r, 1)].concat();
    assert_eq!(sample(&mut r, 100), split);
}

#[test]
fn second_checkpoint_carries_what_is_new_and_leads_back_to_the_first() {
    let mut r = recording(&[]);
    r.thread(&Thread::native("t", 7));
    let mut out = Vec::new();
    let at = r.pools.put_checkpoint(&mut out, 1000, |_| -27);
    assert_eq!(at, Some(0));
    let expected = [
        0xa1, 0x80, 0x80, 0x80, 0, 1, 0xe8, 7,
        0, // size 33 in five bytes, type, ticks 1000, duration
        0xe5, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0,
        1, // delta -27, mask, one pool
        0xac, 0x8d, 6, 1, // java.lang.Thread 100012, one entry
        1, 3, 1, b't', 7, 0, 0, 0,
        0, // key, osName, osThreadId, no Java name, id 0, no group, not virtual
    ];
    assert_eq!(out, expected);
}

#[test]
fn empty_pools_are_left_out_and_nothing_new_makes_no_checkpoint() {
    let mut r = recording(&[]);
    assert!(r.pools.put_checkpoint(&mut Vec::new(), 0, |_| 0).is_none());
    assert_eq!(r.context(Ticks(0), &[AttributeKey::NONE; 8]), Context::NONE);
}

#[test]
fn chunk_begins_with_a_header_and_two_bytes_of_nothing_and_ends_with_the_padding() {
    let r = recording(&[]);
    let bytes = r.storage().bytes();
    assert_eq!(bytes[..8], *b"FLR\0\0\x02\0\x01");
    assert_eq!(bytes[8..16], (bytes.len() as u64).to_be_bytes());
    assert_eq!(bytes[HEADER_LEN..HEADER_LEN + 2], [2, 0]);
    // 64 bytes are reserved; the file ends with a page.
    assert_eq!(bytes.len() % PAGE, 0);
    let begin = bytes.iter().rposition(|b| *b != 0).unwrap_or_default() / 8 * 8;
    let mut padding = varint::padded::<5>((bytes.len() - begin) as u64).to_vec();
    padding.push(0);
    assert_eq!(bytes[begin..][..6], padding);
    assert!(bytes.len() - begin >= 64 && begin % 8 == 0);
}

#[test]
fn an_empty_chunk_fits_in_a_page() {
    let least = super::recording::stub().least();
    assert!(least <= PAGE as u64, "{least}");
}
