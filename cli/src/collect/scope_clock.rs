//! The clocks of two recorders of one JVM. The agent reads both about once a second
//! (`ctxagent.JfrClock`); between two readings time passes evenly. The times in the chunks' headers
//! would not do: the JDK takes the frequency of its ticks from the CPU's name.

use ctxagent_events::JFR_CLOCK;
use jfr_format::chunk::Header;
use jfr_format::read::ParsedChunk;

/// JVMs start no closer than this with one process id.
const MAX_START_DIFFERENCE_MILLIS: u64 = 1_000;
/// The JDK's recorder takes the end of the initialisation for the start.
const MAX_INITIALISATION_MILLIS: u64 = 10_000;

/// Beyond the readings the clocks drift apart by less than one in so many: Linux corrects its clock
/// by 500 millionths at most.
const MAX_DRIFT: i64 = 1_000;
/// A stretch between readings tells the clocks' rate in one up to so many times as long. That of a
/// shorter one is mostly the error of its readings.
const MAX_RATE_SCALE: i64 = 16;

const NANOS_PER_MILLI: u64 = 1_000_000;
const NANOS_PER_SECOND: i64 = 1_000_000_000;

/// A JVM.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Process {
    pid: i64,
    start_millis: i64,
}

impl PartialEq for Process {
    fn eq(&self, other: &Self) -> bool {
        let difference = self.start_millis.abs_diff(other.start_millis);
        self.pid == other.pid && difference <= MAX_START_DIFFERENCE_MILLIS
    }
}

impl Process {
    /// Of a chunk that the agent wrote. The JDK means another moment by a JVM's start: the end of its
    /// initialisation.
    pub(crate) fn of(chunk: &ParsedChunk<'_>) -> Option<Self> {
        let event = chunk.events_named("jdk.JVMInformation").next()?;
        let number = |field| event.long(field).ok().flatten();
        Some(Self {
            pid: number("pid")?,
            start_millis: number("jvmStartTime")?,
        })
    }

    /// Whether another recorder's chunk names this process.
    pub(super) fn is_named_in(self, chunk: &ParsedChunk<'_>) -> bool {
        Self::of(chunk).is_some_and(|other| self.has_pid_of(other))
    }

    /// Whether another recorder's chunk can be of this process. Containers share process ids, so
    /// the time of the start counts, too; a busy machine initialises a JVM slowly.
    pub(super) fn may_be(self, other: Self) -> bool {
        let difference = self.start_millis.abs_diff(other.start_millis);
        self.has_pid_of(other) && difference <= MAX_INITIALISATION_MILLIS
    }

    /// What processes are put in order by.
    pub(super) fn order(self) -> (i64, i64) {
        (self.pid, self.start_millis)
    }

    /// Whether it is in front of all that [`Self::may_be`] another one.
    pub(super) fn is_before_any(self, other: Self) -> bool {
        let limit = i64::try_from(MAX_INITIALISATION_MILLIS).unwrap_or(i64::MAX);
        self.order() < (other.pid, other.start_millis.saturating_sub(limit))
    }

    pub(crate) fn has_pid_of(self, other: Self) -> bool {
        self.pid == other.pid
    }
}

/// The clocks at one moment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClockPair {
    /// Of the JVM's monotonic clock.
    pub(crate) nanos: i64,
    /// Since the JVM's start, of the JDK's recorder.
    ticks: i64,
    /// Since 1970.
    epoch_nanos: i64,
    /// How far the first may be off.
    slack_nanos: i64,
}

impl ClockPair {
    pub(crate) fn all(chunk: &ParsedChunk<'_>) -> Vec<Self> {
        let pairs = chunk.events_named(JFR_CLOCK.name).filter_map(|event| {
            // Since a start, all of them.
            let number = |field| event.long(field).ok()?.filter(|&number| number >= 0);
            Some(Self {
                nanos: number("nanos")?,
                ticks: number("ticks")?,
                epoch_nanos: event.start_nanos()?,
                slack_nanos: number("uncertaintyNanos")?,
            })
        });
        pairs.collect()
    }
}

/// Begin and end of a chunk of the agent, on the JVM's clock; `None` if nothing in it tells.
pub(super) fn span(chunk: &ParsedChunk<'_>) -> Option<(i64, i64)> {
    let event = chunk.events_named(JFR_CLOCK.name).next()?;
    let offset = event.start_nanos()? - event.long("nanos").ok()??;
    let begin = chunk.header().start_nanos.checked_sub(offset)?;
    Some((begin, begin.checked_add(chunk.header().duration_nanos)?))
}

/// Times of an event on the JVM's clock, and how far each may be off.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reach {
    pub(super) first: i64,
    pub(super) last: i64,
    pub(super) slack: i64,
}

