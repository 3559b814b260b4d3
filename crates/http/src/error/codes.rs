//! The catalogue of error codes: each with its status, when it is answered and what its reader can do. The one
//! source for the answers, `docs/errors.md` and the `OpenAPI` description. No mapping from failures here.

use http::StatusCode;

/// One row of the catalogue.
#[derive(Debug, PartialEq, Eq)]
pub struct ErrorCode {
    /// The `error` field of the body, for programs. Stable.
    pub name: &'static str,
    /// The HTTP status that always goes with it.
    pub status: StatusCode,
    /// When it is answered.
    pub when: &'static str,
    /// What the caller can do about it: the `nextAction` field, unless an answer knows better.
    pub next_action: Option<&'static str>,
}

macro_rules! catalogue {
    ($($name:ident $status:ident, $when:literal, $next_action:expr;)+) => {
        $(
            #[doc = concat!("`", stringify!($name), "`: ", $when, ".")]
            pub static $name: ErrorCode = ErrorCode {
                name: stringify!($name),
                status: StatusCode::$status,
                when: $when,
                next_action: $next_action,
            };
        )+

        /// Every code there is, in the order of the statuses.
        static ALL: &[&ErrorCode] = &[$(&$name),+];
    };
}

catalogue! {
    VALIDATION_ERROR BAD_REQUEST, "a field, a parameter or the body is missing or wrong; the message names it",
        Some("Correct the field that the message names and send the request again.");
    MISSING_QUERY BAD_REQUEST, "a search without a search text",
        Some("Provide a search query in the parameter `q`.");
    WEAK_PASSWORD BAD_REQUEST, "the password breaks a rule; the message says which",
        Some("Choose another password.");
    REDIRECT_NOT_ALLOWED BAD_REQUEST, "the redirect target is not on the list; the message says which rule failed",
        Some("Use a redirect target that is on the list of allowed redirect URLs, or ask the operator to add this one.");
    INVALID_CODE BAD_REQUEST, "a code or link token is unknown, wrong, expired, used or out of attempts",
        Some("Check the code, or request a new one.");
    INVALID_OAUTH_CODE BAD_REQUEST, "the exchange code or its verifier is wrong; the code is burnt",
        Some("Start the sign-in with the provider again.");
    UNSUPPORTED_PROVIDER BAD_REQUEST, "no identity provider has this name",
        Some("Use one of the providers that the public settings list.");
    PROVIDER_NOT_CONFIGURED BAD_REQUEST, "the identity provider is known and has no credentials yet",
        Some("Ask the operator to configure this provider, or use another one.");
    EMAIL_PROVIDER_NOT_CONFIGURED BAD_REQUEST, "verification cannot be required without a mail transport",
        Some("Configure a mail transport first.");
    INVALID_CREDENTIALS UNAUTHORIZED, "wrong email or password, unknown email and account without a password alike",
        Some("Check email and password.");
    AUTH_UNAUTHORIZED UNAUTHORIZED, "the bearer or refresh token is missing or no longer good",
        Some("Sign in, or refresh the session, and send the request with the new access token.");
    ADMIN_UNAUTHORIZED UNAUTHORIZED, "the admin key is missing or wrong",
        Some("Send the admin key in `Authorization: Bearer` or in `X-API-Key`.");
    INVALID_ID_TOKEN UNAUTHORIZED, "the identity provider's token does not pass its checks",
        Some("Sign in with the provider again to get a new token.");
    EMAIL_NOT_VERIFIED FORBIDDEN, "the password is that of the account or of the last sign-up for the address, which has \
        to be verified first, or the identity provider does not vouch for the address that it gives",
        Some("Verify the email address with the mail that was sent, or request a new one.");
    INVALID_CSRF_TOKEN FORBIDDEN, "the refresh cookie is good and the `X-CSRF-Token` header is not; the cookie stays",
        Some("Send the `csrfToken` of the session in the header `X-CSRF-Token`.");
    SIGNUP_DISABLED FORBIDDEN, "sign-up is switched off",
        Some("Ask the operator for an account.");
    USER_BANNED FORBIDDEN, "the account is banned",
        Some("Contact the operator of this service.");
    FORBIDDEN FORBIDDEN, "the caller may not do this, or the identity provider gives no email address",
        Some("Use credentials, or an origin, that this operation is open to.");
    PROFILE_NOT_FOUND NOT_FOUND, "the current user has no profile",
        Some("Create a profile first.");
    USER_NOT_FOUND NOT_FOUND, "no user or no profile for this user id",
        Some("Check the user id.");
    NOT_FOUND NOT_FOUND, "nothing is here: the path or the record does not exist",
        Some("Check the path and the ids in it.");
    METHOD_NOT_ALLOWED METHOD_NOT_ALLOWED, "the path exists and not with this method; `Allow` lists the methods",
        Some("Use one of the methods in the `Allow` header.");
    REQUEST_TIMEOUT REQUEST_TIMEOUT, "the body of the request did not arrive in time",
        Some("Send the request again.");
    EMAIL_EXISTS CONFLICT, "an account with this email exists: told at sign-up only while verification is off, and at \
        sign-in through a provider that is not linked to that account and cannot be without signing in to it",
        Some("Sign in, or reset the password.");
    USERNAME_TAKEN CONFLICT, "the username belongs to somebody else",
        Some("Choose another username.");
    SETTING_PINNED CONFLICT, "the setting is fixed by file, environment or command line",
        Some("Change the setting where it is pinned and restart the service.");
    PROVIDER_EXISTS CONFLICT, "an identity provider with this key exists",
        Some("Choose another key, or update the existing provider.");
    LAST_SIGN_IN_METHOD CONFLICT, "unlinking would leave no way to sign in",
        Some("Set a password or link another provider first.");
    IDENTITY_TAKEN CONFLICT, "the identity is linked to another account",
        Some("Sign in with that identity, or unlink it there first.");
    PRECONDITION_FAILED PRECONDITION_FAILED, "`If-Match` names another version of the record",
        Some("Read the record again and repeat the change on its new `ETag`.");
    PAYLOAD_TOO_LARGE PAYLOAD_TOO_LARGE, "the body is larger than this route takes",
        Some("Send a smaller body.");
    URI_TOO_LONG URI_TOO_LONG, "path and query string are too long together",
        Some("Shorten the query string.");
    UNSUPPORTED_MEDIA_TYPE UNSUPPORTED_MEDIA_TYPE, "the body is not declared as JSON in UTF-8",
        Some("Send the body as JSON with `Content-Type: application/json`.");
    TOO_MANY_REQUESTS TOO_MANY_REQUESTS, "a limit is used up; the message names it, `Retry-After` says for how long",
        Some("Wait for the seconds that `Retry-After` says.");
    HEADERS_TOO_LARGE REQUEST_HEADER_FIELDS_TOO_LARGE, "the request has too many headers, or too much in them",
        Some("Send fewer and smaller headers; clearing the cookies of this site may help.");
    INTERNAL_ERROR INTERNAL_SERVER_ERROR, "a fault of the service; the log knows more under the answer's `requestId`",
        Some("Try again; if it stays, give the `requestId` of this answer to the operator.");
    SERVICE_BUSY SERVICE_UNAVAILABLE, "the service has more work than it can do in time, or an identity provider gives no \
        usable answer; the message says which",
        Some("Wait for the seconds that `Retry-After` says and try again.");
    STORAGE_UNAVAILABLE SERVICE_UNAVAILABLE, "the database does not answer",
        Some("Wait for the seconds that `Retry-After` says and try again.");
}

