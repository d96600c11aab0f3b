//! Level 3: the profiler's view of a chunk: samples with threads, stacks, states and context
//! columns.

pub(crate) mod decode_plan;
pub(crate) mod descriptions;
mod methods;
pub(crate) mod rows;
pub(crate) mod sample_columns;
pub(crate) mod samples;
pub(crate) mod stacks;
pub(crate) mod tables;
pub(crate) mod threads;
