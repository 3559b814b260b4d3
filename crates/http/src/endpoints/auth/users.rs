//! `/api/auth/users`: sign-up, and the management of users by an admin.

pub mod factors;
pub mod identities;
pub mod limits;
mod list;
pub mod mails;
mod manage;
pub mod passkeys;
pub mod password;
pub mod send_mail;
pub mod sessions;
pub mod sign_in_state;
pub mod sign_ins;
mod sign_up;

pub use list::LIST;
pub use manage::{
    AdminUserBody, CHANGE, CreateUserRequest, CreatedUserBody, DELETE, DELETE_PROFILE, END_SESSIONS, ONE,
};
pub use sign_up::{OlderOptions, SignUpRequest, VerificationRequiredBody};

use manage::create;
use sign_up::sign_up;

use axum::extract::{FromRequestParts, Request, State};
use axum::response::Response;
use axum::routing::on;
use http::StatusCode;
use serde_json::json;

use crate::app::App;
use crate::bearer::{ApiKeyHeader, BearerToken, Credentials};
use crate::caller::Admin;
use crate::endpoint::{Access, Endpoint, keys_of};
use crate::error::Result;
use crate::error::codes;
use crate::openapi::headers::SET_COOKIE;
use crate::openapi::parameters;
use crate::openapi::shapes::{NewUserAnswer, NewUserRequest};
use utoipa::openapi::example::ExampleBuilder;

pub const SIGN_UP: Endpoint = Endpoint::post("/api/auth/users", |method| on(method, post))
    .named("signUp", "Sign up, or create a user")
    .about(
        "Makes an account. While verification is off the answer is a session. While it is required, a code or a link \
         is mailed, and the answer is the same whether the address was free or taken.\n\n\
         With an admin key this is the admin's operation: it takes `autoConfirm`, `createProfile` and `metadata`, \
         opens no session and sets no cookie. Exactly an admin key selects it; any other `X-API-Key` is refused, any \
         other bearer is ignored.",
    )
    .access(Access::PublicOrAdmin)
    .parameters(&[parameters::client_type])
    .body_of_shapes::<NewUserRequest>(
        || [keys_of::<SignUpRequest>(), keys_of::<CreateUserRequest>()].concat(),
        || {
            let example = |summary: &str, value| ExampleBuilder::new().summary(summary).value(Some(value)).build();
            let of_an_admin = json!({
                "autoConfirm": true, "email": "ada@example.org", "metadata": { "plan": "pro" }, "password": "correct horse battery",
            });
            let of_a_user =
                json!({ "email": "ada@example.org", "name": "Ada Lovelace", "password": "correct horse battery" });
            vec![
                ("admin", example("An admin makes a user", of_an_admin)),
                ("signUp", example("A sign-up", of_a_user)),
            ]
        },
    )
    .responds_with::<NewUserAnswer>(StatusCode::OK, "The account is made, or the mail is on its way.", &[SET_COOKIE])
    .errors(&[
        &codes::WEAK_PASSWORD,
        &codes::REDIRECT_NOT_ALLOWED,
        &codes::EMAIL_PROVIDER_NOT_CONFIGURED,
        &codes::SIGNUP_DISABLED,
        &codes::EMAIL_EXISTS,
    ]);

/// Handles a sign-up or, with an admin key, an admin's creation of a user. A wrong `X-API-Key` is refused; a bearer
/// token other than an admin key leads to a sign-up.
pub async fn post(State(app): State<App>, request: Request) -> Result<Response> {
    let credentials = Credentials::of(request.headers());
    let bearer = credentials.bearer.as_ref().map(BearerToken::expose);
    let is_admin = bearer.is_some_and(|key| app.service.access.is_admin_key(key));
    if is_admin || !matches!(credentials.api_key, ApiKeyHeader::Missing) {
        let (mut parts, body) = request.into_parts();
        let admin = Admin::from_request_parts(&mut parts, &app).await?;
        return create(&app, admin, Request::from_parts(parts, body)).await;
    }
    app.service.access.check_anon_key(bearer).await?;
    sign_up(&app, request).await
}
