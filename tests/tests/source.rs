//! What the sources and the pages say of themselves: no JVM runs.

mod architecture;
mod docs;
mod public_api;
mod source_tree;
