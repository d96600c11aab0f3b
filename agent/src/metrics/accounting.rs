//! The books of a recording: what was seen, what became of it, and that both agree in each file, in each chunk and in `status`.

use super::{OVERRUNS, SIGNALS, WALL_SIGNALS, WRITTEN, WRITTEN_WEIGHT, since};
use jfr_format::books::{CPU, KINDS, Kind, WEIGHTS};
use signal_core::slots::SampleKind;
use std::collections::HashMap;

/// How the names of counters begin that `status` tells since the agent is in the process, also in a later recording: they are not about samples.
const OF_PROCESS: [&str; 7] = [
    "agent.",
    "api.",
    "blocks.",
    "dictionary.",
    "keys.",
    "state.off_by_error",
    "threads.",
];

/// A set of counters that something began with.
pub(crate) type Base = HashMap<&'static str, u64>;

/// The counters as they were when a recording began: most are the process's and go on. What the recording tells of them adds up.
#[derive(Debug)]
pub(crate) struct Start {
    figures: Base,
    exact_weights: bool,
}

impl Start {
    /// `exact_weights`: CPU samples are written with the weight they came with, none is thinned.
    pub(crate) fn new(figures: Base, exact_weights: bool) -> Self {
        Self {
            figures,
            exact_weights,
        }
    }

    /// Sets what was seen to what is accounted for: while the recording goes on some of it is still on its way.
    pub(crate) fn settle(&self, figures: &mut [(&str, u64)]) {
        settle(figures, &self.figures);
        if self.exact_weights {
            settle_weight(figures, &self.figures);
        }
    }

    /// The same at its end, see [`settle_at_end`].
    pub(crate) fn settle_at_end(&self, figures: &mut [(&str, u64)]) {
        settle_at_end(figures, &self.figures);
    }

