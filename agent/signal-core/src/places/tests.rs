use super::*;
use crate::block::BlockTable;
use crate::layout::Block;
use std::boxed::Box;
use std::collections::{HashSet, VecDeque};
use std::vec::Vec;

const BLOCKS: usize = 1 << 16;
/// Below this no thread may be refused.
const FULL: usize = BLOCKS / 10 * 9;

fn table(blocks: usize) -> BlockTable {
    // SAFETY: a block is atomics only; all-zero bytes are a valid (free) block.
    let free = || unsafe { core::mem::zeroed::<Block>() };
    let blocks: Vec<Block> = (0..blocks).map(|_| free()).collect();
    BlockTable::new(Box::leak(blocks.into_boxed_slice())).expect("a power of two")
}

/// Takes a block for each, and finds all again.
fn claim_all(table: &BlockTable, ids: impl Iterator<Item = i64>) {
    let ids: Vec<i64> = ids.collect();
    for &tid in &ids {
        assert!(table.claim(tid), "{tid} of {} is refused", ids.len());
    }
    assert!(ids.iter().all(|&tid| table.has(tid)));
    assert!(!table.has(i64::MAX), "nobody's");
}

/// `PlacesTest` of the Java API has the same numbers.
#[test]
fn places_are_those_of_java() {
    let places = |tid| FurtherPlaces::of(tid).map(|(_, place)| place & 0xffff);
    let first: Vec<u64> = places(1).take(5).collect();
    let second: Vec<u64> = places(65_537).take(5).collect();
    assert_eq!(first, [28_588, 34_483, 57_753, 21_965, 30_388]);
    assert_eq!(second, [48_193, 34_883, 54_206, 59_455, 52_495]);
}

#[test]
fn classes_double() {
    let classes: Vec<u32> = FurtherPlaces::of(7).map(|(class, _)| class).collect();
    assert_eq!(classes.len(), PROBE_LIMIT - 1);
    for class in 0..CLASSES {
        let count = classes.iter().filter(|&&it| it == class).count();
        assert_eq!(count, 1 << class, "{class}");
    }
    assert!(classes.is_sorted());
}

#[test]
fn table_takes_dense_and_strided_ids_until_it_is_full() {
    let full = i64::try_from(FULL).expect("small");
    let size = i64::try_from(BLOCKS).expect("small");
    for step in [1, 2, 3, 8, 32, 1_000, size / 2, size, size + 1, 3 * size] {
        claim_all(&table(BLOCKS), (1..=full).map(|n| n * step));
    }
    // Around multiples of the size: all prefer the same few places.
    claim_all(
        &table(BLOCKS),
        (0..full).map(|n| (n / 8 + 1) * size + n % 8),
    );
    // A small table.
    claim_all(&table(1_024), 1..=921);
    claim_all(&table(1_024), (1..=921).map(|n| n << 10));
}

#[test]
fn a_million_short_threads_come_and_go_beside_many_that_stay() {
    let table = table(BLOCKS);
    claim_all(&table, 1..=50_000);
    let mut at_once = VecDeque::new();
    for tid in 50_001..1_050_000 {
        assert!(table.claim(tid), "{tid} is refused");
        at_once.push_back(tid);
        if at_once.len() > FULL - 50_000 {
            let ended = at_once.pop_front().expect("some");
            assert!(table.release(ended), "{ended} is lost");
            assert!(!table.has(ended));
        }
    }
    assert!((1..=50_000).all(|tid| table.has(tid)));
}

/// Whatever comes and goes, in whatever order: each finds its own block, and nobody's is two
/// threads'.
#[test]
fn owners_are_found_after_any_claims_and_releases() {
    for seed in 1..20_u64 {
        let table = table(256);
        let mut owners = HashSet::new();
        let mut state = seed;
        for _ in 0..20_000 {
            state = state.wrapping_mul(MULTIPLIER).wrapping_add(INCREMENT);
            let tid = i64::try_from(state >> 33).expect("31 bits") % 4_096 * (1 << (seed % 12)) + 1;
            if owners.contains(&tid) {
                assert!(table.release(tid));
                owners.remove(&tid);
            } else if owners.len() < 230 && table.claim(tid) {
                owners.insert(tid);
            }
            assert_eq!(table.has(tid), owners.contains(&tid));
        }
        let mut found = Vec::new();
        table.for_each_owner(|owner| found.push(owner));
        assert_eq!(found.len(), owners.len(), "one block each");
        assert!(found.iter().all(|owner| owners.contains(owner)));
    }
}
