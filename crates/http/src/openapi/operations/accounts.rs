//! Sign-up, sign-in, refresh, sign-out, change of password.

use http::StatusCode;
use serde_json::json;
use utoipa::openapi::Required;
use utoipa::openapi::example::ExampleBuilder;
use utoipa::openapi::path::HttpMethod;

use crate::endpoints::auth::SessionBody;
use crate::endpoints::auth::csrf::CsrfTokenBody;
use crate::endpoints::auth::logout::LoggedOutBody;
use crate::endpoints::auth::password::{ChangePasswordRequest, MessageBody};
use crate::endpoints::auth::refresh::RefreshRequest;
use crate::endpoints::auth::sessions::SignInRequest;
use crate::error::codes::{
    EMAIL_EXISTS, EMAIL_NOT_VERIFIED, EMAIL_PROVIDER_NOT_CONFIGURED, INVALID_CREDENTIALS,
    REDIRECT_NOT_ALLOWED, SIGNUP_DISABLED, TOO_MANY_REQUESTS, USER_BANNED, VALIDATION_ERROR, WEAK_PASSWORD,
};
use crate::openapi::access::Access;
use crate::openapi::headers::SET_COOKIE;
use crate::openapi::operation::Operation;
use crate::openapi::parameters::{client_type, csrf_token};
use crate::openapi::shapes::{NewUserAnswer, NewUserRequest};
use crate::openapi::tags::Tag;

/// Of the right form, and nobody's.
const REFRESH_TOKEN: &str =
    "c2Vzc2lvbiBmYW1pbHkgb2YgMzIgcmFuZG9tIGJ5dGVzLi5zZWNyZXQgb2YgMzIgcmFuZG9tIGJ5dGVzLi4uLg";

pub(super) fn operations() -> Vec<Operation> {
    vec![sign_up(), sign_in(), refresh(), csrf_token_of_cookie(), sign_out(), change_password()]
}

fn post(path: &'static str, id: &'static str, summary: &'static str) -> Operation {
    Operation::new(HttpMethod::Post, path, Tag::Accounts, id, summary)
}

fn sign_up() -> Operation {
    let of_everybody =
        json!({ "email": "ada@example.org", "name": "Ada Lovelace", "password": "correct horse battery" });
    let of_an_admin = json!({
        "autoConfirm": true, "email": "ada@example.org", "metadata": { "plan": "pro" }, "password": "correct horse battery",
    });
    let example = |summary: &str, value| ExampleBuilder::new().summary(summary).value(Some(value)).build();
    let examples = [
        ("admin", example("An admin makes a user", of_an_admin)),
        ("signUp", example("Somebody signs up", of_everybody)),
    ];
    post("/api/auth/users", "signUp", "Sign up, or create a user")
        .about(
            "Makes an account. While verification is off the answer is a session. While it is required, a code or a link \
             is mailed, and the answer is the same whether the address was free or taken.\n\n\
             With an admin key this is the admin's operation: it takes `autoConfirm`, `createProfile` and `metadata`, \
             opens no session and sets no cookie. Exactly an admin key selects it; any other `X-API-Key` is refused, any \
             other bearer is ignored.",
        )
        .access(Access::PublicOrAdmin)
        .parameter(client_type())
        .body_with::<NewUserRequest>(Required::True, |content| content.examples_from_iter(examples))
        .answers_with::<NewUserAnswer>(StatusCode::OK, "The account is made, or the mail is on its way.", &[SET_COOKIE])
        .errors(&[&WEAK_PASSWORD, &REDIRECT_NOT_ALLOWED, &EMAIL_PROVIDER_NOT_CONFIGURED, &SIGNUP_DISABLED, &EMAIL_EXISTS])
}

fn sign_in() -> Operation {
    post("/api/auth/sessions", "signInWithPassword", "Sign in with email and password")
        .about("Opens a session. A wrong password, an unknown address and an account without a password are answered alike.")
        .access(Access::Public)
        .parameter(client_type())
        .body::<SignInRequest>(json!({ "email": "ada@example.org", "password": "correct horse battery" }))
        .answers_with::<SessionBody>(StatusCode::OK, "The session is open.", &[SET_COOKIE])
        .errors(&[&INVALID_CREDENTIALS, &EMAIL_NOT_VERIFIED, &USER_BANNED, &TOO_MANY_REQUESTS])
}

fn refresh() -> Operation {
    post("/api/auth/refresh", "refreshSession", "Refresh the session")
        .about(
            "Exchanges the refresh token for an access token and the next refresh token. `web` sends the cookie and \
             `X-CSRF-Token`; the other client types send `refreshToken` (or `refresh_token`) in the body. The token just \
             replaced yields the same successor again for half a minute, and a new one later, as long as the successor \
             was not used; any other replay after half a minute ends the session.",
        )
        .access(Access::Refresh)
        .parameter(client_type())
        .parameter(csrf_token())
        .optional_body::<RefreshRequest>(json!({ "refreshToken": REFRESH_TOKEN }))
        .answers_with::<SessionBody>(StatusCode::OK, "The new tokens, with `expiresAt`.", &[SET_COOKIE])
        .errors(&[&TOO_MANY_REQUESTS])
}

fn csrf_token_of_cookie() -> Operation {
    let (path, id) = ("/api/auth/csrf", "getCsrfToken");
    Operation::new(HttpMethod::Get, path, Tag::Accounts, id, "Read the CSRF token of the cookie")
        .about(
            "The `csrfToken` of the session that the refresh cookie belongs to, for a second app of the same site. \
             Changes nothing: the refresh token stays, and no cookie is set. An `Origin` that is sent must be known, \
             and a call from another site must send one. For clients of type `web` alone.",
        )
        .access(Access::Cookie)
        .parameter(client_type())
        .answers::<CsrfTokenBody>(StatusCode::OK, "The token for `X-CSRF-Token`.")
        .errors(&[&VALIDATION_ERROR, &TOO_MANY_REQUESTS])
}

fn sign_out() -> Operation {
    post("/api/auth/logout", "signOut", "Sign out")
        .about(
            "Ends the session on the server: that of the cookie with `X-CSRF-Token` for `web`, that of `refreshToken` for \
             the other client types, and that of a good bearer. Idempotent: a stale token, or none, is no error.",
        )
        .access(Access::SignOut)
        .parameter(client_type())
        .parameter(csrf_token())
        .optional_body::<RefreshRequest>(json!({ "refreshToken": REFRESH_TOKEN }))
        .answers_with::<LoggedOutBody>(StatusCode::OK, "There is no session any more.", &[SET_COOKIE])
}

fn change_password() -> Operation {
    post("/api/auth/password", "changePassword", "Change one's password")
        .about("Needs the current password, under the guess limits of sign-in. Ends all other sessions of the user.")
        .access(Access::User)
        .body::<ChangePasswordRequest>(
            json!({ "currentPassword": "correct horse battery", "newPassword": "staple of the battery" }),
        )
        .answers::<MessageBody>(StatusCode::OK, "The password was changed.")
        .errors(&[&WEAK_PASSWORD, &INVALID_CREDENTIALS, &TOO_MANY_REQUESTS])
}
