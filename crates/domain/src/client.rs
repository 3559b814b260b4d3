//! Who is at the other end: address and user agent, as limits, sessions and audit events know them.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};

/// Longest user agent that is kept, in characters.
const LONGEST_USER_AGENT: usize = 256;

/// The client of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Client {
    /// Its address.
    pub address: ClientAddress,
    /// What it says it is, without control characters, at most 256 characters.
    pub user_agent: Option<String>,
}

impl Client {
    /// Cuts and cleans the user agent.
    #[must_use]
    pub fn new(address: ClientAddress, user_agent: Option<&str>) -> Self {
        let clean = |text: &str| text.chars().filter(|c| !c.is_control()).take(LONGEST_USER_AGENT).collect();
        Self { address, user_agent: user_agent.map(clean) }
    }
}

/// An IP address; one that is IPv4 in IPv6 clothes is unmapped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ClientAddress(IpAddr);

impl ClientAddress {
    /// Takes an address as the socket or a trusted proxy gave it.
    #[must_use]
    pub fn new(address: IpAddr) -> Self {
        Self(address.to_canonical())
    }

    /// The address.
    #[must_use]
    pub const fn ip(self) -> IpAddr {
        self.0
    }

    /// What limits count by: the address for IPv4, the first of its /64 network for IPv6.
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

    /// The same as text, which the keys of limits in a store are made of.
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
