//! The small router of these tests, and helpers that send requests to it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Path;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use http::{HeaderMap, Request, StatusCode};
use http_body_util::BodyExt;
use latchkey_domain::limits::Limited;
use latchkey_http::body::{JsonBody, ProfileBody};
use latchkey_http::client::{ClientInfo, PeerAddr};
use latchkey_http::error::{ApiError, Result};
use latchkey_http::json::Json;
use latchkey_http::middleware::Middleware;
use latchkey_http::origin::OriginPolicy;
use latchkey_http::pages::{LinkKind, dead_link};
use latchkey_http::query::Query;
use latchkey_http::settings::HttpSettings;
use latchkey_service::Error;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tower::ServiceExt;
use uuid::Uuid;

pub(crate) const REQUEST_ID: &str = "00000000-0000-7000-8000-00000000002a";

/// A response with its whole body.
#[derive(Debug)]
pub(crate) struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub text: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).expect("a JSON body")
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// Asserts status, code and all fields of an error response.
    pub(crate) fn assert_error(&self, status: u16, code: &str) {
        assert_eq!(self.status, status, "{}", self.text);
        let body = self.json();
        assert_eq!(body["error"], code);
        assert_eq!(body["statusCode"], status);
        assert!(body["message"].is_string());
        assert_eq!(body["nextAction"], body["nextActions"]);
        assert_eq!(body["requestId"], REQUEST_ID);
        assert!(self.text.ends_with("}\n"), "{}", self.text);
        assert_eq!(self.header("content-type"), "application/json; charset=utf-8");
    }
}

pub(crate) fn settings() -> HttpSettings {
    let settings = HttpSettings::new("https://id.example.org".parse().unwrap(), false);
    HttpSettings {
        trusted_proxies: vec!["10.0.0.0/8".parse().unwrap()],
        request_timeout: Duration::from_millis(300),
        body_timeout: Duration::from_millis(30),
        ..settings
    }
}

/// Sends a request to the router with the usual settings.
pub(crate) async fn send(request: Request<Body>) -> Answer {
    send_under(settings(), request).await
}

pub(crate) async fn send_under(settings: HttpSettings, request: Request<Body>) -> Answer {
    send_to(&router(settings), request).await
}

/// Sends a request to this router, from 192.0.2.7 unless the request has a peer address.
pub(crate) async fn send_to(router: &Router, mut request: Request<Body>) -> Answer {
    let peer: SocketAddr = "192.0.2.7:4711".parse().unwrap();
    if request.extensions().get::<PeerAddr>().is_none() {
        request.extensions_mut().insert(PeerAddr(peer));
    }
    let response = router.clone().oneshot(request).await.unwrap();
    let (parts, body) = response.into_parts();
    let bytes = body.collect().await.unwrap().to_bytes();
    let text = String::from_utf8(bytes.to_vec()).unwrap();
    Answer { status: parts.status.as_u16(), headers: parts.headers, text }
}

/// A GET request from this peer, with these headers.
pub(crate) fn get_from(peer: &str, path: &str, headers: &[(&str, &str)]) -> Request<Body> {
    let peer = PeerAddr(SocketAddr::new(peer.parse().unwrap(), 4711));
    let request =
        headers.iter().fold(Request::get(path), |request, (name, value)| request.header(*name, *value));
    request.extension(peer).body(Body::empty()).unwrap()
}

pub(crate) fn get_of(path: &str) -> Request<Body> {
    Request::get(path).body(Body::empty()).unwrap()
}

pub(crate) fn post_of(path: &str, body: impl Into<Body>) -> Request<Body> {
    Request::post(path).header("content-type", "application/json").body(body.into()).unwrap()
}

#[derive(Deserialize)]
struct SignUp {
    email: String,
    password: String,
}

pub(crate) fn router(settings: HttpSettings) -> Router {
    crate::logs::catch();
    let settings = Arc::new(settings);
    let known = |origin: &str| origin == "https://app.example.org";
    let origins = OriginPolicy::new(&settings, Arc::new(known));
    let middleware =
        Middleware::new(Arc::clone(&settings), origins, Arc::new(|| REQUEST_ID.parse::<Uuid>().unwrap()));
    let routes = Router::new()
        .route("/ok", get(|| async { Json(json!({"ok": true})) }))
        .route("/items/{id}", get(|Path(id): Path<String>| async move { id }))
        .route("/object", post(|JsonBody(body): JsonBody<Map<String, Value>>| async { Json(body) }))
        .route("/profile", post(|ProfileBody(body): ProfileBody<Map<String, Value>>| async { Json(body) }))
        .route("/sign-up", post(sign_up))
        .route("/client", get(client))
        .route("/search", get(search))
        .route("/panic", get(panics))
        .route("/fail", get(|| async { ApiError::internal("table users\nis gone") }))
        .route(
            "/limited",
            get(|| async {
                ApiError::from(Error::from(Limited {
                    limit: "search, per address",
                    retry_after: Duration::from_secs(1),
                }))
            }),
        )
        .route("/slow", get(|| async { std::future::pending::<()>().await }))
        .route("/cached", get(|| async { ([("cache-control", "public, max-age=60")], "keys") }))
        .route("/bare", get(|| async { (StatusCode::FORBIDDEN, "internal words") }))
        .route("/page", get(|| async { dead_link(LinkKind::VerifyEmail, "Acme") }));
    middleware.wrap(routes.with_state(settings))
}

async fn sign_up(JsonBody(body): JsonBody<SignUp>) -> Response {
    Json(json!({"email": body.email, "length": body.password.len()})).into_response()
}

async fn client(client: ClientInfo) -> Response {
    Json(json!({"address": client.address.to_string(), "isWeb": client.client_type.is_web()})).into_response()
}

async fn search(query: Query) -> Result<String> {
    query.required("q")
}

async fn panics() -> &'static str {
    panic!("secret words")
}
