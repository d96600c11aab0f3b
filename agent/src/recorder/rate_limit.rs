//! Option `ratelimit`: fewer events, the same totals.
//!
//! Each kind of event has a weight (intervals, periods, bytes). The stream of weight is cut into
//! sampling strata. At the start of a stratum the limiter sets its length and picks one of its
//! units at random. The event with the picked unit is written and weighs the whole stratum; the
//! others are dropped. A stratum of length 1 keeps every event unchanged.
//!
//! Why totals stay right: a length may depend on anything, but the unit is picked after it is set,
//! each with the same probability 1/length, and weighs `length`. So the expected weight of an event
//! is its own, and the sum over all events differs from the true sum by less than one stratum.
//!
//! Length: the smoothed rate per second, divided by the limit; twice the last length while more is
//! written than the limit allows. A stratum that is far too long after a burst is cut short. That
//! depends on the arrivals, not on the picked unit, so it causes no bias.

use crate::events::PickRatio;
use crate::options::Options;
use crate::os::seed::seed;
use ctxagent_events::MAX_WEIGHT;
use signal_core::random;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Events that may be written at once after a quiet time, in seconds of the limit.
const BURST_SECONDS: f64 = 0.5;
/// Events written too many that are made up for, in seconds of the limit.
const MAX_DEBT_SECONDS: f64 = 4.0;
/// Time constant of the smoothed rate.
const MEMORY_SECONDS: f64 = 0.5;
/// A stratum is cut short if it is this many times as long as a new one.
const TOO_LONG: u64 = 8;
/// Longest stratum of CPU samples: the largest weight of one event in the file.
const MAX_CPU_LENGTH: u64 = MAX_WEIGHT as u64;
/// Longest stratum of the others: four seconds of 2^30 per second, far from overflow.
const MAX_LENGTH: u64 = 1 << 32;

/// The current ratios of strata, for `status`; 0 = no limit.
#[derive(Debug, Default)]
pub(crate) struct SampleRatios {
    pub(crate) cpu: AtomicU64,
    pub(crate) wall: AtomicU64,
    pub(crate) alloc: AtomicU64,
    pub(crate) park: AtomicU64,
    pub(crate) exception: AtomicU64,
}

impl SampleRatios {
    /// In words; `None` without any limit.
    pub(crate) fn shown(&self) -> Option<String> {
        let all = [
            ("cpu", &self.cpu),
            ("wall", &self.wall),
            ("alloc", &self.alloc),
            ("park", &self.park),
            ("exception", &self.exception),
        ];
        let limited = all.map(|(kind, length)| (kind, length.load(Relaxed)));
        let words: Vec<String> = limited
            .iter()
            .filter(|(_, length)| *length != 0)
            .map(|(kind, length)| format!("{kind} 1 of {length}"))
            .collect();
        (!words.is_empty()).then(|| words.join(", "))
    }
}

/// One limiter for each kind of event.
#[derive(Debug)]
pub(super) struct RateLimiters {
    pub(super) cpu: RateLimiter,
    pub(super) wall: RateLimiter,
    pub(super) alloc: RateLimiter,
    /// These are picked where they happen.
    park: RateLimiter,
    exception: RateLimiter,
}

impl RateLimiters {
    pub(super) fn new(options: &Options, nanos: u64) -> Self {
        let limits = options.rate_limits;
        let park = options.park.map(|_| limits.park_or_default());
        let exception = options.exceptions.then(|| limits.exception_or_default());
        Self {
            cpu: RateLimiter::new(limits.cpu, MAX_CPU_LENGTH, nanos),
            wall: RateLimiter::new(limits.wall, MAX_LENGTH, nanos),
            alloc: RateLimiter::new(limits.alloc, MAX_LENGTH, nanos),
            park: RateLimiter::new(park, MAX_LENGTH, nanos),
            exception: RateLimiter::new(exception, MAX_LENGTH, nanos),
        }
    }

