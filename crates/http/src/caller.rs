//! Authentication extractors: a signed-in user, an admin. Also the layer that checks the key of public clients
//! (`auth.anon_key`).

use std::convert::Infallible;
use std::task::{Context, Poll};

use axum::extract::{FromRequestParts, Request};
use axum::response::{IntoResponse, Response};
use futures_util::future::{BoxFuture, Either};
use http::request::Parts;
use latchkey_domain::ids::UserId;
use latchkey_service::sessions::FreshCaller;
use latchkey_service::sessions::authenticate::{Caller, NamedCaller};
use tower::layer::layer_fn;
use tower::{Layer, Service};

use crate::admin_input::AdminQuery;
use crate::app::App;
use crate::bearer::{ApiKeyHeader, BearerToken, Credentials};
use crate::client::ClientInfo;
use crate::error::{ApiError, Result};

/// The user of a valid access token whose session has not ended; otherwise 401 `AUTH_UNAUTHORIZED`.
pub struct SignedInUser(pub Caller);

impl FromRequestParts<App> for SignedInUser {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let bearer = Credentials::of(&parts.headers).bearer;
        let caller = app.service.sessions.authenticate(bearer.as_ref().map(BearerToken::expose)).await?;
        trace_user(app, caller.user_id);
        Ok(Self(caller))
    }
}

/// The user of a valid access token from a recent sign-in or reauthentication (`auth.reauthentication_window`), called
/// fresh. 401 as for [`SignedInUser`]; 403 `REAUTHENTICATION_REQUIRED` if the token is valid but not fresh.
pub struct FreshUser(pub FreshCaller);

impl FromRequestParts<App> for FreshUser {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let bearer = Credentials::of(&parts.headers).bearer;
        let caller = app.service.sessions.fresh(bearer.as_ref().map(BearerToken::expose)).await?;
        trace_user(app, caller.caller().user_id);
        Ok(Self(caller))
    }
}

/// The user named by a valid access token; otherwise 401 `AUTH_UNAUTHORIZED`. The session may have ended: the use case
/// checks it in the same round trip to the database as its other reads.
pub struct NamedUser(pub NamedCaller);

impl FromRequestParts<App> for NamedUser {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let bearer = Credentials::of(&parts.headers).bearer;
        let caller = app.service.sessions.named_caller(bearer.as_ref().map(BearerToken::expose)).await?;
        trace_user(app, caller.user_id());
        Ok(Self(caller))
    }
}

/// Adds the user to the trace of the request, if the settings say so.
pub(crate) fn trace_user(app: &App, user_id: UserId) {
    if app.settings.traces_users {
        tracing::info!(target: "traces", %user_id);
    }
}

impl NamedUser {
    /// Returns `refusal` if the session has not ended, and a 401 otherwise. A caller without a session must not learn
    /// what else is wrong with the request.
    pub async fn refusal(self, app: &App, refusal: ApiError) -> ApiError {
        match app.service.sessions.confirm(self.0).await {
            Ok(_) => refusal,
            Err(ended) => ended.into(),
        }
    }
}

/// The client of a call with a valid admin key, in `X-API-Key` or else as bearer token. 401 `ADMIN_UNAUTHORIZED`
/// without a key, 403 `FORBIDDEN` for a user's token. Query parameters are refused.
pub struct Admin(pub ClientInfo);

impl FromRequestParts<App> for Admin {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let AdminWith { client, query } = AdminWith::from_request_parts(parts, app).await?;
        query.knowing(&[])?;
        Ok(Self(client))
    }
}

/// Like [`Admin`], for a call that takes query parameters.
pub struct AdminWith {
    pub client: ClientInfo,
    /// The query string, which the handler parses with the names that it knows.
    pub query: AdminQuery,
}

impl FromRequestParts<App> for AdminWith {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let client = ClientInfo::from_request_parts(parts, app).await?;
        let credentials = Credentials::of(&parts.headers);
        let key = match &credentials.api_key {
            ApiKeyHeader::Given(key) => Some(key.expose()),
            ApiKeyHeader::Malformed => Some(""),
            ApiKeyHeader::Missing => credentials.bearer.as_ref().map(BearerToken::expose),
        };
        app.service.access.authorize_admin(key, &client.to_domain()).await?;
        Ok(Self { client, query: AdminQuery(parts.uri.query().unwrap_or_default().to_owned()) })
    }
}

/// Creates the layer that requires `auth.anon_key` as bearer token, if the setting `auth.require_anon_key` is on. The
/// layer is a hand-written tower service: while the setting is off, it allocates no boxed future and clones no route.
#[must_use]
pub fn public_calls<S>(app: App) -> impl Layer<S, Service = PublicCalls<S>> + Clone {
    layer_fn(move |inside| PublicCalls { app: app.clone(), inside })
}

/// Tower service around a route. It requires `auth.anon_key` if the setting `auth.require_anon_key` is on.
#[derive(Clone)]
pub struct PublicCalls<S> {
    app: App,
    inside: S,
}

impl<S> Service<Request> for PublicCalls<S>
where
    S: Service<Request, Response = Response, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
{
    type Response = Response;
    type Error = Infallible;
    type Future = Either<S::Future, BoxFuture<'static, Result<Response, Infallible>>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inside.poll_ready(context)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        if !self.app.service.access.wants_anon_key() {
            return Either::Left(self.inside.call(request));
        }
        // tower's contract: `call` uses the service that `poll_ready` was called on. The clone is for the next call.
        let other = self.inside.clone();
        let mut inside = std::mem::replace(&mut self.inside, other);
        let app = self.app.clone();
        Either::Right(Box::pin(async move {
            let bearer = Credentials::of(request.headers()).bearer;
            match app.service.access.check_anon_key(bearer.as_ref().map(BearerToken::expose)).await {
                Ok(()) => inside.call(request).await,
                Err(refusal) => Ok(ApiError::from(refusal).into_response()),
            }
        }))
    }
}
