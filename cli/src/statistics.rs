//! How sure a share is.

/// The 95 % interval of a share by Wilson's score, which holds for few samples and near 0 and 1.
///
/// `samples` counts independent samples: see [`effective_samples`].
pub(crate) fn wilson(share: f64, samples: f64) -> (f64, f64) {
    if samples <= 0.0 {
        return (0.0, 1.0);
    }
    let z = 1.959_964;
    let z2n = z * z / samples;
    let middle = (share + z2n / 2.0) / (1.0 + z2n);
    let half = z / (1.0 + z2n)
        * (share * (1.0 - share) / samples + z2n / (4.0 * samples))
            .max(0.0)
            .sqrt();
    ((middle - half).max(0.0), (middle + half).min(1.0))
}

/// The effective sample size (Kish), by the sum of the values and of their squares.
#[expect(clippy::cast_precision_loss, reason = "a statistic")]
pub(crate) fn effective_samples(sum: u64, squares: f64) -> f64 {
    if squares <= 0.0 {
        0.0
    } else {
        (sum as f64).powi(2) / squares
    }
}

/// What a sample stands for on average, by the sum of the values and of their squares, each value
/// counting as often as it is large; `None` without samples.
#[expect(clippy::cast_precision_loss, reason = "a statistic")]
pub(crate) fn mean_value(sum: u64, squares: f64) -> Option<f64> {
    (sum > 0).then(|| squares / sum as f64)
}

/// `part` of `whole`; 0 of nothing.
#[expect(clippy::cast_precision_loss, reason = "shown with one place")]
pub(crate) fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        0.0
    } else {
        part as f64 / whole as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interval_agrees_with_published_values() {
        // 81 of 263: 0.2553 to 0.3662 (Newcombe 1998, method 3).
        let (low, high) = wilson(81.0 / 263.0, 263.0);
        assert!(
            (low - 0.2553).abs() < 5e-5 && (high - 0.3662).abs() < 5e-5,
            "{low} {high}"
        );
        // 0 of 20: 0 to 0.1611; 1 of 29: 0.0061 to 0.1718.
        let (low, high) = wilson(0.0, 20.0);
        assert!(low.abs() < 1e-9 && (high - 0.1611).abs() < 5e-5);
        let (low, high) = wilson(1.0 / 29.0, 29.0);
        assert!((low - 0.0061).abs() < 5e-5 && (high - 0.1718).abs() < 5e-5);
    }

    #[test]
    fn weights_thin_the_samples() {
        assert!((effective_samples(10, 10.0) - 10.0).abs() < 1e-9);
        assert!((effective_samples(10, 100.0) - 1.0).abs() < 1e-9);
        assert!(wilson(0.5, 0.0) == (0.0, 1.0));
    }
}