/// From the times of a chunk to the JVM's clock.
#[derive(Debug)]
pub(crate) struct JdkClock {
    /// Time in the chunk, time on the JVM's clock, slack.
    points: Vec<(i64, i64, i64)>,
}

impl JdkClock {
    /// `None` if the clocks were not read twice, or if the chunk is of a JVM that started at another
    /// time: its ticks count from there.
    pub(super) fn new(pairs: &[ClockPair], header: &Header) -> Option<Self> {
        let points = pairs
            .iter()
            .map(|pair| (header.epoch_nanos(pair.ticks), pair.nanos, pair.slack_nanos));
        let clock = Self {
            points: points.collect(),
        };
        let (begin, _) = clock.at(header.start_nanos)?;
        let nearest = pairs.iter().min_by_key(|pair| pair.nanos.abs_diff(begin))?;
        let expected = nearest
            .epoch_nanos
            .saturating_add(begin.saturating_sub(nearest.nanos));
        let difference = expected.abs_diff(header.start_nanos) / NANOS_PER_MILLI;
        (difference <= MAX_START_DIFFERENCE_MILLIS).then_some(clock)
    }

    /// The times of an event.
    pub(super) fn reach(&self, first: i64, last: i64) -> Option<Reach> {
        let (first, slack) = self.at(first)?;
        let (last, last_slack) = self.at(last)?;
        Some(Reach {
            first,
            last,
            slack: slack.max(last_slack),
        })
    }

    fn at(&self, nanos: i64) -> Option<(i64, i64)> {
        let end = self.points.len();
        if end < 2 {
            return None;
        }
        let next = self.points.partition_point(|point| point.0 <= nanos);
        let next = next.clamp(1, end - 1);
        let (from, to) = (self.points[next - 1], self.points[next]);
        let (since, until) = (nanos.saturating_sub(from.0), to.0.saturating_sub(nanos));
        let outside = since.min(until).min(0).saturating_abs();
        let length = to.0.saturating_sub(from.0);
        // How far the rate of the clocks has changed meanwhile, at most.
        let before = next.checked_sub(2).map(|place| self.points[place]);
        let after = self.points.get(next + 1).copied();
        let others = [before.map(|it| (it, from)), after.map(|it| (to, it))];
        let others = others.into_iter().flatten();
        let others = others.filter(|(a, b)| b.0.saturating_sub(a.0) >= length / MAX_RATE_SCALE);
        let wanders = others.map(|(a, b)| {
            let expected = scaled(b.1 - a.1, length, b.0.saturating_sub(a.0));
            (to.1 - from.1).saturating_sub(expected).saturating_abs()
        });
        let wander = wanders.max().unwrap_or(0);
        let at = from.1.saturating_add(scaled(to.1 - from.1, since, length));
        let slack = from.2.max(to.2).saturating_add(wander);
        let slack = slack.saturating_add(1 + outside / MAX_DRIFT);
        Some((at, slack))
    }
}

/// The header of another recorder's chunk with the times that the agent's recording has; `None` if
/// the readings do not tell. They are in the order of their time.
pub(crate) fn aligned(pairs: &[ClockPair], header: &Header) -> Option<Header> {
    JdkClock::new(pairs, header)?;
    let begin = header.start_ticks;
    let length = scaled(
        header.duration_nanos,
        header.ticks_per_second,
        NANOS_PER_SECOND,
    );
    // The readings around the chunk, or the nearest two.
    let first = pairs.partition_point(|pair| pair.ticks <= begin);
    let first = first.saturating_sub(1).min(pairs.len() - 2);
    let last = pairs.partition_point(|pair| pair.ticks < begin.saturating_add(length));
    let last = last.clamp(first + 1, pairs.len() - 1);
    let (first, last) = (pairs[first], pairs[last]);
    let (nanos, ticks) = (last.nanos - first.nanos, last.ticks - first.ticks);
    let ticks_per_second = scaled(ticks, NANOS_PER_SECOND, nanos);
    let since = begin.saturating_sub(first.ticks);
    (nanos > 0 && ticks_per_second > 0).then(|| Header {
        start_nanos: first
            .epoch_nanos
            .saturating_add(scaled(nanos, since, ticks)),
        duration_nanos: scaled(length, NANOS_PER_SECOND, ticks_per_second),
        ticks_per_second,
        ..*header
    })
}

