//! The parameter of a path, as text. Whether it names anything is the operation's to say.

use std::convert::Infallible;

use axum::extract::{FromRequestParts, Path};
use http::request::Parts;

/// The one parameter of a route's path, decoded. Bytes that are no UTF-8 read as U+FFFD, which is nobody's id: such a
/// path is answered like any other that leads to nothing.
pub struct PathText(pub String);

impl<S: Send + Sync> FromRequestParts<S> for PathText {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Infallible> {
        let decoded = Path::<String>::from_request_parts(parts, state).await;
        Ok(Self(decoded.map_or_else(|_| char::REPLACEMENT_CHARACTER.to_string(), |Path(text)| text)))
    }
}
