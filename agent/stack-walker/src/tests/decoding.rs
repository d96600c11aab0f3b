//! The VM's encodings: numbers of the debug information, hops of the segment map.

use super::scene::{HEAP, Image, SEGMENTS};
use crate::code_cache::block_start;
use crate::debug_info::Unsigned5;
use crate::tables::CodeHeap;

#[test]
fn unsigned5_of_both_encodings() {
    // The same numbers, written by the rules of JDK 17 and of JDK 20 and later.
    let vectors: &[(u32, &[u8], &[u8])] = &[
        (0, &[0], &[1]),
        (1, &[1], &[2]),
        (190, &[190], &[191]),
        (191, &[191], &[192, 1]),
        (192, &[192, 0], &[193, 1]),
        (255, &[255, 0], &[192, 2]),
        (256, &[192, 1], &[193, 2]),
        (12_345, &[249, 189], &[250, 190]),
        (
            u32::MAX,
            &[255, 252, 252, 252, 252],
            &[255, 253, 253, 253, 253],
        ),
    ];
    for (number, old, new) in vectors {
        for (bytes, excluded) in [(old, 0), (new, 1)] {
            let decoded = decode(bytes, excluded);
            // The last vector is only checked for its length: its sum wraps.
            if *number == u32::MAX {
                assert_eq!(decoded.1, 5);
            } else {
                assert_eq!(
                    decoded,
                    (Some(*number), bytes.len()),
                    "{number} with {excluded} excluded"
                );
            }
        }
    }
    assert_eq!(
        decode(&[0], 1).0,
        None,
        "the excluded byte ends nothing and begins nothing"
    );
}

/// The number and how many bytes it took.
fn decode(bytes: &[u8], excluded: u8) -> (Option<u32>, usize) {
    let mut image = Image::default();
    image.put(0x10_0003, bytes);
    // What follows is a number of one byte: if it is read next, the first one took what it should.
    image.put(0x10_0003 + bytes.len(), &[77 + excluded]);
    let memory = &image;
    let mut numbers = Unsigned5::new(&memory, 0x10_0003, excluded);
    let first = numbers.next();
    let next = numbers.next();
    (
        first,
        if next == Some(77) || first.is_none() {
            bytes.len()
        } else {
            0
        },
    )
}

#[test]
fn segment_map_hops_and_free_space() {
    let heap = CodeHeap {
        end: 0,
        low: HEAP,
        high: HEAP + 0x100_0000,
        segments: SEGMENTS,
        segment_shift: 7,
    };
    let mut image = Image::default();
    // A block of 600 segments from segment 10 on: hops of at most 254.
    for i in 0..600usize {
        let hop = if i == 0 { 0 } else { (i - 1) % 254 + 1 };
        image.put(SEGMENTS + 10 + i, &[hop as u8]);
    }
    image.put(SEGMENTS + 700, &[0xff]);
    let at = |segment: usize| block_start(&&image, &heap, HEAP + (segment << 7) + 5);
    for segment in [10, 11, 263, 264, 265, 600, 609] {
        assert_eq!(at(segment), Some(HEAP + (10 << 7)), "segment {segment}");
    }
    assert_eq!(at(700), None);
    assert_eq!(at(5_000), None, "not readable");
}
