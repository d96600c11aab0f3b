//! Bad input gives a class or an error, never a panic or a hang.

use super::test_class::{CALLEE_CONSTANTS, CONSTANTS, OBSERVER, everything};
use crate::class_file::ClassFile;
use crate::hook::{CallHook, CallTarget, Helper};
use crate::patch::{CallOutcome, patch, rebuild};

const CALL: CallHook<'_> = CallHook {
    method: OBSERVER.method,
    descriptor: OBSERVER.descriptor,
    target: CallTarget {
        class: "t/Queue",
        method: "size",
        descriptor: "()I",
        is_static: false,
    },
    helper: Helper {
        class: "h/Helper",
        method: "size",
        descriptor: "(Lt/Queue;)I",
    },
};

/// A class with everything, with instructions of each form and a call to replace.
fn specimen() -> Vec<u8> {
    let mut class = everything();
    let call = CONSTANTS + CALLEE_CONSTANTS + u8::try_from(class.attributes.len()).unwrap();
    let code = [
        &[182, 0, call, 25, 4, 17, 1, 0, 196, 132, 1, 0, 0, 1, 170, 0][..],
        &[
            0, 0, 0, 30, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 30, 0, 0, 0, 31,
        ],
        &[
            171, 0, 0, 0, 0, 0, 0, 30, 0, 0, 0, 1, 0, 0, 0, 7, 0, 0, 0, 29,
        ],
    ];
    let code = code.concat();
    class.code[..code.len()].copy_from_slice(&code);
    class.callees = vec![(10, "t/Queue", "size", "()I")];
    class.bytes()
}

/// Xorshift: the same numbers everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(bound).unwrap()).unwrap()
    }
}

/// Whether the bytes were accepted. What was accepted is accepted again when patched.
fn is_accepted(bytes: &[u8]) -> bool {
    let attempt = ClassFile::parse(bytes).and_then(|class| {
        let same = rebuild(&class)?;
        assert_eq!(same, bytes);
        patch(&class, &[OBSERVER], &[CALL])
    });
    match attempt {
        Ok(patched) => {
            let again = ClassFile::parse(&patched.bytes).unwrap();
            assert_eq!(rebuild(&again).unwrap(), patched.bytes);
            true
        }
        Err(error) => {
            assert!(error.at() <= bytes.len(), "{error}");
            assert!(!error.to_string().is_empty());
            false
        }
    }
}

#[test]
fn every_beginning_of_a_class_is_refused() {
    let bytes = specimen();
    assert!(is_accepted(&bytes));
    let result = patch(&ClassFile::parse(&bytes).unwrap(), &[], &[CALL]).unwrap();
    assert_eq!(result.call_outcomes, [CallOutcome::Replaced { calls: 1 }]);
    assert!((0..bytes.len()).all(|len| !is_accepted(&bytes[..len])));
    let longer = [&bytes[..], &[0]].concat();
    assert!(!is_accepted(&longer));
}

#[test]
fn every_flipped_bit_gives_a_class_or_an_error() {
    let mut bytes = specimen();
    let mut accepted = 0;
    for at in 0..bytes.len() * 8 {
        bytes[at / 8] ^= 1 << (at % 8);
        accepted += usize::from(is_accepted(&bytes));
        bytes[at / 8] ^= 1 << (at % 8);
    }
    // Most bits are those of the code, of types and of lines.
    assert!(
        (100..bytes.len() * 8 - 100).contains(&accepted),
        "{accepted}"
    );
}

#[test]
fn random_changes_give_a_class_or_an_error() {
    let original = specimen();
    for seed in 1..=20_000_u64 {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut bytes = original.clone();
        for _ in 0..=random.below(4) {
            let at = random.below(bytes.len());
            let byte = [0, 1, 0x7F, 0xFF][random.below(4)];
            match random.below(3) {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                _ => drop(bytes.remove(at)),
            }
        }
        is_accepted(&bytes);
    }
}
