//! Date and time of nanoseconds since 1970.

use time::OffsetDateTime;

/// UTC, to the millisecond.
pub(crate) fn utc(nanos: i64) -> String {
    let millis = nanos.rem_euclid(1_000_000_000) / 1_000_000;
    format!("{}.{millis:03}Z", utc_seconds(nanos))
}

/// The same to the nanosecond.
pub(crate) fn utc_exact(nanos: i64) -> String {
    let below = nanos.rem_euclid(1_000_000_000);
    format!("{}.{below:09}Z", utc_seconds(nanos))
}

fn utc_seconds(nanos: i64) -> String {
    // All nanoseconds that fit are in the years 1677 to 2262.
    let time = OffsetDateTime::from_unix_timestamp(nanos.div_euclid(1_000_000_000));
    let time = time.unwrap_or(OffsetDateTime::UNIX_EPOCH);
    let (hour, minute, second) = time.to_hms();
    format!("{}T{hour:02}:{minute:02}:{second:02}", time.date())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_right() {
        assert_eq!(utc(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(utc(1_700_000_000_123_456_789), "2023-11-14T22:13:20.123Z");
        assert_eq!(
            utc_exact(1_700_000_000_123_456_789),
            "2023-11-14T22:13:20.123456789Z"
        );
        assert_eq!(utc_exact(-1), "1969-12-31T23:59:59.999999999Z");
        assert_eq!(utc(951_782_400_000_000_000), "2000-02-29T00:00:00.000Z");
        assert_eq!(utc(-1), "1969-12-31T23:59:59.999Z");
        assert!(!utc(i64::MIN).is_empty() && !utc(i64::MAX).is_empty());
    }
}
