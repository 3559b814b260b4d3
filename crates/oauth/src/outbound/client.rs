//! HTTP client for JSON: sends a request, reads the response, and classifies errors.

use std::error::Error;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{ACCEPT, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{RequestBuilder, Response, StatusCode};
use serde_json::Value;
use tokio::time::{Instant, timeout_at};
use url::Url;
use zeroize::Zeroizing;

use super::resolver::{GuardedResolver, NotPublic, SystemLookup};
use super::{InvalidOutbound, Networks, OutboundSettings, Proxy, tls};
use crate::error::{ProviderError, Stage};
use crate::text::sanitized;

/// Maximum length of a response body in bytes.
pub(crate) const LONGEST_BODY: usize = 1024 * 1024;
/// Maximum length of a provider's error code in bytes.
const LONGEST_CODE: usize = 64;
/// Error code that replaces a malformed one in a provider's response.
const OTHER: &str = "other";
/// `User-Agent`, which some providers require.
const USER_AGENT: &str = "latchkey";

/// HTTP client with the network policy. Cloning is cheap.
#[derive(Clone)]
pub(crate) struct Outbound {
    http: reqwest::Client,
    networks: Networks,
}

/// A response with a success status.
pub(crate) struct JsonResponse {
    pub(crate) body: Value,
    /// `max-age` in the header `Cache-Control`.
    pub(crate) max_age: Option<Duration>,
}

impl Outbound {
    pub(crate) fn new(settings: OutboundSettings) -> Result<Self, InvalidOutbound> {
        let invalid = |error: reqwest::Error| InvalidOutbound::Tls(error.to_string());
        let mut builder = reqwest::Client::builder()
            .tls_backend_preconfigured(tls::config(settings.ca_file.as_deref())?)
            .http1_only()
            .redirect(Policy::none())
            .retry(reqwest::retry::never())
            .no_proxy()
            .referer(false)
            .no_gzip()
            .no_brotli()
            .no_zstd()
            .no_deflate()
            .user_agent(USER_AGENT)
            .default_headers(HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static("application/json"))]))
            .timeout(settings.timeout)
            .pool_idle_timeout(Duration::from_secs(30));
        if let Some(Proxy(proxy)) = settings.proxy {
            // The proxy resolves hosts; only its own name, which the operator chose, is resolved here.
            builder = builder.proxy(reqwest::Proxy::all(proxy).map_err(invalid)?);
        } else {
            let lookup = settings.lookup.unwrap_or_else(|| Arc::new(SystemLookup));
            builder = builder.dns_resolver(GuardedResolver { lookup, networks: settings.networks });
        }
        Ok(Self { http: builder.build().map_err(invalid)?, networks: settings.networks })
    }

    /// Creates a GET request, if the network policy allows `url`.
    pub(crate) fn get(&self, stage: Stage, url: &Url) -> Result<RequestBuilder, ProviderError> {
        self.check(stage, url)?;
        Ok(self.http.get(url.clone()))
    }

    /// Creates a POST request, if the network policy allows `url`.
    pub(crate) fn post(&self, stage: Stage, url: &Url) -> Result<RequestBuilder, ProviderError> {
        self.check(stage, url)?;
        Ok(self.http.post(url.clone()))
    }

    /// Checks `url` against the network policy, before a request to it or a redirect of the browser.
    pub(crate) fn check(&self, stage: Stage, url: &Url) -> Result<(), ProviderError> {
        self.networks.check(url).map_err(|reason| ProviderError::Forbidden { stage, reason })
    }

    /// Sends a request and reads the response; both must end before the deadline.
    pub(crate) async fn send(
        &self,
        stage: Stage,
        request: RequestBuilder,
        deadline: Instant,
    ) -> Result<JsonResponse, ProviderError> {
        timeout_at(deadline, exchange(stage, request)).await.unwrap_or_else(|_| Err(too_slow(stage)))
    }
}

pub(crate) fn too_slow(stage: Stage) -> ProviderError {
    ProviderError::Down { stage, reason: "no answer in time".to_owned() }
}

