//! `POST /api/auth/passkeys/authentication-options`: begins a sign-in by passkey.

use axum::extract::State;
use axum::routing::on;
use latchkey_domain::email::Email;
use latchkey_domain::shape::Shaped;
use latchkey_domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::options::RequestOptionsBody;
use crate::app::App;
use crate::body::JsonBody;
use crate::client::ClientInfo;
use crate::endpoint::{Access, Endpoint};
use crate::error::{Result, codes};
use crate::json::Json;
use crate::openapi::fields;

/// Request for request options.
#[derive(Deserialize, ToSchema)]
#[schema(as = BeginPasskeySignInRequest)]
pub struct BeginRequest {
    #[schema(schema_with = fields::passkey_email)]
    email: Option<Email>,
}

/// Request options, with the id to send with the response.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = BegunPasskeySignIn)]
pub struct BegunBody {
    #[schema(schema_with = fields::ceremony_id)]
    ceremony_id: String,
    options: RequestOptionsBody,
    #[schema(schema_with = fields::ceremony_expiry)]
    expires_at: Timestamp,
}

pub const BEGIN: Endpoint =
    Endpoint::post("/api/auth/passkeys/authentication-options", |method| on(method, begin))
        .named("beginPasskeySignIn", "Begin a sign-in by passkey")
        .about("The response is the same for every address: nothing is looked up.")
        .access(Access::Public)
        .optional_body::<BeginRequest>(|| json!({ "email": Email::SENT.example }))
        .responds::<BegunBody>("The options for `navigator.credentials.get()`.")
        .errors(&[&codes::FEATURE_DISABLED, &codes::TOO_MANY_REQUESTS])
        .without_storage();

pub async fn begin(
    State(app): State<App>,
    client: ClientInfo,
    JsonBody(body): JsonBody<BeginRequest>,
) -> Result<Json<BegunBody>> {
    let begun = app.service.passkeys.begin_sign_in(body.email.as_ref(), &client.to_domain())?;
    Ok(Json(BegunBody {
        ceremony_id: begun.ceremony_id,
        options: begun.options.into(),
        expires_at: begun.expires_at,
    }))
}
