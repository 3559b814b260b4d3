//! Client of a request, read from the connection, the headers and the query: address, user agent, origin, and
//! `client_type` (web, mobile, desktop or server).
//! Only the address is verified; a client can send any value of the others.

mod address;

use std::net::{IpAddr, SocketAddr};

use axum::extract::FromRequestParts;
use http::header::{ACCEPT_LANGUAGE, HOST, HeaderName, ORIGIN, USER_AGENT};
use http::request::Parts;
use http::{HeaderMap, Request, StatusCode};
use ipnet::IpNet;
use latchkey_domain::client::{Client, ClientAddress, ClientType, LONGEST_USER_AGENT};
use latchkey_domain::locale::Locale;

pub(crate) use self::address::{client_address, is_trusted};

use latchkey_service::sessions::{Opens, SignInClient};

use crate::error::{ApiError, Result};
use crate::query::Query;
use crate::settings::{HttpSettings, RouterState};

/// Request header in which a browser states the relation between the calling page and this site (W3C Fetch Metadata).
pub const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Socket address of the peer, which the server loop adds to every request as an extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PeerAddr(pub SocketAddr);

/// The client of a request, as its connection, headers and query describe it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientInfo {
    /// The client's address, found behind trusted proxies. IPv4-mapped IPv6 addresses are converted to IPv4.
    pub address: IpAddr,
    /// `User-Agent` without control characters, at most 256 characters; `None` if nothing remains.
    pub user_agent: Option<String>,
    /// The value of `Origin`; `None` unless the header occurs exactly once. [`crate::origin`] checks the value.
    pub origin: Option<String>,
    /// `Host`, or the `:authority` of an HTTP/2 request.
    pub host: Option<String>,
    pub sec_fetch_site: Option<String>,
    pub client_type: ClientType,
    /// The language that the client wants for mails: that of the request body, or else of `Accept-Language`.
    pub locale: Option<Locale>,
}

impl ClientInfo {
    /// Reads the headers of a request whose connection comes from `peer`.
    pub fn of(parts: &Parts, peer: SocketAddr, settings: &HttpSettings) -> Result<Self> {
        let headers = &parts.headers;
        let query = Query::parse(parts.uri.query().unwrap_or_default())?;
        let authority = || parts.uri.authority().map(ToString::to_string);
        Ok(Self {
            address: client_address(peer.ip(), headers, &settings.trusted_proxies),
            user_agent: headers.get(USER_AGENT).and_then(|value| user_agent(value.as_bytes())),
            origin: text_of(headers, &ORIGIN),
            host: text_of(headers, &HOST).or_else(authority),
            sec_fetch_site: text_of(headers, &SEC_FETCH_SITE),
            client_type: ClientType::new(query.optional("client_type")?.as_deref()),
            locale: accepted_locale(headers, &settings.locales),
        })
    }

    /// Takes the language that the body of the request names, if it names one.
    #[must_use]
    pub fn in_locale(mut self, named: Option<Locale>) -> Self {
        self.locale = named.or(self.locale);
        self
    }

    /// Returns the address alone, for use cases that need nothing else of the client.
    #[must_use]
    pub fn address(&self) -> ClientAddress {
        ClientAddress::new(self.address)
    }

    /// Converts the client into the domain's [`Client`], for use cases.
    #[must_use]
    pub fn to_domain(&self) -> Client {
        let locale = self.locale.clone();
        Client { locale, ..Client::new(self.address(), self.user_agent.as_deref()) }
    }

    /// Converts the client into the domain's [`SignInClient`], which adds the `client_type` (web, mobile, desktop,
    /// server), for a sign-in.
    #[must_use]
    pub fn to_sign_in(&self) -> SignInClient {
        SignInClient { client: self.to_domain(), opens: Opens::App(self.client_type) }
    }
}

