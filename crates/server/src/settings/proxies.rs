//! Warnings about `server.trusted_proxies`: an empty list behind a proxy, and networks that are too wide.

use ipnet::{IpNet, Ipv4Net};

use super::server::ServerSettings;

/// Networks outside the public internet: private, shared (RFC 6598), loopback, link-local, unique local.
const PRIVATE: [&str; 9] = [
    "10.0.0.0/8",
    "172.16.0.0/12",
    "192.168.0.0/16",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "169.254.0.0/16",
    "::1/128",
    "fc00::/7",
    "fe80::/10",
];
/// Minimum prefix lengths of a public network in `server.trusted_proxies`. A wider network certainly contains clients
/// besides proxies.
const SHORTEST_V4: u8 = 16;
const SHORTEST_V6: u8 = 32;

pub(super) fn warnings(server: &ServerSettings) -> impl Iterator<Item = String> {
    missing(server).into_iter().chain(server.trusted_proxies.iter().filter_map(too_wide))
}

/// Warns if `server.trusted_proxies` is empty although the public URL is https. The service itself speaks plain HTTP, so
/// a proxy must terminate TLS.
fn missing(server: &ServerSettings) -> Option<String> {
    if server.public_url.scheme() != "https" || !server.trusted_proxies.is_empty() {
        return None;
    }
    let ip = server.bind.ip().to_canonical();
    let line = if ip.is_loopback() {
        format!("set server.trusted_proxies = [\"{ip}\"]")
    } else {
        "set it to the address that the proxy connects from, such as server.trusted_proxies = [\"10.0.0.5\"]"
            .to_owned()
    };
    Some(format!(
        "server.trusted_proxies is empty and server.public_url is https, so the proxy in front is not \
         trusted: all clients count as its one address in limits, sessions and the audit; {line}"
    ))
}

fn too_wide(net: &IpNet) -> Option<String> {
    let is_private =
        PRIVATE.iter().filter_map(|text| text.parse().ok()).any(|private: IpNet| private.contains(net));
    let shortest = if matches!(net, IpNet::V4(_)) { SHORTEST_V4 } else { SHORTEST_V6 };
    if is_private || net.prefix_len() >= shortest {
        return None;
    }
    let what = match (net.prefix_len(), net) {
        (0, IpNet::V4(_)) => "every IPv4 address".to_owned(),
        (0, IpNet::V6(_)) => "every IPv6 address".to_owned(),
        (_, IpNet::V4(net)) => format!("{} addresses of the internet", addresses(*net)),
        (length, IpNet::V6(_)) => format!("a whole /{length} of the internet"),
    };
    Some(format!(
        "server.trusted_proxies: {net} trusts {what}: clients there can choose the client address that \
         limits, sessions and the audit see; list the addresses of your proxies alone, such as [\"10.0.0.5\"]"
    ))
}

const fn addresses(net: Ipv4Net) -> u64 {
    1 << (32 - net.prefix_len())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn private_networks_and_narrow_public_ones_are_not_too_wide() {
        for net in [
            "10.0.0.0/8",
            "10.1.2.3/32",
            "127.0.0.0/8",
            "::1/128",
            "fd00::/8",
            "203.0.0.0/16",
            "2a00:1450::/32",
        ] {
            assert_eq!(too_wide(&net.parse().unwrap()), None, "{net}");
        }
    }

    #[test]
    fn wide_networks_are_told_with_what_they_allow() {
        for (net, words) in [
            ("0.0.0.0/0", "trusts every IPv4 address"),
            ("::/0", "trusts every IPv6 address"),
            ("10.0.0.0/7", "33554432 addresses"),
            ("172.0.0.0/8", "16777216 addresses"),
            ("104.16.0.0/15", "131072 addresses"),
            ("fc00::/6", "a whole /6"),
            ("2a00::/16", "a whole /16"),
        ] {
            let warning = too_wide(&net.parse().unwrap()).unwrap();
            assert!(warning.contains(words) && warning.contains(net), "{warning}");
        }
    }
}
