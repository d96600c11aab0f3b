//! Bits of the event mask in a context block: which events may be recorded with the context.
//!
//! `EventBits` in the Java API has the whole list; here are the events that the agent records.

/// `jdk.ExecutionSample`.
pub const EXECUTION_SAMPLE_BIT: u32 = 1;
/// `profiler.WallClockSample`.
pub const WALL_CLOCK_SAMPLE_BIT: u32 = 1 << 2;
/// `jdk.ObjectAllocationSample`.
pub const ALLOCATION_SAMPLE_BIT: u32 = 1 << 3;
/// `jdk.JavaMonitorEnter`.
pub const MONITOR_ENTER_BIT: u32 = 1 << 6;
