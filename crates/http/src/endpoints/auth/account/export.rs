//! `GET /api/auth/account/export`: what the service stores about the signed-in user, as a file.

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::on;
use http::header::CONTENT_DISPOSITION;
use http::{HeaderMap, HeaderValue, StatusCode};
use latchkey_domain::client::Client;
use latchkey_domain::email::Email;
use latchkey_domain::time::Timestamp;
use latchkey_service::own_data::ExportedEmail;
use latchkey_service::refusal::PROFILE_NOT_FOUND;
use latchkey_service::sessions::{Credential, FreshCaller};
use latchkey_service::{Error, Service};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use utoipa::openapi::ObjectBuilder;

use super::AccountBody;
use crate::app::App;
use crate::bearer::{BearerToken, Credentials};
use crate::caller::FreshUser;
use crate::client::ClientInfo;
use crate::endpoint::{Access, Endpoint};
use crate::endpoints::auth::events::OwnEventBody;
use crate::endpoints::auth::identities::IdentityBody;
use crate::endpoints::auth::passkeys::PasskeyFactsBody;
use crate::endpoints::auth::profiles::flat;
use crate::endpoints::auth::sessions::OwnSessionBody;
use crate::endpoints::profiles::me::ProfileRecordBody;
use crate::error::{Result, codes};
use crate::json::Json;
use crate::openapi::shapes::FlatProfile;
use crate::openapi::{fields, headers};

/// What the service stores about the user. No hash, secret, code or token is in it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AccountExport)]
pub struct ExportBody {
    #[schema(schema_with = exported_at)]
    exported_at: Timestamp,
    account: AccountBody,
    /// `null` if the user has no profile.
    profile: Option<ProfileFacesBody>,
    identities: Vec<IdentityBody>,
    /// The passkeys, without their keys.
    passkeys: Vec<PasskeyFactsBody>,
    sessions: Vec<OwnSessionBody>,
    /// The security events of the last 90 days, newest first.
    events: Vec<OwnEventBody>,
    /// The address of the account, and those before it that are still reserved for it.
    emails: Vec<EmailBody>,
}

/// The profile in both forms.
#[derive(Serialize, ToSchema)]
#[schema(as = ProfileFaces)]
pub struct ProfileFacesBody {
    record: ProfileRecordBody,
    #[schema(value_type = FlatProfile)]
    flat: Value,
}

/// An address of the account.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ExportedEmail)]
pub struct EmailBody {
    #[schema(schema_with = fields::shown::<Email>)]
    email: String,
    /// True for the address that the account has now.
    current: bool,
    #[schema(schema_with = reserved_until, required)]
    reserved_until: Option<Timestamp>,
}

pub const EXPORT: Endpoint = Endpoint::get("/api/auth/account/export", |method| on(method, export))
    .named("exportAccount", "Export one's own account")
    .about("Needs a fresh access token; as often as `limits.export_per_account` permits (five a day by default). A file with what the service stores about the user.")
    .access(Access::User)
    .responds_with::<ExportBody>(StatusCode::OK, "The file.", &[headers::CONTENT_DISPOSITION])
    .errors(&[&codes::REAUTHENTICATION_REQUIRED, &codes::TOO_MANY_REQUESTS]);

pub async fn export(
    State(app): State<App>,
    FreshUser(caller): FreshUser,
    client: ClientInfo,
    headers: HeaderMap,
) -> Result<Response> {
    let bearer = Credentials::of(&headers).bearer;
    let bearer = bearer.as_ref().map(BearerToken::expose);
    Ok(file(&app.service, &caller, bearer.into(), &client.to_domain()).await?)
}

/// Builds the response with the file. `credential` is that of the caller.
pub async fn file(
    service: &Service,
    caller: &FreshCaller,
    credential: Credential<'_>,
    client: &Client,
) -> latchkey_service::Result<Response> {
    let by = caller.caller();
    let data = service.own_data.export(caller, client).await?;
    let profile = match service.profiles.own(credential).await {
        Ok(profile) => Some(ProfileFacesBody { flat: flat(&profile), record: profile.into() }),
        Err(Error::Refused(refusal)) if refusal.name == PROFILE_NOT_FOUND.name => None,
        Err(error) => return Err(error),
    };
    let passkeys = service.passkeys.list(by).await?.passkeys;
    let sessions = service.sessions.list(by).await?;
    let body = ExportBody {
        exported_at: data.at,
        account: AccountBody::new(service, service.factors.account(credential).await?),
        profile,
        identities: service.oauth.list_identities(by).await?.into_iter().map(IdentityBody::from).collect(),
        passkeys: passkeys.iter().map(|passkey| PasskeyFactsBody::new(service, passkey)).collect(),
        sessions: sessions
            .into_iter()
            .map(|session| OwnSessionBody::detailed(session, by.session_id))
            .collect(),
        events: data.events.into_iter().map(|event| OwnEventBody::new(event, by.session_id)).collect(),
        emails: data.emails.into_iter().map(EmailBody::from).collect(),
    };
    let mut response = Json(body).into_response();
    let file = HeaderValue::from_static("attachment; filename=\"account.json\"");
    response.headers_mut().insert(CONTENT_DISPOSITION, file);
    Ok(response)
}

impl From<ExportedEmail> for EmailBody {
    fn from(email: ExportedEmail) -> Self {
        Self {
            current: email.reserved_until.is_none(),
            email: email.email.as_typed().to_owned(),
            reserved_until: email.reserved_until,
        }
    }
}

fn exported_at() -> ObjectBuilder {
    fields::moment("When the data was read, in UTC.")
}

fn reserved_until() -> ObjectBuilder {
    fields::or_null(fields::moment_shape(
        "Until when the former address is reserved for the account, in UTC; `null` for the address of now.",
    ))
}
