//! The OAuth callback, to which a provider redirects the browser: `GET` and `POST` of
//! `/api/auth/oauth/{provider}/callback` and `/custom/{key}/callback`. HEAD does not use up the `state`: it gets the
//! page for an unknown `state`.

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::on;
use http::header::LOCATION;
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use latchkey_domain::identity::ProviderKind;
use latchkey_domain::tokens::LinkToken;
use latchkey_service::oauth::callback::{CallbackAnswer, CallbackProblem, OAuthReturn, ReturningBrowser};

use super::{BuiltIn, Custom, PathKind};
use crate::app::App;
use crate::body::FormAndQuery;
use crate::client::ClientInfo;
use crate::endpoint::Endpoint;
use crate::error::{ApiError, Result};
use crate::openapi::parameters;
use crate::pages::dead_sign_in;
use crate::path::PathText;
use crate::query::Query;

pub const BUILT_IN: Endpoint =
    returned(Endpoint::get("/api/auth/oauth/{provider}/callback", |method| on(method, by_link::<BuiltIn>)))
        .named("returnFromProvider", SUMMARY)
        .parameters(&[
            parameters::provider,
            parameters::returned_state,
            parameters::returned_code,
            parameters::returned_error,
            parameters::returned_issuer,
            parameters::returned_user,
        ]);

pub const BUILT_IN_FORM: Endpoint =
    returned(Endpoint::post("/api/auth/oauth/{provider}/callback", |method| on(method, by_form::<BuiltIn>)))
        .named("returnFromProviderByForm", SUMMARY)
        .parameters(&[parameters::provider])
        .form(FORM);

pub const CUSTOM: Endpoint =
    returned(Endpoint::get("/api/auth/oauth/custom/{key}/callback", |method| on(method, by_link::<Custom>)))
        .named("returnFromCustomProvider", SUMMARY)
        .parameters(&[
            parameters::provider_key,
            parameters::returned_state,
            parameters::returned_code,
            parameters::returned_error,
            parameters::returned_issuer,
            parameters::returned_user,
        ]);

pub const CUSTOM_FORM: Endpoint =
    returned(Endpoint::post("/api/auth/oauth/custom/{key}/callback", |method| on(method, by_form::<Custom>)))
        .named("returnFromCustomProviderByForm", SUMMARY)
        .parameters(&[parameters::provider_key])
        .form(FORM);

const SUMMARY: &str = "Return from the provider";
const FORM: &str = "What the provider says, as a form (`response_mode=form_post`): `state`, `code` or `error`, `iss`, and of \
    Apple `user`.";

const fn returned(endpoint: Endpoint) -> Endpoint {
    endpoint
        .about(
            "Where the provider sends the browser back to. The browser is sent on to the `redirect_uri` of \
             the start, with `service_code` to exchange, or with `error`, a sentence for people. It opens no session and \
             links nothing. HEAD uses nothing up.",
        )
        .redirects("To the app, with `service_code` or `error`.")
        .bad_request_page(
            "A page: the state is unknown or cannot be read, or there is nowhere to redirect to any more.",
        )
}

async fn by_link<K: PathKind>(
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
    come_back(&app, K::KIND, key, &client, known_browser(&app, &headers), &query).await
}

/// Handles `response_mode=form_post`. A person sees the response, so a malformed form gets an HTML page instead of
/// JSON.
async fn by_form<K: PathKind>(
    State(app): State<App>,
    client: ClientInfo,
    PathText(key): PathText,
    form: Result<FormAndQuery>,
) -> Result<Response> {
    match form {
        Ok(FormAndQuery(said)) => {
            come_back(&app, K::KIND, key, &client, ReturningBrowser::Unknown, &said).await
        }
        Err(_) => Ok(page(&app, CallbackProblem::Unknown)),
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
    // If only parameters other than `state` are malformed, the provider made the mistake: the app gets an error, and
    // the `state` is used up.
    let back = OAuthReturn { browser, ..words(provider, state, said).unwrap_or(without_words) };
    match app.service.oauth.callback(back, kind, &client.to_domain()).await? {
        CallbackAnswer::Redirect(url) => {
            let location = HeaderValue::try_from(url).map_err(ApiError::internal)?;
            Ok((StatusCode::FOUND, [(LOCATION, location)]).into_response())
        }
        CallbackAnswer::Page(problem) => Ok(page(app, problem)),
    }
}

/// Identifies the browser of a `GET` callback by the OAuth cookie.
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
    dead_sign_in(problem.message(), app.service.name()).into_response()
}
