//! The accounting of a recording: of each kind of event, what was seen is written, lost or left
//! out. Checked for each file and added up over files.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use schema::account::{self, BY_NUMBER, CPU_WEIGHT, EventAccount};
use schema::counter::Counter;

use crate::collect::{FALLBACK_INTERVAL_NANOS, FileCounters};
use crate::filter::Unit;

mod print;
#[cfg(test)]
mod tests;
mod unsampled;

use unsampled::Unsampled;

/// The counters of all files, added up.
#[derive(Debug, Default)]
pub(crate) struct Accounting {
    counters: BTreeMap<String, i64>,
    /// How long at most a file goes on behind its last counters.
    unknown_nanos: Option<u64>,
    is_rate_limited: bool,
    unsampled: Unsampled,
    /// Of each file by itself: a surplus of one must not make up for what another one lacks.
    files: Vec<BTreeMap<String, i64>>,
}

/// What the counters say about one kind of event.
struct Balance<'a> {
    account: &'static EventAccount,
    seen: i64,
    written: i64,
    /// Counters of losses that happened, biggest first.
    losses: Vec<(&'a str, i64)>,
    /// Other outcomes that happened, by the last part of the counter's name.
    others: Vec<(&'a str, i64)>,
    /// Part of the losses that `others` contains too.
    lost_later: i64,
}

/// What a counter is called within its account.
fn last_part(name: &'static str) -> &'static str {
    name.rsplit('.').next().unwrap_or(name)
}

/// The name of a loss: of CPU samples without the part that all have.
fn cause(counter: Counter) -> &'static str {
    let name = counter.name();
    name.strip_prefix("lost.").unwrap_or(name)
}

impl Balance<'_> {
    fn lost(&self) -> i64 {
        sum(&self.losses)
    }

    /// What its losses are called: a filter may be all that is behind visits that are left out.
    fn losses_title(&self) -> &'static str {
        let left_out = Counter::WallLeftOut.name();
        if self.losses.iter().all(|&(name, _)| name == left_out) {
            "left out"
        } else {
            "losses"
        }
    }
}

fn sum(counts: &[(&str, i64)]) -> i64 {
    let counts = counts.iter().map(|&(_, count)| count);
    counts.fold(0, i64::saturating_add)
}

fn value(counters: &BTreeMap<String, i64>, counter: Counter) -> i64 {
    counters.get(counter.name()).copied().unwrap_or(0)
}

/// Whether there are counters of this kind of event.
fn has(counters: &BTreeMap<String, i64>, account: &EventAccount) -> bool {
    counters.contains_key(account.seen[0].name())
}

/// The accounts of the events that a report is about.
pub(crate) fn accounts_of(unit: Unit) -> &'static [EventAccount] {
    const WALL: [EventAccount; 3] = [
        account::WALL_SIGNALS,
        account::WALL_VISITS,
        account::WALL_UNMOUNTED,
    ];
    match unit {
        Unit::Cpu => &[account::CPU],
        Unit::Wall => &WALL,
        Unit::Bytes => &[account::ALLOCATIONS],
        Unit::Lock => &[account::LOCKS, account::PARKS],
        Unit::Samples => &[],
    }
}

impl Accounting {
    pub(crate) fn new(all: &FileCounters) -> Self {
        let mut accounting = Self {
            is_rate_limited: all.is_rate_limited,
            ..Self::default()
        };
        for file in all.files() {
            let counters: BTreeMap<String, i64> = file
                .iter()
                .map(|(name, total)| (name.to_owned(), total))
                .collect();
            for (name, total) in &counters {
                let sum = accounting.counters.entry(name.clone()).or_default();
                *sum = sum.saturating_add(*total);
            }
            let interval = file.interval_nanos.unwrap_or(FALLBACK_INTERVAL_NANOS);
            accounting.unsampled.add(interval, |c| file.get(c));
            // A finished file without any counters is of another producer, who counts nothing.
            if !file.is_finished || !counters.is_empty() {
                accounting.unknown_nanos = accounting.unknown_nanos.max(file.unknown_nanos);
            }
            accounting.files.push(counters);
        }
        accounting
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.counters.is_empty()
    }

