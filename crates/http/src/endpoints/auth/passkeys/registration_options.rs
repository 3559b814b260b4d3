//! `POST /api/auth/passkeys/registration-options`: begins the registration of a passkey.

use axum::extract::State;
use axum::routing::on;
use http::HeaderMap;
use latchkey_domain::reason::{self, Reason};
use latchkey_domain::time::Timestamp;
use latchkey_service::factors::FactorEnroller;
use latchkey_service::passkeys::RegistrationMode;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use super::options::CreationOptionsBody;
use crate::app::App;
use crate::body::JsonBody;
use crate::endpoint::{Access, Endpoint};
use crate::endpoints::auth::factors::{BEGIN_ERRORS, EnrolmentCall, enrolment};
use crate::error::{ApiError, Result};
use crate::json::Json;
use crate::openapi::fields;

/// Request for creation options.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = BeginPasskeyRequest)]
pub struct BeginRequest {
    #[schema(schema_with = fields::mediation)]
    mediation: Option<Mediation>,
    #[schema(schema_with = fields::enrolling_challenge)]
    challenge_id: Option<String>,
}

/// The mediation of a registration. `conditional` is the only one.
pub struct Mediation;

impl<'de> Deserialize<'de> for Mediation {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match String::deserialize(deserializer)?.as_str() {
            "conditional" => Ok(Self),
            _ => Err(reason::refusal(Reason::NotAllowed, "must be `conditional`, or left out")),
        }
    }
}

/// Creation options, with the id to send with the response.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = BegunPasskey)]
pub struct BegunBody {
    #[schema(schema_with = fields::ceremony_id)]
    ceremony_id: String,
    options: CreationOptionsBody,
    #[schema(schema_with = fields::ceremony_expiry)]
    expires_at: Timestamp,
}

pub const BEGIN: Endpoint =
    Endpoint::post("/api/auth/passkeys/registration-options", |method| on(method, begin))
        .named("beginPasskey", "Begin to register a passkey")
        .about(
            "Needs a fresh access token, or a challenge of kind `enroll`. With `mediation: \"conditional\"` the browser \
             registers without a prompt, after a sign-in by password.",
        )
        .access(Access::PublicOrUser)
        .optional_body::<BeginRequest>(|| json!({}))
        .responds::<BegunBody>("The options for `navigator.credentials.create()`.")
        .errors(BEGIN_ERRORS);

pub async fn begin(
    State(app): State<App>,
    headers: HeaderMap,
    body: Result<JsonBody<Map<String, Value>>>,
) -> Result<Json<BegunBody>> {
    let call = EnrolmentCall::Begin;
    let (enroller, request) =
        enrolment(&app, &headers, body, call, |request: &BeginRequest| request.challenge_id.as_deref())
            .await?;
    if request.mediation.is_some() && matches!(enroller, FactorEnroller::Challenge(_)) {
        // A passkey made without asking the user proves no second factor, but the answer to a
        // challenge opens a session of level 2.
        let problem = "cannot be `conditional` with a challenge";
        return Err(ApiError::validation("mediation", problem).reason(Reason::Conflicting));
    }
    let mode =
        request.mediation.map_or(RegistrationMode::Prompted, |Mediation| RegistrationMode::Conditional);
    let begun = app.service.passkeys.begin_registration(enroller, mode).await?;
    Ok(Json(BegunBody {
        ceremony_id: begun.ceremony_id,
        options: begun.options.into(),
        expires_at: begun.expires_at,
    }))
}
