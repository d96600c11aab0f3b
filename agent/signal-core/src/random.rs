//! Random numbers without allocation or set-up: xorshift64*, whose state is one word that its owner
//! keeps.

/// A uniform number below `bound`; 0 if `bound` is 0. The state begins with any number but 0, and
/// differs per owner.
pub fn below(state: &mut u64, bound: u64) -> u64 {
    let mut x = *state;
    x ^= x.wrapping_shr(12);
    x ^= x.wrapping_shl(25);
    x ^= x.wrapping_shr(27);
    *state = x;
    let random = x.wrapping_mul(0x2545_F491_4F6C_DD1D);
    let wide = u128::from(random).wrapping_mul(u128::from(bound));
    u64::try_from(wide.wrapping_shr(64)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::below;

    #[test]
    fn numbers_stay_below_the_bound_and_fall_on_each_number_alike() {
        let mut state = 1;
        let mut counts = [0_u32; 10];
        for _ in 0..100_000 {
            let n = below(&mut state, 10);
            counts[usize::try_from(n).expect("small")] += 1;
        }
        // A share of 10 % among 100 000 has a deviation of 95.
        assert!(
            counts.iter().all(|n| n.abs_diff(10_000) < 500),
            "{counts:?}"
        );
        assert_eq!(below(&mut state, 0), 0);
        assert_eq!(below(&mut state, 1), 0);
    }
}
