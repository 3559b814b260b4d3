//! Network policy: classification of IP addresses (RFC 6890 and its registries) and checks of URLs.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{Ipv4Net, Ipv6Net};
use url::{Host, Url};

use super::Networks;

/// Class of an IP address in the network policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    /// Globally routable.
    Public,
    Loopback,
    /// Private, shared or benchmarking network.
    Private,
    /// Never allowed: link-local, multicast, reserved, documentation, and metadata services of clouds.
    Never,
}

const fn v4(a: u8, b: u8, c: u8, d: u8, length: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), length)
}

const fn v6(a: u16, b: u16, c: u16, h: u16, length: u8) -> Ipv6Net {
    Ipv6Net::new_assert(Ipv6Addr::new(a, b, c, 0, 0, 0, 0, h), length)
}

/// Classes of IPv4 networks. The first match wins; other addresses are public.
const IPV4: &[(Ipv4Net, Class)] = &[
    (v4(100, 100, 100, 200, 32), Class::Never), // metadata of Alibaba Cloud
    (v4(168, 63, 129, 16, 32), Class::Never),   // host services of Azure, in public space
    (v4(169, 254, 0, 0, 16), Class::Never),     // link-local, with the metadata of most clouds
    (v4(127, 0, 0, 0, 8), Class::Loopback),
    (v4(10, 0, 0, 0, 8), Class::Private),
    (v4(172, 16, 0, 0, 12), Class::Private),
    (v4(192, 168, 0, 0, 16), Class::Private),
    (v4(100, 64, 0, 0, 10), Class::Private), // carrier-grade NAT
    (v4(198, 18, 0, 0, 15), Class::Private), // benchmarks
    (v4(0, 0, 0, 0, 8), Class::Never),       // "this network"; 0.0.0.0 connects to this machine
    (v4(192, 0, 0, 0, 24), Class::Never),    // protocol assignments, with the metadata of Oracle
    (v4(192, 0, 2, 0, 24), Class::Never),    // documentation
    (v4(198, 51, 100, 0, 24), Class::Never),
    (v4(203, 0, 113, 0, 24), Class::Never),
    (v4(192, 88, 99, 0, 24), Class::Never), // 6to4 relays
    (v4(224, 0, 0, 0, 4), Class::Never),    // multicast
    (v4(240, 0, 0, 0, 4), Class::Never),    // reserved, broadcast
];

/// Classes of IPv6 networks. The first match wins; other addresses are never allowed.
const IPV6: &[(Ipv6Net, Class)] = &[
    (v6(0, 0, 0, 1, 128), Class::Loopback),
    (v6(0xfd00, 0x0ec2, 0, 0, 32), Class::Never), // metadata, credentials and time of Amazon
    (v6(0xfd20, 0x00ce, 0, 0x254, 128), Class::Never), // metadata of Google
    (v6(0xfc00, 0, 0, 0, 7), Class::Private),
    // Local-use NAT64: the position of the embedded IPv4 address is unknown, so it cannot be classified.
    (v6(0x0064, 0xff9b, 1, 0, 48), Class::Never),
    (v6(0x2001, 0, 0, 0, 23), Class::Never), // protocol assignments, Teredo
    (v6(0x2001, 0x0db8, 0, 0, 32), Class::Never), // documentation
    (v6(0x2002, 0, 0, 0, 16), Class::Never), // 6to4
    (v6(0x3fff, 0, 0, 0, 20), Class::Never), // documentation
    (v6(0x2000, 0, 0, 0, 3), Class::Public),
];

/// The well-known NAT64 prefix (RFC 6052). The last 32 bits of an address are an IPv4 address.
const NAT64: Ipv6Net = v6(0x0064, 0xff9b, 0, 0, 96);

fn class_of(address: IpAddr) -> Class {
    match address.to_canonical() {
        IpAddr::V4(address) => class_of_v4(address),
        IpAddr::V6(address) if NAT64.contains(&address) => {
            let [.., a, b, c, d] = address.octets();
            match class_of_v4(Ipv4Addr::new(a, b, c, d)) {
                Class::Loopback => Class::Never, // a loopback address behind NAT64 would be the gateway's
                class => class,
            }
        }
        IpAddr::V6(address) => {
            let row = IPV6.iter().find(|(net, _)| net.contains(&address));
            row.map_or(Class::Never, |(_, class)| *class)
        }
    }
}

fn class_of_v4(address: Ipv4Addr) -> Class {
    let row = IPV4.iter().find(|(net, _)| net.contains(&address));
    row.map_or(Class::Public, |(_, class)| *class)
}

impl Networks {
    /// Returns `true` if connections to the address are allowed.
    pub(crate) fn allow(self, address: IpAddr) -> bool {
        match class_of(address) {
            Class::Public => true,
            Class::Loopback => self.loopback || self.private,
            Class::Private => self.private,
            Class::Never => false,
        }
    }

    /// Checks scheme, userinfo and literal IP address of a URL, without a DNS lookup.
    pub(crate) fn check(self, url: &Url) -> Result<(), &'static str> {
        if !url.username().is_empty() || url.password().is_some() {
            return Err("the address must not name a user");
        }
        let host = url.host().ok_or("the address has no host")?;
        let is_local = is_this_machine(&host);
        match url.scheme() {
            "https" => {}
            "http" if is_local && self.loopback => {}
            "http" if is_local => return Err("http is for development only"),
            _ => return Err("the address must be https"),
        }
        let is_allowed = match host {
            Host::Ipv4(address) => self.allow(address.into()),
            Host::Ipv6(address) => self.allow(address.into()),
            Host::Domain(_) => !is_local || self.loopback || self.private,
        };
        if is_allowed { Ok(()) } else { Err(NOT_PUBLIC) }
    }
}

/// Error message for a forbidden address.
pub(super) const NOT_PUBLIC: &str = "the address is in a network that is never talked to";

fn is_this_machine(host: &Host<&str>) -> bool {
    match host {
        Host::Domain(name) => is_localhost(name),
        Host::Ipv4(address) => address.is_loopback(),
        Host::Ipv6(address) => address.is_loopback(),
    }
}

/// Returns `true` for `localhost` names (RFC 6761 section 6.3).
pub(super) fn is_localhost(name: &str) -> bool {
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    name == "localhost" || name.ends_with(".localhost")
}

#[cfg(test)]
mod tests;