async fn exchange(stage: Stage, request: RequestBuilder) -> Result<JsonResponse, ProviderError> {
    let response = request.send().await.map_err(|error| failure(stage, &error))?;
    let status = response.status();
    if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS {
        return Err(ProviderError::Down { stage, reason: format!("status {}", status.as_u16()) });
    }
    if status.is_redirection() {
        return Err(bad(stage, "it redirects, which is not followed"));
    }
    let max_age = max_age(response.headers());
    let body = json(stage, response).await;
    if status.is_success() {
        Ok(JsonResponse { body: body?, max_age })
    } else {
        Err(refused(stage, status, body.ok()))
    }
}

/// Reads a JSON body. Refuses other content types, any content encoding, and bodies over [`LONGEST_BODY`].
async fn json(stage: Stage, mut response: Response) -> Result<Value, ProviderError> {
    if !is_json(response.headers()) {
        return Err(bad(stage, "the content type is not JSON"));
    }
    if response.headers().contains_key(CONTENT_ENCODING) {
        return Err(bad(stage, "the body is compressed, which was not asked for"));
    }
    // The body is zeroised, because it contains tokens.
    let mut body = Zeroizing::new(Vec::with_capacity(16 * 1024));
    while let Some(chunk) = response.chunk().await.map_err(|error| failure(stage, &error))? {
        if body.len() + chunk.len() > LONGEST_BODY {
            return Err(bad(stage, "the body is longer than 1 MiB"));
        }
        body.extend_from_slice(&chunk);
    }
    serde_json::from_slice(&body).map_err(|_| bad(stage, "the body is not JSON"))
}

fn is_json(headers: &HeaderMap) -> bool {
    let value = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let kind = value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    kind == "application/json" || (kind.starts_with("application/") && kind.ends_with("+json"))
}

fn max_age(headers: &HeaderMap) -> Option<Duration> {
    let value = headers.get(CACHE_CONTROL)?.to_str().ok()?.to_ascii_lowercase();
    let mut directives = value.split(',').map(str::trim);
    let seconds = directives.find_map(|directive| directive.strip_prefix("max-age="))?;
    seconds.trim_matches('"').parse().ok().map(Duration::from_secs)
}

fn bad(stage: Stage, reason: &str) -> ProviderError {
    ProviderError::BadAnswer { stage, reason: reason.to_owned() }
}

/// Builds the error for a response without a success status, with the provider's error code and description, if any.
fn refused(stage: Stage, status: StatusCode, body: Option<Value>) -> ProviderError {
    let plain = || format!("http_{}", status.as_u16());
    match body.and_then(|body| refusal(stage, &body)) {
        Some(ProviderError::Refused { stage, error, description }) if error == OTHER => {
            ProviderError::Refused { stage, error: plain(), description }
        }
        Some(refused) => refused,
        None => ProviderError::Refused { stage, error: plain(), description: None },
    }
}

/// Parses an error response by RFC 6749 section 5.2, which some providers send with status 200.
pub(crate) fn refusal(stage: Stage, body: &Value) -> Option<ProviderError> {
    let error = body.get("error")?.as_str().filter(|error| !error.is_empty())?;
    let error = if is_code(error) { error } else { OTHER }.to_owned();
    let description = body.get("error_description").and_then(Value::as_str);
    let description = description.map(|text| sanitized(text, 300)).filter(|text| !text.is_empty());
    Some(ProviderError::Refused { stage, error, description })
}

/// Returns `true` for a machine-readable code. Free text is not logged, because it can contain addresses and tokens.
fn is_code(error: &str) -> bool {
    let is_part = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'.' | b':' | b'-');
    (1..=LONGEST_CODE).contains(&error.len()) && error.bytes().all(is_part)
}

/// Builds the error for a failed transport. The URL is left out, because its query may contain a secret.
fn failure(stage: Stage, error: &reqwest::Error) -> ProviderError {
    let mut source = error.source();
    let mut innermost = None;
    while let Some(cause) = source {
        if cause.is::<NotPublic>() {
            return ProviderError::Forbidden { stage, reason: super::address::NOT_PUBLIC };
        }
        innermost = Some(cause);
        source = cause.source();
    }
    if error.is_timeout() {
        return too_slow(stage);
    }
    let mut reason = if error.is_connect() { "no connection" } else { "the connection broke" }.to_owned();
    if let Some(cause) = innermost {
        let _ = write!(reason, ": {}", sanitized(&cause.to_string(), 200));
    }
    ProviderError::Down { stage, reason }
}
