//! Inserts calls at the entry of methods of a Java class file, and replaces calls inside of them.
//!
//! | module | what it is for |
//! |---|---|
//! | [`patch`](mod@patch) | the entry: a class and its hooks to a new class |
//! | [`hook`] | what to call at which method, or in place of which call |
//! | [`class_file`] | constant pool and methods of a class |
//! | [`error`] | one error type: where, and what was found there |
//!
//! A prologue is straight-line code of a multiple of [`ALIGNMENT`](hook::ALIGNMENT) bytes: loads of
//! arguments, `invokestatic`, perhaps `checkcast` and `astore`, then `nop`. It leaves locals and
//! stack as the method's own first instruction expects them, so frames keep their types and only
//! positions move. Branches are relative and keep their bytes, as does the padding of switches.
//!
//! | part of the class | what changes |
//! |---|---|
//! | constant pool | entries of the helper are appended |
//! | `max_stack`, `code_length` | raised |
//! | exception table, `StackMapTable`, type annotations | move by the prologue's length |
//! | `LineNumberTable` | moves; the prologue gets the line of the first instruction |
//! | `LocalVariableTable`, `LocalVariableTypeTable` | parameters begin at 0 and grow, others move |
//! | any other attribute of `Code` | refused: it may hold positions |
//!
//! A replaced call becomes an `invokestatic` with the same values on the stack before and after, and
//! of the same length (`nop` follows that of an interface): no position moves.
//!
//! ```
//! # fn main() -> Result<(), class_patcher::error::Error> {
//! use class_patcher::class_file::ClassFile;
//! use class_patcher::hook::{Argument, Helper, Hook};
//! use class_patcher::patch::{HookOutcome, patch};
//!
//! let callable = Hook {
//!     method: "<init>",
//!     descriptor: "(Ljava/util/concurrent/Callable;)V",
//!     helper: Helper {
//!         class: "io/example/Context",
//!         method: "wrap",
//!         descriptor: "(Ljava/util/concurrent/Callable;)Ljava/util/concurrent/Callable;",
//!     },
//!     arguments: &[Argument::Parameter(0)],
//!     replaces: Some(0),
//! };
//! # // class A extends B, without members
//! # let bytes = b"\xCA\xFE\xBA\xBE\0\0\0\x3D\0\x05\x01\0\x01A\x07\0\x01\x01\0\x01B\x07\0\x03\
//! #     \0\0\0\x02\0\x04\0\0\0\0\0\0\0\0";
//! let class = ClassFile::parse(bytes)?;
//! let patched = patch(&class, &[callable], &[])?;
//! if patched.outcomes == [HookOutcome::NoSuchMethod] {
//!     assert_eq!(patched.bytes, bytes);
//! }
//! # assert_eq!(patched.outcomes, [HookOutcome::NoSuchMethod]);
//! # Ok(())
//! # }
//! ```
//!
//! Any input gives a class or an error: no panic, no recursion, time and memory in proportion to
//! the input. The result is as valid as the input was; this crate is not a verifier.
#![forbid(unsafe_code)]
#![cfg_attr(
    not(test),
    deny(
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects,
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic
    )
)]

mod bytes;
pub mod class_file;
mod code;
pub mod error;
pub mod hook;
pub mod patch;
#[cfg(test)]
mod tests;
