//! The profiler's own books, by `ctxagent.Stats`: of each kind of event, seen = written + what else became of it.

use ctxagent_events::Reports as _;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use ctxagent_events::STATS;
use ctxagent_events::Stat;
use jfr_format::books::GAUGES;
use jfr_format::books::{ALLOCATIONS, CPU, KINDS, Kind, LOCKS, WALL_SIGNALS, WALL_VISITS};
use jfr_format::books::{WEIGHTS, WEIGHTS_SEEN};
use jfr_format::chunk::FLAG_FINAL;
use jfr_format::read::{ActiveSetting, ParsedChunk};

use crate::collect::{FALLBACK_INTERVAL_NANOS, interval_nanos};
use crate::filter::Unit;
use crate::output::{Failure, Output};
use crate::statistics;
use crate::text;

mod unsampled;

use unsampled::Unsampled;

/// What a chunk tells about the books.
#[derive(Debug, Default)]
pub(crate) struct Page {
    stats: Vec<Stat>,
    /// How long the chunk goes on behind its last counters, if there are samples there.
    unknown_nanos: Option<u64>,
    /// Whether the file was finished with this chunk.
    is_last: bool,
    /// Whether samples are left out for others that weigh for them.
    is_limited: bool,
    /// The interval of CPU samples, where the chunk tells.
    interval_nanos: Option<u64>,
}

impl Page {
    pub(crate) fn of(chunk: &ParsedChunk<'_>, settings: &[ActiveSetting]) -> Self {
        Self {
            stats: chunk.stats(),
            unknown_nanos: unknown_nanos(chunk),
            is_last: chunk.header().flags & FLAG_FINAL != 0,
            is_limited: settings.iter().any(|setting| setting.name == "ratelimit"),
            interval_nanos: interval_nanos(settings, Unit::Cpu),
        }
    }
}

/// How long a chunk of ours goes on behind its last counters; `None` where no sample follows them.
fn unknown_nanos(chunk: &ParsedChunk<'_>) -> Option<u64> {
    let counters = {
        let metadata = chunk.metadata();
        metadata.at(metadata.index_of_name(STATS.name)?).id
    };
    let is_sample = |id| {
        let ty = chunk.metadata().type_by_id(id);
        ty.is_some_and(|ty| ty.is_event() && ty.field_position("stackTrace").is_some())
    };
    let header = chunk.header();
    let (mut from, mut is_open) = (header.start_nanos, false);
    let mut known: BTreeMap<u64, bool> = BTreeMap::new();
    for event in chunk.raw_events().map_while(Result::ok) {
        if event.type_id == counters {
            let start = chunk.event(&event).and_then(|event| event.start_nanos());
            (from, is_open) = (start.unwrap_or(from), false);
        } else if !is_open {
            is_open = *known
                .entry(event.type_id)
                .or_insert_with(|| is_sample(event.type_id));
        }
    }
    let end = header
        .start_nanos
        .saturating_add(header.duration_nanos.max(0));
    is_open.then(|| end.saturating_sub(from).max(0).unsigned_abs())
}

/// The counters as the chunks tell them, in file order.
#[derive(Debug, Default)]
pub(crate) struct Totals {
    by_counter: BTreeMap<(usize, String), Total>,
    /// Of each file's last chunk: how long it goes on behind the last counters, and whether the file was finished with it.
    ends: BTreeMap<usize, (Option<u64>, bool)>,
    is_limited: bool,
    /// Of each file.
    intervals: BTreeMap<usize, u64>,
}

/// A counter in a file.
#[derive(Debug, Default)]
struct Total {
    /// Of recordings in this file that have ended: a file may be several, joined.
    ended: i64,
    /// Last total of the recording at hand.
    last: i64,
}

impl Total {
    fn total(&self) -> i64 {
        self.ended.saturating_add(self.last)
    }
}

impl Totals {
    /// Takes what a chunk tells; chunks of a file come in their order.
    pub(crate) fn add(&mut self, file: usize, page: Page) {
        self.ends.insert(file, (page.unknown_nanos, page.is_last));
        self.is_limited |= page.is_limited;
        if let Some(nanos) = page.interval_nanos {
            self.intervals.insert(file, nanos);
        }
        for Stat { name, value, total } in page.stats {
            let is_gauge = GAUGES.contains(&name.as_str());
            let counter = self.by_counter.entry((file, name)).or_default();
            // Within a recording totals only grow, and one that has just grown from 0 was 0.
            if !is_gauge && (total < counter.last || (total == value && counter.last != 0)) {
                counter.ended = counter.ended.saturating_add(counter.last);
            }
            counter.last = total;
        }
    }
}

