//! Models of the block and of the table: loom runs each with every interleaving, and every value
//! that a load may see. `RUSTFLAGS="--cfg loom" cargo test -p signal-core --test loom`;
//! `scripts/test.sh` does that.
//!
//! The readers, `release` and `evict` are the real ones. The writer is Java
//! (`io.ctxagent.internal.block.Slab`), so the models have it once more, word for word in the terms
//! of C11: an opaque or plain store is Relaxed, `storeStoreFence` and `releaseFence` are
//! `fence(Release)`, the CAS is acquire and release. Each model whose name ends in `would_be_seen`
//! has one ordering left out and must fail.
#![cfg(loom)]
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::panic,
    reason = "a model fails by panicking"
)]

use loom::sync::atomic::Ordering::{AcqRel, Relaxed, Release};
use loom::sync::atomic::fence;
use loom::thread;
use signal_core::block::{BlockTable, ReadOutcome, Values};
use signal_core::layout::{Block, PROBE_LIMIT, REACH_SHIFT};
use signal_core::places::FurtherPlaces;

/// One writer's bug.
#[derive(Clone, Copy, PartialEq)]
enum Bug {
    None,
    /// No fence behind the odd number.
    NoFenceAfterOdd,
    /// No fence before the even number.
    NoFenceBeforeEven,
    /// The owner word is given up before the values are gone.
    OwnerFirst,
    /// A single word is written before its number.
    WordFirst,
    /// No fence between the number and the single word.
    NoFenceBeforeWord,
}

/// Runs `body` in every order with up to three preemptions of a thread: more found nothing in a run
/// of three minutes, and no bug below needs them.
fn model(body: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(body);
}

fn table() -> (&'static BlockTable, &'static [Block]) {
    let blocks: Vec<Block> = (0..PROBE_LIMIT).map(|_| Block::free()).collect();
    let blocks: &'static [Block] = Box::leak(blocks.into_boxed_slice());
    let table = BlockTable::new(blocks).expect("a power of two");
    (Box::leak(Box::new(table)), blocks)
}

/// `Slab.fresh`, `Slab.begin`, both ids, `Slab.end`.
fn publish(block: &Block, ids: [u32; 2], bug: Bug) {
    let serial = block.next_serial.load(Relaxed).wrapping_add(2);
    block.next_serial.store(serial, Relaxed);
    let number = serial << 1;
    block.seq.store(number | 1, Relaxed);
    if bug != Bug::NoFenceAfterOdd {
        fence(Release);
    }
    block.ids[0].store(ids[0], Relaxed);
    block.ids[1].store(ids[1], Relaxed);
    if bug != Bug::NoFenceBeforeEven {
        fence(Release);
    }
    block.seq.store(number, Relaxed);
}

/// `Slab.publishWord`: one attribute, under an even number of its own.
fn publish_word(block: &Block, slot: usize, id: u32, bug: Bug) {
    let serial = block.next_serial.load(Relaxed).wrapping_add(2);
    block.next_serial.store(serial, Relaxed);
    if bug == Bug::WordFirst {
        block.ids[slot].store(id, Relaxed);
    }
    block.seq.store(serial << 1, Relaxed);
    if bug != Bug::NoFenceBeforeWord {
        fence(Release);
    }
    if bug != Bug::WordFirst {
        block.ids[slot].store(id, Relaxed);
    }
    // Before the number of whatever comes next.
    fence(Release);
}

