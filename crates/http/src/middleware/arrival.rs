//! Reads the client's address and the request id from a new request. Proxy headers count only from trusted peers.

use std::fmt;
use std::net::IpAddr;

use axum::extract::Request;
use http::{HeaderMap, HeaderName, HeaderValue};
use uuid::Uuid;

use crate::client::{PeerAddr, client_address, is_trusted};
use crate::settings::HttpSettings;

/// Header of the request id, in requests of trusted proxies and in all responses.
pub(super) const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Maximum length, in characters, of a request id sent by a proxy.
const LONGEST_ID: usize = 128;

/// Id of a request, in the response's `X-Request-Id` and in log lines. Visible ASCII without spaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RequestId(HeaderValue);

impl RequestId {
    fn drawn(id: Uuid) -> Self {
        let mut buffer = Uuid::encode_buffer();
        let text: &str = id.hyphenated().encode_lower(&mut buffer);
        Self(HeaderValue::from_str(text).unwrap_or(HeaderValue::from_static("-")))
    }

    /// Returns the request id that a proxy sent; `None` if it is missing, repeated, or unsafe in a log line.
    fn sent(headers: &HeaderMap) -> Option<Self> {
        let mut values = headers.get_all(X_REQUEST_ID).iter();
        let (Some(value), None) = (values.next(), values.next()) else { return None };
        let is_id =
            (1..=LONGEST_ID).contains(&value.len()) && value.as_bytes().iter().copied().all(is_of_an_id);
        is_id.then(|| Self(value.clone()))
    }

    pub(super) const fn as_header(&self) -> &HeaderValue {
        &self.0
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.to_str().unwrap_or("-"))
    }
}

/// True for letters, digits, and the punctuation of UUIDs, host names with ports, paths and Base64. Quotes, spaces and
/// brackets are excluded, because they could forge a field of a log line.
const fn is_of_an_id(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(byte, b'-' | b'_' | b'.' | b'~' | b':' | b'/' | b'+' | b'=' | b'@')
}

/// Data of a request that the middleware needs after the handler has consumed the request, such as for the access log.
pub(super) struct Arrival {
    /// The client's address, found behind trusted proxies; `None` if the peer is unknown.
    pub(super) client: Option<IpAddr>,
    pub(super) request_id: RequestId,
}

impl Arrival {
    /// Reads the client's address and the request id from a request. `next_id` generates an id if no
    /// trusted proxy sent one.
    pub(super) fn of(request: &Request, settings: &HttpSettings, next_id: impl FnOnce() -> Uuid) -> Self {
        let trusted = &settings.trusted_proxies;
        let peer = request.extensions().get::<PeerAddr>().map(|peer| peer.0.ip());
        let sent =
            peer.filter(|peer| is_trusted(*peer, trusted)).and_then(|_| RequestId::sent(request.headers()));
        Self {
            client: peer.map(|peer| client_address(peer, request.headers(), trusted)),
            request_id: sent.unwrap_or_else(|| RequestId::drawn(next_id())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(values: &[&[u8]]) -> Option<String> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(X_REQUEST_ID, HeaderValue::from_bytes(value).unwrap());
        }
        RequestId::sent(&headers).map(|id| id.to_string())
    }

    #[test]
    fn id_of_a_proxy_is_taken_in_the_usual_forms() {
        for id in [
            "4d6fcfdc-b8bd-4bcf-909d-233347803b5b",
            "0af7651916cd43dd8448eb211c80319c",
            "Root=1-67891233-abcdef012345678912345678",
            "C0A80101:D4C2_0A000005:01BB_5F1A2B3C_0001:1234",
            "host/a+b=.~@x",
        ] {
            assert_eq!(sent(&[id.as_bytes()]).as_deref(), Some(id));
        }
        assert!(sent(&[&[b'a'; 128]]).is_some());
    }

    #[test]
    fn id_that_is_long_empty_doubled_or_could_forge_a_line_is_not_taken() {
        let bad: [&[u8]; 9] = [
            b"",
            &[b'a'; 129],
            b"a b",
            b"a\" status=200",
            b"a\tb",
            b"<script>",
            b"a;b",
            "ä".as_bytes(),
            b"{}",
        ];
        for id in bad {
            assert_eq!(sent(&[id]), None, "{id:?}");
        }
        assert_eq!(sent(&[b"one", b"two"]), None);
        assert_eq!(sent(&[]), None);
    }

    #[test]
    fn drawn_id_is_a_uuid() {
        let id = Uuid::from_u128(42);
        assert_eq!(RequestId::drawn(id).to_string(), id.to_string());
    }
}
