//! Date and time of nanoseconds since 1970.

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
    let seconds = nanos.div_euclid(1_000_000_000);
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // Days to a date of the Gregorian calendar, by eras of 400 years that begin on 1 March of the
    // year 0.
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}",
        second / 3600,
        second / 60 % 60,
        second % 60
    )
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
