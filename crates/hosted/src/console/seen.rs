//! What an operator saw when a form was filled in. The form carries a digest of it, so that a change by somebody else in the
//! meantime is shown and not overwritten.

use http::StatusCode;
use latchkey_domain::tokens::TokenHash;
use latchkey_http::error::ApiError;
use latchkey_pages::console::{Problem, Refusal};
use latchkey_service::refusal::PRECONDITION_FAILED;

use super::rejection::{Refused, Rejection};
use crate::errors::PageError;
use crate::fields::Fields;

/// Field with the digest.
const SEEN: &str = "seen";

/// Returns the digest of a text.
pub(crate) fn digest(text: &str) -> String {
    hex::encode(&TokenHash::of(text.as_bytes()).as_bytes()[..16])
}

/// True if a form was filled in when another text was shown. A form that does not say what was shown is taken as it is: it
/// was made by no page of this version.
pub(crate) fn is_other(fields: &Fields, current: &str) -> Result<bool, PageError> {
    let seen = fields.text(SEEN)?;
    Ok(!seen.is_empty() && seen != digest(current))
}

/// Refuses a form whose text was changed in the meantime: 409.
pub(crate) fn changed(refusal: Refusal) -> Rejection {
    let mut error = ApiError::from(&PRECONDITION_FAILED);
    error.status = StatusCode::CONFLICT; // the page has no header with a condition
    Refused::of(error, Problem::whole(refusal))
}