impl Totals {
    /// CPU time without samples, of all files.
    fn unsampled(&self) -> Unsampled {
        let mut unsampled = Unsampled::default();
        for &file in self.ends.keys() {
            let counter = |name: &str| {
                let counter = self.by_counter.get(&(file, name.to_owned()));
                counter.map_or(0, Total::total)
            };
            let interval = self.intervals.get(&file).copied();
            unsampled.add(interval.unwrap_or(FALLBACK_INTERVAL_NANOS), counter);
        }
        unsampled
    }
}

/// What the counters say, added up over recordings and files.
#[derive(Debug, Default)]
pub(crate) struct Accounts {
    counters: BTreeMap<String, i64>,
    /// How long at most a file goes on behind its last counters.
    unknown_nanos: Option<u64>,
    is_limited: bool,
    unsampled: Unsampled,
    /// Of each file by itself: a surplus of one must not make up for what another one lacks.
    files: Vec<Accounts>,
}

/// One kind of event in the books.
struct Book<'a> {
    kind: &'static Kind,
    seen: i64,
    written: i64,
    /// Counters of losses that happened, biggest first.
    losses: Vec<(&'a str, i64)>,
    /// What else became of some, by the last part of the name.
    others: Vec<(&'a str, i64)>,
    /// Of `losses`: those that are among the others already.
    lost_later: i64,
}

/// Visits that no sample stands for: the one that was on its way for them was filtered, lost, or never came.
const LEFT_OUT: &str = "wall.left_out";
/// Visits that are among the others already, as repeated, pending or missed, and are not in the recording all the same.
const LOST_LATER: [&str; 2] = ["wall.repeats_lost", LEFT_OUT];

/// What a counter is called within its kind.
fn last_part(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

/// The name of a loss, if the counter counts one.
fn cause<'a>(kind: &Kind, name: &'a str) -> Option<&'a str> {
    if let Some(cause) = name.strip_prefix("lost.") {
        return Some(cause);
    }
    let is_of_visits = kind.seen == WALL_VISITS.seen && LOST_LATER.contains(&name);
    (is_of_visits || last_part(name) == "lost").then_some(name)
}

impl Book<'_> {
    fn lost(&self) -> i64 {
        sum(&self.losses)
    }

    /// What its losses are called: a filter may be all that is behind visits left out.
    fn head_of_losses(&self) -> &'static str {
        if self.losses.iter().all(|&(name, _)| name == LEFT_OUT) {
            "left out"
        } else {
            "losses"
        }
    }

    fn holds(&self) -> bool {
        let known = self.written.saturating_add(sum(&self.others));
        self.seen == known.saturating_add(self.lost().saturating_sub(self.lost_later))
    }
}

fn sum(counts: &[(&str, i64)]) -> i64 {
    counts
        .iter()
        .fold(0, |sum, &(_, count)| sum.saturating_add(count))
}

/// The books that tell of the events that a report is about.
pub(crate) fn kinds_of(unit: Unit) -> &'static [Kind] {
    const WALL: [Kind; 2] = [WALL_SIGNALS, WALL_VISITS];
    match unit {
        Unit::Cpu => &[CPU],
        Unit::Wall => &WALL,
        Unit::Bytes => &[ALLOCATIONS],
        Unit::Lock => &[LOCKS],
        Unit::Samples => &[],
    }
}

