//! `POST /api/auth/oauth/exchange`: exchanges the code from an OAuth callback for a session. In a flow that links an
//! identity, it links the identity to the account of the session that started the flow.

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::on;
use http::HeaderMap;
use http::StatusCode;
use latchkey_domain::locale::Locale;
use latchkey_service::oauth::exchange::Exchanged;
use serde::Deserialize;
use serde_json::json;
use utoipa::ToSchema;

use crate::app::App;
use crate::bearer::{BearerToken, Credentials};
use crate::body::JsonBody;
use crate::client::ClientInfo;
use crate::endpoint::{Access, Endpoint};
use crate::endpoints::auth::SignInBody;
use crate::endpoints::auth::session::{Saying, entrance_answer, linked_answer, of_app};
use crate::error::Result;
use crate::error::codes;
use crate::openapi::fields;
use crate::openapi::headers::SET_COOKIE;
use crate::openapi::parameters;

/// Request to exchange the code from an OAuth callback.
#[derive(Deserialize, ToSchema)]
#[schema(as = OAuthExchangeRequest)]
pub struct ExchangeRequest {
    #[schema(schema_with = fields::oauth_code)]
    code: String,
    #[serde(alias = "codeVerifier")]
    #[schema(schema_with = fields::code_verifier)]
    code_verifier: String,
    #[schema(schema_with = fields::locale)]
    locale: Option<Locale>,
}

pub const EXCHANGE: Endpoint = Endpoint::post("/api/auth/oauth/exchange", |method| on(method, exchange))
    .named("exchangeOAuthCode", "Exchange the code of a sign-in")
    .about(
        "Opens a session for the `service_code` that came back. A wrong verifier burns the code. A code of a link \
         links the identity to the account of the bearer, which must be that of the session that began it; the \
         answer then has a new access token of that session, and neither `csrfToken` nor `refreshToken`: they stay.",
    )
    .access(Access::PublicOrUser)
    .parameters(&[parameters::client_type])
    .body::<ExchangeRequest>(|| {
        json!({
            "code": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
            "code_verifier": "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
        })
    })
    .responds_with::<SignInBody>(StatusCode::OK, "The session is open, a second factor is needed, or the identity is linked.", &[SET_COOKIE])
    .errors(&[
        &codes::INVALID_OAUTH_CODE,
        &codes::IDENTITY_TAKEN,
        &codes::TOO_MANY_REQUESTS,
        &codes::EMAIL_EXISTS,
        &codes::EMAIL_NOT_VERIFIED,
        &codes::FORBIDDEN,
        &codes::SIGNUP_DISABLED,
        &codes::USER_BANNED,
    ]);

pub async fn exchange(
    State(app): State<App>,
    client: ClientInfo,
    headers: HeaderMap,
    JsonBody(body): JsonBody<ExchangeRequest>,
) -> Result<Response> {
    let bearer = Credentials::of(&headers).bearer;
    let bearer = bearer.as_ref().map(BearerToken::expose);
    let client = client.in_locale(body.locale);
    let (code, verifier) = (body.code.as_str(), body.code_verifier.as_str());
    match app.service.oauth.exchange(code, verifier, bearer, &client.to_sign_in()).await? {
        Exchanged::Entered(entrance) => entrance_answer(&app, entrance, Saying::Nothing),
        Exchanged::Linked { user, access } => Ok(linked_answer(&app, &user, of_app(access)?).into_response()),
    }
}
