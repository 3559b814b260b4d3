//! Warning about forwarding headers from an untrusted peer. With the default settings all clients behind a proxy share
//! the proxy's address; this warning is the only sign of it.

use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::extract::Request;
use http::HeaderName;
use ipnet::IpNet;

use crate::client::{PeerAddr, is_trusted};
use crate::settings::HttpSettings;

/// Headers in which proxies name the client. Only `X-Forwarded-For` is read.
static FORWARDING: [HeaderName; 3] = [
    HeaderName::from_static("x-forwarded-for"),
    HeaderName::from_static("forwarded"),
    HeaderName::from_static("x-real-ip"),
];

/// Flags of the warnings already logged: one for peers in private networks, one for peers on the internet. An attacker
/// on the internet who sends a forged forwarding header therefore cannot use up the warning about a proxy in a private
/// network.
#[derive(Debug, Default)]
pub(super) struct IgnoredForwarding {
    private: AtomicBool,
    public: AtomicBool,
}

impl IgnoredForwarding {
    /// Creates an instance that never warns.
    pub(super) const fn silent() -> Self {
        Self { private: AtomicBool::new(true), public: AtomicBool::new(true) }
    }

    /// Logs a warning at the first request with a forwarding header from an untrusted peer.
    pub(super) fn look(&self, request: &Request, settings: &HttpSettings) {
        let headers = request.headers();
        let Some(header) = FORWARDING.iter().find(|name| headers.contains_key(*name)) else { return };
        let Some(PeerAddr(peer)) = request.extensions().get() else { return };
        let peer = peer.ip().to_canonical();
        if is_trusted(peer, &settings.trusted_proxies) {
            return;
        }
        let said = if is_private(peer) { &self.private } else { &self.public };
        if said.load(Ordering::Relaxed) || said.swap(true, Ordering::Relaxed) {
            return;
        }
        tracing::warn!(parent: None, "{}", warning(peer, header, &settings.trusted_proxies));
    }
}

fn warning(peer: IpAddr, header: &HeaderName, trusted: &[IpNet]) -> String {
    let line = line_with(peer, trusted);
    let also = if *header == FORWARDING[0] {
        ""
    } else {
        ", and let it send X-Forwarded-For, the only header that is read"
    };
    format!(
        "the header {header} of {peer} is ignored, because server.trusted_proxies does not list that peer: all clients \
         behind it count as one address. If it is your reverse proxy, set {line}{also}. If it is not, a client made the \
         header up: change nothing"
    )
}

/// Returns the setting `server.trusted_proxies` with this peer added, as text for a settings file. A network of one
/// address is written without prefix length.
fn line_with(peer: IpAddr, trusted: &[IpNet]) -> String {
    let text_of = |net: &IpNet| {
        if net.prefix_len() == net.max_prefix_len() { net.addr().to_string() } else { net.to_string() }
    };
    let items: Vec<_> =
        trusted.iter().map(text_of).chain([peer.to_string()]).map(|item| format!("\"{item}\"")).collect();
    format!("server.trusted_proxies = [{}]", items.join(", "))
}

/// True for addresses outside the internet: loopback, private, shared (RFC 6598), link-local, unique local.
fn is_private(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(ip) => {
            let [first, second, ..] = ip.octets();
            ip.is_loopback()
                || ip.is_private()
                || ip.is_link_local()
                || (first == 100 && (64..128).contains(&second))
        }
        IpAddr::V6(ip) => ip.is_loopback() || ip.is_unique_local() || ip.is_unicast_link_local(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_keeps_what_is_listed() {
        let trusted: Vec<IpNet> = ["10.1.0.0/16", "::1/128"].iter().map(|net| net.parse().unwrap()).collect();
        let line = line_with("192.168.0.5".parse().unwrap(), &trusted);
        assert_eq!(line, r#"server.trusted_proxies = ["10.1.0.0/16", "::1", "192.168.0.5"]"#);
        let first = line_with("10.0.0.5".parse().unwrap(), &[]);
        assert_eq!(first, r#"server.trusted_proxies = ["10.0.0.5"]"#);
    }

    #[test]
    fn header_that_is_never_read_is_told_with_the_one_that_is() {
        let peer = "10.0.0.5".parse().unwrap();
        assert!(!warning(peer, &FORWARDING[0], &[]).contains("only header"));
        for header in &FORWARDING[1..] {
            assert!(warning(peer, header, &[]).contains("send X-Forwarded-For"), "{header}");
        }
    }

    #[test]
    fn private_networks_are_told_from_the_internet() {
        for address in ["127.0.0.1", "10.9.9.9", "172.16.0.1", "192.168.1.1", "100.64.0.1", "169.254.1.1"] {
            assert!(is_private(address.parse().unwrap()), "{address}");
        }
        for address in ["::1", "fd00::1", "fe80::1"] {
            assert!(is_private(address.parse().unwrap()), "{address}");
        }
        for address in ["203.0.113.5", "100.128.0.1", "2001:db8::1"] {
            assert!(!is_private(address.parse().unwrap()), "{address}");
        }
    }
}
