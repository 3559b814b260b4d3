//! `GET /api/auth/oauth/{provider}` and `/custom/{key}`: starts an OAuth flow. The response contains the provider's URL
//! for the browser; it is not a redirect.

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::on;
use http::HeaderMap;
use http::header::SET_COOKIE;
use latchkey_domain::identity::ProviderKind;
use latchkey_domain::tokens::LinkToken;
use latchkey_service::oauth::start::{StartOAuth, StartingBrowser};
use serde::Serialize;
use utoipa::ToSchema;

use super::{BuiltIn, Custom, PathKind};
use crate::app::App;
use crate::client::{ClientInfo, SEC_FETCH_SITE};
use crate::endpoint::{Access, Endpoint};
use crate::error::{ApiError, ErrorCode, Result, codes};
use crate::json::Json;
use crate::openapi::fields;
use crate::openapi::parameters;
use crate::path::PathText;
use crate::query::Query;

/// Query parameters that the service reads itself. All others are passed on to the provider.
const OWN: [&str; 3] = ["redirect_uri", "code_challenge", "client_type"];

/// The provider's URL to which the app sends the browser.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = OAuthStart)]
pub struct StartBody {
    #[schema(schema_with = fields::auth_url)]
    pub(crate) auth_url: String,
}

pub const BUILT_IN: Endpoint =
    started(Endpoint::get("/api/auth/oauth/{provider}", |method| on(method, start::<BuiltIn>)))
        .named("signInWithOAuth", "Begin a sign-in with a built-in provider")
        .parameters(&[parameters::redirect_uri, parameters::code_challenge, parameters::provider]);

pub const CUSTOM: Endpoint =
    started(Endpoint::get("/api/auth/oauth/custom/{key}", |method| on(method, start::<Custom>)))
        .named("signInWithCustomOAuth", "Begin a sign-in with a custom provider")
        .parameters(&[parameters::redirect_uri, parameters::code_challenge, parameters::provider_key]);

const fn started(endpoint: Endpoint) -> Endpoint {
    endpoint
        .about(
            "Begins a sign-in and answers the address to send the browser to; not a redirect. Other parameters, \
             such as `prompt` or `login_hint`, go on to the provider as hints, but for `client_type`, which changes nothing here, \
             and `client_id`, `redirect_uri`, `state`, `nonce`, `scope`, `response_type`, `response_mode`, `code_challenge`, \
             `code_challenge_method`, `request`, `request_uri`, `registration` and `claims`, which are dropped.",
        )
        .access(Access::Public)
        .responds::<StartBody>("Where to send the browser.")
        .errors(OF_A_START)
}

/// Error codes that the start of an OAuth flow can return.
const OF_A_START: &[&ErrorCode] = &[
    &codes::REDIRECT_NOT_ALLOWED,
    &codes::UNSUPPORTED_PROVIDER,
    &codes::PROVIDER_NOT_CONFIGURED,
    &codes::TOO_MANY_REQUESTS,
];

async fn start<K: PathKind>(
    State(app): State<App>,
    client: ClientInfo,
    headers: HeaderMap,
    PathText(key): PathText,
    query: Query,
) -> Result<Response> {
    let mut start = start_of(K::KIND, key, &client, &query)?;
    if keeps_cookies(&headers, &query)? {
        let known = app.oauth_cookie.read(&headers).and_then(|cookie| LinkToken::parse(cookie.expose()));
        start.browser = StartingBrowser::Bound(known);
    }
    let started = app.service.oauth.start(start).await?;
    let mut response = Json(StartBody { auth_url: started.url }).into_response();
    if let Some(token) = started.browser {
        let max_age = app.service.oauth.lifetimes().state;
        let cookie = app.oauth_cookie.set(token.expose(), max_age).map_err(ApiError::internal)?;
        response.headers_mut().append(SET_COOKIE, cookie);
    }
    Ok(response)
}

/// True if the browser stores the OAuth cookie of the response: the request has `client_type=web`, and `Sec-Fetch-Site`
/// states that the page is on the same site. Browsers drop cookies set for pages of other sites. Clients without
/// `client_type` are older ones that send requests without credentials, so browsers drop the cookie there too.
fn keeps_cookies(headers: &HeaderMap, query: &Query) -> Result<bool> {
    let sites: Vec<_> = headers.get_all(SEC_FETCH_SITE).iter().collect();
    let is_same_site = matches!(sites[..], [site] if site == "same-origin" || site == "same-site");
    Ok(is_same_site && query.optional("client_type")?.as_deref() == Some("web"))
}

/// Builds the request for the use case from the query string.
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
        browser: StartingBrowser::Unbound,
    })
}