    /// Some of what had been written is lost, `figures` say so: a file or chunk that began with `base` tells it as seen.
    pub(crate) fn lose(&self, base: &mut Base, figures: &[(&'static str, u64)]) {
        if self.exact_weights {
            lose_weight(base, figures);
        }
        lose(base, figures);
    }

    /// Whether every signal since became a sample or a counted loss. Only where no handler is at work and all samples are taken.
    pub(crate) fn holds(&self, figures: &[(&'static str, u64)]) -> bool {
        let since_start: Vec<_> = figures
            .iter()
            .map(|(name, value)| (*name, value.saturating_sub(self.before(name))))
            .collect();
        identity_holds(&since_start)
    }

    /// What `status` says of this recording: the counters from its start on, settled as its file settles them; those of the process as they are.
    pub(crate) fn told(
        &self,
        mut figures: Vec<(&'static str, u64)>,
        is_running: bool,
    ) -> Vec<(&'static str, u64)> {
        if is_running {
            self.settle(&mut figures);
        } else {
            self.settle_at_end(&mut figures);
        }
        for (name, value) in &mut figures {
            if !OF_PROCESS.iter().any(|begin| name.starts_with(begin)) {
                *value = since(name, *value, self.before(name));
            }
        }
        figures
    }

    fn before(&self, name: &str) -> u64 {
        self.figures.get(name).copied().unwrap_or(0)
    }
}

/// What was written of a kind and what else became of it.
fn accounted_for(kind: &Kind, figures: &[(&str, u64)]) -> u64 {
    figures
        .iter()
        .filter(|(name, _)| kind.has_outcome(name))
        .map(|(_, n)| n)
        .sum()
}

/// Whether every signal became a sample or a counted loss: signals = written + thinned + Σ lost.
fn identity_holds(figures: &[(&str, u64)]) -> bool {
    let signals: u64 = figures.iter().filter(|f| f.0 == SIGNALS).map(|f| f.1).sum();
    signals == accounted_for(&CPU, figures)
}

/// Sets what was seen to what is accounted for since `start`: in the middle of a recording some of it is still on its way.
fn settle(figures: &mut [(&str, u64)], start: &HashMap<&str, u64>) {
    settle_kinds(&KINDS, figures, start);
}

/// The same at the end of a recording, but for samples of CPU time: no handler is at work any more, so what is missing of them is missing. Callbacks may
/// still be at work; what they have seen is not in this recording.
fn settle_at_end(figures: &mut [(&str, u64)], start: &HashMap<&str, u64>) {
    let [_cpu, others @ ..] = &KINDS;
    settle_kinds(others, figures, start);
}

/// After [`settle`], and only if nothing is thinned: of the expiries beyond the first, those of samples that are under way are not counted yet either.
/// So in each file signals + overruns = written.weight + weight.filtered + weight.lost.
fn settle_weight(figures: &mut [(&str, u64)], start: &HashMap<&str, u64>) {
    let before = |name: &str| start.get(name).copied().unwrap_or(0);
    let since_start = |names: &[&str]| -> u64 {
        let of_names = figures.iter().filter(|(name, _)| names.contains(name));
        of_names
            .map(|(name, value)| value.saturating_sub(before(name)))
            .sum()
    };
    let beyond_first = since_start(&WEIGHTS).saturating_sub(since_start(&[SIGNALS]));
    let settled = before(OVERRUNS) + beyond_first;
    for (_, value) in figures.iter_mut().filter(|f| f.0 == OVERRUNS) {
        *value = settled;
    }
}

fn settle_kinds(kinds: &[Kind], figures: &mut [(&str, u64)], start: &HashMap<&str, u64>) {
    let before = |name: &str| start.get(name).copied().unwrap_or(0);
    let since_start: Vec<_> = figures
        .iter()
        .map(|(name, value)| (*name, value.saturating_sub(before(name))))
        .collect();
    for kind in kinds {
        let settled = before(kind.seen) + accounted_for(kind, &since_start);
        for (_, value) in figures.iter_mut().filter(|f| f.0 == kind.seen) {
            *value = settled;
        }
    }
}

/// Some of what had been written is lost, `figures` say so. A file or chunk that began, with `base`, after it had been counted: the loss is in it, so
/// that it was seen is too.
fn lose(base: &mut HashMap<&'static str, u64>, figures: &[(&'static str, u64)]) {
    for kind in &KINDS {
        let before = lost_since(base, figures, kind.written);
        take_from(base, kind.seen, before);
    }
    for (name, value) in figures {
        base.entry(name).and_modify(|b| *b = (*b).min(*value));
    }
}

/// Before [`lose`], and only if nothing is thinned: the same for the expiries beyond the first of the samples that are lost.
fn lose_weight(base: &mut HashMap<&'static str, u64>, figures: &[(&'static str, u64)]) {
    let weight = lost_since(base, figures, WRITTEN_WEIGHT);
    let samples = lost_since(base, figures, WRITTEN);
    take_from(base, OVERRUNS, weight.saturating_sub(samples));
}

/// How much of what `base` has as written is so no more.
fn lost_since(base: &HashMap<&str, u64>, figures: &[(&str, u64)], written: &str) -> u64 {
    let of_name = figures.iter().filter(|f| f.0 == written);
    let now: u64 = of_name.map(|f| f.1).sum();
    base.get(written).copied().unwrap_or(0).saturating_sub(now)
}

/// Samples of an earlier recording that came after its end: its file does not count them, this one does, and that they are lost.
#[derive(Debug, Default)]
pub(crate) struct Late {
    pub(crate) cpu: u64,
    /// Sum of the weights of those.
    pub(crate) weight: u64,
    pub(crate) wall: u64,
}

impl Late {
    /// One more; `kind` is a `SampleKind` as a number.
    pub(crate) fn add(&mut self, kind: u32, weight: u32) {
        if kind == SampleKind::Cpu as u32 {
            self.cpu += 1;
            self.weight += u64::from(weight);
        } else {
            self.wall += 1;
        }
    }

