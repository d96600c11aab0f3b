//! What a walk takes from earlier ones, and when it must not.

use super::scene::{HEADER, HEAP, META, SP, Scene, expected, id, method, scene, seen};
use crate::outcome::{End, Failure};
use std::vec::Vec;

/// The frames of a walk after the walk of the scene as it was, with `change` in between.
fn second_walk(change: impl Fn(&mut Scene)) -> (End, Vec<(usize, i32, u32)>) {
    let mut s = scene();
    s.walk(s.inner + 6, SP, 0, 16);
    change(&mut s);
    let (walk, frames) = s.walk(s.inner + 6, SP, 0, 16);
    (walk.end, seen(&frames))
}

/// Debug information that is wrong from now on: who looks into it finds no methods.
fn without_debug_information(s: &mut Scene) {
    let outer = s.outer_return - 0x40 - HEADER;
    s.image.word_at(outer + 64, 0);
}

#[test]
fn call_site_is_decoded_once() {
    assert_eq!(
        second_walk(without_debug_information),
        (End::Root, expected())
    );
}

#[test]
fn prefetch_hints_are_those_of_the_last_walk() {
    let s = scene();
    let (inner, outer) = (s.inner - HEADER, s.outer_return - 0x40 - HEADER);
    s.walk(s.inner + 6, SP, 0, 16);
    assert_eq!(s.hints.blobs(), [inner, outer]);
    s.walk(s.inner + 6, SP, 0, 16);
    assert_eq!(s.hints.blobs(), [inner, outer], "of cached call sites");
    let (walk, _) = s.walk(s.outer_return - 0x40 + 6, SP + 32, 0, 16);
    assert_eq!(walk.end, End::Root);
    assert_eq!(s.hints.blobs(), [outer], "a shorter one ends before");
}

#[test]
fn call_site_is_a_miss_when_other_code_lies_there() {
    for offset in [24, 80] {
        // Method, compile id.
        let (end, frames) = second_walk(|s| {
            without_debug_information(s);
            let outer = s.outer_return - 0x40 - HEADER;
            let other = if offset == 24 {
                method(&mut s.image, 1)
            } else {
                77
            };
            s.image.word_at(outer + offset, other);
        });
        assert_eq!(
            (end, frames),
            (End::Failed(Failure::Scope), expected()[..1].to_vec())
        );
    }
}

#[test]
fn call_site_is_not_cached_before_its_methods_have_ids() {
    let mut s = scene();
    let ids = META + 3 * 0x1000 + 0x800;
    s.image.word_at(ids + 3 * 8, 0);
    let (_, frames) = s.walk(s.inner + 6, SP, 0, 16);
    assert_eq!(frames[1].method.addr(), 0);
    s.image.word_at(ids + 3 * 8, id(3));
    let (walk, frames) = s.walk(s.inner + 6, SP, 0, 16);
    assert_eq!((walk.end, seen(&frames)), (End::Root, expected()));
}

#[test]
fn full_array_ends_the_walk_at_a_cached_call_site() {
    let s = scene();
    s.walk(s.inner + 6, SP, 0, 16);
    let (walk, frames) = s.walk(s.inner + 6, SP, 0, 2);
    assert_eq!(
        (walk.end, seen(&frames)),
        (End::Full, expected()[..2].to_vec())
    );
}

/// Where a thread was interrupted stays on its stack: a described address that no call returns to.
#[test]
fn address_behind_no_call_does_not_confirm_a_guess() {
    for is_cached in [false, true] {
        let mut s = scene();
        if is_cached {
            s.walk(s.inner + 6, SP, 0, 16);
        }
        s.image.put(s.outer_return - 5, &[0x90]);
        let (_, frames) = s.walk(s.inner + 6, SP - 8, 0, 16);
        assert_eq!(seen(&frames), expected()[..1], "cached: {is_cached}");
    }
}

#[test]
fn cached_call_site_of_freed_code_does_not_confirm_a_guess() {
    // A slow path has pushed a register: the return address is one word further up than the frame
    // says.
    let guess = |s: &Scene| s.walk(s.inner + 6, SP - 8, 0, 16);
    let mut s = scene();
    let (walk, frames) = guess(&s);
    assert_eq!((walk.end, seen(&frames)), (End::Root, expected()));
    s.image.put(HEAP + 0x8000 + 8, &[0]);
    let (walk, frames) = guess(&s);
    // The word behind it is a return address as well.
    assert_eq!(
        (walk.end, seen(&frames)),
        (End::Root, expected()[..1].to_vec())
    );
}
