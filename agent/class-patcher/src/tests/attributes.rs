//! What moves in the attributes of code, by 8 bytes.

use super::test_class::{OBSERVER, TestClass, everything, frames, words};
use crate::class_file::ClassFile;
use crate::error::ErrorKind;
use crate::patch::{patch, rebuild};

fn with(name: &'static str, content: Vec<u8>) -> TestClass {
    TestClass {
        attributes: vec![(name, content)],
        ..TestClass::default()
    }
}

#[test]
fn exception_ranges_and_handlers_move() {
    let mut class = TestClass::default();
    let mut expected = class.clone();
    class.exceptions = vec![[0, 100, 50, 3], [7, 8, 9, 0]];
    expected.exceptions = vec![[8, 108, 58, 3], [15, 16, 17, 0]];
    class.assert_becomes(&expected);
}

#[test]
fn lines_move_and_the_prologue_has_the_first_one() {
    let table = |values: &[u16]| with("LineNumberTable", words(values));
    table(&[3, 5, 11, 0, 10, 0, 12]).assert_becomes(&table(&[4, 0, 10, 13, 11, 8, 10, 8, 12]));
    table(&[1, 5, 11]).assert_becomes(&table(&[1, 13, 11]));
}

#[test]
fn parameters_are_there_in_the_prologue_and_other_variables_move() {
    let before = words(&[3, 0, 100, 1, 2, 0, 10, 90, 3, 4, 1, 0, 0, 5, 6, 2]);
    let after = words(&[3, 0, 108, 1, 2, 0, 18, 90, 3, 4, 1, 8, 0, 5, 6, 2]);
    for name in ["LocalVariableTable", "LocalVariableTypeTable"] {
        with(name, before.clone()).assert_becomes(&with(name, after.clone()));
    }
}

#[test]
fn only_the_first_frame_moves() {
    let table = |tail: &[u8]| with("StackMapTable", [&[0, 2], tail].concat());
    table(&[0, 5]).assert_becomes(&table(&[8, 5]));
    table(&[250, 0, 9, 5]).assert_becomes(&table(&[250, 0, 17, 5]));
    table(&[254, 0, 9, 0, 1, 2, 5]).assert_becomes(&table(&[254, 0, 17, 0, 1, 2, 5]));
    let empty = with("StackMapTable", words(&[0]));
    empty.assert_becomes(&empty);
}

#[test]
fn short_frames_become_extended_ones_where_they_must() {
    let table = |frame: &[u8]| with("StackMapTable", [&[0, 1], frame].concat());
    table(&[55]).assert_becomes(&table(&[63]));
    table(&[56]).assert_becomes(&table(&[251, 0, 64]));
    table(&[64 + 55, 1]).assert_becomes(&table(&[64 + 63, 1]));
    table(&[64 + 56, 1]).assert_becomes(&table(&[247, 0, 64, 1]));
    // The form stays where it was longer than needed.
    table(&[251, 0, 1]).assert_becomes(&table(&[251, 0, 9]));
    table(&[247, 0, 1, 1]).assert_becomes(&table(&[247, 0, 9, 1]));
}

/// All types in `frames` that are not initialised name the position 7.
#[test]
fn objects_that_are_not_initialised_move() {
    let mut expected = frames(38);
    let mut moved = 0;
    for at in 2..expected.len() - 2 {
        if expected[at..at + 3] == [8, 0, 7] {
            expected[at + 2] = 15;
            moved += 1;
        }
    }
    assert_eq!(moved, 4);
    with("StackMapTable", frames(30)).assert_becomes(&with("StackMapTable", expected));
}

