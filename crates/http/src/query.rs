//! Query strings. A parameter that the handler reads must occur once and be valid UTF-8; other parameters are ignored.

use std::collections::{HashMap, HashSet};

use axum::extract::FromRequestParts;
use http::request::Parts;
use latchkey_domain::page::Page;
use latchkey_domain::reason::Reason;

use crate::error::{ApiError, Result, codes};

/// Maximum number of parameters of a query string, or of a form and its query string together.
pub(crate) const MOST_PARAMETERS: usize = 64;

/// The query string of a request. A value is decoded only when the handler reads it, so unknown parameters may have any
/// value.
pub struct Query {
    /// Decoded names with values as sent. Pairs whose name cannot be decoded are dropped.
    pairs: Vec<(String, String)>,
}

impl Query {
    /// Parses a query string without its `?` (`application/x-www-form-urlencoded`, WHATWG URL section 5), in linear
    /// time. More than 64 parameters are 400.
    pub fn parse(text: &str) -> Result<Self> {
        Self::parse_up_to(MOST_PARAMETERS, text)
    }

    /// Parses a query string like [`Query::parse`], with another maximum number of parameters.
    pub fn parse_up_to(most: usize, text: &str) -> Result<Self> {
        check_parameter_count(most, text)?;
        let pair = |pair: &str| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Some((decode(name)?, value.to_owned()))
        };
        Ok(Self { pairs: parameters(text).filter_map(pair).collect() })
    }

    /// Refuses a name that is given twice, whether a handler reads it or not.
    pub(crate) fn each_once(self) -> Result<Self> {
        let mut seen = HashSet::with_capacity(self.pairs.len());
        match self.pairs.iter().find(|(name, _)| !seen.insert(name.as_str())) {
            Some((name, _)) => Err(given_twice(name)),
            None => Ok(self),
        }
    }

    /// Returns the parameter's value; `None` if it is absent. A repeated parameter, or one that is not UTF-8, is 400.
    pub fn optional(&self, name: &str) -> Result<Option<String>> {
        let mut values = self.pairs.iter().filter(|pair| pair.0 == name).map(|pair| &pair.1);
        let Some(value) = values.next() else { return Ok(None) };
        if values.next().is_some() {
            return Err(given_twice(name));
        }
        read(name, value).map(Some)
    }

    /// Returns the parameter's value like [`Query::optional`], but an absent or empty parameter is 400.
    pub fn required(&self, name: &str) -> Result<String> {
        match self.optional(name)? {
            Some(value) if !value.is_empty() => Ok(value),
            Some(_) => Err(ApiError::validation(name, "must not be empty").reason(Reason::Required)),
            None => Err(ApiError::validation(name, "is required").reason(Reason::Required)),
        }
    }

    /// Returns the value of a parameter that is `true` or `false`; `None` if it is absent.
    pub fn flag(&self, name: &str) -> Result<Option<bool>> {
        match self.optional(name)?.as_deref() {
            None => Ok(None),
            Some("true") => Ok(Some(true)),
            Some("false") => Ok(Some(false)),
            Some(_) => {
                Err(ApiError::validation(name, "must be `true` or `false`").reason(Reason::NotAllowed))
            }
        }
    }

    /// Returns all parameters in the order of their first appearance, checked as in [`Query::optional`], for handlers
    /// that pass parameters on.
    pub fn all(&self) -> Result<Vec<(String, String)>> {
        let mut times = HashMap::with_capacity(self.pairs.len());
        for (name, _) in &self.pairs {
            *times.entry(name.as_str()).or_insert(0_u32) += 1;
        }
        let read = |(name, value): &(String, String)| match times.get(name.as_str()) {
            Some(1) => Ok((name.clone(), read(name, value)?)),
            _ => Err(given_twice(name)),
        };
        self.pairs.iter().map(read).collect()
    }
}

/// Refuses a query string with too many parameters. It stops counting at the first one over the limit.
pub(crate) fn check_parameter_count(most: usize, text: &str) -> Result<()> {
    if parameters(text).nth(most).is_none() {
        return Ok(());
    }
    let message = format!("The query string has more than {most} parameters.");
    let next_action = format!("Send at most {most} parameters.");
    Err(ApiError::new(&codes::VALIDATION_ERROR, message).next_action(next_action).reason(Reason::TooLarge))
}

/// Splits a query string at `&`. Empty parts are skipped.
fn parameters(text: &str) -> impl Iterator<Item = &str> {
    text.split('&').filter(|text| !text.is_empty())
}

fn given_twice(name: &str) -> ApiError {
    ApiError::validation(name, "is given twice").reason(Reason::Duplicate)
}