    /// Called once before each drain: updates the time.
    pub(super) fn tick(&mut self, nanos: u64, ratios: &SampleRatios, picks: [&PickRatio; 2]) {
        let [parks, exceptions] = picks;
        self.park.tick_picked(nanos, parks);
        self.exception.tick_picked(nanos, exceptions);
        for limiter in [&mut self.cpu, &mut self.wall, &mut self.alloc] {
            limiter.tick(nanos);
        }
        for (limiter, shown) in [
            (&self.cpu, &ratios.cpu),
            (&self.wall, &ratios.wall),
            (&self.alloc, &ratios.alloc),
            (&self.park, &ratios.park),
            (&self.exception, &ratios.exception),
        ] {
            shown.store(limiter.shown(), Relaxed);
        }
    }
}

/// Limits the rate of one stream.
#[derive(Debug)]
pub(super) struct RateLimiter {
    /// Events per second; `None` = no limit.
    limit: Option<f64>,
    longest: u64,
    length: u64,
    /// Units of the stratum still to come.
    left: u64,
    /// Number of those before the picked one; `None` = it has come.
    before_pick: Option<u64>,
    /// Events that may be written now; below 1 the limit is exceeded.
    allowed: f64,
    /// Units per second, smoothed.
    rate: f64,
    came: u64,
    last: u64,
    random: u64,
}

impl RateLimiter {
    fn new(limit: Option<u32>, longest: u64, nanos: u64) -> Self {
        let limit = limit.map(f64::from);
        Self {
            limit,
            longest,
            length: 1,
            left: 0,
            before_pick: None,
            allowed: limit.map_or(0.0, burst),
            rate: 0.0,
            came: 0,
            last: nanos,
            random: seed(),
        }
    }

    /// Whether there is a limit.
    pub(super) fn is_limited(&self) -> bool {
        self.limit.is_some()
    }

    /// The weight with which to write an event of this weight; `None` = it is dropped.
    pub(super) fn take(&mut self, weight: u64) -> Option<u64> {
        let Some(limit) = self.limit else {
            return Some(weight);
        };
        self.came = self.came.saturating_add(weight);
        let (mut rest, mut out) = (weight, 0);
        while rest > 0 {
            if self.left == 0 {
                self.set_length(limit, weight);
                // Whole strata within this event: each has its picked unit in it.
                let whole = rest - rest % self.length;
                out += whole;
                rest -= whole;
                self.left = self.length;
                self.before_pick = Some(random::below(&mut self.random, self.length));
            }
            let part = rest.min(self.left);
            match self.before_pick {
                Some(before) if before < part => {
                    out += self.length;
                    self.before_pick = None;
                }
                Some(before) => self.before_pick = Some(before - part),
                None => {}
            }
            self.left -= part;
            rest -= part;
        }
        if out == 0 {
            return None;
        }
        self.allowed -= 1.0;
        Some(out)
    }

    /// The same for weights of 32 bits.
    pub(super) fn take_u32(&mut self, weight: u32) -> Option<u32> {
        let weight = self.take(u64::from(weight))?;
        Some(u32::try_from(weight).unwrap_or(u32::MAX))
    }

    fn set_length(&mut self, limit: f64, weight: u64) {
        let due = self.due(limit);
        let length = if self.allowed < 1.0 {
            due.max(self.length.max(weight).saturating_mul(2))
        } else {
            due
        };
        self.length = length.clamp(1, self.longest);
    }

