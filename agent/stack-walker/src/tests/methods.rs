//! Which methods count, and under which id: without an id yet, of another class, redefined.

use super::scene::{
    C2, META, SP, Scene, expected, id, in_interpreter, interpreted, method, number_ids, scene, seen,
};
use crate::arch::x86_64::X86_64;
use crate::frame::FrameKind;
use crate::outcome::{End, Failure};
use std::vec::Vec;

#[test]
fn method_whose_id_names_another_class_is_refused() {
    let mut s = scene();
    let other = method(&mut s.image, 9);
    s.image.word_at(id(1), other);
    let (walk, frames) = s.walk(s.inner + 6, SP, 0, 16);
    assert_eq!(walk.end, End::Failed(Failure::Method));
    assert!(frames.is_empty());
}

#[test]
fn method_without_id_is_a_frame_without_id() {
    let mut s = scene();
    s.image.word_at(META + 0x1000 + 0x400 + 344, 0); // the class has no table yet
    let (walk, frames) = s.walk(s.inner + 6, SP, 0, 16);
    assert_eq!(
        (walk.end, frames[0].method.addr(), frames[0].bci),
        (End::Root, 0, 7)
    );
}

/// As in 26: an id is a number, and may look like an address that cannot be read.
#[test]
fn numbers_are_ids_too() {
    for first in [7, 0x7000_0000] {
        let mut s = scene();
        let numbered = number_ids(&mut s, first);
        for _ in 0..2 {
            let (walk, frames) = s.walk(s.inner + 6, SP, 0, 16);
            assert_eq!((walk.end, seen(&frames)), (End::Root, numbered.clone()));
        }
    }
}

/// Method `number` is an old version now: the class has another method of that name, with other
/// code and other constants. Answers the id of that one.
fn redefine(s: &mut Scene, number: usize) -> usize {
    let old = META + number * 0x1000;
    let (constant, pool, klass, ids) = (old + 0x100, old + 0x200, old + 0x400, old + 0x800);
    let (new, new_constant, new_pool) = (old + 0xa00, old + 0xb00, old + 0xc00);
    let (symbols, array) = (old + 0xd00, old + 0xe00);
    let (name, signature, other) = (symbols + 0x40, symbols + 0x80, symbols);
    let image = &mut s.image;
    image.put(signature + 6, b"()V");
    image.put(other + 6, b"(I)V");
    // The VM's own order of events: the id goes to the new method, the old one gets a number
    // without an id.
    image.word_at(new + 8, new_constant);
    image.word_at(new_constant + 8, new_pool);
    image.u16_at(new_constant + 38, 2);
    image.word_at(new_pool + 24, klass);
    image.word_at(klass + 32, new_pool);
    image.word_at(id(number), new);
    image.u16_at(constant + 38, 77);
    for (constant, pool, from) in [(constant, pool, 4), (new_constant, new_pool, 9)] {
        image.u16_at(constant + 34, from);
        image.u16_at(constant + 36, from + 1);
        image.word_at(pool + 72 + 8 * usize::from(from), name);
        image.word_at(pool + 72 + 8 * usize::from(from) + 8, signature);
    }
    // The methods of the class: one with a lower name, an overload, the one looked for.
    image.word_at(klass + 336, array);
    image.u32_at(array, 3);
    for (index, (name, signature)) in [(other, signature), (name, other)].iter().enumerate() {
        let method = old + 0x600 + index * 0x80;
        let (constant, pool) = (method + 0x10, method + 0x10);
        image.word_at(method + 8, constant);
        image.word_at(constant + 8, pool - 24);
        image.u16_at(constant + 34, 0);
        image.u16_at(constant + 36, 1);
        image.word_at(pool - 24 + 72, *name);
        image.word_at(pool - 24 + 80, *signature);
        image.word_at(array + 8 + 8 * index, method);
    }
    image.word_at(array + 24, new);
    image.word_at(ids, 5);
    id(number)
}

#[test]
fn obsolete_method_has_the_id_of_its_successor_and_no_index() {
    let mut s = scene();
    for number in [1, 2, 3] {
        redefine(&mut s, number);
    }
    let without_index: Vec<_> = expected()
        .iter()
        .map(|(id, _, kind)| (*id, -1, *kind))
        .collect();
    for _ in 0..2 {
        let (walk, frames) = s.walk(s.inner + 6, SP, 0, 16);
        assert_eq!(
            (walk.end, seen(&frames)),
            (End::Root, without_index.clone())
        );
    }
}

#[test]
fn obsolete_interpreted_method_is_a_caller() {
    let mut s = interpreted();
    redefine(&mut s, 1);
    let (walk, frames) = s.walk_from::<X86_64>(in_interpreter(), 16);
    let top = (id(1), -1, FrameKind::Interpreted as u32);
    assert_eq!(
        (walk.end, seen(&frames)),
        (End::Root, [&[top], &expected()[1..]].concat())
    );
}

#[test]
fn obsolete_method_without_successor_is_a_frame_without_id() {
    let mut s = scene();
    redefine(&mut s, 1);
    s.image.u32_at(META + 0x1000 + 0xe00, 2); // deleted
    let (walk, frames) = s.walk(s.inner + 6, SP, 0, 16);
    assert_eq!(walk.end, End::Root);
    assert_eq!(seen(&frames)[0], (0, -1, C2));
    assert_eq!(seen(&frames)[1..], expected()[1..]);
}

#[test]
fn lookalike_of_an_obsolete_method_is_refused() {
    // A signature that is none; constants that lead to another class.
    for (at, word) in [(0xd00 + 0x80, 0), (0xc00 + 24, META + 0x2000 + 0x400)] {
        let mut s = scene();
        redefine(&mut s, 1);
        s.image.word_at(META + 0x1000 + at, word);
        let (walk, _) = s.walk(s.inner + 6, SP, 0, 16);
        assert_eq!(walk.end, End::Failed(Failure::Method));
    }
}