    fn get(&self, counter: Counter) -> i64 {
        value(&self.counters, counter)
    }

    fn balance(&self, account: &'static EventAccount) -> Option<Balance<'_>> {
        if !has(&self.counters, account) {
            return None;
        }
        let counts = |counters: &'static [Counter], name: fn(Counter) -> &'static str| {
            let counts = counters.iter().map(move |&c| (name(c), self.get(c)));
            counts.filter(|&(_, count)| count != 0)
        };
        let lost_later: Vec<_> = counts(account.lost_later, cause).collect();
        let mut losses: Vec<_> = counts(account.lost, cause)
            .chain(lost_later.iter().copied())
            .collect();
        losses.sort_by_key(|&(_, count)| Reverse(count));
        let seen = account.seen.iter().map(|&counter| self.get(counter));
        Some(Balance {
            account,
            seen: seen.fold(0, i64::saturating_add),
            written: self.get(account.written),
            lost_later: sum(&lost_later),
            losses,
            others: counts(account.others, |c| last_part(c.name())).collect(),
        })
    }

    fn balances(&self, accounts: &'static [EventAccount]) -> Vec<Balance<'_>> {
        accounts.iter().filter_map(|a| self.balance(a)).collect()
    }

    /// Whether all that was seen of a kind is accounted for, in each file.
    fn is_balanced_in_each(&self, account: &EventAccount) -> bool {
        let mut files = self.files.iter().filter(|file| has(file, account));
        files.all(|file| account.is_balanced(|counter| value(file, counter)))
            && account.is_balanced(|counter| self.get(counter))
    }

    /// Whether all that was seen of these kinds is accounted for; `None` if the recording does not
    /// say, or not up to its end.
    pub(crate) fn is_balanced(&self, accounts: &'static [EventAccount]) -> Option<bool> {
        let mut known = accounts
            .iter()
            .filter(|a| has(&self.counters, a))
            .peekable();
        let is_known = known.peek().is_some() && self.unknown_nanos.is_none();
        if known.all(|account| self.is_balanced_in_each(account)) {
            is_known.then_some(true)
        } else {
            Some(false)
        }
    }

    /// What does not add up, or is missing from the sums.
    pub(crate) fn findings(&self) -> Vec<String> {
        let mut unbalanced: Vec<&EventAccount> = BY_NUMBER.iter().collect();
        unbalanced.retain(|a| has(&self.counters, a) && !self.is_balanced_in_each(a));
        let mut findings: Vec<String> = unbalanced
            .iter()
            .map(|account| {
                format!(
                    "accounting: {} are not written + lost (ctxagent.Stats)",
                    account.what
                )
            })
            .collect();
        // Where samples weigh for others, the sums differ.
        let is_known = self.counters.contains_key(CPU_WEIGHT.written.name());
        if is_known && !self.is_rate_limited && !CPU_WEIGHT.is_balanced(|counter| self.get(counter))
        {
            let names = |counters: &mut dyn Iterator<Item = Counter>| {
                counters.map(Counter::name).collect::<Vec<_>>().join(" + ")
            };
            findings.push(format!(
                "accounting: by weight, {} are not {} (ctxagent.Stats)",
                names(&mut CPU_WEIGHT.seen.iter().copied()),
                names(&mut CPU_WEIGHT.outcomes())
            ));
        }
        let refused = self.get(Counter::ApiRefused);
        if refused > 0 {
            findings.push(format!(
                "the agent could not serve {refused} of the application's copies of the Java API, \
                 whose contexts are missing (api.refused; \
                 the log and 'status' of the agent say why)"
            ));
        }
        let without_effect = self.get(Counter::ApiMadeBeforeAgent);
        if without_effect > 0 {
            findings.push(format!(
                "{without_effect} scopes are not recorded: their builders were made before the \
                 agent was loaded (api.made_before_agent)"
            ));
        }
        findings.extend(self.unsampled.finding());
        findings
    }
}