    /// They were seen before the recording began, with `base`; they count as seen in it.
    pub(crate) fn count(&self, base: &mut HashMap<&'static str, u64>) {
        take_from(base, SIGNALS, self.cpu);
        take_from(base, OVERRUNS, self.weight.saturating_sub(self.cpu));
        take_from(base, WALL_SIGNALS, self.wall);
    }
}

fn take_from(base: &mut HashMap<&'static str, u64>, name: &'static str, n: u64) {
    base.entry(name)
        .and_modify(|value| *value = value.saturating_sub(n));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_lost_was_seen_in_the_file_that_counts_the_loss() {
        let mut base = HashMap::from([("gc.seen", 9), ("gc.written", 7), ("gc.lost", 2)]);
        // Three of the seven are lost; two more have been seen and written since.
        lose(
            &mut base,
            &[("gc.seen", 11), ("gc.written", 4), ("gc.lost", 7)],
        );
        let expected = [("gc.seen", 6), ("gc.written", 4), ("gc.lost", 2)];
        assert_eq!(base, HashMap::from(expected));
    }

    /// By weight: what was seen and what became of it, as a file with this base says.
    fn weights(base: &HashMap<&'static str, u64>, figures: &[(&'static str, u64)]) -> (u64, u64) {
        let total = |names: &[&str]| -> u64 {
            let of_names = figures.iter().filter(|(name, _)| names.contains(name));
            of_names
                .map(|(name, value)| since(name, *value, base.get(name).copied().unwrap_or(0)))
                .sum()
        };
        (total(&[SIGNALS, OVERRUNS]), total(&WEIGHTS))
    }

    #[test]
    fn the_weight_of_samples_under_way_counts_in_the_file_that_has_them() {
        let start = HashMap::from([("signals", 10), ("overruns", 50), ("weight.lost", 20)]);
        // Of 8 signals and 9 overruns since the start: four samples are written, one is filtered, one lost; two, of weights 5 and 1, are under way.
        let mut figures = [
            ("signals", 18),
            ("overruns", 59),
            ("weight.lost", 22),
            ("weight.filtered", 3),
            ("lost.filtered", 1),
            ("lost.no_slot", 1),
            ("written", 4),
            ("written.weight", 6),
        ];
        settle(&mut figures, &start);
        settle_weight(&mut figures, &start);
        assert_eq!(figures[..2], [("signals", 16), ("overruns", 55)]);
        assert_eq!(weights(&start, &figures), (11, 11));
        let second_file = HashMap::from(figures);
        let end = [
            ("signals", 18),
            ("overruns", 59),
            ("weight.lost", 22),
            ("weight.filtered", 3),
            ("written.weight", 12),
        ];
        assert_eq!(weights(&second_file, &end), (6, 6));
    }

    #[test]
    fn the_weight_that_is_lost_was_seen_in_the_file_that_counts_the_loss() {
        let mut base = HashMap::from([
            ("signals", 30),
            ("overruns", 12),
            ("written", 28),
            ("written.weight", 40),
            ("weight.lost", 2),
        ]);
        // Three samples of weight 9 are lost; one of weight 2 has been seen since, and is lost too.
        let figures = [
            ("signals", 31),
            ("overruns", 13),
            ("written", 25),
            ("written.weight", 31),
            ("weight.lost", 13),
        ];
        lose_weight(&mut base, &figures);
        lose(&mut base, &figures);
        assert_eq!(weights(&base, &figures), (11, 11));
    }

    #[test]
    fn what_came_late_was_seen_in_the_recording_that_counts_the_loss() {
        let mut late = Late::default();
        for (kind, weight) in [
            (SampleKind::Cpu, 6),
            (SampleKind::WallAsleep, 1),
            (SampleKind::Cpu, 1),
            (SampleKind::WallAwake, 1),
        ] {
            late.add(kind as u32, weight);
        }
        assert_eq!((late.cpu, late.weight, late.wall), (2, 7, 2));
        let mut base = HashMap::from([("signals", 9), ("overruns", 20), ("wall.signals", 7)]);
        late.count(&mut base);
        let expected = [("signals", 7), ("overruns", 15), ("wall.signals", 5)];
        assert_eq!(base, HashMap::from(expected));
    }

    #[test]
    fn the_identity_counts_every_loss_and_nothing_else() {
        let figures = [
            ("signals", 14),
            ("written", 7),
            ("thinned", 4),
            ("lost.no_slot", 2),
            ("lost.write", 1),
            ("walk.failed", 5),
        ];
        assert!(identity_holds(&figures));
        assert!(!identity_holds(&[("signals", 10), ("written", 9)]));
    }

    #[test]
    fn signals_whose_samples_are_under_way_are_not_counted_yet() {
        let start = HashMap::from([("signals", 100), ("written", 90), ("lost.write", 4)]);
        let mut figures = [
            ("signals", 120),
            ("written", 102),
            ("lost.write", 5),
            ("walk.failed", 7),
        ];
        settle(&mut figures, &start);
        // Of 20 signals since the start, 12 are written and 1 is lost; 7 are on their way.
        assert_eq!(figures[0], ("signals", 113));
        assert_eq!(
            figures[1..],
            [("written", 102), ("lost.write", 5), ("walk.failed", 7)]
        );
    }

    #[test]
    fn wall_clock_signals_and_visits_under_way_are_not_counted_yet() {
        let start = HashMap::from([("wall.signals", 5), ("wall.written", 5), ("wall.due", 9)]);
        let mut figures = [
            ("wall.signals", 30),
            ("wall.due", 90),
            ("wall.sent", 26),
            ("wall.repeated", 50),
            ("wall.left_out", 2),
            ("wall.written", 20),
            ("wall.lost", 4),
        ];
        settle(&mut figures, &start);
        assert_eq!(figures[0], ("wall.signals", 5 + 15 + 4));
        assert_eq!(figures[1], ("wall.due", 9 + 26 + 50));
    }

    #[test]
    fn what_was_seen_and_is_on_its_way_to_the_writer_is_not_counted_yet() {
        let start = HashMap::from([("lock.seen", 10), ("lock.written", 7)]);
        let mut figures = [
            ("lock.seen", 30),
            ("lock.written", 12),
            ("lock.short", 6),
            ("gc.seen", 3),
            ("gc.written", 2),
            ("lost.write", 9),
        ];
        settle(&mut figures, &start);
        assert_eq!(figures[0], ("lock.seen", 10 + 5 + 6));
        assert_eq!(figures[3], ("gc.seen", 2));
    }

    #[test]
    fn at_the_end_a_callback_still_at_work_does_not_count_and_a_missing_sample_does() {
        let start = HashMap::new();
        let mut figures = [
            ("signals", 9),
            ("written", 8),
            ("alloc.seen", 30),
            ("alloc.written", 27),
            ("alloc.lost", 2),
        ];
        settle_at_end(&mut figures, &start);
        assert_eq!(figures[0], ("signals", 9));
        assert_eq!(figures[2], ("alloc.seen", 29));
    }

    #[test]
    fn status_tells_of_a_later_recording_what_is_its_own_and_it_adds_up() {
        let before = [
            ("signals", 100),
            ("overruns", 50),
            ("lost.no_slot", 4),
            ("weight.lost", 9),
            ("gc.seen", 7),
            ("gc.lost", 1),
            ("api.no_slot", 3),
            ("threads.known", 12),
        ];
        let start = Start::new(HashMap::from(before), true);
        // Written counts anew in each recording. Two signals and a pause are under way.
        let now = vec![
            ("signals", 110),
            ("overruns", 53),
            ("lost.no_slot", 5),
            ("weight.lost", 11),
            ("written", 7),
            ("written.weight", 9),
            ("gc.seen", 10),
            ("gc.lost", 1),
            ("gc.written", 2),
            ("api.no_slot", 4),
            ("threads.known", 11),
        ];
        let told: HashMap<&str, u64> = start.told(now.clone(), true).into_iter().collect();
        let expected = [
            ("signals", 8),
            ("overruns", 3),
            ("lost.no_slot", 1),
            ("weight.lost", 2),
            ("written", 7),
            ("written.weight", 9),
            ("gc.seen", 2),
            ("gc.lost", 0),
            ("gc.written", 2),
            ("api.no_slot", 4),
            ("threads.known", 11),
        ];
        assert_eq!(told, HashMap::from(expected));
        // At the end nothing is under way: what is missing shows.
        let told: HashMap<&str, u64> = start.told(now, false).into_iter().collect();
        let seen = ["signals", "overruns", "gc.seen"].map(|name| told[name]);
        assert_eq!(seen, [10, 3, 2]);
    }
}
