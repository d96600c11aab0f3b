//! Patches of classes that are put together byte by byte.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod attributes;
mod calls;
mod hooks;
mod hostile;
mod limits;
mod renames;
mod test_class;
