//! Test builds only: bugs that a test turns on, to show that the oracle would find them.

use core::sync::atomic::AtomicBool;

/// The handler reads a block although its owner is writing it.
pub static SEQUENCE: AtomicBool = AtomicBool::new(false);
/// The handler takes the first block of a neighbourhood, whoever owns it.
pub static OWNER: AtomicBool = AtomicBool::new(false);
/// The VM's tables lead to the id of another virtual thread.
pub static VIRTUAL_ID: AtomicBool = AtomicBool::new(false);
