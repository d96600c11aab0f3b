//! Limit of the memory of a chunk.

use jfr_format::write::{Recording, Storage};

/// Above this size of tables and unflushed events the writer rotates the chunk.
pub(super) const MAX_CHUNK_MEMORY: usize = 8 << 20;
/// It must also have grown by this much: data kept of the previous chunk is no reason to rotate.
const MIN_GROWTH: usize = MAX_CHUNK_MEMORY / 2;
/// The limit while the file cannot be written: above it the writer discards memory.
pub(super) const MAX_UNFLUSHED_MEMORY: usize = 16 << 20;

/// Size of a chunk's tables at its start.
#[derive(Debug, Default)]
pub(super) struct ChunkMemory {
    begun_with: usize,
}

impl ChunkMemory {
    /// Notes the start of a chunk, with the data kept of the previous one.
    pub(super) fn begin<S: Storage>(&mut self, recording: &Recording<S>) {
        self.begun_with = recording.size_hint_bytes();
    }

    /// Whether the chunk exceeds `limit`, and not because of the previous one.
    pub(super) fn is_above<S: Storage>(&self, limit: usize, recording: &Recording<S>) -> bool {
        recording.size_hint_bytes() > limit.max(self.begun_with + MIN_GROWTH)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ctxagent_events::ProfileConfig;
    use jfr_format::write::{MemoryStorage, Ticks};

    #[test]
    fn a_rotation_for_memory_does_not_trigger_the_next() {
        let mut recording =
            Recording::create(MemoryStorage::new(), ProfileConfig::default()).expect("in memory");
        let mut memory = ChunkMemory::default();
        for chunk in 1..8 {
            let mut values = 0;
            while !memory.is_above(MAX_CHUNK_MEMORY, &recording) {
                recording.attribute_value(&format!("value {values} of chunk {chunk}"));
                values += 1;
            }
            // Each takes some 45 bytes.
            assert!(values > 50_000, "chunk {chunk}: {values} values");
            let taken = recording.size_hint_bytes();
            assert!(taken <= MAX_UNFLUSHED_MEMORY, "chunk {chunk}: {taken}");
            recording.rotate(Ticks(chunk)).expect("in memory");
            memory.begin(&recording);
        }
    }
}
