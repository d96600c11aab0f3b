//! Bits of the event mask in a context block: which events may be recorded with the context. A test
//! compares them with `EventBits` in the Java API.

/// `jdk.ExecutionSample`.
pub const EXECUTION_SAMPLE_BIT: u32 = 1;
/// `profiler.WallClockSample`.
pub const WALL_CLOCK_SAMPLE_BIT: u32 = 1 << 1;
/// `jdk.ObjectAllocationSample`.
pub const ALLOCATION_SAMPLE_BIT: u32 = 1 << 2;
/// `jdk.JavaMonitorEnter`.
pub const MONITOR_ENTER_BIT: u32 = 1 << 3;
/// `jdk.ThreadPark`.
pub const PARK_BIT: u32 = 1 << 4;
/// `jdk.JavaExceptionThrow`.
pub const EXCEPTION_BIT: u32 = 1 << 5;