    /// The length for the smoothed rate.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "positive; a float too large becomes the largest number, which is cut where it \
                  is used"
    )]
    fn due(&self, limit: f64) -> u64 {
        ((self.rate / limit).ceil() as u64).max(1)
    }

    fn tick(&mut self, nanos: u64) {
        let Some(limit) = self.limit else { return };
        let passed = seconds(nanos.saturating_sub(self.last));
        if passed <= 0.0 {
            return;
        }
        self.last = nanos;
        #[expect(
            clippy::cast_precision_loss,
            reason = "a rate needs no more than 52 bits"
        )]
        let now = std::mem::take(&mut self.came) as f64 / passed;
        let new = if self.rate > 0.0 {
            1.0 - (-passed / MEMORY_SECONDS).exp()
        } else {
            1.0
        };
        self.rate += (now - self.rate) * new;
        self.allowed = (self.allowed + limit * passed).min(burst(limit));
        let due = self.due(limit);
        if self.length / TOO_LONG > due {
            self.length = due;
            self.left = 0;
        }
    }

    /// The same for events that are picked where they happen: of those to come one in so many.
    fn tick_picked(&mut self, nanos: u64, ratio: &PickRatio) {
        let Some(limit) = self.limit else { return };
        let (came, picked) = ratio.take_counts();
        self.came = came;
        let allowed = self.allowed - f64::from(picked);
        self.allowed = allowed.max(-limit * MAX_DEBT_SECONDS);
        self.tick(nanos);
        // A burst leaves a debt, and with it a lower limit until that is made up for.
        let debt = (-self.allowed).max(0.0) / burst(limit);
        self.length = self.due(limit / (1.0 + debt));
        ratio.set(self.length);
    }

    fn shown(&self) -> u64 {
        self.limit.map_or(0, |_| self.length)
    }
}

/// Events that may be written at once; enough to reach a limit of one per second.
fn burst(limit: f64) -> f64 {
    (limit * BURST_SECONDS).max(2.0)
}

#[expect(
    clippy::cast_precision_loss,
    reason = "time between two drains is short"
)]
fn seconds(nanos: u64) -> f64 {
    nanos as f64 / 1e9
}

#[cfg(test)]
#[expect(clippy::cast_precision_loss, reason = "tests of small numbers")]
mod tests {
    use super::*;
    use crate::options;

    const TICK: u64 = 20_000_000;

    fn limiter(limit: u32, longest: u64) -> RateLimiter {
        RateLimiter::new(Some(limit), longest, 0)
    }

    /// Events written, by second, if `drain(n)` gives the weights of the n-th drain; the sums of
    /// weights before and after the limit.
    fn run(
        t: &mut RateLimiter,
        seconds: u64,
        drain: impl Fn(u64) -> Vec<u64>,
    ) -> (Vec<u64>, u64, u64) {
        let (mut events, mut came, mut written) = (vec![], 0, 0);
        for n in 0..seconds * 50 {
            t.tick((n + 1) * TICK);
            if n % 50 == 0 {
                events.push(0);
            }
            for weight in drain(n) {
                let out = t.take(weight).unwrap_or(0);
                came += weight;
                written += out;
                *events.last_mut().expect("pushed") += u64::from(out > 0);
            }
        }
        (events, came, written)
    }

    #[test]
    fn without_a_limit_or_below_it_events_stay_as_they_are() {
        let mut t = RateLimiter::new(None, 99, 0);
        assert_eq!((t.take(1), t.take(300)), (Some(1), Some(300)));
        let mut t = limiter(200, 99);
        let (events, came, written) = run(&mut t, 5, |_| vec![1, 2]);
        assert_eq!(events, [100; 5]);
        assert_eq!(came, written);
        assert_eq!(t.length, 1);
    }

    #[test]
    fn a_steady_stream_keeps_to_the_limit_and_the_sum() {
        for (limit, each) in [(1000, 40), (100, 40), (30, 40), (10, 2), (1, 1)] {
            let mut t = limiter(limit, MAX_LENGTH);
            let (events, came, written) = run(&mut t, 60, |_| vec![1; each]);
            assert!(came.abs_diff(written) <= t.length, "{came} {written}");
            let all: u64 = events.iter().sum();
            let most = f64::from(limit) * (60.0 + BURST_SECONDS) + 12.0;
            assert!(all as f64 <= most, "{limit}: {all} of {most}, {events:?}");
            assert!(
                all as f64 >= f64::from(limit) * 60.0 * 0.6,
                "{limit}: {all}, {events:?}"
            );
        }
    }

    #[test]
    fn a_burst_is_cut_at_once_and_is_forgotten_soon() {
        let mut t = limiter(100, MAX_LENGTH);
        // Half a second of 50 000 per second every five seconds, else 50 per second.
        let (events, came, written) = run(&mut t, 50, |n| {
            if n % 250 < 25 { vec![1; 1000] } else { vec![1] }
        });
        // Each of the ten bursts leaves a stratum cut short, of some thousands: a deviation of
        // about 9 000.
        assert!(came.abs_diff(written) <= 60_000, "{came} {written}");
        assert!(events.iter().all(|n| *n <= 165), "{events:?}");
        let quiet: Vec<u64> = events.iter().skip(4).step_by(5).copied().collect();
        assert!(quiet.iter().all(|n| *n >= 25), "{quiet:?}");
    }

