//! Authentication: extractors for the calls that need a user or an admin.

use std::convert::Infallible;
use std::task::{Context, Poll};

use axum::extract::{FromRequestParts, Request};
use axum::response::{IntoResponse, Response};
use futures_util::future::{BoxFuture, Either};
use http::request::Parts;
use latchkey_service::sessions::authenticate::{Caller, NamedCaller};
use tower::layer::layer_fn;
use tower::{Layer, Service};

use crate::admin_input::AdminQuery;
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
        let caller = app.service.sessions.authenticate(bearer.as_ref().map(BearerToken::expose)).await?;
        Ok(Self(caller))
    }
}

/// The user that a valid bearer token names; else 401 `AUTH_UNAUTHORIZED`. Its session may be over: for calls that look
/// it up in the round trip that does the rest.
pub struct NamedUser(pub NamedCaller);

impl FromRequestParts<App> for NamedUser {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let bearer = Credentials::of(&parts.headers).bearer;
        Ok(Self(app.service.sessions.named_caller(bearer.as_ref().map(BearerToken::expose)).await?))
    }
}

impl NamedUser {
    /// A refusal of what the caller asks for, unless the session is over: who may not call is told so before anything is
    /// said about the body.
    pub async fn refusal(self, app: &App, refusal: ApiError) -> ApiError {
        match app.service.sessions.confirm(self.0).await {
            Ok(_) => refusal,
            Err(ended) => ended.into(),
        }
    }
}

/// The holder of an admin key, and from where: `X-API-Key`, else the bearer. 401 `ADMIN_UNAUTHORIZED` without one, 403
/// `FORBIDDEN` for a user's token. The call takes no query parameters: one that is sent is refused.
pub struct Admin(pub ClientInfo);

impl FromRequestParts<App> for Admin {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let AdminWith { client, query } = AdminWith::from_request_parts(parts, app).await?;
        query.knowing(&[])?;
        Ok(Self(client))
    }
}

/// The same for a call that takes query parameters.
pub struct AdminWith {
    /// From where.
    pub client: ClientInfo,
    /// The parameters, once the call has said which it knows.
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

/// The layer of public calls: demands the anonymous key where the operator does. Written as a service of its own, so
/// that a call costs neither a box nor a copy of the routes where he does not.
#[must_use]
pub fn public_calls<S>(app: App) -> impl Layer<S, Service = PublicCalls<S>> + Clone {
    layer_fn(move |inside| PublicCalls { app: app.clone(), inside })
}

/// A route that demands the anonymous key where the operator does.
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
        // Calls the polled-ready service and keeps a clone (tower's contract).
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