/// Every error code, for the generated documents.
#[must_use]
pub fn catalogue() -> &'static [&'static ErrorCode] {
    ALL
}

/// The code for a refusal that carries a bare status only, such as one of the router.
#[must_use]
pub fn code_for_status(status: StatusCode) -> &'static ErrorCode {
    match status {
        StatusCode::UNAUTHORIZED => &AUTH_UNAUTHORIZED,
        StatusCode::FORBIDDEN => &FORBIDDEN,
        StatusCode::NOT_FOUND => &NOT_FOUND,
        StatusCode::METHOD_NOT_ALLOWED => &METHOD_NOT_ALLOWED,
        StatusCode::REQUEST_TIMEOUT => &REQUEST_TIMEOUT,
        StatusCode::PRECONDITION_FAILED => &PRECONDITION_FAILED,
        StatusCode::PAYLOAD_TOO_LARGE => &PAYLOAD_TOO_LARGE,
        StatusCode::URI_TOO_LONG => &URI_TOO_LONG,
        StatusCode::UNSUPPORTED_MEDIA_TYPE => &UNSUPPORTED_MEDIA_TYPE,
        StatusCode::TOO_MANY_REQUESTS => &TOO_MANY_REQUESTS,
        StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE => &HEADERS_TOO_LARGE,
        StatusCode::SERVICE_UNAVAILABLE | StatusCode::GATEWAY_TIMEOUT => &SERVICE_BUSY,
        status if status.is_client_error() => &VALIDATION_ERROR,
        _ => &INTERNAL_ERROR,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_listed_once_and_is_an_error() {
        for (at, code) in catalogue().iter().enumerate() {
            assert!(code.status.is_client_error() || code.status.is_server_error(), "{}", code.name);
            assert!(!catalogue()[at + 1..].iter().any(|other| other.name == code.name), "{}", code.name);
        }
    }

    #[test]
    fn bare_statuses_get_the_code_of_the_same_status() {
        for status in [403, 404, 405, 408, 412, 413, 414, 415, 429, 431, 500, 503] {
            let status = StatusCode::from_u16(status).unwrap_or_default();
            assert_eq!(code_for_status(status).status, status);
        }
        assert_eq!(code_for_status(StatusCode::IM_A_TEAPOT).status, StatusCode::BAD_REQUEST);
    }
}