impl Accounts {
    pub(crate) fn new(totals: &Totals) -> Self {
        let mut counters: BTreeMap<String, i64> = BTreeMap::new();
        for ((_, name), counter) in &totals.by_counter {
            let sum = counters.entry(name.clone()).or_default();
            *sum = sum.saturating_add(counter.total());
        }
        let unsampled = totals.unsampled();
        let mut files: BTreeMap<usize, Accounts> = BTreeMap::new();
        for ((file, name), counter) in &totals.by_counter {
            let account = files.entry(*file).or_default();
            account.counters.insert(name.clone(), counter.total());
        }
        // A finished file without any counters is somebody else's, who counts nothing.
        let unknown = totals.ends.iter().filter(|&(file, &(_, is_last))| {
            let mut of_file = totals.by_counter.range((*file, String::new())..);
            !is_last || of_file.next().is_some_and(|((of, _), _)| of == file)
        });
        Self {
            counters,
            unknown_nanos: unknown.filter_map(|(_, &(nanos, _))| nanos).max(),
            is_limited: totals.is_limited,
            unsampled,
            files: files.into_values().collect(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.counters.is_empty()
    }

    fn get(&self, name: &str) -> i64 {
        self.counters.get(name).copied().unwrap_or(0)
    }

    fn book(&self, kind: &'static Kind) -> Option<Book<'_>> {
        let seen = *self.counters.get(kind.seen)?;
        let counts = || {
            let counters = self.counters.iter().filter(|&(_, &count)| count != 0);
            counters.map(|(name, &count)| (name.as_str(), count))
        };
        let mut losses: Vec<(&str, i64)> = counts()
            .filter(|(name, _)| kind.has_outcome(name) || LOST_LATER.contains(name))
            .filter_map(|(name, count)| Some((cause(kind, name)?, count)))
            .collect();
        losses.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
        let others = counts()
            .filter(|&(name, _)| name != kind.written && kind.has_outcome(name))
            .filter(|(name, _)| cause(kind, name).is_none())
            .map(|(name, count)| (last_part(name), count));
        let later = losses.iter().filter(|(name, _)| LOST_LATER.contains(name));
        Some(Book {
            kind,
            seen,
            written: self.get(kind.written),
            lost_later: later.fold(0, |sum, &(_, count)| sum.saturating_add(count)),
            losses,
            others: others.collect(),
        })
    }

    fn books(&self, kinds: &'static [Kind]) -> Vec<Book<'_>> {
        kinds.iter().filter_map(|kind| self.book(kind)).collect()
    }

    /// Whether what was seen of a kind is accounted for, in each file.
    fn is_balanced(&self, book: &Book<'_>) -> bool {
        let in_file = |file: &Accounts| file.book(book.kind).is_none_or(|book| book.holds());
        book.holds() && self.files.iter().all(in_file)
    }

    /// Whether all that was seen of the kinds is accounted for; `None` if the recording does not tell, or not up to its end.
    pub(crate) fn holds(&self, kinds: &'static [Kind]) -> Option<bool> {
        let books = self.books(kinds);
        if books.iter().any(|book| !self.is_balanced(book)) {
            return Some(false);
        }
        (!books.is_empty() && self.unknown_nanos.is_none()).then_some(true)
    }

    /// What does not add up, or is missing from the sums.
    pub(crate) fn findings(&self) -> Vec<String> {
        let books = self.books(&KINDS).into_iter();
        let unbalanced = books.filter(|book| !self.is_balanced(book));
        let mut findings: Vec<String> = unbalanced
            .map(|book| {
                format!(
                    "accounting: {} are not written + lost (ctxagent.Stats)",
                    book.kind.what
                )
            })
            .collect();
        let sum = |names: &[&str]| {
            let counts = names.iter().map(|name| self.get(name));
            counts.fold(0, i64::saturating_add)
        };
        // Where samples weigh for others, the sums differ; at the end of what is told nothing is under way.
        let tells = self.counters.contains_key(WEIGHTS[0]) && !self.is_limited;
        if tells && sum(&WEIGHTS_SEEN) != sum(&WEIGHTS) {
            findings.push(format!(
                "accounting: by weight, {} are not {} (ctxagent.Stats)",
                WEIGHTS_SEEN.join(" + "),
                WEIGHTS.join(" + ")
            ));
        }
        let refused = self.get("api.refused");
        if refused > 0 {
            findings.push(format!(
                "the agent could not serve {refused} of the application's copies of the Java API, whose contexts are missing (api.refused; the log and 'status' of the agent say why)"
            ));
        }
        findings.extend(self.unsampled.finding());
        findings
    }

    pub(crate) fn json(&self, kinds: &'static [Kind]) -> serde_json::Value {
        if self.is_empty() && self.unknown_nanos.is_none() {
            return serde_json::Value::Null;
        }
        let object = |counts: &[(&str, i64)]| -> serde_json::Map<String, serde_json::Value> {
            let counts = counts.iter();
            counts
                .map(|&(name, count)| (name.to_owned(), count.into()))
                .collect()
        };
        let told: Vec<serde_json::Value> = self
            .books(kinds)
            .iter()
            .map(|book| {
                serde_json::json!({
                    "what": book.kind.what, "seen": book.seen, "written": book.written, "lost": book.lost(),
                    "lost_by_cause": object(&book.losses), "others": object(&book.others), "holds": self.is_balanced(book),
                })
            })
            .collect();
        let cpu = self.book(&KINDS[0]);
        let losses = cpu.as_ref().map_or(&[][..], |book| &book.losses);
        // None are 0, unless there are no counters at all: of a file that has only begun nothing is known.
        let known = |number: i64| (!self.is_empty()).then_some(number);
        let by_cause = (!self.is_empty()).then(|| object(losses));
        serde_json::json!({
            "signals": known(self.get(CPU.seen)), "written": known(self.get(CPU.written)), "lost": known(sum(losses)), "lost_by_cause": by_cause,
            "holds": self.holds(kinds), "unknown_ns": self.unknown_nanos.unwrap_or(0), "kinds": told, "counters": self.counters,
            "signal_taken": self.get(unsampled::STATE_OFF), "unsampled_cpu_ns": self.unsampled.nanos, "used_cpu_ns": self.unsampled.used_nanos,
        })
    }

    /// Some lines about the kinds.
    pub(crate) fn print(&self, kinds: &'static [Kind], output: &mut Output) -> Result<(), Failure> {
        let unsampled = if kinds.iter().any(|kind| kind.seen == CPU.seen) {
            self.unsampled.finding()
        } else {
            None
        };
        if let Some(finding) = &unsampled {
            output.line(output.warm(&format!(" {finding}")))?;
        }
        let mut books = self.books(kinds);
        // Of what was not asked for at the recording nothing is said, if there is something else to say.
        if books.iter().any(|book| book.seen != 0) {
            books.retain(|book| book.seen != 0 || book.lost() != 0);
        }
        if books.is_empty() && self.unknown_nanos.is_none() {
            let why = if self.is_empty() {
                "the recording has no ctxagent.Stats"
            } else {
                "the recording has no counters of these events"
            };
            output.line(format!(" losses: unknown, {why}"))?;
        } else if !books.is_empty() && books.iter().all(|book| book.losses.is_empty()) {
            let known = match (self.unknown_nanos, &unsampled) {
                (Some(_), _) => " as far as it is known",
                (None, Some(_)) => " of what was sampled",
                (None, None) => "",
            };
            output.line(format!(" losses: none{known}"))?;
        }
        for book in books.iter().filter(|book| !book.losses.is_empty()) {
            let share = statistics::share(
                book.lost().max(0).unsigned_abs(),
                book.seen.max(0).unsigned_abs(),
            );
            output.line(format!(
                " {}: {} {} = {:.2} %",
                book.head_of_losses(),
                count(book.lost()),
                book.kind.what,
                share * 100.0
            ))?;
            for &(cause, number) in &book.losses {
                let line = format!("   {:>10}  {}", count(number), output.clean(cause));
                output.line(line)?;
            }
        }
        if let Some(nanos) = self.unknown_nanos {
            output.line(output.warm(&format!(
                " losses of the last {} are not known (recording not finished)",
                text::duration(nanos)
            )))?;
        }
        for (number, book) in books.iter().enumerate() {
            let head = if number == 0 { "accounting:" } else { "" };
            let verdict = match (self.is_balanced(book), self.unknown_nanos) {
                (true, None) => "balanced".to_owned(),
                (true, Some(_)) => "balanced as far as it is known".to_owned(),
                (false, _) => output.warm("NOT BALANCED"),
            };
            output.line(format!(" {head:11} {}: {verdict}", equation(book, output)))?;
        }
        Ok(())
    }
}

fn count(number: i64) -> String {
    text::thousands(number.max(0).unsigned_abs())
}

/// What was seen and what became of it.
fn equation(book: &Book<'_>, output: &Output) -> String {
    let mut sum = format!(
        "{} {} = {} {}",
        count(book.seen),
        book.kind.what,
        count(book.written),
        last_part(book.kind.written)
    );
    for &(name, number) in &book.others {
        // Thinned: left out for `ratelimit`, not lost; others in the recording weigh for them.
        let name = match name {
            "thinned" => "thinned out".to_owned(),
            name => output.clean(&name.replace('_', " ")),
        };
        let _ = write!(sum, " + {} {name}", count(number));
    }
    let lost = book.lost().saturating_sub(book.lost_later);
    let _ = write!(sum, " + {} lost", count(lost));
    sum
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed test")]
    use super::*;

    fn accounts(rows: &[(&str, i64)]) -> Accounts {
        let rows: Vec<_> = rows.iter().map(|&(name, n)| (name, n, n)).collect();
        told(&[&rows])
    }

    /// Of chunks of one file, each with rows of name, growth and total.
    fn told(chunks: &[&[(&str, i64, i64)]]) -> Accounts {
        let mut totals = Totals::default();
        for chunk in chunks {
            let stat = |&(name, value, total): &(&str, i64, i64)| Stat {
                name: name.to_owned(),
                value,
                total,
            };
            let stats = chunk.iter().map(stat).collect();
            let page = Page {
                stats,
                is_last: true,
                ..Page::default()
            };
            totals.add(0, page);
        }
        Accounts::new(&totals)
    }

    #[test]
    fn recordings_joined_in_a_file_add_up_and_chunks_of_one_do_not() {
        let first: [&[_]; 3] = [
            &[("signals", 5, 5), ("lost.a", 1, 1)],
            &[("signals", 5, 10)],
            &[("signals", 0, 10), ("lost.a", 2, 3)],
        ];
        let joined = |second: &[&[(&'static str, i64, i64)]]| {
            let both = told(&[&first[..], second].concat());
            (both.get("signals"), both.get("lost.a"))
        };
        assert_eq!(joined(&[]), (10, 3));
        // Begins below where the first one ended, above it, and with its first chunk missing.
        assert_eq!(joined(&[&[("signals", 4, 4)]]), (14, 3));
        assert_eq!(
            joined(&[&[("signals", 70, 70), ("lost.a", 9, 9)]]),
            (80, 12)
        );
        assert_eq!(joined(&[&[("signals", 2, 8)]]), (18, 3));
        assert_eq!(joined(&first), (20, 6));
    }

    #[test]
    fn a_figure_that_tells_how_it_is_does_not_add_up_over_chunks() {
        let threads = |count: i64| [("threads.known", count, count)];
        let accounts = told(&[&threads(30), &threads(30), &threads(28)]);
        assert_eq!(accounts.get("threads.known"), 28);
    }

    #[test]
    fn every_kind_is_accounted_for_and_tells_its_losses() {
        let holds = |rows: &[(&str, i64)], unit| accounts(rows).holds(kinds_of(unit));
        let cpu = [
            ("signals", 10),
            ("written", 7),
            ("lost.a", 2),
            ("lost.b", 1),
        ];
        assert_eq!(holds(&cpu, Unit::Cpu), Some(true));
        assert_eq!(holds(&cpu, Unit::Bytes), None);
        let thinned = [("signals", 10), ("written", 3), ("thinned", 7)];
        assert_eq!(holds(&thinned, Unit::Cpu), Some(true));
        let short = [("signals", 10), ("written", 9)];
        assert_eq!(holds(&short, Unit::Cpu), Some(false));
        assert_eq!(holds(&[("other", 1)], Unit::Cpu), None);
        for kind in &KINDS {
            let mut rows = vec![(kind.seen, 1), (kind.written, 1)];
            for other in kind.others.iter().filter(|name| !name.ends_with('.')) {
                rows.push((other, 3));
                rows[0].1 += 3;
            }
            assert_eq!(accounts(&rows).findings(), [""; 0], "{kind:?}");
            rows[0].1 += 1;
            assert_eq!(accounts(&rows).findings().len(), 1, "{kind:?}");
        }
        let lost = accounts(&[("signals", 8), ("lost.a", 0), ("lost.b", 3), ("lost.c", 5)]);
        assert_eq!(lost.book(&KINDS[0]).unwrap().losses, [("c", 5), ("b", 3)]);
        let lost = accounts(&[("alloc.seen", 5), ("alloc.lost", 2), ("alloc.written", 3)]);
        let json = lost.json(kinds_of(Unit::Bytes));
        assert_eq!(json["kinds"][0]["lost"], 2);
        assert_eq!(json["holds"], true);
        assert_eq!(json["lost"], 0, "signals, as ever");
    }

    #[test]
    fn repeats_that_are_lost_and_visits_left_out_are_among_those_that_were_visited() {
        let mut rows = vec![
            ("wall.due", 15),
            ("wall.sent", 4),
            ("wall.repeated", 6),
            ("wall.pending", 5),
            ("wall.left_out", 3),
        ];
        for (more, lost, head) in [
            (None, 3, "left out"),
            (Some(("wall.repeats_lost", 2)), 5, "losses"),
        ] {
            rows.extend(more);
            let accounts = accounts(&rows);
            assert_eq!(accounts.holds(kinds_of(Unit::Wall)), Some(true));
            let book = &accounts.books(kinds_of(Unit::Wall))[0];
            assert_eq!((book.lost(), book.head_of_losses()), (lost, head));
        }
    }

    #[test]
    fn weights_add_up_unless_some_samples_weigh_for_others() {
        let rows = [
            ("signals", 2),
            ("overruns", 3),
            ("written", 2),
            ("written.weight", 4),
            ("weight.lost", 1),
        ];
        assert_eq!(accounts(&rows).findings(), [""; 0]);
        let wrong = rows.map(|(name, n)| (name, if name == "overruns" { 4 } else { n }));
        assert_eq!(accounts(&wrong).findings().len(), 1);
        let limited = Accounts {
            is_limited: true,
            ..accounts(&wrong)
        };
        assert_eq!(limited.findings(), [""; 0]);
    }
}
