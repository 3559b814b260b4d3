//! `POST /api/auth/challenges/passkey-options`: request options for the answer of kind `passkey`.

use axum::extract::State;
use axum::routing::on;
use latchkey_domain::challenge::ChallengeId;
use latchkey_domain::shape::Shaped;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::challenge_id;
use crate::app::App;
use crate::body::JsonBody;
use crate::endpoint::{Access, Endpoint};
use crate::endpoints::auth::passkeys::options::RequestOptionsBody;
use crate::error::{Result, codes};
use crate::json::Json;
use crate::openapi::fields;

/// Request for the options of a challenge.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ChallengePasskeyOptionsRequest)]
pub struct OptionsRequest {
    #[schema(schema_with = fields::sent::<ChallengeId>)]
    challenge_id: String,
}

/// Request options for the passkeys of the account.
#[derive(Serialize, ToSchema)]
#[schema(as = ChallengePasskeyOptions)]
pub struct OptionsBody {
    options: RequestOptionsBody,
}

pub const OPTIONS: Endpoint =
    Endpoint::post("/api/auth/challenges/passkey-options", |method| on(method, begin))
        .named("getChallengePasskeyOptions", "Begin the answer by passkey to a challenge")
        .about("For a challenge of kind `passkey`. May be called again; the newest options count.")
        .access(Access::Public)
        .body::<OptionsRequest>(|| json!({ "challengeId": ChallengeId::SENT.example }))
        .responds::<OptionsBody>("The options for `navigator.credentials.get()`.")
        .errors(&[&codes::INVALID_CHALLENGE]);

pub async fn begin(
    State(app): State<App>,
    JsonBody(body): JsonBody<OptionsRequest>,
) -> Result<Json<OptionsBody>> {
    let options = app.service.passkeys.challenge_options(&challenge_id(&body.challenge_id)?).await?;
    Ok(Json(OptionsBody { options: options.into() }))
}
