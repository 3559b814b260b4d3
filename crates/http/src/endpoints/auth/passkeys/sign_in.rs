//! `POST /api/auth/passkeys/sign-in`: completes a sign-in by passkey.

use axum::extract::State;
use axum::response::Response;
use axum::routing::on;
use http::StatusCode;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use super::credential;
use crate::app::App;
use crate::body::JsonBody;
use crate::client::ClientInfo;
use crate::endpoint::{Access, Endpoint};
use crate::endpoints::auth::SessionBody;
use crate::endpoints::auth::session::{Saying, entrance_answer};
use crate::error::{Result, codes};
use crate::openapi::fields;
use crate::openapi::headers::SET_COOKIE;
use crate::openapi::parameters;

/// The browser's response to request options.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PasskeySignInRequest)]
pub struct SignInRequest {
    #[schema(schema_with = fields::ceremony_id)]
    ceremony_id: String,
    #[schema(schema_with = credential::assertion_field)]
    credential: Map<String, Value>,
}

pub const SIGN_IN: Endpoint = Endpoint::post("/api/auth/passkeys/sign-in", |method| on(method, sign_in))
    .named("signInWithPasskey", "Sign in by passkey")
    .about("A passkey shows both factors: the session has level 2, and no challenge follows.")
    .access(Access::Public)
    .parameters(&[parameters::client_type])
    .body::<SignInRequest>(example)
    .responds_with::<SessionBody>(StatusCode::OK, "The session is open.", &[SET_COOKIE])
    .errors(&[
        &codes::EMAIL_NOT_VERIFIED,
        &codes::FEATURE_DISABLED,
        &codes::INVALID_PASSKEY,
        &codes::TOO_MANY_REQUESTS,
        &codes::UNKNOWN_PASSKEY,
        &codes::USER_BANNED,
    ]);

pub async fn sign_in(
    State(app): State<App>,
    client: ClientInfo,
    JsonBody(body): JsonBody<SignInRequest>,
) -> Result<Response> {
    let assertion = credential::assertion(body.credential)?;
    let entrance = app.service.passkeys.sign_in(&body.ceremony_id, assertion, &client.to_sign_in()).await?;
    entrance_answer(&app, entrance, Saying::Nothing)
}

fn example() -> Value {
    let response = json!({
        "clientDataJSON": "e30", "authenticatorData": "AQIDBA", "signature": "AQIDBA", "userHandle": "AQIDBAUGBwgJCgsMDQ4PEA",
    });
    json!({ "ceremonyId": fields::CEREMONY_EXAMPLE, "credential": credential::example(&response) })
}
