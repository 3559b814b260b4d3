//! Query strings, read strictly: a known parameter is given once and decodes. Unknown parameters are ignored.

use axum::extract::FromRequestParts;
use http::request::Parts;
use latchkey_domain::page::Page;

use crate::error::{ApiError, Result};

/// The query string of a request. A parameter is only looked at when it is asked for, so that unknown ones may be
/// anything.
pub struct Query {
    /// Names decoded, values as sent. Pairs whose name does not decode are nobody's.
    pairs: Vec<(String, String)>,
}

impl Query {
    /// Takes a query string without its `?` (`application/x-www-form-urlencoded`, WHATWG URL section 5).
    #[must_use]
    pub fn new(text: &str) -> Self {
        let pair = |pair: &str| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Some((decode(name)?, value.to_owned()))
        };
        Self { pairs: text.split('&').filter(|text| !text.is_empty()).filter_map(pair).collect() }
    }

    /// The parameter's value; `None` where it is not given. Given twice, or with bytes that are no text: 400.
    pub fn optional(&self, name: &str) -> Result<Option<String>> {
        let mut values = self.pairs.iter().filter(|pair| pair.0 == name).map(|pair| &pair.1);
        let Some(value) = values.next() else { return Ok(None) };
        if values.next().is_some() {
            return Err(ApiError::validation(name, "is given twice"));
        }
        match decode(value) {
            Some(value) if !value.contains('\0') => Ok(Some(value)),
            Some(_) => Err(ApiError::validation(name, "must not contain the character U+0000")),
            None => Err(ApiError::validation(name, "must be percent-encoded UTF-8")),
        }
    }

    /// The same where the parameter must be there and must not be empty.
    pub fn required(&self, name: &str) -> Result<String> {
        match self.optional(name)? {
            Some(value) if !value.is_empty() => Ok(value),
            Some(_) => Err(ApiError::validation(name, "must not be empty")),
            None => Err(ApiError::validation(name, "is required")),
        }
    }

    /// All parameters, each read as by [`Query::optional`], in the order of their first appearance. For operations
    /// that pass parameters on.
    pub fn all(&self) -> Result<Vec<(String, String)>> {
        let read = |name: &String| Ok((name.clone(), self.optional(name)?.unwrap_or_default()));
        self.pairs.iter().map(|pair| read(&pair.0)).collect()
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Query {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Self::Rejection> {
        Ok(Self::new(parts.uri.query().unwrap_or_default()))
    }
}

/// The names of the parameters of a query string, in their order; `None` for one that does not decode.
pub(crate) fn names_of(text: &str) -> impl Iterator<Item = Option<String>> {
    text.split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| decode(pair.split('=').next().unwrap_or_default()))
}

/// The page that `limit` and `offset` ask for; 400 `VALIDATION_ERROR` names the wrong one.
pub fn page_of(limit: Option<&str>, offset: Option<&str>) -> Result<Page> {
    Page::parse(limit, offset).map_err(|error| ApiError::validation(error.field(), &error.to_string()))
}

/// The same for the lists of an admin: a limit above the most is refused.
pub fn page_within(limit: Option<&str>, offset: Option<&str>) -> Result<Page> {
    Page::parse_within(limit, offset).map_err(|error| ApiError::validation(error.field(), &error.to_string()))
}

/// `+` is a space, `%XX` a byte; `None` for a broken escape or bytes that are not UTF-8.
fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => 16 * hex_digit(rest.next()?)? + hex_digit(rest.next()?)?,
            other => other,
        });
    }
    String::from_utf8(bytes).ok()
}

/// The value of one hexadecimal digit, 0 to 15.
fn hex_digit(byte: u8) -> Option<u8> {
    let value = char::from(byte).to_digit(16)?;
    u8::try_from(value).ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use proptest::prelude::*;

    use super::*;

    fn refusal(result: Result<impl Sized>) -> String {
        result.err().expect("refused").message
    }

    #[test]
    fn values_decode() {
        let query = Query::new("q=a+b%20c%C3%A4%2B&limit=20&flag&=x");
        assert_eq!(query.optional("q").unwrap().as_deref(), Some("a b cä+"));
        assert_eq!(query.required("limit").unwrap(), "20");
        assert_eq!(query.optional("flag").unwrap().as_deref(), Some(""));
        assert_eq!(query.optional("offset").unwrap(), None);
    }

    #[test]
    fn known_parameter_given_twice_is_refused() {
        let query = Query::new("q=a&limit=1&%71=b");
        assert_eq!(refusal(query.optional("q")), "`q` is given twice");
    }

    #[test]
    fn bad_bytes_in_a_known_parameter_are_refused() {
        for text in ["q=%", "q=%4", "q=%zz", "q=%ff", "q=%ed%a0%80", "q=%+1"] {
            assert_eq!(
                refusal(Query::new(text).optional("q")),
                "`q` must be percent-encoded UTF-8",
                "{text}"
            );
        }
        assert_eq!(refusal(Query::new("q=%00").optional("q")), "`q` must not contain the character U+0000");
    }

    #[test]
    fn unknown_parameters_may_be_anything() {
        let query = Query::new("x=%&%ff=1&x=2&&=&q=a");
        assert_eq!(query.required("q").unwrap(), "a");
    }

    #[test]
    fn required_parameter_is_there_and_not_empty() {
        assert_eq!(refusal(Query::new("").required("token")), "`token` is required");
        assert_eq!(refusal(Query::new("token=").required("token")), "`token` must not be empty");
        assert_eq!(refusal(Query::new("token").required("token")), "`token` must not be empty");
    }

    proptest! {
        #[test]
        fn encoded_text_reads_back(text in "[^\0]{0,30}") {
            let encoded = form_urlencoded::Serializer::new(String::new()).append_pair("q", &text).finish();
            prop_assert_eq!(Query::new(&encoded).optional("q").unwrap().unwrap(), text);
        }
    }
}
