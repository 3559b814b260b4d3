//! The headers of every answer.

use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, REFERRER_POLICY, SERVER, STRICT_TRANSPORT_SECURITY,
    X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, HeaderValue};

use super::arrival::{RequestId, X_REQUEST_ID};

/// Nothing of an answer runs, loads or is framed. Pages bring their own.
const NOTHING: HeaderValue = HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'");
/// A year, for this host alone: its neighbours are the operator's matter (RFC 6797 section 6.1).
const HTTPS_ONLY: HeaderValue = HeaderValue::from_static("max-age=31536000");

/// Puts the policy's headers on an answer. Caching and content policy stay where the handler set its own.
pub(super) fn secure(headers: &mut HeaderMap) {
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.entry(CONTENT_SECURITY_POLICY).or_insert(NOTHING);
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    headers.remove(SERVER);
}

/// Tells browsers to come by https alone. For services that are reached so.
pub(super) fn insist_on_https(headers: &mut HeaderMap) {
    headers.insert(STRICT_TRANSPORT_SECURITY, HTTPS_ONLY);
}

/// Puts the request's id on its answer.
pub(super) fn identify(headers: &mut HeaderMap, request_id: &RequestId) {
    headers.insert(X_REQUEST_ID, request_id.as_header().clone());
}