/// True if the client of a request is in one of these networks.
pub fn is_from<B>(networks: &[IpNet], request: &Request<B>, settings: &HttpSettings) -> bool {
    let peer = request.extensions().get::<PeerAddr>();
    let address = peer.map(|peer| client_address(peer.0.ip(), request.headers(), &settings.trusted_proxies));
    address.is_some_and(|address| is_trusted(address, networks))
}

impl<S: RouterState> FromRequestParts<S> for ClientInfo {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self> {
        let Some(PeerAddr(peer)) = parts.extensions.get().copied() else {
            return Err(ApiError::internal(
                "a request without its peer address: the server loop did not set it",
            ));
        };
        Self::of(parts, peer, state.http_settings())
    }
}

impl<S: Send + Sync> FromRequestParts<S> for PeerAddr {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self> {
        parts.extensions.get().copied().ok_or_else(|| ApiError::of_status(StatusCode::INTERNAL_SERVER_ERROR))
    }
}

/// Returns a header's text; `None` unless the header occurs exactly once.
fn text_of(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (Some(value), None) => value.to_str().ok().map(str::to_owned),
        _ => None,
    }
}

fn accepted_locale(headers: &HeaderMap, offered: &[Locale]) -> Option<Locale> {
    let header = headers.get(ACCEPT_LANGUAGE)?.to_str().ok()?;
    Locale::preferred(header, offered).cloned()
}

/// Cleans a user agent for storage and display: no control characters, limited length.
fn user_agent(bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(bytes);
    // Most user agents need no change. Only the others are processed character by character.
    let is_plain = text.bytes().fold(true, |all, byte| all & matches!(byte, b' '..=b'~'));
    let kept = if is_plain && text.len() <= LONGEST_USER_AGENT {
        text
    } else {
        text.chars().filter(|c| !c.is_control()).take(LONGEST_USER_AGENT).collect()
    };
    let kept = kept.trim();
    (!kept.is_empty()).then(|| kept.to_owned())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;

    fn client(request: http::request::Builder) -> Result<ClientInfo> {
        let settings = HttpSettings::new("https://id.example.org".parse().unwrap(), false);
        let (parts, ()) = request.body(()).unwrap().into_parts();
        ClientInfo::of(&parts, "[::ffff:192.0.2.7]:1234".parse().unwrap(), &settings)
    }

    #[test]
    fn client_type_given_twice_is_refused() {
        let error = client(Request::builder().uri("/?client_type=web&client_type=web")).expect_err("refused");
        assert_eq!(error.message, "`client_type` is given twice");
    }

    #[test]
    fn facts_are_taken_from_the_headers() {
        let request = Request::builder()
            .header("user-agent", "Mozilla/5.0\t(X)")
            .header("origin", "https://app.example.org")
            .header("host", "id.example.org")
            .header("sec-fetch-site", "same-site");
        let client = client(request).unwrap();
        assert_eq!(client.address, "192.0.2.7".parse::<IpAddr>().unwrap());
        assert_eq!(client.user_agent.as_deref(), Some("Mozilla/5.0(X)"));
        assert_eq!(client.origin.as_deref(), Some("https://app.example.org"));
        assert_eq!(client.host.as_deref(), Some("id.example.org"));
        assert_eq!(client.sec_fetch_site.as_deref(), Some("same-site"));
    }

    #[test]
    fn user_agent_is_bounded_and_clean() {
        assert_eq!(user_agent("ä\u{85}\u{7f}b".as_bytes()).as_deref(), Some("äb"));
        assert_eq!(user_agent(&[b'a'; 9000]).unwrap().len(), 256);
        assert_eq!(user_agent(b"\xff\xfe").as_deref(), Some("\u{fffd}\u{fffd}"));
        assert_eq!(user_agent(b" \t "), None);
        assert_eq!(user_agent(b" curl/8.5.0 ").as_deref(), Some("curl/8.5.0"));
    }

    #[test]
    fn host_of_http2_is_the_authority() {
        let client = client(Request::builder().uri("https://id.example.org/x")).unwrap();
        assert_eq!(client.host.as_deref(), Some("id.example.org"));
    }
}
