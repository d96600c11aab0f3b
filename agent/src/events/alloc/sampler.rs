//! A model of the VM's sampler (`threadHeapSampler.cpp` and `memAllocator.cpp` of 17 and 21), and
//! the error of the weights with it.
//!
//! The VM picks each byte with the probability 1/interval, with two exceptions that no weight of a
//! picked object can correct:
//! - Bytes allocated in the thread's buffer since the VM's last check do not count for an object
//!   outside of the buffer. With b such bytes, the VM picks that object with
//!   1-e^(-(size-b)/interval), and never if b is larger. It does not report b.
//! - The part of an object behind the picked byte shortens the distance to the next one only if it
//!   is shorter than that distance. So the VM picks objects after a large picked one more often.

use super::weight_bytes;
use signal_core::random;

/// All in bytes. Only the ratios of sizes to the interval matter: 64 KiB here with 8 MiB equals 512
/// KiB with 64 MiB.
const INTERVAL: u64 = 64 << 10;
/// The thread's buffer.
const BUFFER: u64 = 256 << 10;
/// An object that does not fit goes outside, unless so little is left that the VM discards the
/// buffer.
const WASTE: u64 = BUFFER / 64;

/// Which of the VM's rules apply.
#[derive(Clone, Copy)]
struct Rules {
    /// Bytes allocated in the buffer do not count for an object outside of it.
    forgets: bool,
    /// An overshoot that is longer than the next distance is dropped.
    drops: bool,
}

struct Vm {
    random: u64,
    rules: Rules,
    /// Distance to the next picked byte at the last check.
    until: u64,
    /// Rest of the buffer.
    free: u64,
    /// Bytes that count at the next check, set in advance as in the VM.
    ahead: u64,
    /// Bytes that fit into the buffer before the next check.
    before_look: u64,
}

impl Vm {
    fn new(random: u64, rules: Rules) -> Self {
        let mut vm = Self {
            random,
            rules,
            until: 0,
            free: 0,
            ahead: 0,
            before_look: 0,
        };
        vm.pick(0);
        vm.refill();
        vm.set_next_check(true);
        vm
    }

    fn refill(&mut self) {
        self.free = BUFFER;
    }

    fn pick(&mut self, overshoot: u64) {
        let next = exponential(&mut self.random) + 1;
        self.until = match next.checked_sub(overshoot) {
            Some(left @ 1..) => left,
            _ if self.rules.drops => next,
            // The VM picks again until it is longer; the distribution has no memory.
            _ => exponential(&mut self.random) + 1,
        };
    }

    /// Moves the end of the buffer to the next picked byte, if that lies in it.
    fn set_next_check(&mut self, counted: bool) {
        if counted {
            self.ahead = 0;
        }
        self.before_look = self.until.min(self.free);
        self.ahead += self.before_look;
    }

    /// Whether an object of this size is picked.
    fn allocate(&mut self, size: u64) -> bool {
        if size <= self.before_look {
            self.before_look -= size;
            self.free -= size;
            return false;
        }
        // The slow path: first the rest of the buffer, then a new one, then outside.
        let used = self.ahead - self.before_look;
        let counted = if size <= self.free {
            self.free -= size;
            used
        } else if self.free <= WASTE && size <= BUFFER {
            self.refill();
            self.free -= size;
            used
        } else if self.rules.forgets {
            0
        } else {
            used
        };
        let picked = self.check(size, counted);
        self.set_next_check(counted == used);
        picked
    }

    fn check(&mut self, size: u64, counted: u64) -> bool {
        let all = counted + size;
        if all < self.until {
            self.until -= all;
            return false;
        }
        self.pick(all - self.until);
        true
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a test of small numbers"
)]
fn exponential(state: &mut u64) -> u64 {
    const STEPS: u64 = 1 << 26;
    let uniform = (random::below(state, STEPS) + 1) as f64 / STEPS as f64;
    (-uniform.ln() * INTERVAL as f64) as u64
}

/// Alternates one large object and as many bytes of small ones; returns weight/bytes of both.
#[expect(clippy::cast_precision_loss, reason = "a test of small numbers")]
fn ratios(rules: Rules, sizes: [u64; 2], bytes: u64) -> [f64; 2] {
    let mut vm = Vm::new(0x9E37_79B9_7F4A_7C15, rules);
    let mut weights = [0_u64; 2];
    let turns = bytes / sizes[1];
    for _ in 0..turns {
        for (size, weight) in sizes.into_iter().zip(&mut weights) {
            for _ in 0..sizes[1] / size {
                if vm.allocate(size) {
                    *weight += weight_bytes(size, INTERVAL);
                }
            }
        }
    }
    weights.map(|weight| weight as f64 / (turns * sizes[1]) as f64)
}

/// 16 bytes to 64 MiB at an interval of 512 KiB.
const SIZES: [[u64; 2]; 6] = [
    [2, 128],
    [128, 8 << 10],
    [1 << 10, 64 << 10],
    [1 << 10, 128 << 10],
    [1 << 10, 512 << 10],
    [1 << 10, 8 << 20],
];

#[test]
fn weights_are_exact_if_all_bytes_are_equally_likely() {
    let rules = Rules {
        forgets: false,
        drops: false,
    };
    for sizes in SIZES {
        // 2 048 picks of the small ones are expected: 2.2 points of deviation.
        let found = ratios(rules, sizes, 128 << 20);
        assert!(
            found.iter().all(|ratio| (ratio - 1.0).abs() < 0.08),
            "{sizes:?}: {found:?}"
        );
    }
}

/// The VM picks small objects after large ones more often than after small ones. No weight by size
/// can correct that.
#[test]
fn vm_rules_oversample_small_objects_after_large_ones() {
    let rules = Rules {
        forgets: true,
        drops: true,
    };
    let found = SIZES.map(|sizes| ratios(rules, sizes, 128 << 20));
    assert!((found[0][0] - 1.0).abs() < 0.08, "{found:?}");
    assert!(found[3][0] > 1.15, "{found:?}");
    assert!(
        (found[5][1] - 1.0).abs() < 0.001,
        "picked for certain: {found:?}"
    );
}