/// A share of an amount, in whole nanoseconds.
fn scaled(amount: i64, part: i64, whole: i64) -> i64 {
    let exact = i128::from(amount) * i128::from(part) / i128::from(whole.max(1));
    i64::try_from(exact).unwrap_or(i64::MAX)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn clock(points: &[(i64, i64, i64)]) -> JdkClock {
        JdkClock {
            points: points.to_vec(),
        }
    }

    #[test]
    fn time_passes_evenly_between_two_readings() {
        let clock = clock(&[(0, 1_000, 5), (100, 1_200, 7), (200, 1_400, 5)]);
        assert_eq!(clock.at(50), Some((1_100, 8)));
        assert_eq!(clock.at(150), Some((1_300, 8)));
    }

    /// Readings from the 30th to the 34th second of a JVM that started when 1,000 s were over, and the
    /// head of a chunk that the JDK began in that JVM's 20th second.
    fn readings_and_chunk() -> (Vec<ClockPair>, Header) {
        let seconds = |seconds: i64| seconds * 1_000_000_000;
        let pairs = (30..=34).map(|second| ClockPair {
            nanos: seconds(5 + second),
            ticks: seconds(second) * 2,
            epoch_nanos: seconds(1_000 + second),
            slack_nanos: 100,
        });
        let header = Header {
            major: 2,
            minor: 1,
            size: 68,
            checkpoint: 0,
            metadata: 0,
            start_nanos: seconds(1_020),
            duration_nanos: 0,
            start_ticks: seconds(20) * 2,
            ticks_per_second: 2_000_000_000,
            state: 0,
            flags: 1,
        };
        (pairs.collect(), header)
    }

    #[test]
    fn chunk_is_of_the_jvm_whose_ticks_it_has() {
        let (pairs, header) = readings_and_chunk();
        let clock = JdkClock::new(&pairs, &header).unwrap();
        assert_eq!(clock.at(1_032_000_000_000), Some((37_000_000_000, 101)));
        // A frequency that the JDK guessed wrong does not matter.
        let guessed = Header {
            ticks_per_second: 1_800_000_000,
            ..header
        };
        assert!(JdkClock::new(&pairs, &guessed).is_some());
        for difference in [-3, 3] {
            let other = Header {
                start_nanos: header.start_nanos + difference * 1_000_000_000,
                ..header
            };
            assert!(JdkClock::new(&pairs, &other).is_none(), "{difference} s");
        }
    }

    #[test]
    fn aligned_chunk_has_the_time_of_the_agent() {
        let (pairs, header) = readings_and_chunk();
        // The JDK guessed the frequency 10 % too low, and read the time of day 5 ms late.
        let guessed = Header {
            ticks_per_second: 1_800_000_000,
            start_nanos: header.start_nanos + 5_000_000,
            duration_nanos: 10_000_000_000,
            ..header
        };
        let aligned = aligned(&pairs, &guessed).unwrap();
        assert_eq!(aligned.start_nanos, header.start_nanos);
        assert_eq!(aligned.ticks_per_second, 2_000_000_000);
        assert_eq!(aligned.duration_nanos, 9_000_000_000);
        assert!(super::aligned(&pairs[..1], &guessed).is_none());
    }

    #[test]
    fn readings_of_a_damaged_file_do_no_harm() {
        let (pairs, header) = readings_and_chunk();
        let extremes = [i64::MIN, -1, 0, 1, i64::MAX];
        for ticks in extremes {
            for nanos in extremes {
                let damaged = Header {
                    start_ticks: ticks,
                    start_nanos: nanos,
                    duration_nanos: ticks,
                    ..header
                };
                let pair = ClockPair {
                    ticks: ticks.max(0),
                    nanos: nanos.max(0),
                    epoch_nanos: nanos,
                    slack_nanos: ticks.max(0),
                };
                let readings = [pairs[0], pair, pairs[1], pair];
                for (pairs, header) in [(&pairs[..], &damaged), (&readings, &header)] {
                    let aligned = aligned(pairs, header);
                    assert!(aligned.is_none_or(|it| it.ticks_per_second > 0));
                    let clock = JdkClock::new(pairs, header);
                    let reach = clock.and_then(|clock| clock.reach(nanos, ticks));
                    assert!(reach.is_none_or(|it| it.slack > 0));
                }
            }
        }
    }

    #[test]
    fn one_reading_tells_no_time() {
        let (pairs, header) = readings_and_chunk();
        assert!(JdkClock::new(&pairs[..1], &header).is_none());
    }

    #[test]
    fn what_is_not_certain_adds_to_the_slack() {
        let wanders = clock(&[(0, 0, 5), (100, 100, 5), (200, 210, 5)]);
        assert_eq!(wanders.at(50), Some((50, 16)));
        let outside = clock(&[(0, 0, 5), (100, 100, 5)]);
        assert_eq!(outside.at(10_100), Some((10_100, 16)));
        assert_eq!(outside.at(-10_000), Some((-10_000, 16)));
        assert_eq!(clock(&[(0, 0, 5)]).at(0), None);
        // Of the last two nobody knows the rate.
        let ends = clock(&[
            (0, 0, 5),
            (1_000_000, 1_000_000, 5),
            (1_000_093, 1_000_065, 5),
        ]);
        assert_eq!(ends.at(500_000), Some((500_000, 6)));
    }
}
