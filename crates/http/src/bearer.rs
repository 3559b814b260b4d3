//! Parsing of credentials in headers: `Authorization: Bearer` and `X-API-Key`. The extractors in [`crate::caller`]
//! verify them.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use http::header::AUTHORIZATION;
use http::request::Parts;
use http::{HeaderMap, HeaderName};

const API_KEY: HeaderName = HeaderName::from_static("x-api-key");

/// The text after `Bearer`, not yet verified: an access token, `auth.anon_key`, an admin key, or anything else. It has
/// no `Debug`, which keeps it out of logs.
#[derive(Clone)]
pub struct BearerToken(String);

/// The value of `X-API-Key`, not yet verified. It has no `Debug`, which keeps it out of logs.
#[derive(Clone)]
pub struct ApiKey(String);

/// The state of the `X-API-Key` header. A malformed key is refused and not treated as missing: a request that was meant
/// for an admin's operation must not run the public operation of the same path.
#[derive(Clone)]
pub enum ApiKeyHeader {
    Missing,
    /// The header has exactly one well-formed key.
    Given(ApiKey),
    /// The header is given twice, empty, or has bytes that no key contains.
    Malformed,
}

/// The unverified credentials in the headers of a request.
#[derive(Clone)]
pub struct Credentials {
    /// The bearer token. `None` if `Authorization` is missing, repeated, malformed or of another scheme; endpoints
    /// that need a user respond with 401 then.
    pub bearer: Option<BearerToken>,
    /// The admin key in `X-API-Key`; an admin may send the key as bearer token instead.
    pub api_key: ApiKeyHeader,
}

impl BearerToken {
    /// Returns the secret text, for verification.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl ApiKey {
    /// Returns the secret text, for verification.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl Credentials {
    #[must_use]
    pub fn of(headers: &HeaderMap) -> Self {
        Self { bearer: bearer_of(headers), api_key: api_key_of(headers) }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Credentials {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Infallible> {
        Ok(Self::of(&parts.headers))
    }
}

/// Parses `Authorization` (RFC 6750 section 2.1): the word `Bearer` in any case (RFC 9110 section 11.1), spaces, one
/// token.
fn bearer_of(headers: &HeaderMap) -> Option<BearerToken> {
    let (scheme, token) = only_text(headers, &AUTHORIZATION)?.split_once(' ')?;
    let token = token.trim_matches(' ');
    (scheme.eq_ignore_ascii_case("bearer") && is_token(token)).then(|| BearerToken(token.to_owned()))
}

fn api_key_of(headers: &HeaderMap) -> ApiKeyHeader {
    if !headers.contains_key(API_KEY) {
        return ApiKeyHeader::Missing;
    }
    match only_text(headers, &API_KEY) {
        Some(key) if is_token(key) => ApiKeyHeader::Given(ApiKey(key.to_owned())),
        _ => ApiKeyHeader::Malformed,
    }
}

/// Returns the header's value if it occurs exactly once and is ASCII.
fn only_text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (Some(value), None) => value.to_str().ok(),
        _ => None,
    }
}

/// True if the text is not empty and all its characters are visible ASCII. RFC 6750 allows fewer characters, but
/// operators choose the admin keys.
fn is_token(text: &str) -> bool {
    // No early exit, so that the compiler vectorises the check.
    !text.is_empty() && text.bytes().fold(true, |all, byte| all & byte.is_ascii_graphic())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use http::HeaderValue;

    use super::*;

    fn bearer(value: &str) -> Option<String> {
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, HeaderValue::from_bytes(value.as_bytes()).unwrap());
        Credentials::of(&headers).bearer.map(|token| token.expose().to_owned())
    }

    #[test]
    fn scheme_is_read_in_any_case() {
        for value in ["Bearer a.b-c_~+/=", "bearer a.b-c_~+/=", "BEARER  a.b-c_~+/= "] {
            assert_eq!(bearer(value).as_deref(), Some("a.b-c_~+/="), "{value}");
        }
    }

    #[test]
    fn malformed_is_as_missing() {
        for value in [
            "",
            "Bearer",
            "Bearer ",
            "Basic YTpi",
            "Bearera",
            "Bearer a b",
            "Bearer a,b c",
            "Bearer\ta",
            "Bearer ä",
        ] {
            assert_eq!(bearer(value), None, "{value}");
        }
    }

    #[test]
    fn two_headers_are_none() {
        let mut headers = HeaderMap::new();
        headers.append(AUTHORIZATION, HeaderValue::from_static("Bearer a"));
        headers.append(AUTHORIZATION, HeaderValue::from_static("Bearer a"));
        assert!(Credentials::of(&headers).bearer.is_none());
    }

    #[test]
    fn malformed_api_key_is_not_missing() {
        let mut headers = HeaderMap::new();
        assert!(matches!(Credentials::of(&headers).api_key, ApiKeyHeader::Missing));
        headers.append(API_KEY, HeaderValue::from_static("key"));
        assert!(
            matches!(Credentials::of(&headers).api_key, ApiKeyHeader::Given(key) if key.expose() == "key")
        );
        headers.append(API_KEY, HeaderValue::from_static("key"));
        assert!(matches!(Credentials::of(&headers).api_key, ApiKeyHeader::Malformed));
        headers.insert(API_KEY, HeaderValue::from_static(""));
        assert!(matches!(Credentials::of(&headers).api_key, ApiKeyHeader::Malformed));
    }
}
