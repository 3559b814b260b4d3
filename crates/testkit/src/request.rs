//! Builder for requests of a test.

use std::sync::Arc;

use reqwest::header::{CONTENT_TYPE, COOKIE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, Url};
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::client::Wire;
use crate::record::Sent;
use crate::session::Session;

/// Request to be sent.
#[must_use = "a request does nothing until it is sent"]
pub struct Request {
    wire: Arc<Wire>,
    method: Method,
    url: Url,
    headers: HeaderMap,
    body: Option<Vec<u8>>,
}

impl Request {
    pub(crate) fn new(wire: Arc<Wire>, method: Method, path: &str, headers: HeaderMap) -> Self {
        let url = Url::parse(&wire.url(path)).expect("a path");
        Self { wire, method, url, headers, body: None }
    }

    /// Adds a query parameter, percent-encoded.
    pub fn query(mut self, name: &str, value: &str) -> Self {
        self.url.query_pairs_mut().append_pair(name, value);
        self
    }

    /// Sets the query parameter `client_type`: `web`, `mobile`, `desktop` or `server`.
    pub fn client_type(self, client_type: &str) -> Self {
        self.query("client_type", client_type)
    }

    /// Sets a header, replacing any of this name.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers
            .insert(name_of(name), HeaderValue::from_bytes(value.as_bytes()).expect("a header value"));
        self
    }

    /// Appends a header.
    pub fn and_header(mut self, name: &str, value: &str) -> Self {
        self.headers
            .append(name_of(name), HeaderValue::from_bytes(value.as_bytes()).expect("a header value"));
        self
    }

    /// Removes a header.
    pub fn without_header(mut self, name: &str) -> Self {
        self.headers.remove(name_of(name));
        self
    }

    /// Sets the bearer token.
    pub fn bearer(self, token: &str) -> Self {
        self.header("authorization", &format!("Bearer {token}"))
    }

    /// Sets the client address in `X-Forwarded-For`. The service treats the test as a trusted proxy.
    pub fn from_ip(self, ip: &str) -> Self {
        self.header("x-forwarded-for", ip)
    }

    /// Sets a cookie, `name=value`.
    pub fn cookie(self, pair: &str) -> Self {
        self.header(COOKIE.as_str(), pair)
    }

    /// Adds the credentials of a refresh or sign-out: cookie and CSRF token of a web session, otherwise the refresh
    /// token in the body.
    pub fn session(self, session: &Session) -> Self {
        if let Some(cookie) = &session.cookie {
            let csrf_token = session.csrf_token.as_deref().unwrap_or_default();
            return self.cookie(cookie).header("x-csrf-token", csrf_token);
        }
        let token = session.refresh_token.as_deref().expect("a refresh token");
        self.client_type("server").json(&json!({"refreshToken": token}))
    }

    /// Sets a JSON body.
    pub fn json(self, body: &Value) -> Self {
        self.raw("application/json", body.to_string())
    }

    /// Sets a body of any content type.
    pub fn raw(mut self, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        self.body = Some(body.into());
        self.header(CONTENT_TYPE.as_str(), content_type)
    }

    /// Sends the request and reads the whole response.
    pub async fn send(self) -> Answer {
        let asked = format!("{} {}", self.method, self.url);
        self.try_send().await.unwrap_or_else(|error| panic!("{asked}: {error:?}"))
    }

    /// Sends the request like [`Self::send`], but returns an error if the service stops before it responds.
    pub async fn try_send(self) -> reqwest::Result<Answer> {
        let asked = format!("{} {}", self.method, self.url);
        let is_https = self.wire.is_https();
        let sent =
            Sent::new(&self.method, &self.url, &self.headers, self.body.as_deref().unwrap_or_default());
        let mut request = self.wire.http().request(self.method, self.url).headers(self.headers);
        if let Some(body) = self.body {
            request = request.body(body);
        }
        let response = request.send().await?;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let body = response.bytes().await?.to_vec();
        let answer = Answer { asked, status, headers, body, is_https };
        if let Some(sent) = sent {
            sent.record(&answer);
        }
        Ok(answer)
    }
}

fn name_of(name: &str) -> HeaderName {
    name.parse().expect("a header name")
}
