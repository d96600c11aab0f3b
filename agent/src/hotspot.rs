//! What the agent reads from HotSpot's own structures: offsets, symbols, tables of the stack
//! walker, monitors.

pub(crate) mod identity;
pub(crate) mod layout;
pub(crate) mod monitors;
mod stack_chunks;
mod symtab;
mod vm_dictionary;
pub(crate) mod vm_flags;
pub(crate) mod vm_structs;
pub(crate) mod walk_tables;
