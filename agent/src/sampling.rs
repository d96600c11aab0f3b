//! What takes samples. Each sampler is on from its start until [`Sampler::stop`].

pub(crate) mod cpu;
pub(crate) mod wall;

/// A source of samples that runs.
pub(crate) trait Sampler {
    /// Whether it has ended by itself, for example because another action has its signal.
    fn has_ended(&self) -> bool;

    /// Ends it; returns when it sends no more signals.
    fn stop(self);
}
