//! `POST /api/auth/id-token`: sign-in of native apps with an id token from an identity provider.

use axum::extract::State;
use axum::response::Response;
use axum::routing::on;
use http::StatusCode;
use latchkey_domain::identity::ProviderKey;
use latchkey_domain::locale::Locale;
use latchkey_domain::profile::Name;
use latchkey_service::oauth::id_token::IdTokenSignIn;
use serde::Deserialize;
use serde_json::json;
use utoipa::ToSchema;

use super::SignInBody;
use super::session::{Saying, entrance_answer};
use crate::app::App;
use crate::body::JsonBody;
use crate::client::ClientInfo;
use crate::endpoint::{Access, Endpoint};
use crate::error::Result;
use crate::error::codes;
use crate::openapi::fields;
use crate::openapi::headers::SET_COOKIE;
use crate::openapi::parameters;

/// Request to sign in with an id token.
#[derive(Deserialize, ToSchema)]
pub struct IdTokenRequest {
    #[schema(schema_with = fields::shown::<ProviderKey>)]
    provider: String,
    #[schema(schema_with = fields::id_token)]
    token: String,
    #[schema(schema_with = fields::id_token_nonce)]
    nonce: Option<String>,
    #[schema(schema_with = fields::optional_name)]
    name: Option<Name>,
    #[schema(schema_with = fields::locale)]
    locale: Option<Locale>,
}

pub const SIGN_IN: Endpoint = Endpoint::post("/api/auth/id-token", |method| on(method, sign_in))
    .named("signInWithIdToken", "Sign in with an id token")
    .about(
        "For native apps that talk to the provider themselves. The token must be for one of the provider's \
         `nativeClientIds`, is accepted once, and a nonce in it demands the same `nonce`, as a `nonce` \
         demands one in it.",
    )
    .access(Access::Public)
    .parameters(&[parameters::client_type])
    .body::<IdTokenRequest>(|| json!({ "provider": "google", "token": "eyJhbGciOiJSUzI1NiJ9.e30.c2ln" }))
    .responds_with::<SignInBody>(
        StatusCode::OK,
        "The session is open, or a second factor is needed.",
        &[SET_COOKIE],
    )
    .errors(&[
        &codes::INVALID_ID_TOKEN,
        &codes::UNSUPPORTED_PROVIDER,
        &codes::PROVIDER_NOT_CONFIGURED,
        &codes::TOO_MANY_REQUESTS,
        &codes::EMAIL_EXISTS,
        &codes::EMAIL_NOT_VERIFIED,
        &codes::FORBIDDEN,
        &codes::SIGNUP_DISABLED,
        &codes::USER_BANNED,
    ]);

pub async fn sign_in(
    State(app): State<App>,
    client: ClientInfo,
    JsonBody(body): JsonBody<IdTokenRequest>,
) -> Result<Response> {
    let IdTokenRequest { provider, token, nonce, name, locale } = body;
    let client = client.in_locale(locale);
    let sign_in = IdTokenSignIn { provider, token, nonce, name, client: client.to_sign_in() };
    let entrance = app.service.oauth.sign_in_with_id_token(sign_in).await?;
    entrance_answer(&app, entrance, Saying::Nothing)
}
