//! The client's address behind proxies: the right-most hop of `X-Forwarded-For` that is not a trusted proxy, or else
//! the peer of the connection. `Forwarded` (RFC 7239) and `X-Real-IP` are not read: a proxy that does not overwrite
//! them would let the client choose its address.

use std::net::{IpAddr, SocketAddr};

use http::{HeaderMap, HeaderName};
use ipnet::IpNet;

/// Request header to which each proxy appends the address of its client.
const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// Finds the client's address, from the peer back through the hops of `X-Forwarded-For`, past trusted proxies. A
/// malformed hop ends the search at the last valid address.
pub(crate) fn client_address(peer: IpAddr, headers: &HeaderMap, trusted: &[IpNet]) -> IpAddr {
    let mut address = peer.to_canonical();
    if !is_trusted(address, trusted) {
        return address;
    }
    let lines = headers.get_all(FORWARDED_FOR).iter().collect::<Vec<_>>();
    let hops = lines.iter().rev().flat_map(|line| line.as_bytes().rsplit(|byte| *byte == b','));
    for hop in hops {
        if !is_trusted(address, trusted) {
            break;
        }
        let Some(previous) = parse_hop(hop) else { break };
        address = previous;
    }
    address
}

pub(crate) fn is_trusted(address: IpAddr, trusted: &[IpNet]) -> bool {
    let address = address.to_canonical();
    trusted.iter().any(|net| net.contains(&address))
}

/// Parses an address with or without a port: `192.0.2.1`, `192.0.2.1:80`, `2001:db8::1`, `[2001:db8::1]`,
/// `[2001:db8::1]:80`.
fn parse_hop(hop: &[u8]) -> Option<IpAddr> {
    let hop = std::str::from_utf8(hop).ok()?.trim_matches([' ', '\t']);
    let bracketed = || hop.strip_prefix('[')?.strip_suffix(']')?.parse().ok().map(IpAddr::V6);
    let with_port = || hop.parse::<SocketAddr>().ok().map(|address| address.ip());
    let address = hop.parse().ok().or_else(bracketed).or_else(with_port)?;
    Some(address.to_canonical())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use http::HeaderValue;

    use super::*;

    fn seen(peer: &str, lines: &[&str]) -> String {
        let trusted: Vec<IpNet> = ["10.0.0.0/8", "fd00::/8"].iter().map(|net| net.parse().unwrap()).collect();
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(FORWARDED_FOR, HeaderValue::from_bytes(line.as_bytes()).unwrap());
        }
        client_address(peer.parse().unwrap(), &headers, &trusted).to_string()
    }

    #[test]
    fn untrusted_peer_is_the_client_whatever_it_forwards() {
        assert_eq!(seen("192.0.2.1", &["203.0.113.9"]), "192.0.2.1");
        assert_eq!(seen("192.0.2.1", &[]), "192.0.2.1");
    }

    #[test]
    fn behind_a_trusted_proxy_the_rightmost_untrusted_hop_counts() {
        assert_eq!(seen("10.0.0.1", &["1.1.1.1, 203.0.113.9, 10.9.9.9"]), "203.0.113.9");
        assert_eq!(seen("10.0.0.1", &[]), "10.0.0.1");
    }

    #[test]
    fn several_lines_are_joined_in_order() {
        assert_eq!(seen("10.0.0.1", &["1.1.1.1", "203.0.113.9, 10.2.2.2", "10.3.3.3"]), "203.0.113.9");
    }

    #[test]
    fn junk_hop_ends_the_walk_at_the_last_good_one() {
        assert_eq!(seen("10.0.0.1", &["203.0.113.9, unknown, 10.2.2.2"]), "10.2.2.2");
        assert_eq!(seen("10.0.0.1", &["203.0.113.9, "]), "10.0.0.1");
        assert_eq!(seen("10.0.0.1", &["203.0.113.9, ä"]), "10.0.0.1");
    }

    #[test]
    fn hops_may_have_ports_and_mapped_addresses_are_unmapped() {
        assert_eq!(seen("::ffff:10.0.0.1", &["203.0.113.9:4711"]), "203.0.113.9");
        assert_eq!(seen("fd00::1", &["[2001:db8::1]:4711"]), "2001:db8::1");
        assert_eq!(seen("fd00::1", &["[2001:db8::1]"]), "2001:db8::1");
        assert_eq!(seen("fd00::1", &["::ffff:203.0.113.9"]), "203.0.113.9");
    }

    #[test]
    fn only_trusted_hops_leave_the_first_of_them() {
        assert_eq!(seen("10.0.0.1", &["10.1.1.1, 10.2.2.2"]), "10.1.1.1");
    }
}
