//! `/api/auth/factors/totp`: enrolling, renaming and removing an authenticator app.

use axum::extract::State;
use axum::routing::on;
use http::HeaderMap;
use latchkey_domain::factors::{FactorId, FactorName};
use latchkey_domain::shape::Shaped;
use latchkey_domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use super::{BEGIN_ERRORS, EnrolmentCall, FactorBody, enrolment, factor_id};
use crate::app::App;
use crate::body::JsonBody;
use crate::caller::{FreshUser, SignedInUser};
use crate::client::ClientInfo;
use crate::endpoint::{Access, Endpoint};
use crate::endpoints::MessageBody;
use crate::error::{Result, codes};
use crate::json::Json;
use crate::openapi::{fields, parameters};
use crate::path::PathText;

pub mod confirm;

/// Request to enrol an authenticator app.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = BeginTotpRequest)]
pub struct BeginRequest {
    #[schema(schema_with = fields::sent_or_null::<FactorName>)]
    name: Option<FactorName>,
    #[schema(schema_with = fields::enrolling_challenge)]
    challenge_id: Option<String>,
}

/// The secret of an authenticator app that is not confirmed yet.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = BegunTotp)]
pub struct BegunBody {
    #[schema(schema_with = fields::shown::<FactorId>)]
    factor_id: FactorId,
    #[schema(schema_with = fields::totp_secret)]
    secret: String,
    #[schema(schema_with = fields::totp_uri)]
    uri: String,
    #[schema(schema_with = fields::enrolment_expiry)]
    expires_at: Timestamp,
}

/// Request to rename an authenticator app.
#[derive(Deserialize, ToSchema)]
#[schema(as = RenameTotpRequest)]
pub struct RenameRequest {
    #[schema(schema_with = fields::sent::<FactorName>)]
    name: FactorName,
}

pub const BEGIN: Endpoint = Endpoint::post("/api/auth/factors/totp", |method| on(method, begin))
    .named("beginTotp", "Begin to enrol an authenticator app")
    .about(
        "Needs a fresh access token, or a challenge of kind `enroll`; and a verified address whose owner knows the \
         password. The secret is shown this once. Nothing asks for the app before `confirmTotp`.",
    )
    .access(Access::PublicOrUser)
    .optional_body::<BeginRequest>(|| json!({ "name": FactorName::SENT.example }))
    .responds::<BegunBody>("The secret, as text and as `otpauth` URI for a QR code.")
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
    let begun = app.service.factors.begin_totp(enroller, request.name).await?;
    Ok(Json(BegunBody {
        factor_id: begun.factor_id,
        secret: begun.secret,
        uri: begun.uri,
        expires_at: begun.expires_at,
    }))
}

pub const RENAME: Endpoint = Endpoint::patch("/api/auth/factors/totp/{id}", |method| on(method, rename))
    .named("renameTotp", "Rename an authenticator app")
    .access(Access::User)
    .parameters(&[parameters::id::<FactorId>])
    .body::<RenameRequest>(|| json!({ "name": FactorName::SENT.example }))
    .responds::<FactorBody>("The app with its new name.")
    .errors(&[&codes::NOT_FOUND]);

pub async fn rename(
    State(app): State<App>,
    SignedInUser(caller): SignedInUser,
    PathText(id): PathText,
    JsonBody(body): JsonBody<RenameRequest>,
) -> Result<Json<FactorBody>> {
    let factor = app.service.factors.rename_totp(caller, factor_id(&id)?, body.name).await?;
    Ok(Json(FactorBody { factor: factor.into() }))
}

pub const REMOVE: Endpoint = Endpoint::delete("/api/auth/factors/totp/{id}", |method| on(method, remove))
    .named("removeTotp", "Remove an authenticator app")
    .about("Needs a fresh access token. Never the last second factor while two-step sign-in is on.")
    .access(Access::User)
    .parameters(&[parameters::id::<FactorId>])
    .responds::<MessageBody>("The app is removed.")
    .errors(&[&codes::LAST_SECOND_FACTOR, &codes::NOT_FOUND, &codes::REAUTHENTICATION_REQUIRED]);

pub async fn remove(
    State(app): State<App>,
    FreshUser(caller): FreshUser,
    client: ClientInfo,
    PathText(id): PathText,
) -> Result<Json<MessageBody>> {
    app.service.factors.remove_totp(&caller, factor_id(&id)?, &client.to_domain()).await?;
    Ok(Json(MessageBody { message: "The authenticator app was removed." }))
}
