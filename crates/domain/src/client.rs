//! Client of a request: IP address and user agent, for limits, sessions and audit events.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};

/// Longest stored user agent, in characters.
pub const LONGEST_USER_AGENT: usize = 256;

/// The client of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Client {
    /// IP address.
    pub address: ClientAddress,
    /// User agent as sent, without control characters, at most 256 characters.
    pub user_agent: Option<String>,
}

impl Client {
    /// Creates a client; strips control characters from the user agent and truncates it.
    #[must_use]
    pub fn new(address: ClientAddress, user_agent: Option<&str>) -> Self {
        let clean = |text: &str| text.chars().filter(|c| !c.is_control()).take(LONGEST_USER_AGENT).collect();
        Self { address, user_agent: user_agent.map(clean) }
    }
}

/// An IP address in canonical form: IPv4-mapped IPv6 addresses are unmapped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ClientAddress(IpAddr);

impl ClientAddress {
    /// Canonicalises an address from the socket or a trusted proxy.
    #[must_use]
    pub fn new(address: IpAddr) -> Self {
        Self(address.to_canonical())
    }

    /// The canonical address.
    #[must_use]
    pub const fn ip(self) -> IpAddr {
        self.0
    }

    /// Address that limits count by: the IPv4 address, or the first address of the /64 network for IPv6.
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

    /// [`Self::network`] as text, for limit keys.
    #[must_use]
    pub fn network_text(self) -> String {
        match self.network() {
            IpAddr::V4(v4) => v4.to_string(),
            IpAddr::V6(v6) => format!("{v6}/64"),
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
    fn mapped_addresses_are_unmapped() {
        assert_eq!(address("::ffff:192.0.2.1"), address("192.0.2.1"));
    }

    #[test]
    fn ipv6_counts_by_its_64() {
        assert_eq!(address("2001:db8:1:2:3::4").network_text(), "2001:db8:1:2::/64");
        assert_eq!(address("2001:db8:1:2::9").network(), address("2001:db8:1:2:ffff::1").network());
    }
}
