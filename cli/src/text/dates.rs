//! Date and time of nanoseconds since 1970.

use time::{Date, Month, OffsetDateTime, Time};

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

/// The nanoseconds of a moment as [`utc`] writes it; seconds, fraction and `Z` may be missing.
pub(crate) fn moment(text: &str) -> Option<i64> {
    let (date, time) = text.strip_suffix('Z').unwrap_or(text).split_once('T')?;
    let mut date = date.splitn(3, '-');
    let year = number(date.next()?)?.try_into().ok()?;
    let month = Month::try_from(u8::try_from(number(date.next()?)?).ok()?).ok()?;
    let day = number(date.next()?)?.try_into().ok()?;
    let (time, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let mut time = time.splitn(3, ':');
    let [hour, minute, second] = [time.next(), time.next(), Some(time.next().unwrap_or("0"))];
    let of_clock = |part: Option<&str>| u8::try_from(number(part?)?).ok();
    let nanos = number(&format!("{fraction:0<9}")).filter(|_| fraction.len() <= 9)?;
    let time = Time::from_hms_nano(of_clock(hour)?, of_clock(minute)?, of_clock(second)?, nanos);
    let date = Date::from_calendar_date(year, month, day).ok()?;
    let moment = date.with_time(time.ok()?).assume_utc();
    moment.unix_timestamp_nanos().try_into().ok()
}

/// Digits only: `parse` would take a sign.
fn number(text: &str) -> Option<u32> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_number)
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

    #[test]
    fn moments_are_read_as_they_are_written() {
        for nanos in [0, 951_782_400_000_000_000, 1_700_000_000_123_456_789, -1] {
            assert_eq!(moment(&utc_exact(nanos)), Some(nanos));
        }
        let minute = moment("2023-11-14T22:13");
        assert_eq!(minute, moment("2023-11-14T22:13:00.000Z"));
        assert_eq!(
            moment("2023-11-14T22:13:00.5"),
            minute.map(|m| m + 500_000_000)
        );
        for wrong in [
            "",
            "2023-11-14",
            "2023-02-29T00:00",
            "2023-11-14T24:00",
            "2023-11-14T22",
            "2023-11-14T22:13:00.1234567890",
            "2023-11-14T22:13:+1",
            "9999-11-14T22:13",
            "T:",
        ] {
            assert_eq!(moment(wrong), None, "{wrong}");
        }
    }
}
