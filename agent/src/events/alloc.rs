//! Sampled allocations: the VM picks one in so many bytes at random and calls back on the
//! allocating thread.

use super::queue::{CallbackContext, EventQueue, ObservedEvent, Payload};
use crate::jvm::jni::LocalRef;
use crate::jvm::jvmti::Jvmti;
use crate::log;
use crate::threads::ThreadRef;
use jvmti_sys::{Capability, Event};
use schema::event_mask::ALLOCATION_SAMPLE_BIT;
use signal_core::block::Values;
use signal_core::counters::{Counter, Counters};
use signal_core::lost_weights::LostWeights;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Turns sampling on, on average one in `bytes`.
pub(super) fn enable(jvmti: Jvmti, bytes: u64) {
    let enabled = jvmti
        .add_capability(Capability::CAN_GENERATE_SAMPLED_OBJECT_ALLOC_EVENTS)
        .and_then(|()| jvmti.set_heap_sampling_interval(bytes))
        .and_then(|()| jvmti.notify(Event::SAMPLED_OBJECT_ALLOC, true));
    if let Err(error) = enabled {
        log::warn(&format!(
            "allocations are not sampled: {error} (only one agent of a JVM can have them)"
        ));
    }
}

/// Turns it off.
pub(super) fn disable(jvmti: Jvmti) {
    // Fails if `enable` failed or was not called: then nothing is on.
    let _ = jvmti.notify(Event::SAMPLED_OBJECT_ALLOC, false);
}

/// Gives the capability back to other agents.
pub(super) fn relinquish(jvmti: Jvmti) {
    let _ = jvmti.relinquish(Capability::CAN_GENERATE_SAMPLED_OBJECT_ALLOC_EVENTS);
}

/// An object of `class` with `size` bytes was picked.
pub(super) fn on_allocated(
    context: &CallbackContext<'_>,
    interval_bytes: u64,
    class: &LocalRef<'_>,
    size: u64,
) {
    let queue = context.queue;
    let counters = &queue.handler.counters;
    counters.add(Counter::AllocSeen);
    let Some((thread, values)) = queue.current_context(ALLOCATION_SAMPLE_BIT) else {
        return counters.add(Counter::AllocFiltered);
    };
    let weight_bytes = weight_bytes(size, interval_bytes);
    let debt = WeightDebt::of_current_thread(queue, thread, &values);
    if queue.is_full() {
        return debt.add(counters, weight_bytes, 0);
    }
    let carried = debt.take();
    let event = ObservedEvent {
        nanos: context.nanos,
        thread,
        values,
        frames: queue.jvmti.stack_here(queue.depth()),
        class: queue.jvmti.class_signature(class).unwrap_or_default(),
        payload: Payload::Allocation {
            weight_bytes: weight_bytes.saturating_add(carried),
            size_bytes: size,
        },
        holder: None,
    };
    if queue.push(event) {
        counters.add_many(Counter::AllocCarriedBytes, carried);
    } else {
        debt.add(counters, weight_bytes, carried);
    }
}

/// Weights of lost allocations, by thread and context, until the next event carries them.
struct WeightDebt {
    weights: Option<&'static LostWeights>,
    recording: u64,
    key: u64,
}

impl WeightDebt {
    fn of_current_thread(queue: &EventQueue, thread: ThreadRef, values: &Values) -> Self {
        let mut hasher = DefaultHasher::new();
        (
            thread.logical_tid,
            values.event_mask,
            values.ids,
            values.raw,
        )
            .hash(&mut hasher);
        Self {
            weights: queue.current_record().map(|r| &r.lost_weights),
            recording: queue.recording(),
            key: hasher.finish().max(1),
        }
    }

    fn take(&self) -> u64 {
        self.weights
            .map_or(0, |weights| weights.take(self.recording, self.key))
    }

    /// Keeps the weight of a lost allocation: `weight` is its own, `earlier` it carried for others.
    fn add(&self, counters: &Counters, weight: u64, earlier: u64) {
        counters.add(Counter::AllocLost);
        counters.add_many(Counter::AllocLostBytes, weight);
        if let Some(weights) = self.weights {
            // Without a free entry it stays counted as lost.
            weights.keep(self.recording, self.key, weight.saturating_add(earlier));
        }
    }
}

/// Bytes that a picked object of `size` bytes stands for.
///
/// The VM picks each byte with the probability 1/`interval`, so it picks an object with p =
/// 1-e^(-size/interval). The weights size/p add up to the bytes allocated. 17 and 21 have
/// exceptions that do not depend on the size: see the tests' `sampler`.
fn weight_bytes(size: u64, interval: u64) -> u64 {
    #[expect(
        clippy::cast_precision_loss,
        reason = "sizes of objects are far below 2^52"
    )]
    let (size_f, ratio) = (size as f64, size as f64 / interval.max(1) as f64);
    let picked = -(-ratio).exp_m1();
    if picked <= 0.0 {
        return size;
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "positive; a float too large becomes the largest number"
    )]
    {
        (size_f / picked).round() as u64
    }
}

#[cfg(test)]
mod sampler;

#[cfg(test)]
mod tests {
    use super::weight_bytes;

    #[test]
    fn a_small_object_weighs_the_interval_and_a_large_one_its_size() {
        assert_eq!(weight_bytes(16, 512 << 10), (512 << 10) + 8);
        assert_eq!(weight_bytes(1 << 30, 512 << 10), 1 << 30);
        assert_eq!(weight_bytes(0, 512 << 10), 0);
    }

    #[test]
    fn weights_times_probability_are_the_bytes_allocated() {
        for size in [16_u64, 4 << 10, 512 << 10, 4 << 20] {
            let interval = 512 << 10;
            #[expect(clippy::cast_precision_loss, reason = "a test of small numbers")]
            let expected = weight_bytes(size, interval) as f64
                * -(-(size as f64) / f64::from(512 << 10)).exp_m1();
            #[expect(clippy::cast_precision_loss, reason = "a test of small numbers")]
            let size = size as f64;
            assert!(
                (expected - size).abs() <= 1.0 + size * 1e-3,
                "{expected} {size}"
            );
        }
    }
}
