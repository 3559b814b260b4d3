//! `/api/auth/passkeys`: a signed-in user's own passkeys, and the completion of a registration. This module contains the
//! structs that these endpoints share.

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::on;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::{HeaderMap, StatusCode};
use latchkey_domain::factors::FactorName;
use latchkey_domain::passkey::{Passkey, PasskeyId};
use latchkey_domain::shape::Shaped;
use latchkey_domain::time::Timestamp;
use latchkey_service::Service;
use latchkey_service::passkeys::{OwnPasskeys, Registered};
use latchkey_service::refusal::PASSKEY_NOT_FOUND;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use utoipa::ToSchema;
use uuid::Uuid;

use super::factors::{EnrolmentCall, enrolment, turned_on};
use super::session::SessionBody;
use crate::app::App;
use crate::body::JsonBody;
use crate::caller::{FreshUser, SignedInUser};
use crate::client::ClientInfo;
use crate::endpoint::{Access, Endpoint};
use crate::error::{Result, codes};
use crate::json::Json;
use crate::openapi::headers::SET_COOKIE;
use crate::openapi::{fields, parameters, shapes};
use crate::path::PathText;

pub mod authentication_options;
pub mod credential;
pub mod options;
pub mod registration_options;
pub mod sign_in;

/// A passkey of the account.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Passkey)]
pub struct PasskeyBody {
    #[serde(flatten)]
    facts: PasskeyFactsBody,
    #[schema(schema_with = fields::credential_id)]
    credential_id: String,
}

/// A passkey without its credential id, as an admin sees it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PasskeyFacts)]
pub struct PasskeyFactsBody {
    #[schema(schema_with = fields::shown::<PasskeyId>)]
    id: PasskeyId,
    #[schema(schema_with = fields::shown::<FactorName>)]
    name: String,
    #[schema(schema_with = fields::moment_registered)]
    created_at: Timestamp,
    #[schema(schema_with = fields::moment_passkey_used, required)]
    last_used_at: Option<Timestamp>,
    /// True if it was backed up, such as to the other devices of its owner, at its last use.
    synced: bool,
    #[schema(schema_with = fields::aaguid)]
    aaguid: String,
    /// True if it was registered for the present domain (`passkeys.rp_id`); others are neither offered nor accepted.
    usable: bool,
}

impl PasskeyFactsBody {
    pub(super) fn new(service: &Service, passkey: &Passkey) -> Self {
        Self {
            id: passkey.id,
            name: passkey.name.as_str().to_owned(),
            created_at: passkey.created_at,
            last_used_at: passkey.last_used_at,
            synced: passkey.is_backed_up,
            aaguid: Uuid::from_bytes(*passkey.aaguid.as_bytes()).to_string(),
            usable: service.passkeys.is_usable(passkey),
        }
    }
}

impl PasskeyBody {
    fn new(service: &Service, passkey: &Passkey) -> Self {
        let credential_id = URL_SAFE_NO_PAD.encode(passkey.credential_id.as_bytes());
        Self { facts: PasskeyFactsBody::new(service, passkey), credential_id }
    }
}

/// The data from which a browser updates its passkey manager (`signalAllAcceptedCredentials`).
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AcceptedPasskeys)]
pub struct AcceptedBody {
    #[schema(schema_with = fields::rp_id, required)]
    rp_id: Option<String>,
    #[schema(schema_with = fields::own_user_handle, required)]
    user_handle: Option<String>,
    /// Credential ids of the usable passkeys, in base64url without padding.
    accepted_credential_ids: Vec<String>,
}

impl From<&OwnPasskeys> for AcceptedBody {
    fn from(own: &OwnPasskeys) -> Self {
        Self {
            rp_id: own.rp_id.as_ref().map(|id| id.as_str().to_owned()),
            user_handle: own.user_handle.map(|handle| URL_SAFE_NO_PAD.encode(handle.as_bytes())),
            accepted_credential_ids: own.accepted().map(|id| URL_SAFE_NO_PAD.encode(id.as_bytes())).collect(),
        }
    }
}

/// The passkeys of the account.
#[derive(Serialize, ToSchema)]
#[schema(as = OwnPasskeys)]
pub struct ListBody {
    /// All passkeys, oldest first.
    passkeys: Vec<PasskeyBody>,
    #[serde(flatten)]
    accepted: AcceptedBody,
}

/// The response after a passkey was removed.
#[derive(Serialize, ToSchema)]
#[schema(as = RemovedPasskey)]
pub struct RemovedBody {
    #[schema(schema_with = fields::message)]
    message: &'static str,
    #[serde(flatten)]
    accepted: AcceptedBody,
}

/// The passkey, as registered or changed by the request.
#[derive(Serialize, ToSchema)]
#[schema(as = ChangedPasskey)]
pub struct ChangedBody {
    passkey: PasskeyBody,
}

/// The new session after a passkey turned two-step sign-in on, with the passkey and the recovery codes.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PasskeyEnrolled)]
pub struct EnrolledBody {
    #[serde(flatten)]
    session: SessionBody,
    passkey: PasskeyBody,
    #[schema(schema_with = fields::recovery_codes)]
    recovery_codes: Vec<String>,
}

/// The browser's response to creation options.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RegisterPasskeyRequest)]
pub struct RegisterRequest {
    #[schema(schema_with = fields::ceremony_id)]
    ceremony_id: String,
    #[schema(schema_with = credential::registration_field)]
    credential: Map<String, Value>,
    #[schema(schema_with = fields::sent_or_null::<FactorName>)]
    name: Option<FactorName>,
    #[schema(schema_with = fields::enrolling_challenge)]
    challenge_id: Option<String>,
}

