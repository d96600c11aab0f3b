//! The profiler's own books: signals = written + thinned + lost, by `ctxagent.Stats`.

use std::collections::BTreeMap;

use crate::output::{Failure, Output};
use crate::statistics;
use crate::text;

/// What the counters say, added up over files.
#[derive(Debug, Default)]
pub(crate) struct Accounts {
    counters: BTreeMap<String, i64>,
}

impl Accounts {
    pub(crate) fn new(stats: &BTreeMap<(usize, String), i64>) -> Self {
        let mut counters: BTreeMap<String, i64> = BTreeMap::new();
        for ((_, name), total) in stats {
            let sum = counters.entry(name.clone()).or_default();
            *sum = sum.saturating_add(*total);
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
        Accounts::new(
            &rows
                .iter()
                .map(|&(name, total)| ((0, name.to_owned()), total))
                .collect(),
        )
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
