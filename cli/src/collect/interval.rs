//! The sampling interval in a recording's settings.

use jfr_format::read::ActiveSetting;

use crate::filter::Unit;

/// Used if the recording has no interval.
pub(crate) const FALLBACK_INTERVAL_NANOS: u64 = 10_000_000;

/// Sampling interval as the settings tell: `interval` (ours, async-profiler) or `period` (JDK) of
/// the samples; of wall-clock samples `interval` of their own event (ours) or `wall`
/// (async-profiler), else the same.
pub(crate) fn interval_nanos(settings: &[ActiveSetting], unit: Unit) -> Option<u64> {
    const WALL: Option<&str> = Some("profiler.WallClockSample");
    let named = |name: &'static str| settings.iter().filter(move |setting| setting.name == name);
    let of_wall = named("interval")
        .filter(|setting| setting.event.as_deref() == WALL)
        .chain(named("wall"))
        .filter(|_| unit == Unit::Wall);
    let of_samples =
        named("period").filter(|setting| setting.event.as_deref() == Some("jdk.ExecutionSample"));
    let of_any = named("interval").filter(|setting| setting.event.as_deref() != WALL);
    of_wall
        .chain(of_any)
        .chain(of_samples)
        .find_map(|setting| parse_interval(&setting.value))
}

/// `10 ms`, `10ms`, `10000000` (nanoseconds).
fn parse_interval(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let number: u64 = text[..digits].parse().ok()?;
    let unit = match text[digits..].trim() {
        "" | "ns" => 1,
        "us" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        _ => return None,
    };
    number.checked_mul(unit).filter(|&nanos| nanos > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_read_as_the_producers_write_them() {
        for (text, expected) in [
            ("10 ms", Some(10_000_000)),
            ("10ms", Some(10_000_000)),
            ("10000000", Some(10_000_000)),
            ("500 us", Some(500_000)),
            ("1 s", Some(1_000_000_000)),
            ("everyChunk", None),
            ("0 ms", None),
            ("99999999999999999999 s", None),
            ("", None),
        ] {
            assert_eq!(parse_interval(text), expected, "{text}");
        }
    }
}