/// `BlockAllocator.claimNear`: the first free place.
fn acquire(blocks: &'static [Block], tid: i64) -> Option<&'static Block> {
    let at = |place: u64| &blocks[usize::try_from(place).expect("small") % blocks.len()];
    let take = |block: &Block| {
        block.owner.load(Relaxed) == 0
            && block
                .owner
                .compare_exchange(0, tid, AcqRel, Relaxed)
                .is_ok()
    };
    let preferred = at(tid.cast_unsigned());
    if take(preferred) {
        return Some(preferred);
    }
    FurtherPlaces::of(tid).find_map(|(class, place)| {
        preferred
            .flags
            .fetch_or(1 << (REACH_SHIFT + class), Relaxed);
        let block = at(place);
        take(block).then_some(block)
    })
}

/// `Slab.release`.
fn release(block: &Block, bug: Bug) {
    if bug == Bug::OwnerFirst {
        block.owner.store(0, Relaxed);
    }
    publish(block, [0, 0], Bug::None);
    fence(Release);
    block.owner.store(0, Relaxed);
}

/// What a thread that just got `block` finds in it.
fn check_empty(block: &Block) {
    let ids = [block.ids[0].load(Relaxed), block.ids[1].load(Relaxed)];
    assert_eq!(ids, [0, 0], "left by the last owner");
    assert_eq!(
        block.seq.load(Relaxed) & 1,
        0,
        "left by the last owner: an odd number"
    );
}

/// A writer goes from one context to another while a remote reader reads.
fn remote_reader(bug: Bug) {
    model(move || {
        let (table, blocks) = table();
        let mine = acquire(blocks, 1).expect("all are free");
        publish(mine, [1, 1], Bug::None);
        let writer = thread::spawn(move || publish(mine, [2, 2], bug));
        let mut seen = Values::default();
        match table.read_remote(1, &mut seen) {
            ReadOutcome::Values => assert!(
                seen.ids == [1, 1] || seen.ids == [2, 2],
                "half a context: {:?}",
                seen.ids
            ),
            ReadOutcome::Torn => assert_eq!(seen.ids, [0, 0], "what could not be read"),
            other => panic!("{other:?}"),
        }
        writer.join().expect("no panic");
    });
}

#[test]
fn remote_reader_sees_one_set_or_a_torn_one() {
    remote_reader(Bug::None);
}

#[test]
#[should_panic(expected = "half a context")]
fn values_that_overtake_the_odd_number_would_be_seen() {
    remote_reader(Bug::NoFenceAfterOdd);
}

#[test]
#[should_panic(expected = "half a context")]
fn values_that_the_even_number_overtakes_would_be_seen() {
    remote_reader(Bug::NoFenceBeforeEven);
}

/// A writer sets one attribute and then the other while a remote reader reads: it sees the first
/// one without the second, never the second without the first.
fn remote_reader_of_single_words(bug: Bug) {
    model(move || {
        let (table, blocks) = table();
        let mine = acquire(blocks, 1).expect("all are free");
        publish(mine, [1, 1], Bug::None);
        let writer = thread::spawn(move || {
            publish_word(mine, 0, 2, bug);
            publish_word(mine, 1, 2, bug);
        });
        let mut seen = Values::default();
        match table.read_remote(1, &mut seen) {
            ReadOutcome::Values => assert_ne!(seen.ids, [1, 2], "a set that never was"),
            ReadOutcome::Torn => assert_eq!(seen.ids, [0, 0], "what could not be read"),
            other => panic!("{other:?}"),
        }
        writer.join().expect("no panic");
    });
}

#[test]
fn remote_reader_sees_single_words_in_their_order() {
    remote_reader_of_single_words(Bug::None);
}

#[test]
#[should_panic(expected = "a set that never was")]
fn single_words_that_overtake_their_number_would_be_seen() {
    remote_reader_of_single_words(Bug::NoFenceBeforeWord);
}

#[test]
#[should_panic(expected = "a set that never was")]
fn single_words_before_their_number_would_be_seen() {
    remote_reader_of_single_words(Bug::WordFirst);
}

/// A thread gives its block back while another one searches a free one: its next owner must find it
/// empty.
fn next_owner(bug: Bug) {
    model(move || {
        let (_, blocks) = table();
        // One place is left: both want the same one.
        blocks[0].owner.store(4, Relaxed);
        let first = acquire(blocks, 1).expect("one is free");
        publish(first, [7, 7], Bug::None);
        let ending = thread::spawn(move || release(first, bug));
        if let Some(block) = acquire(blocks, 3) {
            check_empty(block);
        }
        ending.join().expect("no panic");
    });
}

#[test]
fn a_new_owner_finds_an_empty_block() {
    next_owner(Bug::None);
}

#[test]
#[should_panic(expected = "left by the last owner")]
fn an_owner_word_given_up_first_would_be_seen() {
    next_owner(Bug::OwnerFirst);
}

#[test]
fn a_block_that_the_agent_takes_back_is_empty_for_its_next_owner() {
    model(|| {
        let (table, blocks) = table();
        blocks[0].owner.store(4, Relaxed);
        let first = acquire(blocks, 1).expect("one is free");
        publish(first, [7, 7], Bug::None);
        let ended = thread::spawn(move || assert!(table.evict(1)));
        if let Some(block) = acquire(blocks, 3) {
            check_empty(block);
            publish(block, [9, 9], Bug::None);
            let mut seen = Values::default();
            assert_eq!(table.read(3, &mut seen), ReadOutcome::Values);
            assert_eq!(seen.ids, [9, 9]);
        }
        ended.join().expect("no panic");
    });
}

#[test]
fn two_threads_that_want_the_same_place_get_two_and_give_them_back() {
    model(|| {
        let (table, blocks) = table();
        let run = move |tid: i64, value: u32| {
            let block = acquire(blocks, tid).expect("there are two places");
            publish(block, [value, value], Bug::None);
            let mut seen = Values::default();
            assert_eq!(table.read(tid, &mut seen), ReadOutcome::Values);
            assert_eq!(seen.ids, [value, value], "its own, and nobody else's");
            assert!(table.release(tid));
            assert_eq!(table.read(tid, &mut seen), ReadOutcome::Nothing);
        };
        let other = thread::spawn(move || run(1, 11));
        run(3, 33);
        other.join().expect("no panic");
    });
}

#[test]
fn remote_reader_never_takes_the_next_owners_values_for_the_last_ones() {
    model(|| {
        let (table, blocks) = table();
        blocks[0].owner.store(4, Relaxed);
        let first = acquire(blocks, 1).expect("one is free");
        publish(first, [1, 1], Bug::None);
        let writer = thread::spawn(move || {
            release(first, Bug::None);
            let next = acquire(blocks, 3).expect("just given back");
            publish(next, [3, 3], Bug::None);
        });
        let mut seen = Values::default();
        match table.read_remote(1, &mut seen) {
            ReadOutcome::Values => assert_eq!(seen.ids, [1, 1]),
            ReadOutcome::Torn | ReadOutcome::Nothing => assert_eq!(seen.ids, [0, 0], "not found"),
            ReadOutcome::Foreign => panic!("nobody closed anything"),
        }
        writer.join().expect("no panic");
    });
}

#[test]
fn a_block_that_came_back_to_a_thread_never_shows_what_another_one_had_in_it() {
    model(|| {
        let (table, blocks) = table();
        blocks[0].owner.store(4, Relaxed);
        let first = acquire(blocks, 1).expect("one is free");
        let writer = thread::spawn(move || {
            release(first, Bug::None);
            let between = acquire(blocks, 3).expect("just given back");
            publish(between, [3, 3], Bug::None);
            release(between, Bug::None);
            acquire(blocks, 1).expect("just given back");
        });
        let mut seen = Values::default();
        let found = table.read_remote(1, &mut seen);
        assert_ne!(
            found,
            ReadOutcome::Values,
            "of another thread: {:?}",
            seen.ids
        );
        assert_eq!(seen.ids, [0, 0], "of another thread");
        writer.join().expect("no panic");
    });
}
