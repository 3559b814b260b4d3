//! `/api/auth/factors`: a signed-in user's own second factors. This module contains the structs that these endpoints
//! share.

use latchkey_domain::challenge::ChallengeId;
use latchkey_domain::factors::{FactorId, FactorName, TotpFactor};
use latchkey_domain::long_code::LongCode;
use latchkey_domain::time::Timestamp;
use latchkey_service::refusal::{FACTOR_NOT_FOUND, INVALID_CHALLENGE};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::SessionBody;
use crate::bearer::BearerToken;
use crate::body::{JsonBody, from_object};
use crate::error::Result;
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

/// Formats recovery codes as groups of characters.
pub(super) fn grouped(codes: &[LongCode]) -> Vec<String> {
    codes.iter().map(LongCode::expose_grouped).collect()
}

/// Parses the id of a factor. A malformed id gets the error of an unknown id.
fn factor_id(text: &str) -> Result<FactorId> {
    Ok(text.parse().map_err(|_| &FACTOR_NOT_FOUND)?)
}

/// The body of an enrolment request. The caller is identified by a challenge id in the body, or else by the bearer
/// token.
pub(super) struct EnrolmentBody(Result<JsonBody<Map<String, Value>>>);

impl EnrolmentBody {
    /// Refuses an unreadable body of a request without a bearer token: such a request can only be meant for a
    /// challenge.
    pub(super) fn new(
        body: Result<JsonBody<Map<String, Value>>>,
        bearer: Option<&BearerToken>,
    ) -> Result<Self> {
        if bearer.is_none() { body.map(Ok).map(Self) } else { Ok(Self(body)) }
    }

    /// True if the body contains a challenge id, so that no bearer token is needed.
    pub(super) fn names_challenge(&self) -> bool {
        let object = self.0.as_ref().ok().map(|JsonBody(object)| object);
        object.and_then(|object| object.get("challengeId")).is_some_and(|id| !id.is_null())
    }

    /// Parses the fields. Handlers authenticate a bearer token before this call, so that a client without credentials
    /// gets 401 and not an error about a field.
    pub(super) fn read<T: DeserializeOwned>(self) -> Result<T> {
        let JsonBody(object) = self.0?;
        from_object(object)
    }
}

/// Parses the id of a challenge.
pub(super) fn challenge_id(text: Option<&str>) -> Result<ChallengeId> {
    Ok(text.and_then(ChallengeId::parse).ok_or(&INVALID_CHALLENGE)?)
}
