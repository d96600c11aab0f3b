//! The limits of the class file format, exactly.

use super::test_class::{OBSERVER, TestClass, words};
use crate::class_file::ClassFile;
use crate::error::{Error, ErrorKind};
use crate::patch::{PatchedClass, patch};

fn patched(class: &TestClass) -> Result<PatchedClass, Error> {
    let bytes = class.bytes();
    patch(&ClassFile::parse(&bytes).unwrap(), &[OBSERVER], &[])
}

/// What the limit is about, and the size found.
fn refused(class: &TestClass) -> (&'static str, usize) {
    match patched(class).unwrap_err().kind() {
        ErrorKind::LimitExceeded { what, found, .. } => (*what, *found),
        kind => panic!("{kind}"),
    }
}

#[test]
fn code_of_65_535_bytes_is_the_longest() {
    let mut class = TestClass::default();
    class.code.resize(65_535 - 8, 177);
    assert!(patched(&class).is_ok());
    class.code.push(177);
    assert_eq!(refused(&class), ("bytes of code", 65_536));
}

/// The observer adds six constants to seven; the number that the file has is one more.
#[test]
fn pool_of_65_535_is_the_largest() {
    let mut class = TestClass {
        spare_constants: 65_534 - 13,
        ..TestClass::default()
    };
    let bytes = patched(&class).unwrap().bytes;
    assert_eq!(bytes[8..10], [0xFF, 0xFF]);
    class.spare_constants += 1;
    assert_eq!(refused(&class), ("constants", 65_536));
}

#[test]
fn table_of_65_535_lines_is_the_longest() {
    let mut class = TestClass::default();
    let mut table = words(&[65_534]);
    table.extend([0, 0, 0, 1].repeat(65_534));
    class.attributes = vec![("LineNumberTable", table.clone())];
    assert!(patched(&class).is_ok());
    table[1] = 0xFF;
    table.extend([0, 0, 0, 1]);
    class.attributes = vec![("LineNumberTable", table)];
    assert_eq!(refused(&class), ("line numbers", 65_536));
}

#[test]
fn classes_before_45_3_are_refused() {
    let mut bytes = TestClass::default().bytes();
    for (minor, major, is_good) in [(3, 45, true), (2, 45, false), (9, 44, false), (0, 46, true)] {
        (bytes[5], bytes[7]) = (minor, major);
        assert_eq!(ClassFile::parse(&bytes).is_ok(), is_good, "{major}.{minor}");
    }
}

#[test]
fn pools_that_are_empty_or_end_within_a_long_are_refused() {
    let class = TestClass {
        spare_constants: 1,
        ..TestClass::default()
    };
    let mut bytes = class.bytes();
    let spare = bytes.windows(5).position(|w| w == [3, 0, 0, 0, 0]).unwrap();
    bytes[spare] = 5;
    bytes.splice(spare..spare, [0; 4]);
    bytes[spare] = 5;
    let error = ClassFile::parse(&bytes).unwrap_err();
    assert_eq!(error.at(), 10, "{error}");
    bytes[8..10].fill(0);
    let error = ClassFile::parse(&bytes).unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::WrongConstant { .. }),
        "{error}"
    );
}
