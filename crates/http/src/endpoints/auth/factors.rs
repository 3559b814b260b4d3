//! `/api/auth/factors`: a signed-in user's own second factors. This module contains the structs that these endpoints
//! share.

use axum::response::Response;
use http::HeaderMap;
use latchkey_domain::challenge::ChallengeId;
use latchkey_domain::factors::{FactorId, FactorName, TotpFactor};
use latchkey_domain::long_code::LongCode;
use latchkey_domain::time::Timestamp;
use latchkey_service::factors::{FactorEnroller, TwoStepOn};
use latchkey_service::refusal::{FACTOR_NOT_FOUND, INVALID_CHALLENGE};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::SessionBody;
use super::session::{Saying, session_with};
use crate::app::App;
use crate::bearer::{BearerToken, Credentials};
use crate::body::{JsonBody, from_object};
use crate::error::{ErrorCode, Result, codes};
use crate::openapi::fields;

pub mod recovery_codes;
pub mod totp;
pub mod two_step;

/// An authenticator app of the account.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = TotpFactor)]
pub struct TotpBody {
    #[schema(schema_with = fields::shown::<FactorId>)]
    id: FactorId,
    #[schema(schema_with = fields::shown::<FactorName>)]
    name: String,
    #[schema(schema_with = fields::moment_enrolled)]
    created_at: Timestamp,
    #[schema(schema_with = fields::moment_used, required)]
    last_used_at: Option<Timestamp>,
}

impl From<TotpFactor> for TotpBody {
    fn from(factor: TotpFactor) -> Self {
        Self {
            id: factor.id,
            name: factor.name.as_str().to_owned(),
            created_at: factor.created_at,
            last_used_at: factor.last_used_at,
        }
    }
}

/// The authenticator app, as changed by the request.
#[derive(Serialize, ToSchema)]
#[schema(as = ChangedFactor)]
pub struct FactorBody {
    factor: TotpBody,
}

/// The new session after two-step sign-in was turned on, with the recovery codes.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = TwoStepOn)]
pub struct TwoStepOnBody {
    #[serde(flatten)]
    session: SessionBody,
    #[serde(skip_serializing_if = "Option::is_none")]
    factor: Option<TotpBody>,
    #[schema(schema_with = fields::recovery_codes)]
    recovery_codes: Vec<String>,
}

/// Builds the response with the new session after two-step sign-in was turned on. `body` builds the response's body
/// from the session's body and the recovery codes.
pub(super) fn turned_on<T: Serialize>(
    app: &App,
    on: TwoStepOn,
    body: impl FnOnce(SessionBody, Vec<String>) -> T,
) -> Result<Response> {
    let TwoStepOn { opened, recovery_codes } = on;
    let recovery_codes = grouped(&recovery_codes);
    session_with(app, opened.into_app()?, Saying::Nothing, |session| body(session, recovery_codes))
}

/// Formats recovery codes for people, as `xxxx-xxxx-xxxx-xxxx`.
fn grouped(codes: &[LongCode]) -> Vec<String> {
    codes.iter().map(LongCode::expose_grouped).collect()
}

/// Parses the id of a factor. A malformed id gets the error of an unknown id.
fn factor_id(text: &str) -> Result<FactorId> {
    Ok(text.parse().map_err(|_| &FACTOR_NOT_FOUND)?)
}

/// Error codes of the two endpoints that begin the enrolment of a second factor: authenticator app and passkey.
pub(super) const BEGIN_ERRORS: &[&ErrorCode] = &[
    &codes::EMAIL_NOT_VERIFIED,
    &codes::FEATURE_DISABLED,
    &codes::INVALID_CHALLENGE,
    &codes::REAUTHENTICATION_REQUIRED,
    &codes::TOO_MANY_FACTORS,
];

/// The two requests that enrol a second factor. They differ in the access token that they require.
pub(super) enum EnrolmentCall {
    /// The first request. Its access token must be from a recent sign-in or reauthentication.
    Begin,
    Complete,
}

/// Reads a request that enrols a second factor, and the credential that permits it: the challenge that the body names,
/// or else the session of the bearer token. A bearer token is authenticated before the fields are validated, so that a
/// client without credentials gets 401 instead of an error about a field.
pub(super) async fn enrolment<T: DeserializeOwned>(
    app: &App,
    headers: &HeaderMap,
    body: Result<JsonBody<Map<String, Value>>>,
    call: EnrolmentCall,
    challenge_of: fn(&T) -> Option<&str>,
) -> Result<(FactorEnroller, T)> {
    let bearer = Credentials::of(headers).bearer;
    // A request without a bearer token must name a challenge, so errors of the body can be returned at once.
    let body = if bearer.is_none() { Ok(body?) } else { body };
    let names_challenge = |JsonBody(object): &JsonBody<Map<String, Value>>| {
        object.get("challengeId").is_some_and(|id| !id.is_null())
    };
    let bearer = bearer.as_ref().map(BearerToken::expose);
    let caller = match call {
        _ if body.as_ref().is_ok_and(names_challenge) => None,
        EnrolmentCall::Begin => Some(FactorEnroller::Fresh(app.service.sessions.fresh(bearer).await?)),
        EnrolmentCall::Complete => {
            Some(FactorEnroller::Session(app.service.sessions.authenticate(bearer).await?))
        }
    };
    let JsonBody(object) = body?;
    let request = from_object(object)?;
    let enroller = match caller {
        Some(caller) => caller,
        None => FactorEnroller::Challenge(challenge_id(challenge_of(&request))?),
    };
    Ok((enroller, request))
}

/// Parses the id of a challenge.
fn challenge_id(text: Option<&str>) -> Result<ChallengeId> {
    Ok(text.and_then(ChallengeId::parse).ok_or(&INVALID_CHALLENGE)?)
}
