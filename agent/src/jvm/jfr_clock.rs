//! The clock of the JDK's own recorder, read together with the monotonic one, so that readers can
//! compare times of both recordings exactly.

use super::jni::Jni;
use signal_core::engine::monotonic_nanos;

/// Readings of which the best counts: others may have been interrupted.
const READINGS: usize = 3;

/// Both clocks at one moment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClockReading {
    pub(crate) nanos: u64,
    pub(crate) ticks: i64,
    /// How far `nanos` may be off.
    pub(crate) uncertainty_nanos: u64,
}

/// Reads both; `None` where the JDK has no recorder.
pub(crate) fn read(jni: Jni) -> Option<ClockReading> {
    jni.with_local_frame(|jni| {
        let class = jni.class_of_loader("jdk.jfr.internal.JVM", true, None)?;
        let method = jni.static_method_id(&class, c"counterTime", c"()J")?;
        let readings = (0..READINGS).map(|_| {
            let before = monotonic_nanos();
            let ticks = jni.call_static_long(&class, method, &[]);
            let uncertainty_nanos = (monotonic_nanos() - before).div_ceil(2);
            ClockReading {
                nanos: before + uncertainty_nanos,
                ticks,
                uncertainty_nanos,
            }
        });
        readings.min_by_key(|reading| reading.uncertainty_nanos)
    })
}