#[test]
fn annotated_positions_move() {
    let cases: [(&[u8], &[u8]); 8] = [
        (
            &[0x40, 0, 1, 0, 0, 0, 5, 0, 1],
            &[0x40, 0, 1, 0, 0, 0, 13, 0, 1],
        ),
        (
            &[0x41, 0, 1, 0, 4, 0, 5, 0, 1],
            &[0x41, 0, 1, 0, 12, 0, 5, 0, 1],
        ),
        (&[0x42, 0, 3], &[0x42, 0, 3]),
        (&[0x43, 0, 9], &[0x43, 0, 17]),
        (&[0x44, 0, 0], &[0x44, 0, 8]),
        (&[0x46, 0, 99], &[0x46, 0, 107]),
        (&[0x47, 0, 3, 2], &[0x47, 0, 11, 2]),
        (&[0x4B, 0, 3, 2], &[0x4B, 0, 11, 2]),
    ];
    for name in [
        "RuntimeVisibleTypeAnnotations",
        "RuntimeInvisibleTypeAnnotations",
    ] {
        for (before, after) in cases {
            let table = |target: &[u8]| {
                let annotation = [&[0, 1], target, &[0, 0, 1, 0, 0]].concat();
                with(name, annotation)
            };
            table(before).assert_becomes(&table(after));
        }
    }
}

/// Deeper than any stack could go.
#[test]
fn nested_annotations_are_copied() {
    let depth = 100_000;
    let mut content = vec![0, 1, 0x43, 0, 0, 0, 0, 1, 0, 1, 0, 1];
    content.extend([b'[', 0, 1].repeat(depth));
    content.extend([b'I', 0, 1]);
    let mut expected = content.clone();
    expected[4] = 8;
    let name = "RuntimeVisibleTypeAnnotations";
    with(name, content).assert_becomes(&with(name, expected));
}

#[test]
fn a_class_that_is_rebuilt_is_the_same() {
    let bytes = everything().bytes();
    let class = ClassFile::parse(&bytes).unwrap();
    assert_eq!(rebuild(&class).unwrap(), bytes);
    assert_eq!(patch(&class, &[], &[]).unwrap().bytes, bytes);
}

#[test]
fn unknown_attributes_of_code_are_refused() {
    let bytes = with("CharacterRangeTable", words(&[0])).bytes();
    let class = ClassFile::parse(&bytes).unwrap();
    let error = patch(&class, &[OBSERVER], &[]).unwrap_err();
    let kind = ErrorKind::UnknownCodeAttribute("CharacterRangeTable".into());
    assert_eq!(error.kind(), &kind);
    assert_eq!(bytes[error.at()..][..2], [0, 6], "the index of its name");
    assert!(
        patch(&class, &[], &[]).is_ok(),
        "of a method without a hook"
    );
}

#[test]
fn positions_outside_of_the_code_are_refused() {
    let found_in = |class: TestClass| {
        let bytes = class.bytes();
        let class = ClassFile::parse(&bytes).unwrap();
        let error = patch(&class, &[OBSERVER], &[]).unwrap_err();
        match *error.kind() {
            ErrorKind::OutOfCode {
                found,
                code_length: 100,
            } => found,
            _ => panic!("{error}"),
        }
    };
    let exceptions = |entry| TestClass {
        exceptions: vec![entry],
        ..TestClass::default()
    };
    assert_eq!(found_in(exceptions([100, 100, 50, 0])), 100);
    assert_eq!(found_in(exceptions([0, 101, 50, 0])), 101);
    assert_eq!(found_in(exceptions([0, 100, 102, 0])), 102);
    let line = with("LineNumberTable", words(&[1, 100, 1]));
    assert_eq!(found_in(line), 100);
    let variable = with("LocalVariableTable", words(&[1, 65535, 65535, 1, 1, 1]));
    assert_eq!(found_in(variable), 131_070);
    let frame = with("StackMapTable", vec![0, 2, 251, 0, 60, 251, 0, 39]);
    assert_eq!(found_in(frame), 100);
    let object = with("StackMapTable", vec![0, 1, 64, 8, 0, 100]);
    assert_eq!(found_in(object), 100);
}