fn read(name: &str, value: &str) -> Result<String> {
    match decode(value) {
        Some(value) if !value.contains('\0') => Ok(value),
        Some(_) => {
            let problem = "must not contain the character U+0000";
            Err(ApiError::validation(name, problem).reason(Reason::InvalidCharacters))
        }
        None => {
            let problem = "must be percent-encoded UTF-8";
            Err(ApiError::validation(name, problem).reason(Reason::Malformed))
        }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Query {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self> {
        Self::parse(parts.uri.query().unwrap_or_default())
    }
}

/// Returns the decoded parameter names of a query string, in order; `None` for a name that cannot be decoded.
pub(crate) fn names_of(text: &str) -> impl Iterator<Item = Option<String>> {
    parameters(text).map(|pair| decode(pair.split('=').next().unwrap_or_default()))
}

/// Parses `limit` and `offset` of a list. An invalid value is 400 `VALIDATION_ERROR` with the parameter's name.
pub fn page_of(limit: Option<&str>, offset: Option<&str>) -> Result<Page> {
    Page::parse(limit, offset)
        .map_err(|error| ApiError::validation(error.field(), &error.to_string()).reason(Reason::OutOfRange))
}

/// Parses like [`page_of`], for the lists of an admin: a limit above the maximum is refused instead of reduced.
pub fn page_within(limit: Option<&str>, offset: Option<&str>) -> Result<Page> {
    Page::parse_within(limit, offset)
        .map_err(|error| ApiError::validation(error.field(), &error.to_string()).reason(Reason::OutOfRange))
}

/// Decodes `+` as a space and `%XX` as a byte. `None` for a broken escape or invalid UTF-8.
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

fn hex_digit(byte: u8) -> Option<u8> {
    let value = char::from(byte).to_digit(16)?;
    u8::try_from(value).ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use proptest::prelude::*;

    use super::*;

    fn query(text: &str) -> Query {
        Query::parse(text).unwrap()
    }

    fn refusal(result: Result<impl Sized>) -> String {
        result.err().expect("refused").message.into_owned()
    }

    #[test]
    fn values_decode() {
        let query = query("q=a+b%20c%C3%A4%2B&limit=20&flag&=x");
        assert_eq!(query.optional("q").unwrap().as_deref(), Some("a b cä+"));
        assert_eq!(query.required("limit").unwrap(), "20");
        assert_eq!(query.optional("flag").unwrap().as_deref(), Some(""));
        assert_eq!(query.optional("offset").unwrap(), None);
    }

    #[test]
    fn known_parameter_given_twice_is_refused() {
        let query = query("q=a&limit=1&%71=b");
        assert_eq!(refusal(query.optional("q")), "`q` is given twice");
    }

    #[test]
    fn each_name_occurs_once_where_that_is_asked() {
        assert!(query("a=1&b=1&A=1&=x").each_once().is_ok());
        assert_eq!(refusal(query("a=1&b=2&%62=3").each_once()), "`b` is given twice");
    }

    #[test]
    fn bad_bytes_in_a_known_parameter_are_refused() {
        for text in ["q=%", "q=%4", "q=%zz", "q=%ff", "q=%ed%a0%80", "q=%+1"] {
            assert_eq!(refusal(query(text).optional("q")), "`q` must be percent-encoded UTF-8", "{text}");
        }
        assert_eq!(refusal(query("q=%00").optional("q")), "`q` must not contain the character U+0000");
    }

    #[test]
    fn unknown_parameters_may_be_anything() {
        let query = query("x=%&%ff=1&x=2&&=&q=a");
        assert_eq!(query.required("q").unwrap(), "a");
    }

    #[test]
    fn required_parameter_is_there_and_not_empty() {
        assert_eq!(refusal(query("").required("token")), "`token` is required");
        assert_eq!(refusal(query("token=").required("token")), "`token` must not be empty");
        assert_eq!(refusal(query("token").required("token")), "`token` must not be empty");
    }

    #[test]
    fn sixty_four_parameters_pass_and_one_more_is_refused() {
        let most = (0..64).map(|number| format!("p{number}=1")).collect::<Vec<_>>().join("&");
        assert_eq!(query(&format!("&&{most}&&")).all().unwrap().len(), 64);

        let refused = Query::parse(&format!("{most}&q=1")).err().expect("refused");

        assert_eq!(refused.message, "The query string has more than 64 parameters.");
        assert_eq!(refused.code, "VALIDATION_ERROR");
    }

    #[test]
    fn name_given_twice_is_refused_among_all() {
        assert_eq!(refusal(query("a=1&b=2&%62=3").all()), "`b` is given twice");
        assert_eq!(refusal(query("a=%zz").all()), "`a` must be percent-encoded UTF-8");
    }

    proptest! {
        #[test]
        fn parameters_are_those_of_form_urlencoded(
            text in "([a-c]|%6[1-4]|%C3%A4|%26|[=&+ä]){0,40}",
        ) {
            let wanted: Vec<(String, String)> =
                form_urlencoded::parse(text.as_bytes()).into_owned().collect();
            let mut names: Vec<_> = wanted.iter().map(|pair| &pair.0).collect();
            names.sort_unstable();
            let is_unique = names.windows(2).all(|pair| pair[0] != pair[1]);

            match query(&text).all() {
                Ok(found) => prop_assert_eq!(found, wanted),
                Err(refused) => {
                    prop_assert!(!is_unique && refused.message.ends_with("is given twice"), "{}", text);
                }
            }
        }

        #[test]
        fn encoded_text_reads_back(text in "[^\0]{0,30}") {
            let encoded = form_urlencoded::Serializer::new(String::new()).append_pair("q", &text).finish();
            prop_assert_eq!(query(&encoded).optional("q").unwrap().unwrap(), text);
        }
    }
}
