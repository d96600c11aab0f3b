//! The settings of the wall-clock sampler.

use crate::options::{Options, WallThreads};
use std::time::Duration;

/// How a recording samples the wall clock.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WallSettings {
    pub(crate) period: Duration,
    /// Threads without a context are not sampled.
    pub(crate) needs_context: bool,
    /// The signal for CPU samples; the one for wall-clock samples follows from it.
    pub(crate) cpu_signal: i32,
}

impl WallSettings {
    /// The settings of `options`; `None` if wall-clock sampling is off.
    pub(crate) fn of(options: &Options) -> Option<Self> {
        Some(Self {
            period: options.wall?,
            needs_context: options.wall_threads == WallThreads::Context,
            cpu_signal: options.signal.number(),
        })
    }
}
