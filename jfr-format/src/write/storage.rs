//! Where the bytes of a recording go: a file on disk, or memory.

mod contract;
mod descriptor;
mod directory;
mod file;
mod memory;

pub use contract::{PAGE, Storage};
pub use directory::Directory;
pub use file::{FileState, FileStorage};
pub use memory::{MemoryStorage, Operation};
