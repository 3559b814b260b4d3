//! `GET` and `POST /api/auth/oauth/{provider}/callback` and `/custom/{key}/callback`: where a provider sends the browser
//! back to. HEAD uses nothing up: it is answered like a return that nobody waits for.

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::header::LOCATION;
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use latchkey_domain::identity::ProviderKind;
use latchkey_domain::tokens::LinkToken;
use latchkey_service::oauth::callback::{CallbackAnswer, CallbackProblem, OAuthReturn, ReturningBrowser};

use crate::app::App;
use crate::body::FormBody;
use crate::client::ClientInfo;
use crate::error::{ApiError, Result};
use crate::pages::dead_sign_in;
use crate::path::PathText;
use crate::query::Query;

/// `GET /api/auth/oauth/{provider}/callback`
pub async fn built_in(
    State(app): State<App>,
    client: ClientInfo,
    method: Method,
    headers: HeaderMap,
    PathText(provider): PathText,
    query: Query,
) -> Result<Response> {
    if method == Method::HEAD {
        return Ok(page(&app, CallbackProblem::Unknown));
    }
    come_back(&app, ProviderKind::BuiltIn, provider, &client, known_browser(&app, &headers), &query).await
}

/// `POST /api/auth/oauth/{provider}/callback`: `response_mode=form_post`
pub async fn built_in_form(
    State(app): State<App>,
    client: ClientInfo,
    PathText(provider): PathText,
    form: Result<FormBody>,
) -> Result<Response> {
    come_back_by_form(&app, ProviderKind::BuiltIn, provider, &client, form).await
}

/// `GET /api/auth/oauth/custom/{key}/callback`
pub async fn custom(
    State(app): State<App>,
    client: ClientInfo,
    method: Method,
    headers: HeaderMap,
    PathText(key): PathText,
    query: Query,
) -> Result<Response> {
    if method == Method::HEAD {
        return Ok(page(&app, CallbackProblem::Unknown));
    }
    come_back(&app, ProviderKind::Custom, key, &client, known_browser(&app, &headers), &query).await
}

/// `POST /api/auth/oauth/custom/{key}/callback`: `response_mode=form_post`
pub async fn custom_form(
    State(app): State<App>,
    client: ClientInfo,
    PathText(key): PathText,
    form: Result<FormBody>,
) -> Result<Response> {
    come_back_by_form(&app, ProviderKind::Custom, key, &client, form).await
}

/// A person looks at the answer: what is no form leads to the page as well.
async fn come_back_by_form(
    app: &App,
    kind: ProviderKind,
    provider: String,
    client: &ClientInfo,
    form: Result<FormBody>,
) -> Result<Response> {
    match form {
        Ok(FormBody(said)) => come_back(app, kind, provider, client, ReturningBrowser::Unknown, &said).await,
        Err(_) => Ok(page(app, CallbackProblem::Unknown)),
    }
}

async fn come_back(
    app: &App,
    kind: ProviderKind,
    provider: String,
    client: &ClientInfo,
    browser: ReturningBrowser,
    said: &Query,
) -> Result<Response> {
    let Ok(state) = said.optional("state") else { return Ok(page(app, CallbackProblem::Unknown)) };
    let without_words =
        OAuthReturn { provider: provider.clone(), state: state.clone(), ..OAuthReturn::default() };
    // With a state that can be read, what cannot be is the provider's doing: the app hears of it, and the state is used up.
    let back = OAuthReturn { browser, ..words(provider, state, said).unwrap_or(without_words) };
    match app.service.oauth_callback(back, kind, &client.to_domain()).await? {
        CallbackAnswer::Redirect(url) => {
            let location = HeaderValue::try_from(url).map_err(ApiError::internal)?;
            Ok((StatusCode::FOUND, [(LOCATION, location)]).into_response())
        }
        CallbackAnswer::Page(problem) => Ok(page(app, problem)),
    }
}

/// The browser of a return by a link.
fn known_browser(app: &App, headers: &HeaderMap) -> ReturningBrowser {
    let cookie = app.oauth_cookie.read(headers);
    ReturningBrowser::Known(cookie.and_then(|cookie| LinkToken::parse(cookie.expose())))
}

fn words(provider: String, state: Option<String>, said: &Query) -> Result<OAuthReturn> {
    Ok(OAuthReturn {
        provider,
        state,
        code: said.optional("code")?,
        error: said.optional("error")?,
        issuer: said.optional("iss")?,
        user: said.optional("user")?,
        ..OAuthReturn::default()
    })
}

fn page(app: &App, problem: CallbackProblem) -> Response {
    dead_sign_in(problem.message(), &app.service.config().service_name).into_response()
}
