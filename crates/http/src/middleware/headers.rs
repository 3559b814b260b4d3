//! Response headers that every response gets.

use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, REFERRER_POLICY, SERVER, STRICT_TRANSPORT_SECURITY,
    X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, HeaderValue};

use super::arrival::{RequestId, X_REQUEST_ID};

/// Default content policy: the response loads nothing and is not framed. HTML pages set their own.
const NOTHING: HeaderValue = HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'");
/// `Strict-Transport-Security` for one year, without subdomains: other hosts of the domain are the operator's choice
/// (RFC 6797 section 6.1).
const HTTPS_ONLY: HeaderValue = HeaderValue::from_static("max-age=31536000");

/// Sets the security headers. A handler's own `Cache-Control`, `Content-Security-Policy` and `Referrer-Policy` stay.
pub(super) fn secure(headers: &mut HeaderMap) {
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.entry(REFERRER_POLICY).or_insert(HeaderValue::from_static("no-referrer"));
    headers.entry(CONTENT_SECURITY_POLICY).or_insert(NOTHING);
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    headers.remove(SERVER);
}

/// Sets `Strict-Transport-Security`, for a service that clients reach by https.
pub(super) fn insist_on_https(headers: &mut HeaderMap) {
    headers.insert(STRICT_TRANSPORT_SECURITY, HTTPS_ONLY);
}

/// Sets `X-Request-Id`.
pub(super) fn identify(headers: &mut HeaderMap, request_id: &RequestId) {
    headers.insert(X_REQUEST_ID, request_id.as_header().clone());
}
