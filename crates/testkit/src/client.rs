//! Whoever calls the service: the connection, and the credentials that go with every request.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, redirect};
use serde_json::{Value, json};

use crate::request::Request;
use crate::session::Session;

/// How requests reach the service: nothing is followed, stored or retried on the way.
pub(crate) struct Wire {
    address: SocketAddr,
    state: Mutex<State>,
}

#[derive(Clone)]
struct State {
    http: reqwest::Client,
    public_url: String,
}

impl Wire {
    pub(crate) fn new(address: SocketAddr, public_url: &str) -> Self {
        Self { address, state: Mutex::new(State::new(public_url)) }
    }

    /// Forgets the connections to a service that was stopped.
    pub(crate) fn reconnect(&self, public_url: &str) {
        *self.state() = State::new(public_url);
    }

    pub(crate) fn http(&self) -> reqwest::Client {
        self.state().http.clone()
    }

    pub(crate) fn is_https(&self) -> bool {
        self.state().public_url.starts_with("https:")
    }

    /// Where a path is really to be found. Links to the public address lead there too.
    pub(crate) fn url(&self, path: &str) -> String {
        let public_url = self.state().public_url.clone();
        let path = path.strip_prefix(&public_url).unwrap_or(path);
        assert!(path.starts_with('/'), "{path} is not on this service");
        format!("http://{}{path}", self.address)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn new(public_url: &str) -> Self {
        let http = reqwest::Client::builder().redirect(redirect::Policy::none()).no_proxy().build().unwrap();
        Self { http, public_url: public_url.to_owned() }
    }
}

/// Somebody who calls the service, with the headers that go with all of their requests. It keeps no cookies: a test
/// sees them in the answer and sends them with [`Request::session`] or as a header.
#[derive(Clone)]
pub struct Client {
    wire: Arc<Wire>,
    headers: HeaderMap,
}

impl Client {
    pub(crate) fn new(wire: Arc<Wire>) -> Self {
        Self { wire, headers: HeaderMap::new() }
    }

    /// Somebody without credentials, at a service outside this process, such as the binary. `public_url` is without a
    /// trailing slash.
    #[must_use]
    pub fn outside(address: SocketAddr, public_url: &str) -> Self {
        Self::new(Arc::new(Wire::new(address, public_url)))
    }

    /// The same caller with this bearer.
    #[must_use]
    pub fn with_bearer(self, bearer: &str) -> Self {
        self.with_header(AUTHORIZATION.as_str(), &format!("Bearer {bearer}"))
    }

    /// The same caller, at another address (`X-Forwarded-For` through the trusted proxy that the test is).
    #[must_use]
    pub fn at(self, ip: &str) -> Self {
        self.with_header("x-forwarded-for", ip)
    }

    /// The same caller with another header at every request.
    #[must_use]
    pub fn with_header(mut self, name: &str, value: &str) -> Self {
        let name: HeaderName = name.parse().expect("a header name");
        self.headers.insert(name, HeaderValue::from_str(value).expect("a header value"));
        self
    }

    /// A request with any method.
    pub fn request(&self, method: &str, path: &str) -> Request {
        let method = Method::from_bytes(method.as_bytes()).expect("a method");
        Request::new(Arc::clone(&self.wire), method, path, self.headers.clone())
    }

    /// GET. `path` begins with a slash, or is a link to the service's public address.
    pub fn get(&self, path: &str) -> Request {
        self.request("GET", path)
    }

    /// POST of JSON.
    pub fn post(&self, path: &str, body: Value) -> Request {
        self.request("POST", path).json(&body)
    }

    /// PUT of JSON.
    pub fn put(&self, path: &str, body: Value) -> Request {
        self.request("PUT", path).json(&body)
    }

    /// PATCH of JSON.
    pub fn patch(&self, path: &str, body: Value) -> Request {
        self.request("PATCH", path).json(&body)
    }

    /// DELETE without a body; `.json(…)` adds one.
    pub fn delete(&self, path: &str) -> Request {
        self.request("DELETE", path)
    }

    /// signUp.
    pub fn sign_up(&self, email: &str, password: &str) -> Request {
        self.post("/api/auth/users", json!({"email": email, "password": password}))
    }

    /// signInWithPassword.
    pub fn sign_in(&self, email: &str, password: &str) -> Request {
        self.post("/api/auth/sessions", json!({"email": email, "password": password}))
    }

    /// refreshSession, the way that the session's client has: cookie and CSRF token, or the token in the body.
    pub fn refresh(&self, session: &Session) -> Request {
        self.post("/api/auth/refresh", json!({})).session(session)
    }

    /// signOut, the same way.
    pub fn sign_out(&self, session: &Session) -> Request {
        self.post("/api/auth/logout", json!({})).session(session)
    }

    /// verifyEmail by a code.
    pub fn verify(&self, email: &str, code: &str) -> Request {
        self.post("/api/auth/email/verify", json!({"email": email, "otp": code}))
    }

    /// A search with this text, and nothing else in the query.
    pub fn search(&self, q: &str) -> Request {
        self.get("/api/profiles/search").query("q", q)
    }
}