/// Request to rename a passkey.
#[derive(Deserialize, ToSchema)]
#[schema(as = RenamePasskeyRequest)]
pub struct RenameRequest {
    #[schema(schema_with = fields::sent::<FactorName>)]
    name: FactorName,
}

pub const REGISTER: Endpoint = Endpoint::post("/api/auth/passkeys", |method| on(method, register))
    .named("registerPasskey", "Register a passkey")
    .about(
        "Completes `beginPasskey`, by the session or challenge that began it. In a session two-step sign-in stays as it \
         is. With a challenge it is turned on: every session ends, a new one opens, and the recovery codes are shown \
         this once.",
    )
    .access(Access::PublicOrUser)
    .parameters(&[parameters::client_type])
    .body::<RegisterRequest>(example)
    .responds_with::<shapes::PasskeyRegistered>(StatusCode::OK, "The passkey is registered.", &[SET_COOKIE])
    .errors(&[
        &codes::FEATURE_DISABLED,
        &codes::INVALID_CHALLENGE,
        &codes::PASSKEY_EXISTS,
        &codes::TOO_MANY_FACTORS,
    ]);

pub async fn register(
    State(app): State<App>,
    client: ClientInfo,
    headers: HeaderMap,
    body: Result<JsonBody<Map<String, Value>>>,
) -> Result<Response> {
    let call = EnrolmentCall::Complete;
    let (enroller, request) =
        enrolment(&app, &headers, body, call, |request: &RegisterRequest| request.challenge_id.as_deref())
            .await?;
    let registration = credential::registration(request.credential)?;
    let (passkeys, from) = (&app.service.passkeys, client.to_sign_in());
    match passkeys.register(enroller, &request.ceremony_id, registration, request.name, &from).await? {
        Registered::Added(passkey) => {
            Ok(Json(ChangedBody { passkey: PasskeyBody::new(&app.service, &passkey) }).into_response())
        }
        Registered::TurnedOn(on, passkey) => turned_on(&app, on, |session, recovery_codes| EnrolledBody {
            session,
            passkey: PasskeyBody::new(&app.service, &passkey),
            recovery_codes,
        }),
    }
}

pub const LIST: Endpoint = Endpoint::get("/api/auth/passkeys", |method| on(method, list))
    .named("listPasskeys", "List one's own passkeys")
    .access(Access::User)
    .responds::<ListBody>("The passkeys, at most 20.");

pub async fn list(State(app): State<App>, SignedInUser(caller): SignedInUser) -> Result<Json<ListBody>> {
    let own = app.service.passkeys.list(caller).await?;
    let passkeys = own.passkeys.iter().map(|passkey| PasskeyBody::new(&app.service, passkey)).collect();
    Ok(Json(ListBody { passkeys, accepted: AcceptedBody::from(&own) }))
}

pub const RENAME: Endpoint = Endpoint::patch("/api/auth/passkeys/{id}", |method| on(method, rename))
    .named("renamePasskey", "Rename a passkey")
    .access(Access::User)
    .parameters(&[parameters::id::<PasskeyId>])
    .body::<RenameRequest>(|| json!({ "name": FactorName::SENT.example }))
    .responds::<ChangedBody>("The passkey with its new name.")
    .errors(&[&codes::NOT_FOUND]);

pub async fn rename(
    State(app): State<App>,
    SignedInUser(caller): SignedInUser,
    client: ClientInfo,
    PathText(id): PathText,
    JsonBody(body): JsonBody<RenameRequest>,
) -> Result<Json<ChangedBody>> {
    let id = passkey_id(&id)?;
    let passkey = app.service.passkeys.rename(caller, id, body.name, &client.to_domain()).await?;
    Ok(Json(ChangedBody { passkey: PasskeyBody::new(&app.service, &passkey) }))
}

pub const REMOVE: Endpoint = Endpoint::delete("/api/auth/passkeys/{id}", |method| on(method, remove))
    .named("removePasskey", "Remove a passkey")
    .about(
        "Needs a fresh access token. Ends the other sessions that the passkey opened. Never the last second factor while \
         two-step sign-in is on, and never the last way to sign in.",
    )
    .access(Access::User)
    .parameters(&[parameters::id::<PasskeyId>])
    .responds::<RemovedBody>("The passkey is removed.")
    .errors(&[
        &codes::LAST_SECOND_FACTOR,
        &codes::LAST_OWNER,
        &codes::LAST_SIGN_IN_METHOD,
        &codes::NOT_FOUND,
        &codes::REAUTHENTICATION_REQUIRED,
    ]);

pub async fn remove(
    State(app): State<App>,
    FreshUser(caller): FreshUser,
    client: ClientInfo,
    PathText(id): PathText,
) -> Result<Json<RemovedBody>> {
    let own = app.service.passkeys.remove(&caller, passkey_id(&id)?, &client.to_domain()).await?;
    Ok(Json(RemovedBody { message: "The passkey was removed.", accepted: AcceptedBody::from(&own) }))
}

/// Parses the id of a passkey. A malformed id gets the error of an unknown id.
pub(super) fn passkey_id(text: &str) -> Result<PasskeyId> {
    Ok(text.parse().map_err(|_| &PASSKEY_NOT_FOUND)?)
}

fn example() -> Value {
    let response =
        json!({ "clientDataJSON": "e30", "attestationObject": "AQIDBA", "transports": ["internal"] });
    json!({ "ceremonyId": fields::CEREMONY_EXAMPLE, "credential": credential::example(&response) })
}
