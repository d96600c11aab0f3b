//! The value of `ratelimit`: maximum events per second, `KIND:NUMBER`, joined with `+` (or `;`, as
//! in other profilers).

use super::near::shown;
use std::fmt;

/// Largest limit: more than the writer can handle.
const MAX_PER_SECOND: u32 = 1_000_000;
/// Limit of parks, and of exceptions, where none is given: of each less than 1 % of a CPU.
const DEFAULT_PER_SECOND: u32 = 500;
/// The allowed values, for messages and help.
pub(super) const ALLOWED: &str =
    "cpu:N, wall:N, alloc:N, park:N, exception:N joined with + (N events per second, 1 to 1000000)";

/// Maximum events per second, by kind; `None` = no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RateLimits {
    /// CPU samples.
    pub cpu: Option<u32>,
    /// Wall-clock samples.
    pub wall: Option<u32>,
    /// Sampled allocations.
    pub alloc: Option<u32>,
    /// Parks; `None` = 500.
    pub park: Option<u32>,
    /// Exceptions; `None` = 500.
    pub exception: Option<u32>,
}

impl RateLimits {
    /// Parks per second.
    pub fn park_or_default(&self) -> u32 {
        self.park.unwrap_or(DEFAULT_PER_SECOND)
    }

    /// Exceptions per second.
    pub fn exception_or_default(&self) -> u32 {
        self.exception.unwrap_or(DEFAULT_PER_SECOND)
    }
}

impl fmt::Display for RateLimits {
    /// The text of the option.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kinds = [
            ("cpu", self.cpu),
            ("wall", self.wall),
            ("alloc", self.alloc),
            ("park", self.park),
            ("exception", self.exception),
        ];
        let mut between = "";
        for (kind, limit) in kinds {
            if let Some(limit) = limit {
                write!(f, "{between}{kind}:{limit}")?;
                between = "+";
            }
        }
        Ok(())
    }
}

pub(super) fn parse(text: &str) -> Result<RateLimits, String> {
    let mut limits = RateLimits::default();
    for entry in text.split(['+', ';']) {
        let (kind, number) = entry
            .split_once(':')
            .ok_or_else(|| format!("'{}' is not KIND:NUMBER; allowed: {ALLOWED}", shown(entry)))?;
        let place = match kind {
            "cpu" => &mut limits.cpu,
            "wall" => &mut limits.wall,
            "alloc" => &mut limits.alloc,
            "park" => &mut limits.park,
            "exception" => &mut limits.exception,
            "lock" => {
                return Err(format!(
                    "'lock' has no weight that could stand for others: lock= says how long a \
                     wait must be; allowed: {ALLOWED}"
                ));
            }
            _ => return Err(format!("'{}' is unknown; allowed: {ALLOWED}", shown(kind))),
        };
        let number = number
            .parse()
            .ok()
            .filter(|n| (1..=MAX_PER_SECOND).contains(n))
            .ok_or_else(|| format!("'{}' is no such number; allowed: {ALLOWED}", shown(number)))?;
        if place.replace(number).is_some() {
            return Err(format!("'{kind}' is there twice"));
        }
    }
    Ok(limits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_parsed_and_displayed_as_written() {
        let limits = parse("alloc:200;cpu:2000").expect("fine");
        assert_eq!(limits.cpu, Some(2000));
        assert_eq!(limits.wall, None);
        assert_eq!(limits.to_string(), "cpu:2000+alloc:200");
        assert_eq!(parse("cpu:2000+alloc:200"), Ok(limits));
    }

    #[test]
    fn invalid_values_are_refused() {
        for (text, reason) in [
            ("", "not KIND:NUMBER"),
            ("2000", "not KIND:NUMBER"),
            ("gpu:1", "'gpu' is unknown"),
            ("lock:1", "no weight"),
            ("cpu:0", "no such number"),
            ("cpu:-1", "no such number"),
            ("cpu:1000001", "no such number"),
            ("cpu:1+cpu:2", "twice"),
        ] {
            let error = parse(text).expect_err(text);
            assert!(error.contains(reason), "{text}: {error}");
        }
    }
}
