//! Points in time in milliseconds, and their text form. This crate reads no clock; callers pass the time in.

use std::fmt;
use std::time::Duration;

use serde::{Serialize, Serializer};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// First and last millisecond of the years 0 to 9999. RFC 3339 cannot express other years.
const FIRST_WRITTEN: i64 = -62_167_219_200_000;
const LAST_WRITTEN: i64 = 253_402_300_799_999;

/// Point in time: milliseconds since the Unix epoch (UTC). Displayed in RFC 3339 with milliseconds and `Z`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(i64);

/// Length of a day as text.
const DAY_TEXT: usize = "2026-03-01".len();

impl Timestamp {
    /// Creates a point in time from milliseconds since the Unix epoch.
    #[must_use]
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Returns the milliseconds since the Unix epoch.
    #[must_use]
    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// Returns the whole seconds since the Unix epoch, rounded down: a `NumericDate` of RFC 7519.
    #[must_use]
    pub const fn as_seconds(self) -> i64 {
        self.0.div_euclid(1000)
    }

    /// Returns a later time, at most the maximum of the type (saturating).
    #[must_use]
    pub fn plus(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(millis(duration)))
    }

    /// Returns an earlier time, at least the minimum of the type (saturating).
    #[must_use]
    pub fn minus(self, duration: Duration) -> Self {
        Self(self.0.saturating_sub(millis(duration)))
    }

    /// Returns the duration since `earlier`; zero if `earlier` is later than `self`.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or_default())
    }

    /// Parses RFC 3339 (`2026-03-01T12:00:00Z`), or a day (`2026-03-01`), which stands for its first moment in UTC. Rounds
    /// down to milliseconds. `None` for other text.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let first_moment = (text.len() == DAY_TEXT).then(|| format!("{text}T00:00:00Z"));
        let text = first_moment.as_deref().unwrap_or(text);
        let nanos = OffsetDateTime::parse(text, &Rfc3339).ok()?.unix_timestamp_nanos();
        i64::try_from(nanos.div_euclid(1_000_000)).ok().map(Self)
    }

    /// Parses like [`Self::parse`] the end of a period: a day stands for the first moment after it.
    #[must_use]
    pub fn parse_end(text: &str) -> Option<Self> {
        let at = Self::parse(text)?;
        Some(if text.len() == DAY_TEXT { at.plus(Duration::from_hours(24)) } else { at })
    }

    /// Formats as RFC 3339 in UTC: `2026-03-01T12:00:00.000Z`. Times outside the years 0 to 9999 are clamped.
    #[must_use]
    pub fn to_rfc3339(self) -> String {
        text_of(&self.formatted()).to_owned()
    }

    /// Formats to the minute for people, unambiguous in every locale: `2026-03-01 12:00 UTC`.
    #[must_use]
    pub fn to_minute_text(self) -> String {
        let text = self.to_rfc3339();
        match (text.get(..10), text.get(11..16)) {
            (Some(day), Some(time)) => format!("{day} {time} UTC"),
            _ => text,
        }
    }

    /// Formats the day in UTC: `2026-03-01`.
    #[must_use]
    pub fn to_date_text(self) -> String {
        let text = self.to_rfc3339();
        text.get(..10).unwrap_or(&text).to_owned()
    }

    /// Formats without the general formatter, which takes many times as long. Most responses contain two timestamps.
    fn formatted(self) -> [u8; 24] {
        let shown = Self(self.0.clamp(FIRST_WRITTEN, LAST_WRITTEN));
        let moment =
            OffsetDateTime::from_unix_timestamp(shown.as_seconds()).unwrap_or(OffsetDateTime::UNIX_EPOCH);
        let mut text = *b"0000-00-00T00:00:00.000Z";
        write_digits(&mut text[0..4], moment.year().unsigned_abs());
        write_digits(&mut text[5..7], u8::from(moment.month()).into());
        write_digits(&mut text[8..10], moment.day().into());
        write_digits(&mut text[11..13], moment.hour().into());
        write_digits(&mut text[14..16], moment.minute().into());
        write_digits(&mut text[17..19], moment.second().into());
        write_digits(&mut text[20..23], u32::try_from(shown.0.rem_euclid(1000)).unwrap_or_default());
        text
    }
}

/// Writes the last decimal digits of a number, as many as `place` has bytes.
fn write_digits(place: &mut [u8], mut number: u32) {
    for digit in place.iter_mut().rev() {
        *digit = b'0' + u8::try_from(number % 10).unwrap_or_default();
        number /= 10;
    }
}

/// Returns the ASCII bytes of [`Timestamp::formatted`] as text.
fn text_of(formatted: &[u8; 24]) -> &str {
    std::str::from_utf8(formatted).unwrap_or_default()
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(text_of(&self.formatted()))
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(text_of(&self.formatted()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_has_milliseconds_and_z() {
        assert_eq!(Timestamp::from_millis(1_772_366_400_007).to_rfc3339(), "2026-03-01T12:00:00.007Z");
    }

    #[test]
    fn text_reads_back() {
        for millis in
            [1_772_366_400_120, 0, -1, 951_782_400_000, 1_709_251_199_999, FIRST_WRITTEN, LAST_WRITTEN]
        {
            let moment = Timestamp::from_millis(millis);
            let read = OffsetDateTime::parse(&moment.to_rfc3339(), &Rfc3339).unwrap();
            assert_eq!(read.unix_timestamp_nanos(), i128::from(moment.as_millis()) * 1_000_000, "{moment}");
        }
    }

    #[test]
    fn days_and_rfc_3339_are_read() {
        let noon = Timestamp::from_millis(1_772_366_400_000);
        for text in ["2026-03-01T12:00:00Z", "2026-03-01T12:00:00.000999Z", "2026-03-01T13:30:00+01:30"] {
            assert_eq!(Timestamp::parse(text), Some(noon), "{text}");
        }
        assert_eq!(Timestamp::parse("2026-03-01"), Some(noon.minus(Duration::from_hours(12))));
        for text in ["", "2026", "2026-02-30", "2026-03-01T12:00", "yesterday!", "1772366400000", "é026-03-0"]
        {
            assert_eq!(Timestamp::parse(text), None, "{text}");
        }
    }

    #[test]
    fn day_is_over_with_its_end_and_a_time_is_the_end_itself() {
        let noon = Timestamp::from_millis(1_772_366_400_000);
        assert_eq!(Timestamp::parse_end("2026-03-01"), Some(noon.plus(Duration::from_hours(12))));
        assert_eq!(Timestamp::parse_end("2026-03-01T12:00:00Z"), Some(noon));
        assert_eq!(Timestamp::parse_end("2026-03"), None);
    }

    #[test]
    fn text_for_people_stops_at_the_minute() {
        assert_eq!(Timestamp::from_millis(1_772_445_899_999).to_minute_text(), "2026-03-02 10:04 UTC");
    }

    #[test]
    fn text_stops_at_the_ends_of_four_digit_years() {
        assert_eq!(Timestamp::from_millis(i64::MIN).to_rfc3339(), "0000-01-01T00:00:00.000Z");
        assert_eq!(Timestamp::from_millis(i64::MAX).to_rfc3339(), "9999-12-31T23:59:59.999Z");
    }

    #[test]
    fn arithmetic_stops_at_the_ends() {
        assert_eq!(Timestamp::from_millis(i64::MAX).plus(Duration::from_secs(1)).as_millis(), i64::MAX);
        assert_eq!(Timestamp::from_millis(5).since(Timestamp::from_millis(9)), Duration::ZERO);
    }
}
