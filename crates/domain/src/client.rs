//! Client of a request: its type, and its IP address and user agent for rate limits, sessions and audit events. Of
//! these only the IP address cannot be forged by the client.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::locale::Locale;
use crate::words;

/// Maximum length of a stored user agent, in characters. A longer one is truncated.
pub const LONGEST_USER_AGENT: usize = 256;

words! {
    /// Client type, claimed by the client in the query parameter `client_type`. It decides whether the refresh token is
    /// sent in the cookie or in the body. It is stored only with a challenge, for the request that answers the
    /// challenge.
    #[derive(Default)]
    pub enum ClientType {
        /// A browser. The refresh token is in the cookie, and the CSRF token in the body.
        #[default]
        Web = "web",
        /// An app on a phone. The refresh token is in the body.
        Mobile = "mobile",
        /// An app on a computer. The refresh token is in the body.
        Desktop = "desktop",
        /// A program on a server. The refresh token is in the body.
        Server = "server",
    }
}

impl ClientType {
    /// Returns the client type that the query parameter names; [`Self::Web`] if it is absent or unknown.
    #[must_use]
    pub fn new(parameter: Option<&str>) -> Self {
        parameter.and_then(Self::parse).unwrap_or_default()
    }

    /// True if the refresh token is sent in the cookie, false if in the body.
    #[must_use]
    pub const fn is_web(self) -> bool {
        matches!(self, Self::Web)
    }
}

/// Side that gets the session which a sign-in opens. A challenge stores it for the request that answers it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenedFor {
    /// An app, with its client type.
    App(ClientType),
    /// The service's own pages.
    Pages,
    /// The operator console.
    Console,
    /// The operator console, to activate a grant that sleeps.
    Activation,
}

impl OpenedFor {
    /// Returns the string in the database.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::App(client_type) => client_type.as_str(),
            Self::Pages => "pages",
            Self::Console => "console",
            Self::Activation => "activation",
        }
    }

    /// Parses the string in the database; `None` if unknown.
    #[must_use]
    pub fn from_stored(text: &str) -> Option<Self> {
        let sides = [Self::Pages, Self::Console, Self::Activation];
        let side = sides.into_iter().find(|side| side.as_str() == text);
        side.or_else(|| ClientType::parse(text).map(Self::App))
    }
}

/// The client of a request, as far as the server knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Client {
    /// IP address of the client, behind trusted proxies.
    pub address: ClientAddress,
    /// `User-Agent` header without control characters, at most 256 characters; `None` without the header.
    pub user_agent: Option<String>,
    /// Language that the request asks for; `None` if it asks for none, and for a stored client.
    pub locale: Option<Locale>,
}

impl Client {
    /// Creates a client. Removes control characters from the user agent, and truncates it to 256 characters.
    #[must_use]
    pub fn new(address: ClientAddress, user_agent: Option<&str>) -> Self {
        let clean = |text: &str| text.chars().filter(|c| !c.is_control()).take(LONGEST_USER_AGENT).collect();
        Self { address, user_agent: user_agent.map(clean), locale: None }
    }
}

/// An IP address in canonical form: an IPv4-mapped IPv6 address becomes an IPv4 address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ClientAddress(IpAddr);

impl ClientAddress {
    /// The unspecified address, from which no request comes.
    pub const UNSPECIFIED: Self = Self(IpAddr::V4(Ipv4Addr::UNSPECIFIED));

    /// Creates the canonical form of an address from the socket or a trusted proxy.
    #[must_use]
    pub fn new(address: IpAddr) -> Self {
        Self(address.to_canonical())
    }

    /// Returns the canonical address.
    #[must_use]
    pub const fn ip(self) -> IpAddr {
        self.0
    }

    /// Returns the network by which rate limits count: the IPv4 address itself, or the first address of the IPv6 /64
    /// network.
    #[must_use]
    pub fn network(self) -> IpAddr {
        match self.0 {
            IpAddr::V4(_) => self.0,
            IpAddr::V6(v6) => {
                let [a, b, c, d, ..] = v6.segments();
                Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
            }
        }
    }

    /// Returns [`Self::network`] as text for limit keys, for example `192.0.2.1` or `2001:db8::/64`.
    #[must_use]
    pub fn network_text(self) -> String {
        match self.network() {
            IpAddr::V4(v4) => v4.to_string(),
            IpAddr::V6(v6) => format!("{v6}/64"),
        }
    }

    /// Returns the network in which a phone usually stays while its address changes, as text: the IPv4 /16 or IPv6 /32,
    /// for example `192.0.0.0/16` or `2001:db8::/32`.
    #[must_use]
    pub fn wide_network_text(self) -> String {
        match self.0 {
            IpAddr::V4(v4) => {
                let [a, b, ..] = v4.octets();
                format!("{a}.{b}.0.0/16")
            }
            IpAddr::V6(v6) => {
                let [a, b, ..] = v6.segments();
                format!("{}/32", Ipv6Addr::new(a, b, 0, 0, 0, 0, 0, 0))
            }
        }
    }
}

impl fmt::Display for ClientAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn address(text: &str) -> ClientAddress {
        ClientAddress::new(text.parse().unwrap())
    }

    #[test]
    fn client_type_is_web_unless_said_otherwise() {
        for (parameter, wanted) in [
            (None, ClientType::Web),
            (Some(""), ClientType::Web),
            (Some("tv"), ClientType::Web),
            (Some("web"), ClientType::Web),
            (Some("mobile"), ClientType::Mobile),
            (Some("desktop"), ClientType::Desktop),
            (Some("server"), ClientType::Server),
        ] {
            assert_eq!(ClientType::new(parameter), wanted, "{parameter:?}");
        }
    }

    #[test]
    fn mapped_addresses_are_unmapped() {
        assert_eq!(address("::ffff:192.0.2.1"), address("192.0.2.1"));
    }

    #[test]
    fn ipv6_counts_by_its_64() {
        assert_eq!(address("2001:db8:1:2:3::4").network_text(), "2001:db8:1:2::/64");
        assert_eq!(address("2001:db8:1:2::9").network(), address("2001:db8:1:2:ffff::1").network());
    }
}
