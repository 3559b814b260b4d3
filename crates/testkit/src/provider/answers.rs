//! HTTP endpoints of the fake provider.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State as Shared;
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, LOCATION};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures_util::stream;
use serde_json::{Value, json};

use super::lies::{Document, Endpoint, Manner};
use super::{PROVIDER_CLIENT_ID, PROVIDER_CLIENT_SECRET, ProviderState, challenge_of};

/// Access token that the userinfo endpoint accepts.
const ACCESS_TOKEN: &str = "access-token-of-the-provider";
/// Size of a body in bytes that is above any reasonable limit.
const TOO_MUCH: usize = 2 * 1024 * 1024;

/// Path of Microsoft's metadata. The fake provider plays all built-in providers; the first segment of a path
/// is the host name of the real one.
const MICROSOFT: &str = "/login.microsoftonline.com/{tenant}/v2.0/.well-known/openid-configuration";

type SharedState = Arc<Mutex<ProviderState>>;

pub(super) fn routes(state: SharedState) -> Router {
    Router::new()
        .route("/.well-known/openid-configuration", get(discovery))
        .route(MICROSOFT, get(discovery))
        .route("/jwks", get(jwks))
        .route("/token", post(token))
        .route("/userinfo", get(userinfo))
        .with_state(state)
}

async fn discovery(Shared(state): Shared<SharedState>) -> Response {
    let state = &mut *locked(&state);
    let at = |path: &str| format!("{}{path}", state.issuer);
    let document = json!({
        "issuer": state.issuer,
        "authorization_endpoint": at("/authorize"),
        "token_endpoint": at("/token"),
        "userinfo_endpoint": at("/userinfo"),
        "jwks_uri": at("/jwks"),
        "response_types_supported": ["code"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["ES256"],
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": true,
    });
    let document = state.lies.told(Document::Discovery, document);
    answer(state, Endpoint::Discovery, &document)
}

async fn jwks(Shared(state): Shared<SharedState>) -> Response {
    let state = &mut *locked(&state);
    let document = state.lies.told(Document::Jwks, json!({"keys": [state.key.jwk()]}));
    answer(state, Endpoint::Jwks, &document)
}

async fn token(Shared(state): Shared<SharedState>, headers: HeaderMap, body: Bytes) -> Response {
    let form: BTreeMap<String, String> = form_urlencoded::parse(&body).into_owned().collect();
    let state = &mut *locked(&state);
    let said = |name: &str| form.get(name).map(String::as_str).unwrap_or_default();
    if !is_the_client(&headers, said("client_id"), said("client_secret")) {
        return refusal(StatusCode::UNAUTHORIZED, "invalid_client");
    }
    let challenge = challenge_of(said("code_verifier"));
    let consent = state.consents.remove(said("code")); // a code can be exchanged once
    let Some(consent) = consent.filter(|consent| {
        said("grant_type") == "authorization_code"
            && consent.redirect_uri == said("redirect_uri")
            && consent.code_challenge == challenge
    }) else {
        return refusal(StatusCode::BAD_REQUEST, "invalid_grant");
    };
    let document = json!({
        "access_token": ACCESS_TOKEN,
        "token_type": "Bearer",
        "expires_in": 300,
        "id_token": state.id_token(consent.nonce.as_deref()),
    });
    let document = state.lies.told(Document::TokenAnswer, document);
    answer(state, Endpoint::Token, &document)
}

async fn userinfo(Shared(state): Shared<SharedState>, headers: HeaderMap) -> Response {
    let state = &mut *locked(&state);
    let bearer = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    if bearer != Some(&format!("Bearer {ACCESS_TOKEN}")) {
        return refusal(StatusCode::UNAUTHORIZED, "invalid_token");
    }
    let document = state.lies.told(Document::UserInfo, state.person.clone());
    answer(state, Endpoint::UserInfo, &document)
}

/// True if the request authenticates the client, by `client_secret_basic` or `client_secret_post`. With the
/// former, both parts are form-encoded before Base64 (RFC 6749 section 2.3.1).
fn is_the_client(headers: &HeaderMap, id: &str, secret: &str) -> bool {
    let basic = STANDARD.encode(format!("{PROVIDER_CLIENT_ID}:{PROVIDER_CLIENT_SECRET}"));
    let header = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    header == Some(&format!("Basic {basic}"))
        || (id == PROVIDER_CLIENT_ID && secret == PROVIDER_CLIENT_SECRET)
}

fn answer(state: &mut ProviderState, endpoint: Endpoint, document: &Value) -> Response {
    *state.asked.entry(endpoint).or_default() += 1;
    let json = [(CONTENT_TYPE, "application/json")];
    let text = document.to_string();
    match state.lies.manner(endpoint) {
        None => (json, text).into_response(),
        Some(Manner::Status(status)) => {
            (StatusCode::from_u16(status).expect("a status"), json, text).into_response()
        }
        Some(Manner::Redirect(target)) => {
            (StatusCode::TEMPORARY_REDIRECT, [(LOCATION, target)]).into_response()
        }
        Some(Manner::Huge) => (json, format!("{text}{}", " ".repeat(TOO_MUCH))).into_response(),
        Some(Manner::Endless) => (json, forever(Duration::ZERO, 64 * 1024)).into_response(),
        Some(Manner::Slow) => (json, forever(Duration::from_millis(200), 1)).into_response(),
        Some(Manner::Silent) => (json, nothing()).into_response(),
        Some(Manner::Garbage) => (json, "<html>not what you asked for</html>").into_response(),
        Some(Manner::CutOff) => (json, broken(text)).into_response(),
    }
}

/// Returns a body that never ends. It is white space, which JSON allows before a value.
fn forever(pause: Duration, size: usize) -> Body {
    Body::from_stream(stream::unfold((), move |()| async move {
        tokio::time::sleep(pause).await;
        Some((Ok::<_, io::Error>(Bytes::from(vec![b' '; size])), ()))
    }))
}

fn nothing() -> Body {
    Body::from_stream(stream::pending::<Result<Bytes, io::Error>>())
}

fn broken(text: String) -> Body {
    let half = text[..text.len() / 2].to_owned();
    Body::from_stream(stream::iter([Ok(Bytes::from(half)), Err(io::Error::other("cut off"))]))
}

fn refusal(status: StatusCode, error: &str) -> Response {
    let body = json!({"error": error, "error_description": "<script>the provider's own words</script>"});
    (status, [(CONTENT_TYPE, "application/json")], body.to_string()).into_response()
}

fn locked(state: &SharedState) -> MutexGuard<'_, ProviderState> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
