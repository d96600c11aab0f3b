//! Counters at one moment, their accounts, and the counters of misuse of the Java API.

mod accounting;
mod misuse;
mod sampled_cpu;
mod snapshot;

pub(crate) use accounting::{LateSamples, RecordingStart};
pub(crate) use misuse::{count_misuse, misuse_count, misuse_counts};
pub(crate) use sampled_cpu::{CpuClock, CpuTime, SampledCpu};
pub(crate) use snapshot::{Snapshot, SnapshotSource};
