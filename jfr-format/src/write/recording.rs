//! The recording: interning, events, flush, rotation, finish.

use super::config::{Attribute, Config, Ticks};
use super::keys::{
    AttributeKey, ClassKey, GcCauseKey, GcNameKey, MethodKey, StackKey, StateKey, ThreadGroupKey,
    ThreadKey,
};
use super::model::{
    Allocation, Context, GarbageCollection, GcPhasePause, Mark, Method, MonitorEnter, Park, Sample,
    Span, StackTrace, Thread, TlabAllocation, WallSample,
};
use super::storage::Storage;
use crate::error::Result;
use crate::events::MAX_COLUMNS;

/// How a recording ended.
#[derive(Debug)]
pub struct Finished {
    /// Length of the file.
    pub bytes: u64,
    /// Whether the hole at the end could be removed. Not having done so is harmless: it costs no disk.
    pub compacted: bool,
}

/// One recording file being written. See the [module](super) for the rules.
#[derive(Debug)]
pub struct Recording<S: Storage> {
    storage: S,
}

#[expect(unused_variables, missing_docs, clippy::todo, reason = "bodies follow")]
impl<S: Storage> Recording<S> {
    pub fn create(storage: S, config: Config) -> Result<Self> {
        todo!()
    }

    // state
    pub fn generation(&self) -> u32 {
        todo!()
    }
    /// Memory of tables and unwritten events.
    pub fn size_hint_bytes(&self) -> usize {
        todo!()
    }
    /// Bytes of the current chunk, unwritten ones included (estimate).
    pub fn chunk_bytes(&self) -> u64 {
        todo!()
    }
    /// Bytes of the file without its hole.
    pub fn file_bytes(&self) -> u64 {
        todo!()
    }
    pub fn storage(&self) -> &S {
        todo!()
    }
    /// Number of declared columns.
    pub fn columns(&self) -> usize {
        todo!()
    }

    // interning; keys good for one generation
    pub fn thread(&mut self, thread: &Thread<'_>) -> ThreadKey {
        todo!()
    }
    pub fn thread_group(&mut self, parent: ThreadGroupKey, name: &str) -> ThreadGroupKey {
        todo!()
    }
    /// `java/lang/String`; arrays as in class files: `[B`.
    pub fn class(&mut self, name: &str) -> ClassKey {
        todo!()
    }
    pub fn method(&mut self, method: &Method<'_>) -> MethodKey {
        todo!()
    }
    pub fn stack(&mut self, stack: &StackTrace<'_>) -> StackKey {
        todo!()
    }
    /// One frame `ctxagent/NoStack.<reason>()V`: for a sample whose walk failed.
    pub fn synthetic_stack(&mut self, reason: &str) -> StackKey {
        todo!()
    }
    /// `STATE_RUNNABLE`, …: readers match the text.
    pub fn state(&mut self, name: &str) -> StateKey {
        todo!()
    }
    pub fn gc_name(&mut self, name: &str) -> GcNameKey {
        todo!()
    }
    pub fn gc_cause(&mut self, cause: &str) -> GcCauseKey {
        todo!()
    }
    pub fn attribute_value(&mut self, value: &str) -> AttributeKey {
        todo!()
    }
    /// Gives the values of the 8 slots a context id; writes `ctxagent.Context` once per chunk.
    pub fn context(&mut self, at: Ticks, values: &[AttributeKey; MAX_COLUMNS]) -> Context {
        todo!()
    }
    /// Tells readers what a slot holds; repeated by itself in later chunks. With `Columns::Auto` also names the column, until the first rotation.
    pub fn attribute(&mut self, slot: usize, attribute: Attribute) -> Result<()> {
        todo!()
    }

    // events; memory only
    pub fn execution_sample(&mut self, sample: &Sample) {
        todo!()
    }
    pub fn native_sample(&mut self, sample: &Sample) {
        todo!()
    }
    pub fn wall_sample(&mut self, sample: &WallSample) {
        todo!()
    }
    pub fn allocation_sample(&mut self, allocation: &Allocation) {
        todo!()
    }
    pub fn allocation_in_new_tlab(&mut self, allocation: &TlabAllocation) {
        todo!()
    }
    pub fn allocation_outside_tlab(&mut self, allocation: &Allocation) {
        todo!()
    }
    pub fn monitor_enter(&mut self, enter: &MonitorEnter) {
        todo!()
    }
    pub fn park(&mut self, park: &Park) {
        todo!()
    }
    pub fn garbage_collection(&mut self, gc: &GarbageCollection) {
        todo!()
    }
    pub fn gc_phase_pause(&mut self, pause: &GcPhasePause<'_>) {
        todo!()
    }
    pub fn span(&mut self, span: &Span) {
        todo!()
    }
    pub fn mark(&mut self, mark: &Mark<'_>) {
        todo!()
    }
    /// A counter: its growth in this chunk, and its total.
    pub fn stat(&mut self, at: Ticks, name: &str, in_chunk: i64, total: i64) {
        todo!()
    }
    pub fn data_loss(&mut self, at: Ticks, amount_bytes: u64, total_bytes: u64) {
        todo!()
    }

    // file
    /// Makes everything so far visible to readers. `now` ends the chunk's duration.
    pub fn flush(&mut self, now: Ticks) -> Result<()> {
        todo!()
    }
    /// Flushes, closes the chunk, begins the next one; keys of before are void.
    pub fn rotate(&mut self, now: Ticks) -> Result<()> {
        todo!()
    }
    /// Gives up what is in memory: events not yet flushed and all keys. Returns the number of events lost.
    pub fn abandon_chunk(&mut self) -> u64 {
        todo!()
    }
    /// Flushes, then writes a compact copy of the whole recording into a new storage and publishes it.
    pub fn snapshot_to<T: Storage>(&mut self, target: &mut T, now: Ticks) -> Result<u64> {
        todo!()
    }
    /// Flushes, marks the last chunk as final, removes the hole if the file is not huge. On error the caller still has the recording through `Error`; may be called again.
    pub fn finish(&mut self, now: Ticks) -> Result<Finished> {
        todo!()
    }
}