    /// A burst each second, in one drain or through half of them.
    #[test]
    fn bursts_that_are_picked_where_they_happen_keep_to_the_limit_and_the_sum() {
        for (drains, each) in [(1, 50_000), (25, 5_000)] {
            let ratio = PickRatio::default();
            let mut t = limiter(500, MAX_LENGTH);
            ratio.begin(500);
            let (mut events, mut came, mut written) = (0_u64, 0_u64, 0);
            for n in 0..120 * 50 {
                t.tick_picked((n + 1) * TICK, &ratio);
                for _ in 0..if n % 50 < drains { each } else { 0 } {
                    came += 1;
                    let weight = ratio.pick();
                    events += u64::from(weight.is_some());
                    written += weight.unwrap_or(0);
                }
            }
            let most = 500.0 * (120.0 + BURST_SECONDS + MAX_DEBT_SECONDS);
            assert!(events as f64 <= most, "{events} of {most}");
            assert!(events as f64 >= 0.6 * most, "{events} of {most}");
            // By the weights a deviation of some 0.5 %; six of those.
            let error = came.abs_diff(written) as f64 / came as f64;
            assert!(error < 0.03, "{came} {written}");
        }
    }

    #[test]
    fn events_of_many_bytes_are_limited_as_well() {
        let mut t = limiter(50, MAX_LENGTH);
        let (events, came, written) = run(&mut t, 30, |_| vec![524_296; 30]);
        assert!(came.abs_diff(written) <= t.length);
        let all: u64 = events.iter().sum();
        assert!(all <= 50 * 30 + 25 + 40, "{all} {events:?}");
    }

    #[test]
    fn shares_stay_right_for_periodic_arrivals() {
        // Of 40 in each drain the first 28 are of one kind: 70 %, in step with the drains.
        let mut shares = vec![];
        for _ in 0..40 {
            let mut t = limiter(100, 99);
            let (mut first, mut all) = (0, 0);
            for n in 0..1500 {
                t.tick((n + 1) * TICK);
                for i in 0..40 {
                    let out = t.take(1).unwrap_or(0);
                    all += out;
                    first += if i < 28 { out } else { 0 };
                }
            }
            assert_eq!(t.length, 20, "2000 of weight a second for 100 events");
            shares.push(first as f64 / all as f64);
        }
        // 3000 events each, so at most 0.84 points of deviation each and 0.13 of their mean: six of
        // those.
        let mean = shares.iter().sum::<f64>() / shares.len() as f64;
        assert!((mean - 0.7).abs() < 0.008, "{mean} {shares:?}");
    }

    #[test]
    fn ratios_are_shown_in_words() {
        let ratios = SampleRatios::default();
        assert_eq!(ratios.shown(), None);
        let options = options::parse("start,event=cpu+park,ratelimit=cpu:100").expect("valid");
        let mut limiters = RateLimiters::new(&options, 0);
        let picks = PickRatio::default();
        for n in 0..100 {
            limiters.cpu.take(40);
            limiters.tick((n + 1) * TICK, &ratios, [&picks; 2]);
        }
        assert_eq!(ratios.shown().as_deref(), Some("cpu 1 of 20, park 1 of 1"));
    }

    #[test]
    fn a_stratum_never_exceeds_the_maximum_weight() {
        let mut t = limiter(1, MAX_CPU_LENGTH);
        let (events, came, written) = run(&mut t, 10, |_| vec![1; 200]);
        assert_eq!(t.length, MAX_CPU_LENGTH);
        assert!(came.abs_diff(written) <= MAX_CPU_LENGTH);
        assert!(
            events.iter().all(|n| *n <= 10_000 / MAX_CPU_LENGTH + 30),
            "{events:?}"
        );
    }
}
