//! Offset pagination: the query parameters `limit` and `offset`. Keyset pagination is defined with each list.

use thiserror::Error;

/// A page of a list, by limit and offset.
///
/// The limit is 1 to [`Page::MAX_LIMIT`]. The offset is at most `i64::MAX`, so it fits a signed integer of every
/// engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    limit: u32,
    offset: u64,
}

/// Error of [`Page::parse`]. The message continues a sentence that begins with the parameter's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum PageError {
    /// The parameter `limit` is not a plain integer, or is 0.
    #[error("must be a whole number from 1 to {}, in plain digits", Page::MAX_LIMIT)]
    Limit,
    /// The parameter `offset` is not a plain integer.
    #[error("must be a whole number, 0 or more, in plain digits")]
    Offset,
}

impl PageError {
    /// Returns the name of the invalid query parameter, `limit` or `offset`.
    #[must_use]
    pub const fn field(self) -> &'static str {
        match self {
            Self::Limit => "limit",
            Self::Offset => "offset",
        }
    }
}

impl Page {
    /// Page size if the request has no parameter `limit`.
    pub const DEFAULT_LIMIT: u32 = 20;

    /// Maximum page size. [`Page::parse`] reduces a larger `limit` to it; [`Page::parse_within`] refuses a larger one.
    pub const MAX_LIMIT: u32 = 100;

    const MAX_OFFSET: u64 = i64::MAX.unsigned_abs();

    /// Creates a page, and clamps both numbers to the allowed range.
    #[must_use]
    pub fn new(limit: u32, offset: u64) -> Self {
        Self { limit: limit.clamp(1, Self::MAX_LIMIT), offset: offset.min(Self::MAX_OFFSET) }
    }

    /// Parses the query parameters; absent ones default to [`Page::DEFAULT_LIMIT`] and 0.
    ///
    /// A number is one or more ASCII digits, without sign, point, exponent or white space. Leading zeros are allowed.
    /// A limit above 100 counts as 100, and an offset above `i64::MAX` as `i64::MAX`, however long the text is.
    pub fn parse(limit: Option<&str>, offset: Option<&str>) -> Result<Self, PageError> {
        let limit = match limit {
            None => Self::DEFAULT_LIMIT,
            Some(text) => match digits(text).ok_or(PageError::Limit)? {
                0 => return Err(PageError::Limit),
                number => u32::try_from(number).unwrap_or(u32::MAX),
            },
        };
        let offset = match offset {
            None => 0,
            Some(text) => digits(text).ok_or(PageError::Offset)?,
        };

        Ok(Self::new(limit, offset))
    }

    /// Parses the query parameters like [`Page::parse`], but refuses a limit above [`Page::MAX_LIMIT`].
    pub fn parse_within(limit: Option<&str>, offset: Option<&str>) -> Result<Self, PageError> {
        let page = Self::parse(limit, offset)?;
        match limit.and_then(digits) {
            Some(number) if number > u64::from(Self::MAX_LIMIT) => Err(PageError::Limit),
            _ => Ok(page),
        }
    }

    /// Returns the maximum number of items on the page, 1 to 100.
    #[must_use]
    pub const fn limit(self) -> u32 {
        self.limit
    }

    /// Returns the number of items before the page.
    #[must_use]
    pub const fn offset(self) -> u64 {
        self.offset
    }

    /// Returns the page number, counted from 1: offset divided by limit, rounded down, plus 1.
    #[must_use]
    pub fn number(self) -> u64 {
        self.offset / u64::from(self.limit) + 1
    }
}

impl Default for Page {
    fn default() -> Self {
        Self::new(Self::DEFAULT_LIMIT, 0)
    }
}

/// Parses one or more ASCII digits; `None` for other text. A number above `u64::MAX` becomes `u64::MAX`.
fn digits(text: &str) -> Option<u64> {
    let is_plain = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    // The text consists of digits, so the only possible error is overflow.
    is_plain.then(|| text.parse().unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(limit: &str, offset: &str) -> (u32, u64) {
        let page = Page::parse(Some(limit), Some(offset)).unwrap_or_default();
        (page.limit(), page.offset())
    }

    #[test]
    fn absent_numbers_are_the_defaults() {
        assert_eq!(Page::parse(None, None), Ok(Page::default()));
        assert_eq!((Page::default().limit(), Page::default().offset()), (20, 0));
    }

    #[test]
    fn plain_numbers_are_taken() {
        assert_eq!(parsed("1", "0"), (1, 0));
        assert_eq!(parsed("100", "7"), (100, 7));
        assert_eq!(parsed("007", "00"), (7, 0));
    }

    #[test]
    fn limit_above_hundred_is_taken_as_hundred() {
        for limit in ["101", "4294967296", "18446744073709551616", &"9".repeat(500)] {
            assert_eq!(parsed(limit, "0"), (100, 0), "{limit}");
        }
    }

    #[test]
    fn limit_above_hundred_can_be_refused() {
        assert_eq!(Page::parse_within(Some("100"), None).map(Page::limit), Ok(100));
        assert_eq!(Page::parse_within(None, Some("7")).map(Page::offset), Ok(7));
        for limit in ["101", "0101", "18446744073709551616", &"9".repeat(500), "0", "x"] {
            assert_eq!(Page::parse_within(Some(limit), None), Err(PageError::Limit), "{limit}");
        }
    }

    #[test]
    fn huge_offset_is_clamped() {
        for offset in ["9223372036854775807", "9223372036854775808", &"9".repeat(500)] {
            assert_eq!(parsed("1", offset), (1, i64::MAX.unsigned_abs()), "{offset}");
        }
    }

    #[test]
    fn other_text_is_refused_and_the_field_named() {
        for text in [
            "", " ", " 1", "1 ", "+1", "-1", "-0", "1.0", "1e2", "0x10", "1_000", "1,000", "a", "٣", "１",
            "1\0", "NaN",
        ] {
            assert_eq!(Page::parse(Some(text), None), Err(PageError::Limit), "{text:?}");
            assert_eq!(Page::parse(None, Some(text)), Err(PageError::Offset), "{text:?}");
        }
        assert_eq!((PageError::Limit.field(), PageError::Offset.field()), ("limit", "offset"));
    }

    #[test]
    fn zero_limit_is_refused_however_it_is_spelled() {
        assert_eq!(Page::parse(Some("0"), None), Err(PageError::Limit));
        assert_eq!(Page::parse(Some("000"), None), Err(PageError::Limit));
    }

    #[test]
    fn page_number_is_counted_from_one() {
        for (limit, offset, number) in [(20, 0, 1), (20, 19, 1), (20, 20, 2), (7, 20, 3), (1, 5, 6)] {
            assert_eq!(Page::new(limit, offset).number(), number, "{limit} {offset}");
        }
    }

    #[test]
    fn page_number_of_the_last_offset_does_not_overflow() {
        assert_eq!(Page::new(1, u64::MAX).number(), i64::MAX.unsigned_abs() + 1);
    }
}
