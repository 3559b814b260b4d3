//! Numbers, durations and times in the words of a language.

use latchkey_domain::time::Timestamp;
use time::OffsetDateTime;

use super::catalogue::{Catalogue, Piece, pieces};

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

impl Catalogue {
    /// Returns a whole number with separated groups of digits.
    pub(crate) fn number(&self, number: u64) -> String {
        let digits = number.to_string();
        if self.group.is_empty() || digits.len() <= 3 {
            return digits;
        }
        let mut grouped = String::new();
        for (index, digit) in digits.chars().enumerate() {
            if index > 0 && (digits.len() - index).is_multiple_of(3) {
                grouped.push_str(&self.group);
            }
            grouped.push(digit);
        }
        grouped
    }

    /// Returns a duration in the largest unit that fits, rounded up: `90 seconds`, `5 minutes`.
    pub(crate) fn duration(&self, seconds: u64) -> String {
        let (unit, count) = match seconds {
            0..100 => ("time.seconds", seconds),
            100..7_200 => ("time.minutes", seconds.div_ceil(MINUTE)),
            7_200..172_800 => ("time.hours", seconds.div_ceil(HOUR)),
            _ => ("time.days", seconds.div_ceil(DAY)),
        };
        self.counted(unit, count)
    }

    /// Returns the duration between two times: `3 hours ago`, `in 2 days`. What is over is rounded down; what is to come is
    /// rounded to the nearest, so that a term of 14 days reads so in the moment after its begin.
    pub(crate) fn distance(&self, at: Timestamp, now: Timestamp) -> String {
        if at <= now {
            return self.ago(now.since(at).as_secs());
        }
        let seconds = at.since(now).as_secs();
        let nearest = |unit| (seconds + unit / 2) / unit;
        let (key, count) = if nearest(MINUTE) < HOUR / MINUTE {
            ("time.in_minutes", nearest(MINUTE))
        } else if nearest(HOUR) < DAY / HOUR {
            ("time.in_hours", nearest(HOUR))
        } else {
            ("time.in_days", nearest(DAY))
        };
        if count == 0 { self.counted("time.now", 0) } else { self.counted(key, count) }
    }

    fn ago(&self, seconds: u64) -> String {
        let (key, count) = match seconds {
            0..MINUTE => ("time.now", 0),
            MINUTE..HOUR => ("time.minutes_ago", seconds / MINUTE),
            HOUR..DAY => ("time.hours_ago", seconds / HOUR),
            _ => ("time.days_ago", seconds / DAY),
        };
        self.counted(key, count)
    }

    /// Returns a time to the minute, in UTC: `4 May 2026, 10:02 UTC`.
    pub(crate) fn moment(&self, at: Timestamp) -> String {
        self.dated("time.moment", at)
    }

    /// Returns a time in UTC by the pattern of this key.
    pub(crate) fn dated(&self, key: &str, at: Timestamp) -> String {
        let moment =
            OffsetDateTime::from_unix_timestamp(at.as_seconds()).unwrap_or(OffsetDateTime::UNIX_EPOCH);
        let month = self.months.get(usize::from(u8::from(moment.month())) - 1);
        let pattern = self.text(key).map_or("", |text| text.form(&self.tag, None));
        pieces(pattern)
            .map(|piece| match piece {
                Piece::Literal(literal) => literal.to_owned(),
                Piece::Placeholder("day") => moment.day().to_string(),
                Piece::Placeholder("month") => month.cloned().unwrap_or_default(),
                Piece::Placeholder("year") => moment.year().to_string(),
                Piece::Placeholder("hour") => format!("{:02}", moment.hour()),
                Piece::Placeholder(_) => format!("{:02}", moment.minute()),
            })
            .collect()
    }

    fn counted(&self, key: &str, count: u64) -> String {
        let text = self.text(key).map_or("", |text| text.form(&self.tag, Some(count)));
        text.replace("{count}", &self.number(count))
    }
}
