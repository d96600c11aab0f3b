//! The accounting as lines for a person and as JSON.

use std::fmt::Write as _;

use schema::account::{CPU, EventAccount};
use schema::counter::Counter;

use super::{Accounting, Balance, last_part, sum};
use crate::output::{Failure, Output};
use crate::statistics;
use crate::text;

impl Accounting {
    pub(crate) fn json(&self, accounts: &'static [EventAccount]) -> serde_json::Value {
        if self.is_empty() && self.unknown_nanos.is_none() {
            return serde_json::Value::Null;
        }
        let object = |counts: &[(&str, i64)]| -> serde_json::Map<String, serde_json::Value> {
            let counts = counts.iter();
            counts
                .map(|&(name, count)| (name.to_owned(), count.into()))
                .collect()
        };
        let kinds: Vec<serde_json::Value> = self
            .balances(accounts)
            .iter()
            .map(|balance| {
                serde_json::json!({
                    "what": balance.account.what,
                    "seen": balance.seen,
                    "written": balance.written,
                    "lost": balance.lost(),
                    "lost_by_cause": object(&balance.losses),
                    "others": object(&balance.others),
                    "is_balanced": self.is_balanced_in_each(balance.account),
                })
            })
            .collect();
        let cpu = self.balance(&CPU);
        let losses = cpu.as_ref().map_or(&[][..], |balance| &balance.losses);
        // None are 0, unless there are no counters at all: of a file that has only begun nothing
        // is known.
        let known = |number: i64| (!self.is_empty()).then_some(number);
        let by_cause = (!self.is_empty()).then(|| object(losses));
        serde_json::json!({
            "signals": known(self.get(Counter::Signals)),
            "written": known(self.get(Counter::Written)),
            "lost": known(sum(losses)),
            "lost_by_cause": by_cause,
            "is_balanced": self.is_balanced(accounts),
            "unknown_ns": self.unknown_nanos.unwrap_or(0),
            "kinds": kinds,
            "counters": self.counters,
            "handler_replaced": self.get(Counter::SignalLost),
            "unsampled_cpu_ns": self.unsampled.nanos(),
            "used_cpu_ns": self.unsampled.clock_nanos,
        })
    }

    /// Prints some lines about the accounts.
    pub(crate) fn print(
        &self,
        accounts: &'static [EventAccount],
        output: &mut Output,
    ) -> Result<(), Failure> {
        let has_cpu = accounts.iter().any(|a| a.written == CPU.written);
        let unsampled = self.unsampled.finding().filter(|_| has_cpu);
        if let Some(finding) = &unsampled {
            output.line(output.style_warning(&format!(" {finding}")))?;
        }
        if let Some(comparison) = self.unsampled.comparison().filter(|_| has_cpu) {
            output.line(format!(" CPU time: {comparison}"))?;
        }
        let mut balances = self.balances(accounts);
        // Events that were not recorded are left out if there are others.
        if balances.iter().any(|balance| balance.seen != 0) {
            balances.retain(|balance| balance.seen != 0 || balance.lost() != 0);
        }
        self.print_losses(&balances, unsampled.is_some(), output)?;
        for (number, balance) in balances.iter().enumerate() {
            let head = if number == 0 { "accounting:" } else { "" };
            let is_balanced = self.is_balanced_in_each(balance.account);
            let verdict = match (is_balanced, self.unknown_nanos) {
                (true, None) => "balanced".to_owned(),
                (true, Some(_)) => "balanced as far as it is known".to_owned(),
                (false, _) => output.style_warning("NOT BALANCED"),
            };
            output.line(format!(" {head:11} {}: {verdict}", equation(balance)))?;
        }
        Ok(())
    }

    fn print_losses(
        &self,
        balances: &[Balance<'_>],
        is_unsampled: bool,
        output: &mut Output,
    ) -> Result<(), Failure> {
        if balances.is_empty() && self.unknown_nanos.is_none() {
            let why = if self.is_empty() {
                "the recording has no ctxagent.Stats"
            } else {
                "the recording has no counters of these events"
            };
            output.line(format!(" losses: unknown, {why}"))?;
        } else if !balances.is_empty() && balances.iter().all(|b| b.losses.is_empty()) {
            let known = match (self.unknown_nanos, is_unsampled) {
                (Some(_), _) => " as far as it is known",
                (None, true) => " of what was sampled",
                (None, false) => "",
            };
            output.line(format!(" losses: none{known}"))?;
        }
        for balance in balances.iter().filter(|b| !b.losses.is_empty()) {
            let share = statistics::share(
                balance.lost().max(0).unsigned_abs(),
                balance.seen.max(0).unsigned_abs(),
            );
            output.line(format!(
                " {}: {} {} = {:.2} %",
                balance.losses_title(),
                count(balance.lost()),
                balance.account.what,
                share * 100.0
            ))?;
            for &(cause, number) in &balance.losses {
                output.line(format!("   {:>10}  {cause}", count(number)))?;
            }
        }
        if let Some(nanos) = self.unknown_nanos {
            output.line(output.style_warning(&format!(
                " losses of the last {} are not known (recording not finished)",
                text::duration(nanos)
            )))?;
        }
        Ok(())
    }
}

fn count(number: i64) -> String {
    text::thousands(number.max(0).unsigned_abs())
}

/// What was seen and what became of it.
fn equation(balance: &Balance<'_>) -> String {
    let mut sum = format!(
        "{} {} = {} {}",
        count(balance.seen),
        balance.account.what,
        count(balance.written),
        last_part(balance.account.written.name())
    );
    for &(name, number) in &balance.others {
        let _ = write!(sum, " + {} {}", count(number), name.replace('_', " "));
    }
    let lost = balance.lost().saturating_sub(balance.lost_later);
    let _ = write!(sum, " + {} lost", count(lost));
    sum
}
