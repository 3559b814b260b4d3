//! `GET /api/auth/oauth/{provider}` and `/custom/{key}`: signInWithOAuth. The answer is the address to send the browser
//! to, not a redirect.

use axum::extract::State;
use latchkey_domain::identity::ProviderKind;
use latchkey_service::oauth::start::StartOAuth;
use serde::Serialize;
use utoipa::ToSchema;

use crate::answer::Json;
use crate::app::App;
use crate::client::ClientInfo;
use crate::error::Result;
use crate::openapi::fields;
use crate::path::PathText;
use crate::query::Query;

/// Parameters of the start that are ours; every other one is a hint for the provider.
const OWN: [&str; 3] = ["redirect_uri", "code_challenge", "client_type"];

/// Where to send the browser.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = OAuthStart)]
pub struct StartBody {
    #[schema(schema_with = fields::auth_url)]
    pub(crate) auth_url: String,
}

/// `GET /api/auth/oauth/{provider}`
pub async fn built_in(
    State(app): State<App>,
    client: ClientInfo,
    PathText(provider): PathText,
    query: Query,
) -> Result<Json<StartBody>> {
    start(&app, ProviderKind::BuiltIn, provider, &client, &query).await
}

/// `GET /api/auth/oauth/custom/{key}`
pub async fn custom(
    State(app): State<App>,
    client: ClientInfo,
    PathText(key): PathText,
    query: Query,
) -> Result<Json<StartBody>> {
    start(&app, ProviderKind::Custom, key, &client, &query).await
}

async fn start(
    app: &App,
    kind: ProviderKind,
    provider: String,
    client: &ClientInfo,
    query: &Query,
) -> Result<Json<StartBody>> {
    let start = start_of(kind, provider, client, query)?;
    Ok(Json(StartBody { auth_url: app.service.start_oauth(start).await? }))
}

/// The start that a query string asks for.
pub(crate) fn start_of(
    kind: ProviderKind,
    provider: String,
    client: &ClientInfo,
    query: &Query,
) -> Result<StartOAuth> {
    let is_hint = |pair: &(String, String)| !OWN.contains(&pair.0.as_str());
    Ok(StartOAuth {
        kind,
        provider,
        redirect_uri: query.optional("redirect_uri")?.filter(|text| !text.is_empty()),
        code_challenge: query.optional("code_challenge")?,
        hints: query.all()?.into_iter().filter(is_hint).collect(),
        client: client.to_domain(),
    })
}
