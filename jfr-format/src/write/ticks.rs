//! The event clock of written recordings.

use std::time::Duration;

/// Event clock: microseconds since the start of the recording.
///
/// Microseconds, not nanoseconds: a sample's time then takes four bytes for the first 4.5 minutes
/// and five for the next 9.5 hours, and a sample is no more exact than that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Ticks(pub u64);

impl Ticks {
    /// Ticks per second, the frequency in the chunk header.
    pub const PER_SECOND: u64 = 1_000_000;
    /// Nanoseconds of a tick.
    pub const NANOS: u64 = 1_000;

    /// The whole ticks of a duration.
    pub fn of(duration: Duration) -> Self {
        Self(u64::try_from(duration.as_micros()).unwrap_or(u64::MAX))
    }

    pub(crate) fn nanos(self) -> u64 {
        self.0.saturating_mul(Self::NANOS)
    }
}
