//! Parsing and formatting of durations such as `15m` and rates such as `10/15m`.

use std::time::Duration;

use latchkey_domain::limits::Rate;

/// Units with their milliseconds, longest first.
const UNITS: [(&str, u64); 5] = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];

/// Maximum duration: ten years. A longer one is probably a typing error; the limit also keeps sums within the range of
/// timestamps.
const LONGEST: Duration = Duration::from_hours(24 * 3650);

/// Parses a whole number with a unit (`ms`, `s`, `m`, `h` or `d`), at most ten years.
#[must_use]
pub fn parse(text: &str) -> Option<Duration> {
    let unit_at = text.find(|c: char| !c.is_ascii_digit())?;
    let (count, unit) = text.split_at(unit_at);
    let (_, millis) = UNITS.into_iter().find(|(name, _)| *name == unit)?;
    let total = count.parse::<u64>().ok()?.checked_mul(millis)?;
    Some(Duration::from_millis(total)).filter(|duration| *duration <= LONGEST)
}

/// Formats a duration in the largest unit that divides it.
#[must_use]
pub fn format(duration: Duration) -> String {
    let millis = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    if millis == 0 {
        return "0s".to_owned();
    }
    let unit = UNITS.into_iter().find(|(_, size)| millis.is_multiple_of(*size));
    let (name, size) = unit.unwrap_or(("ms", 1));
    format!("{}{name}", millis / size)
}

/// Parses a rate: a count and a duration such as `10/15m`, both above zero.
#[must_use]
pub fn parse_rate(text: &str) -> Option<Rate> {
    let (count, window) = text.split_once('/')?;
    let is_plain = !count.is_empty() && count.bytes().all(|c| c.is_ascii_digit());
    let burst = count.parse().ok().filter(|burst| is_plain && *burst > 0)?;
    let window = parse(window).filter(|window| !window.is_zero())?;
    Some(Rate { burst, window })
}

/// Formats a rate in the syntax of [`parse_rate`].
#[must_use]
pub fn format_rate(rate: Rate) -> String {
    format!("{}/{}", rate.burst, format(rate.window))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn durations_read_and_write_alike() {
        for text in ["500ms", "30s", "15m", "24h", "90d", "0s"] {
            let expected = if text == "24h" { "1d" } else { text };
            assert_eq!(format(parse(text).unwrap()), expected);
        }
        assert_eq!(parse("15m"), Some(Duration::from_mins(15)));
    }

    #[test]
    fn a_duration_is_a_plain_number_and_a_known_unit() {
        for text in ["", "m", "15", "15 m", " 15m", "1.5h", "-1s", "+1s", "15M", "1h30m", "15min"] {
            assert_eq!(parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_duration_beyond_ten_years_is_refused() {
        assert!(parse("3650d").is_some());
        assert_eq!(parse("3651d"), None);
        assert_eq!(parse("99999999999999999999d"), None);
        assert_eq!(parse("18446744073709551615d"), None);
    }

    #[test]
    fn rates_read_and_write_alike() {
        let rate = parse_rate("10/15m").unwrap();
        assert_eq!(rate, Rate { burst: 10, window: Duration::from_mins(15) });
        assert_eq!(format_rate(rate), "10/15m");
        for text in ["10", "0/1m", "10/0s", "/1m", "10/", "+1/1m", "4294967296/1s", "10 / 1m"] {
            assert_eq!(parse_rate(text), None, "{text:?}");
        }
    }
}
