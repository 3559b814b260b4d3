//! The response with a session's tokens. A web client gets the refresh token in a cookie and a CSRF token in the body;
//! other clients get the refresh token in the body.

use std::fmt;
use std::time::Duration;

use axum::response::{IntoResponse, Response};
use http::header::SET_COOKIE;
use latchkey_domain::challenge::ChallengeId;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::RefreshToken;
use latchkey_domain::user::User;
use latchkey_service::sessions::{Challenge, Entrance, SignedIn};
use latchkey_service::tokens::access_tokens::AccessToken;
use serde::Serialize;
use utoipa::ToSchema;

use super::UserBody;
use crate::app::App;
use crate::error::{ApiError, Result};
use crate::json::Json;
use crate::openapi::fields;

/// A response that opens or refreshes a session, with its tokens.
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

/// The optional field of a session response.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Saying {
    /// No optional field.
    Nothing,
    /// `requireEmailVerification: false`, in the response to a sign-up.
    NoVerification,
    /// `expiresAt`, the expiry of the access token, in the response to a refresh.
    Expiry,
}

impl SessionBody {
    /// Builds the response after a reauthentication: a new access token of the same session, with its expiry.
    pub(super) fn stepped_up(app: &App, user: &User, access: AccessToken) -> Self {
        let expires_at = Some(access.expires_at);
        Self { expires_at, ..Self::of_the_same_session(app, user, access) }
    }

    /// Builds the response with a new access token for a session whose refresh token and CSRF token stay valid.
    fn of_the_same_session(app: &App, user: &User, access: AccessToken) -> Self {
        Self {
            user: UserBody::new(&app.service, user),
            access_token: access.token,
            require_email_verification: None,
            csrf_token: None,
            refresh_token: None,
            expires_at: None,
        }
    }
}

/// Returns the access token after an act of an app. Only a page session gets none, and no endpoint accepts its token.
pub(super) fn of_app(access: Option<AccessToken>) -> Result<AccessToken> {
    access.ok_or_else(|| ApiError::internal("an act of an app gave no access token"))
}

/// Builds the response after an identity was linked: a new access token for the same session. The session's refresh
/// token and CSRF token stay valid.
pub(super) fn linked_answer(app: &App, user: &User, access: AccessToken) -> Json<SessionBody> {
    Json(SessionBody::of_the_same_session(app, user, access))
}

/// The challenge for a second factor, which a sign-in gets instead of a session.
#[derive(Serialize, ToSchema)]
#[schema(as = Challenged)]
pub struct ChallengedBody {
    challenge: ChallengeBody,
}

/// A challenge, which asks for a second factor or another proof of identity.
#[derive(Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Challenge)]
pub(crate) struct ChallengeBody {
    #[schema(schema_with = fields::shown::<ChallengeId>)]
    id: String,
    #[schema(schema_with = fields::challenge_kinds)]
    kinds: Vec<&'static str>,
    #[schema(schema_with = fields::challenge_expiry)]
    expires_at: Timestamp,
}

/// The response to a sign-in: a session, or a challenge.
#[derive(ToSchema)]
#[schema(as = SignInResponse)]
#[serde(untagged)]
pub enum SignInBody {
    /// The session.
    Session(SessionBody),
    /// A second factor is needed.
    Challenged(ChallengedBody),
}

impl From<Challenge> for ChallengedBody {
    fn from(challenge: Challenge) -> Self {
        Self { challenge: challenge.into() }
    }
}

/// Omits the id of the challenge, because it is a secret.
impl fmt::Debug for ChallengeBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChallengeBody").field("kinds", &self.kinds).finish_non_exhaustive()
    }
}

impl From<Challenge> for ChallengeBody {
    fn from(challenge: Challenge) -> Self {
        Self {
            id: challenge.id.expose(),
            kinds: challenge.kinds.iter().map(|kind| kind.as_str()).collect(),
            expires_at: challenge.expires_at,
        }
    }
}

/// Builds the response to a sign-in: the new session, or the challenge for a second factor. A response with a
/// challenge sets no cookie, so the browser keeps its present refresh cookie.
pub(super) fn entrance_answer(app: &App, entrance: Entrance, saying: Saying) -> Result<Response> {
    match entrance {
        Entrance::SignedIn(opened) => session_answer(app, opened.into_app()?, saying),
        Entrance::Challenged(challenge) => Ok(Json(ChallengedBody::from(challenge)).into_response()),
    }
}

/// Builds the response after a session was opened or refreshed.
pub(super) fn session_answer(app: &App, signed_in: SignedIn, saying: Saying) -> Result<Response> {
    session_with(app, signed_in, saying, |session| session)
}

/// Builds a response like [`session_answer`] with further fields in its body: `body_with` converts the session's body
/// into that of the response, for example by adding recovery codes.
pub(super) fn session_with<T: Serialize>(
    app: &App,
    signed_in: SignedIn,
    saying: Saying,
    body_with: impl FnOnce(SessionBody) -> T,
) -> Result<Response> {
    let is_web = signed_in.client_type.is_web();
    let refresh_token = signed_in.refresh.expose();
    let cookie = is_web.then(|| {
        // `Max-Age` has whole seconds: the remaining lifetime is rounded up.
        let max_age = signed_in.session_expires_at.since(app.service.now()) + Duration::from_millis(999);
        app.refresh_cookie.set(&refresh_token, max_age).map_err(ApiError::internal)
    });
    let body = SessionBody {
        user: UserBody::new(&app.service, &signed_in.user),
        access_token: signed_in.access.token,
        require_email_verification: (saying == Saying::NoVerification).then_some(false),
        csrf_token: is_web.then_some(signed_in.csrf_token),
        refresh_token: (!is_web).then_some(refresh_token),
        expires_at: (saying == Saying::Expiry).then_some(signed_in.access.expires_at),
    };
    let mut response = Json(body_with(body)).into_response();
    if let Some(cookie) = cookie.transpose()? {
        response.headers_mut().append(SET_COOKIE, cookie);
    }
    Ok(response)
}
