//! HTTP client for tests, with credentials that it sends by default.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, redirect};
use serde_json::{Value, json};

use crate::request::Request;
use crate::session::Session;

/// HTTP connections of a test. It follows no redirects, stores no cookies and retries nothing.
pub(crate) struct Wire {
    address: SocketAddr,
    state: Mutex<ConnectionState>,
}

#[derive(Clone)]
struct ConnectionState {
    http: reqwest::Client,
    public_url: String,
}

impl Wire {
    pub(crate) fn new(address: SocketAddr, public_url: &str) -> Self {
        Self { address, state: Mutex::new(ConnectionState::new(public_url)) }
    }

    /// Drops pooled connections to a stopped service.
    pub(crate) fn reconnect(&self, public_url: &str) {
        *self.state() = ConnectionState::new(public_url);
    }

    pub(crate) fn http(&self) -> reqwest::Client {
        self.state().http.clone()
    }

    pub(crate) fn is_https(&self) -> bool {
        self.state().public_url.starts_with("https:")
    }

    /// Returns the address to which a request for this path, or for a link that begins with the public URL,
    /// is sent.
    pub(crate) fn url(&self, path: &str) -> String {
        let public_url = self.state().public_url.clone();
        let path = path.strip_prefix(&public_url).unwrap_or(path);
        assert!(path.starts_with('/'), "{path} is not on this service");
        format!("http://{}{path}", self.address)
    }

    fn state(&self) -> MutexGuard<'_, ConnectionState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ConnectionState {
    fn new(public_url: &str) -> Self {
        let http = reqwest::Client::builder().redirect(redirect::Policy::none()).no_proxy().build().unwrap();
        Self { http, public_url: public_url.to_owned() }
    }
}

/// HTTP client with default headers. It stores no cookies: tests read them from the response and send them by
/// [`Request::session`] or as a header.
#[derive(Clone)]
pub struct Client {
    wire: Arc<Wire>,
    headers: HeaderMap,
}

impl Client {
    pub(crate) fn new(wire: Arc<Wire>) -> Self {
        Self { wire, headers: HeaderMap::new() }
    }

    /// Client without credentials for a service outside this process, such as the binary. `public_url` has no
    /// trailing slash.
    #[must_use]
    pub fn outside(address: SocketAddr, public_url: &str) -> Self {
        Self::new(Arc::new(Wire::new(address, public_url)))
    }

    /// Adds this bearer token.
    #[must_use]
    pub fn with_bearer(self, bearer: &str) -> Self {
        self.with_header(AUTHORIZATION.as_str(), &format!("Bearer {bearer}"))
    }

    /// Sets the client address in `X-Forwarded-For`. The service treats the test as a trusted proxy.
    #[must_use]
    pub fn at(self, ip: &str) -> Self {
        self.with_header("x-forwarded-for", ip)
    }

    /// Adds a default header.
    #[must_use]
    pub fn with_header(mut self, name: &str, value: &str) -> Self {
        let name: HeaderName = name.parse().expect("a header name");
        self.headers.insert(name, HeaderValue::from_str(value).expect("a header value"));
        self
    }

    /// Builds a request with any method.
    pub fn request(&self, method: &str, path: &str) -> Request {
        let method = Method::from_bytes(method.as_bytes()).expect("a method");
        Request::new(Arc::clone(&self.wire), method, path, self.headers.clone())
    }

    /// Builds a GET request. `path` begins with a slash, or is a link to the service's public URL.
    pub fn get(&self, path: &str) -> Request {
        self.request("GET", path)
    }

    /// Builds a POST request with JSON.
    pub fn post(&self, path: &str, body: Value) -> Request {
        self.request("POST", path).json(&body)
    }

    /// Builds a PUT request with JSON.
    pub fn put(&self, path: &str, body: Value) -> Request {
        self.request("PUT", path).json(&body)
    }

    /// Builds a PATCH request with JSON.
    pub fn patch(&self, path: &str, body: Value) -> Request {
        self.request("PATCH", path).json(&body)
    }

    /// Builds a DELETE request without a body; `.json(…)` adds one.
    pub fn delete(&self, path: &str) -> Request {
        self.request("DELETE", path)
    }

    pub fn sign_up(&self, email: &str, password: &str) -> Request {
        self.post("/api/auth/users", json!({"email": email, "password": password}))
    }

    pub fn sign_in(&self, email: &str, password: &str) -> Request {
        self.post("/api/auth/sessions", json!({"email": email, "password": password}))
    }

    /// Builds the call `refreshSession` with the session's cookie and CSRF token, or with its refresh token
    /// in the body.
    pub fn refresh(&self, session: &Session) -> Request {
        self.post("/api/auth/refresh", json!({})).session(session)
    }

    /// Builds the call `signOut` with the session's cookie and CSRF token, or with its refresh token in the
    /// body.
    pub fn sign_out(&self, session: &Session) -> Request {
        self.post("/api/auth/logout", json!({})).session(session)
    }

    /// Builds the call `verifyEmail` with a code.
    pub fn verify(&self, email: &str, code: &str) -> Request {
        self.post("/api/auth/email/verify", json!({"email": email, "otp": code}))
    }

    /// Builds a profile search with this text as the only query parameter.
    pub fn search(&self, q: &str) -> Request {
        self.get("/api/profiles/search").query("q", q)
    }
}
