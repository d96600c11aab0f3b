//! The bytes themselves, so that a change of the format shows in review.

use super::{
    AttributeKey, Columns, Config, Context, MemoryStorage, PAGE, Recording, Thread, Ticks,
};
use crate::chunk::HEADER_LEN;
use crate::declare::{MAX_COLUMN_TYPE_LEN, Schema};
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
fn empty_pools_make_no_checkpoint() {
    let mut r = recording(&[]);
    assert!(r.pools.put_checkpoint(&mut Vec::new(), 0, |_| 0).is_none());
    assert_eq!(r.context(Ticks(0), &[AttributeKey::NONE; 8]), Context::NONE);
}

#[test]
fn chunk_has_header_lead_and_padding() {
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
    let name = "x".repeat(MAX_COLUMN_TYPE_LEN);
    let schema = Schema {
        column_type: Box::leak(name.into()),
        ..Schema::default()
    };
    assert!(schema.check().is_ok());
    let least = super::recording::stub(&schema).least();
    assert!(least <= PAGE as u64, "{least}");
}
