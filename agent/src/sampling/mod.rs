//! Samplers that are threads of their own: wall-clock samples, and CPU samples of threads that sleep.

pub(crate) mod idle;
pub(crate) mod wall;
