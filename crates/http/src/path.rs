//! Parameters of a path, as text. The handler parses them into ids.

use std::convert::Infallible;

use axum::extract::{FromRequestParts, Path};
use http::request::Parts;
use latchkey_domain::ids::UserId;

use crate::error::{ApiError, Result, codes};

/// The single path parameter of a route, percent-decoded. Invalid UTF-8 becomes U+FFFD, which no id contains, so such a
/// path gets the response of an unknown id.
pub struct PathText(pub String);

impl<S: Send + Sync> FromRequestParts<S> for PathText {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Infallible> {
        let decoded = Path::<String>::from_request_parts(parts, state).await;
        Ok(Self(decoded.map_or_else(|_| char::REPLACEMENT_CHARACTER.to_string(), |Path(text)| text)))
    }
}

/// The two path parameters of a route, decoded like [`PathText`].
pub struct PathTexts(pub String, pub String);

impl<S: Send + Sync> FromRequestParts<S> for PathTexts {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Infallible> {
        let decoded = Path::<(String, String)>::from_request_parts(parts, state).await;
        let unknown = || char::REPLACEMENT_CHARACTER.to_string();
        Ok(decoded.map_or_else(|_| Self(unknown(), unknown()), |Path((first, second))| Self(first, second)))
    }
}

/// Parses the id in a path. A malformed id gets the error of an unknown id.
pub(crate) fn user_id(text: &str) -> Result<UserId> {
    text.parse().map_err(|_| ApiError::new(&codes::USER_NOT_FOUND, "There is no user with this id."))
}
