//! Who calls, proven: extractors for the calls that need a user or an admin.

use axum::extract::{FromRequestParts, Request, State};
use axum::middleware::Next;
use axum::response::Response;
use http::request::Parts;
use latchkey_service::authenticate::Caller;

use crate::app::App;
use crate::bearer::{ApiKeyHeader, BearerToken, Credentials};
use crate::client::ClientInfo;
use crate::error::{ApiError, Result};

/// The user of a good bearer token whose session lives; else 401 `AUTH_UNAUTHORIZED`.
pub struct SignedInUser(pub Caller);

impl FromRequestParts<App> for SignedInUser {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let bearer = Credentials::of(&parts.headers).bearer;
        let caller = app.service.authenticate(bearer.as_ref().map(BearerToken::expose)).await?;
        Ok(Self(caller))
    }
}

/// The holder of an admin key, and from where: `X-API-Key`, else the bearer. 401 `ADMIN_UNAUTHORIZED` without one, 403
/// `FORBIDDEN` for a user's token.
pub struct Admin(pub ClientInfo);

impl FromRequestParts<App> for Admin {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let client = ClientInfo::from_request_parts(parts, app).await?;
        let credentials = Credentials::of(&parts.headers);
        let key = match &credentials.api_key {
            ApiKeyHeader::Given(key) => Some(key.expose()),
            ApiKeyHeader::Malformed => Some(""),
            ApiKeyHeader::Missing => credentials.bearer.as_ref().map(BearerToken::expose),
        };
        app.service.authorize_admin(key, &client.to_domain()).await?;
        Ok(Self(client))
    }
}

/// The layer of public calls: demands the anonymous key where the operator does.
pub async fn public_call(State(app): State<App>, request: Request, next: Next) -> Result<Response> {
    let bearer = Credentials::of(request.headers()).bearer;
    app.service.check_anon_key(bearer.as_ref().map(BearerToken::expose))?;
    Ok(next.run(request).await)
}
