//! The profiler's own books: signals = written + thinned + lost, by `ctxagent.Stats`.

use std::collections::BTreeMap;

use jfr_format::events::GAUGES;
use jfr_format::read::Stat;

use crate::output::{Failure, Output};
use crate::statistics;
use crate::text;

/// The counters as the chunks tell them, in file order.
#[derive(Debug, Default)]
pub(crate) struct Totals {
    by_counter: BTreeMap<(usize, String), Total>,
}

/// A counter in a file.
#[derive(Debug, Default)]
struct Total {
    /// Of recordings in this file that have ended: a file may be several, joined.
    ended: i64,
    /// Last total of the recording at hand.
    last: i64,
}

impl Totals {
    /// Takes what a chunk tells; chunks of a file come in their order.
    pub(crate) fn add(&mut self, file: usize, stats: Vec<Stat>) {
        for Stat { name, value, total } in stats {
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

/// What the counters say, added up over recordings and files.
#[derive(Debug, Default)]
pub(crate) struct Accounts {
    counters: BTreeMap<String, i64>,
}

impl Accounts {
    pub(crate) fn new(totals: &Totals) -> Self {
        let mut counters: BTreeMap<String, i64> = BTreeMap::new();
        for ((_, name), counter) in &totals.by_counter {
            let sum = counters.entry(name.clone()).or_default();
            *sum = sum.saturating_add(counter.ended.saturating_add(counter.last));
        }
        Self { counters }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.counters.is_empty()
    }

    fn get(&self, name: &str) -> i64 {
        self.counters.get(name).copied().unwrap_or(0)
    }

    /// Losses that happened, biggest first.
    pub(crate) fn losses(&self) -> Vec<(&str, i64)> {
        let mut losses: Vec<(&str, i64)> = self
            .counters
            .iter()
            .filter_map(|(name, &count)| Some((name.strip_prefix("lost.")?, count)))
            .filter(|&(_, count)| count != 0)
            .collect();
        losses.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
        losses
    }

    fn lost(&self) -> i64 {
        self.losses()
            .iter()
            .fold(0, |sum, &(_, count)| sum.saturating_add(count))
    }

    /// Whether signals = written + thinned + lost; `None` if the recording does not tell.
    pub(crate) fn holds(&self) -> Option<bool> {
        self.counters.get("signals").map(|&signals| {
            let seen = self.get("written").saturating_add(self.get("thinned"));
            signals == seen.saturating_add(self.lost())
        })
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        if self.is_empty() {
            return serde_json::Value::Null;
        }
        let losses: serde_json::Map<String, serde_json::Value> = self
            .losses()
            .into_iter()
            .map(|(name, count)| (name.to_owned(), count.into()))
            .collect();
        serde_json::json!({
            "signals": self.get("signals"), "written": self.get("written"), "lost": self.lost(),
            "lost_by_cause": losses, "holds": self.holds(), "counters": self.counters,
        })
    }

    /// One or two lines; nothing where the recording has no counters.
    pub(crate) fn print(&self, output: &mut Output) -> Result<(), Failure> {
        let count = |number: i64| text::thousands(number.max(0).unsigned_abs());
        if self.is_empty() {
            return output.line(" losses: unknown, the recording has no ctxagent.Stats");
        }
        let signals = self.get("signals");
        let losses = self.losses();
        if losses.is_empty() {
            output.line(" losses: none")?;
        } else {
            let share = statistics::share(
                self.lost().max(0).unsigned_abs(),
                signals.max(0).unsigned_abs(),
            );
            output.line(format!(
                " losses: {} signals = {:.2} %",
                count(self.lost()),
                share * 100.0
            ))?;
            for (cause, number) in losses {
                let line = format!("   {:>10}  {}", count(number), output.clean(cause));
                output.line(line)?;
            }
        }
        match self.holds() {
            None => Ok(()),
            Some(holds) => {
                // Left out for `ratelimit`: not lost, others in the recording weigh for them.
                let thinned = match self.get("thinned") {
                    0 => String::new(),
                    thinned => format!(" + {} thinned out", count(thinned)),
                };
                let sum = format!(
                    "{} signals = {} written{thinned} + {} lost",
                    count(signals),
                    count(self.get("written")),
                    count(self.lost())
                );
                let verdict = if holds {
                    "balanced".to_owned()
                } else {
                    output.warm("NOT BALANCED")
                };
                output.line(format!(" accounting: {sum}: {verdict}"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
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
            totals.add(0, chunk.iter().map(stat).collect());
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
    fn identity_counts_losses_by_prefix() {
        assert_eq!(
            accounts(&[
                ("signals", 10),
                ("written", 7),
                ("lost.a", 2),
                ("lost.b", 1)
            ])
            .holds(),
            Some(true)
        );
        let thinned = [("signals", 10), ("written", 3), ("thinned", 7)];
        assert_eq!(accounts(&thinned).holds(), Some(true));
        assert_eq!(
            accounts(&[("signals", 10), ("written", 9)]).holds(),
            Some(false)
        );
        assert_eq!(accounts(&[("other", 1)]).holds(), None);
        assert_eq!(
            accounts(&[("lost.a", 0), ("lost.b", 3), ("lost.c", 5)]).losses(),
            [("c", 5), ("b", 3)]
        );
    }
}
