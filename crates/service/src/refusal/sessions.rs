//! Refusals of access tokens, refresh tokens and the anonymous key.

use super::{NOT_FOUND, Refusal};
use crate::refusals;

refusals! {
    AUTH_UNAUTHORIZED 401 "There is no valid session.",
        when "the bearer or refresh token is missing or no longer good",
        next "Sign in, or refresh the session, and send the request with the new access token.";
    INVALID_CSRF_TOKEN 403 "The CSRF token is missing or does not belong to the session.",
        when "the refresh cookie is good and the `X-CSRF-Token` header is not; the cookie stays",
        next "Send the `csrfToken` of the session in the header `X-CSRF-Token`.";
}

/// The operator requires the anonymous key with public calls, and the request has none or a wrong one.
pub const ANON_KEY_REQUIRED: Refusal = Refusal {
    message: "This service wants its anonymous key with public calls.",
    next_action: "Send the anonymous key in `Authorization: Bearer`.",
    ..AUTH_UNAUTHORIZED
};

/// The caller has no session with this id.
pub const SESSION_NOT_FOUND: Refusal = Refusal { message: "Not found: session.", ..NOT_FOUND };
