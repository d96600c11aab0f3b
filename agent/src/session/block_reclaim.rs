//! Reclaims blocks of virtual threads that ended with a scope open or a value put. The event of a
//! virtual thread's end costs 150 to 200 ns each, so the agent does not enable it: it searches when
//! a thread finds no free block.
//!
//! Why no living thread loses its block: the search reads the owners first. A thread that had a
//! block then, and lives, is in every list of living threads made later. Only owners missing in two
//! such lists lose their block, and ids are never reused. The one gap: an executor's list lacks a
//! thread whose task has ended while its factory runs on (`docs/operations.md`).

use crate::jvm::jni::Jni;
use crate::log;
use crate::metrics;
use crate::session::components::Components;
use crate::threads::live_threads;
use signal_core::counters::Counter;
use signal_core::java_thread::IdSource;
use std::collections::HashSet;
use std::time::{Duration, Instant};

/// Shortest time between two searches.
const SHORTEST_PAUSE: Duration = Duration::from_secs(1);
/// Longest time between two: while living threads own all blocks, a search finds nothing.
const LONGEST_PAUSE: Duration = Duration::from_mins(5);

/// When to search next.
#[derive(Debug)]
pub(crate) struct BlockReclaim {
    /// Threads without a free block at the last check.
    refused: u64,
    pause: Duration,
    next: Option<Instant>,
}

impl Default for BlockReclaim {
    fn default() -> Self {
        Self {
            refused: 0,
            pause: SHORTEST_PAUSE,
            next: None,
        }
    }
}

impl BlockReclaim {
    /// Searches if a thread found no free block since the last call and the pause is over.
    pub(super) fn run(&mut self, components: &Components, jni: Jni) {
        let now = Instant::now();
        if !self.is_due(metrics::misuse_count(Counter::ApiNoFreeBlock), now) {
            return;
        }
        let can_have = components.handler.id_source() != IdSource::Platform;
        let freed = if can_have {
            search(components, jni)
        } else {
            Some(0)
        };
        components
            .handler
            .counters
            .add_many(Counter::BlocksFreed, freed.unwrap_or(0));
        self.searched(freed.unwrap_or(0), now);
        if freed.is_none() {
            log::warn_rarely(
                "no context block is free for a thread, and this JVM does not list its virtual \
                 threads (jdk.trackAllThreads=false), so blocks of ended ones are not \
                 reclaimed; ctxblocks= allows more blocks",
            );
        }
    }

    fn is_due(&mut self, refused: u64, now: Instant) -> bool {
        if refused == self.refused || self.next.is_some_and(|next| now < next) {
            return false;
        }
        self.refused = refused;
        true
    }

    fn searched(&mut self, freed: u64, now: Instant) {
        self.pause = if freed > 0 {
            SHORTEST_PAUSE
        } else {
            (self.pause * 2).min(LONGEST_PAUSE)
        };
        self.next = Some(now + self.pause);
    }
}

/// Frees the blocks of ended threads; returns their number, `None` if the VM does not list its
/// threads.
fn search(components: &Components, jni: Jni) -> Option<u64> {
    let mut owners = HashSet::new();
    components.handler.blocks.for_each_owner(|tid| {
        owners.insert(tid);
    });
    // A platform thread frees its block at its ThreadEnd. Read after the owners: a living owner is
    // registered by then.
    let platform = components.threads.java_tids();
    owners.retain(|tid| !platform.contains(tid));
    for _ in 0..2 {
        if owners.is_empty() {
            return Some(0);
        }
        let living = live_threads::ids(jni)?;
        owners.retain(|tid| !living.contains(tid));
    }
    let blocks = &components.handler.blocks;
    let freed = owners.iter().filter(|tid| blocks.evict(**tid));
    Some(freed.count() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn searches_need_a_refusal_and_back_off() {
        let mut s = BlockReclaim::default();
        let start = Instant::now();
        assert!(!s.is_due(0, start), "nobody was refused");
        assert!(s.is_due(3, start));
        s.searched(0, start);
        assert!(
            !s.is_due(4, start + SHORTEST_PAUSE),
            "the pause has doubled"
        );
        assert!(s.is_due(4, start + SHORTEST_PAUSE * 2));
        s.searched(5, start);
        assert!(!s.is_due(4, start + LONGEST_PAUSE), "no new refusal");
        assert!(
            s.is_due(5, start + SHORTEST_PAUSE),
            "short again after a find"
        );
        for _ in 0..20 {
            s.searched(0, start);
        }
        assert!(s.is_due(6, start + LONGEST_PAUSE), "the pause is bounded");
    }
}
