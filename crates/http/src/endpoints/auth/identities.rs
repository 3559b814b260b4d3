//! `/api/auth/identities`: the user's identities at identity providers: list, start of linking, unlinking. The endpoint
//! in [`super::oauth::exchange`] completes the linking.

use axum::routing::on;
use serde_json::json;
use std::collections::BTreeMap;

use axum::extract::State;
use latchkey_domain::identity::{ProviderKey, Subject};
use latchkey_domain::time::Timestamp;
use latchkey_service::oauth::LinkedIdentity;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::UserBody;
use super::oauth::start::{StartBody, start_of};
use crate::app::App;
use crate::body::JsonBody;
use crate::caller::{FreshUser, SignedInUser};
use crate::client::ClientInfo;
use crate::endpoint::{Access, Endpoint};
use crate::error::Result;
use crate::error::codes;
use crate::json::Json;
use crate::openapi::fields;
use crate::openapi::parameters;
use crate::path::PathText;
use crate::query::Query;

/// The user's identities, oldest first.
#[derive(Serialize, ToSchema)]
#[schema(as = Identities)]
pub struct IdentitiesBody {
    identities: Vec<IdentityBody>,
}

/// An identity: the user's account at an identity provider.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Identity)]
pub struct IdentityBody {
    #[schema(schema_with = fields::shown::<ProviderKey>)]
    provider: String,
    #[schema(schema_with = fields::shown::<Subject>)]
    subject: String,
    #[schema(schema_with = fields::identity_email, required)]
    email: Option<String>,
    #[schema(schema_with = fields::moment_linked)]
    created_at: Timestamp,
}

/// The user after an identity was unlinked.
#[derive(Serialize, ToSchema)]
#[schema(as = UnlinkedIdentity)]
pub struct UnlinkedBody {
    #[schema(schema_with = fields::message)]
    message: &'static str,
    user: UserBody,
}

/// Request to start linking an identity. Each field may be in the query string instead.
#[derive(Deserialize, ToSchema)]
#[schema(as = LinkIdentityRequest)]
pub struct LinkRequest {
    #[serde(alias = "redirectUri", alias = "redirectTo")]
    #[schema(schema_with = fields::redirect_uri)]
    redirect_uri: Option<String>,
    #[serde(alias = "codeChallenge")]
    #[schema(schema_with = fields::optional_code_challenge)]
    code_challenge: Option<String>,
    #[serde(rename = "additionalParams")]
    #[schema(schema_with = fields::provider_hints)]
    additional_params: Option<BTreeMap<String, String>>,
}

pub const LIST: Endpoint = Endpoint::get("/api/auth/identities", |method| on(method, list))
    .named("listIdentities", "List one's own identities")
    .access(Access::User)
    .responds::<IdentitiesBody>("The identities, oldest first.");

pub async fn list(
    State(app): State<App>,
    SignedInUser(caller): SignedInUser,
) -> Result<Json<IdentitiesBody>> {
    let identities = app.service.oauth.list_identities(caller).await?.into_iter().map(IdentityBody::from);
    Ok(Json(IdentitiesBody { identities: identities.collect() }))
}

impl From<LinkedIdentity> for IdentityBody {
    fn from(identity: LinkedIdentity) -> Self {
        Self {
            provider: identity.provider,
            subject: identity.subject,
            email: identity.email.map(|email| email.as_typed().to_owned()),
            created_at: identity.created_at,
        }
    }
}

pub const LINK: Endpoint = Endpoint::post("/api/auth/identities/{provider}/link", |method| on(method, link))
    .named("linkIdentity", "Begin to link an identity")
    .about(
        "Like the start of a sign-in, for a provider of either kind. The link is made at the exchange, with the \
         bearer of this very session. Needs a fresh access token.",
    )
    .access(Access::User)
    .parameters(&[parameters::provider, parameters::redirect_uri, parameters::link_code_challenge])
    .optional_body::<LinkRequest>(|| {
        json!({
            "redirect_uri": "https://app.example.org/settings",
            "code_challenge": "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
        })
    })
    .responds::<StartBody>("Where to send the browser.")
    .errors(&[&codes::REDIRECT_NOT_ALLOWED, &codes::UNSUPPORTED_PROVIDER, &codes::PROVIDER_NOT_CONFIGURED, &codes::TOO_MANY_REQUESTS, &codes::REAUTHENTICATION_REQUIRED]);

pub async fn link(
    State(app): State<App>,
    FreshUser(caller): FreshUser,
    client: ClientInfo,
    PathText(provider): PathText,
    query: Query,
    JsonBody(body): JsonBody<LinkRequest>,
) -> Result<Json<StartBody>> {
    let kind = app.service.oauth.provider_kind(&provider);
    let mut start = start_of(kind, provider, &client, &query)?;
    start.redirect_uri = body.redirect_uri.or(start.redirect_uri);
    start.code_challenge = body.code_challenge.or(start.code_challenge);
    // For every field, the body takes precedence over the query string.
    let own = body.additional_params.unwrap_or_default();
    start.hints.retain(|(name, _)| !own.contains_key(name));
    start.hints.extend(own);
    Ok(Json(StartBody { auth_url: app.service.oauth.start_link(&caller, start).await? }))
}

pub const UNLINK: Endpoint = Endpoint::delete("/api/auth/identities/{provider}", |method| on(method, unlink))
    .named("unlinkIdentity", "Unlink identities of a provider")
    .about(
        "All of that provider, or the one with `subject`. Never the last way in. The other sessions that they \
         opened end. Needs a fresh access token.",
    )
    .access(Access::User)
    .parameters(&[parameters::provider, parameters::subject])
    .responds::<UnlinkedBody>("The user without it.")
    .errors(&[&codes::NOT_FOUND, &codes::LAST_SIGN_IN_METHOD, &codes::REAUTHENTICATION_REQUIRED]);

/// Unlinks all identities at the provider, or only the one that `subject` names.
pub async fn unlink(
    State(app): State<App>,
    FreshUser(caller): FreshUser,
    client: ClientInfo,
    PathText(provider): PathText,
    query: Query,
) -> Result<Json<UnlinkedBody>> {
    let subject = query.optional("subject")?;
    let user = app
        .service
        .oauth
        .unlink_identity(&caller, &provider, subject.as_deref(), &client.to_domain())
        .await?;
    Ok(Json(UnlinkedBody { message: "The identity was unlinked.", user: UserBody::new(&app.service, &user) }))
}
