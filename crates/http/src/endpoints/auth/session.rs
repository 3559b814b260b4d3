//! An opened or refreshed session as an answer: a web client gets the refresh token in its cookie and a CSRF token in
//! the body, the others get the refresh token in the body.

use std::time::Duration;

use axum::response::{IntoResponse, Response};
use http::header::SET_COOKIE;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::RefreshToken;
use latchkey_domain::user::User;
use latchkey_service::sessions::SignedIn;
use latchkey_service::tokens::access_tokens::AccessToken;
use serde::Serialize;
use utoipa::ToSchema;

use super::UserBody;
use crate::app::App;
use crate::client::ClientType;
use crate::error::{ApiError, Result};
use crate::json::Json;
use crate::openapi::fields;

/// A session with its tokens.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Session)]
pub struct SessionBody {
    user: UserBody,
    #[schema(schema_with = fields::access_token)]
    access_token: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = fields::no_verification_required)]
    require_email_verification: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = fields::csrf_token)]
    csrf_token: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = fields::shown::<RefreshToken>)]
    refresh_token: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = fields::token_expiry)]
    expires_at: Option<Timestamp>,
}

/// Fields of a session response besides the tokens.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Saying {
    /// Nothing more.
    Nothing,
    /// `requireEmailVerification: false`, at sign-up.
    NoVerification,
    /// `expiresAt` of the access token, at refresh.
    Expiry,
}

/// The answer for a session that goes on, with another access token: refresh and CSRF token stay as they are.
pub(super) fn linked_answer(user: User, access: AccessToken) -> Json<SessionBody> {
    Json(SessionBody {
        user: user.into(),
        access_token: access.token,
        require_email_verification: None,
        csrf_token: None,
        refresh_token: None,
        expires_at: None,
    })
}

/// The answer for a session.
pub(super) fn session_answer(
    app: &App,
    client_type: ClientType,
    signed_in: SignedIn,
    saying: Saying,
) -> Result<Response> {
    let is_web = client_type.is_web();
    let refresh_token = signed_in.refresh.expose();
    let cookie = is_web.then(|| {
        // A cookie's life is whole seconds; a started one counts.
        let max_age = signed_in.session_expires_at.since(app.service.now()) + Duration::from_millis(999);
        app.refresh_cookie.set(&refresh_token, max_age).map_err(ApiError::internal)
    });
    let body = SessionBody {
        user: signed_in.user.into(),
        access_token: signed_in.access.token,
        require_email_verification: (saying == Saying::NoVerification).then_some(false),
        csrf_token: is_web.then_some(signed_in.csrf_token),
        refresh_token: (!is_web).then_some(refresh_token),
        expires_at: (saying == Saying::Expiry).then_some(signed_in.access.expires_at),
    };
    let mut response = Json(body).into_response();
    if let Some(cookie) = cookie.transpose()? {
        response.headers_mut().append(SET_COOKIE, cookie);
    }
    Ok(response)
}
