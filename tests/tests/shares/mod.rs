//! How far what samples tell may be off by chance alone.

use e2e::recording::Event;

/// Standard deviations that a share may be off: one in 1.7 million shares by chance alone, were the samples drawn independently.
const SIGMAS: f64 = 5.0;

/// How far a share may be off when it is told by samples of these weights: with unequal weights fewer count as many.
pub(crate) fn allowed(share: f64, samples: &[Event], attribute: &str) -> f64 {
    let weights: Vec<f64> = samples
        .iter()
        .filter(|s| s.text(attribute).is_some())
        .map(|s| s.weight() as f64)
        .collect();
    let (sum, squares) = weights
        .iter()
        .fold((0.0, 0.0), |(sum, squares), w| (sum + w, squares + w * w));
    SIGMAS * (share * (1.0 - share) * squares / (sum * sum)).sqrt()
}
