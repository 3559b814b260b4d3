//! The connection limit per client: an IPv4 address or an IPv6 /64. Trusted proxies are exempt, because a connection
//! from a proxy does not show which client is behind it.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ipnet::IpNet;
use latchkey_domain::client::ClientAddress;

use crate::settings::ServeSettings;

/// Counter of open connections per client network: an IPv4 address or an IPv6 /64.
#[derive(Debug)]
pub(super) struct ConnectionLimit {
    /// Maximum number of connections of one network; `None` disables the limit.
    most: Option<usize>,
    trusted_proxies: Vec<IpNet>,
    /// Open connections by network. Networks without a connection have no entry.
    open: Mutex<HashMap<IpAddr, usize>>,
}

/// The permit of one connection, released on drop.
#[derive(Debug)]
pub(super) struct ConnectionPermit(Option<(Arc<ConnectionLimit>, IpAddr)>);

impl ConnectionLimit {
    pub(super) fn new(settings: &ServeSettings) -> Self {
        Self {
            most: settings.max_connections_per_address,
            trusted_proxies: settings.trusted_proxies.clone(),
            open: Mutex::default(),
        }
    }

    /// Takes a permit for a connection from `peer`; `None` if its network is at the limit.
    pub(super) fn take(self: &Arc<Self>, peer: IpAddr) -> Option<ConnectionPermit> {
        let address = ClientAddress::new(peer);
        let is_exempt = || self.trusted_proxies.iter().any(|net| net.contains(&address.ip()));
        let Some(most) = self.most.filter(|_| !is_exempt()) else { return Some(ConnectionPermit(None)) };
        let network = address.network();
        let mut open = self.open();
        let held = open.get(&network).copied().unwrap_or_default();
        if held >= most {
            return None;
        }
        open.insert(network, held + 1);
        drop(open);
        Some(ConnectionPermit(Some((Arc::clone(self), network))))
    }

    fn open(&self) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        let Some((limit, network)) = self.0.take() else { return };
        let mut open = limit.open();
        let left = open.get(&network).map_or(0, |held| held.saturating_sub(1));
        if left == 0 {
            open.remove(&network);
        } else {
            open.insert(network, left);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn limit(most: usize) -> Arc<ConnectionLimit> {
        Arc::new(ConnectionLimit::new(&ServeSettings {
            max_connections_per_address: Some(most),
            trusted_proxies: vec!["10.0.0.0/8".parse().unwrap()],
            ..ServeSettings::default()
        }))
    }

    fn take(limit: &Arc<ConnectionLimit>, peer: &str) -> Option<ConnectionPermit> {
        limit.take(peer.parse().unwrap())
    }

    #[test]
    fn network_gets_its_permits_and_no_more_until_one_is_released() {
        let limit = limit(2);
        let first = take(&limit, "192.0.2.1").unwrap();
        let _second = take(&limit, "192.0.2.1").unwrap();
        assert!(take(&limit, "192.0.2.1").is_none());
        assert!(take(&limit, "192.0.2.2").is_some());

        drop(first);

        assert!(take(&limit, "192.0.2.1").is_some());
    }

    #[test]
    fn mapped_addresses_are_unmapped_and_ipv6_counts_by_its_64() {
        let limit = limit(1);
        let _held = (take(&limit, "::ffff:192.0.2.1").unwrap(), take(&limit, "2001:db8::1").unwrap());

        assert!(take(&limit, "192.0.2.1").is_none());
        assert!(take(&limit, "2001:db8::ffff:2").is_none());
        assert!(take(&limit, "2001:db8:0:1::1").is_some());
    }

    #[test]
    fn trusted_proxy_is_exempt_in_both_spellings() {
        let limit = limit(1);
        let held: Vec<_> = (0..5).map(|_| take(&limit, "10.1.2.3").unwrap()).collect();

        assert!(take(&limit, "::ffff:10.1.2.3").is_some());
        assert_eq!(held.len(), 5);
    }

    #[test]
    fn networks_without_a_connection_leave_nothing_behind() {
        let limit = limit(2);
        let held: Vec<_> =
            (0..=255_u8).map(|last| take(&limit, &format!("192.0.2.{last}")).unwrap()).collect();
        assert_eq!(limit.open().len(), 256);

        drop(held);

        assert!(limit.open().is_empty());
    }

    #[test]
    fn without_a_limit_nothing_is_counted() {
        let limit = Arc::new(ConnectionLimit::new(&ServeSettings::default()));
        let _held: Vec<_> = (0..100).map(|_| take(&limit, "192.0.2.1").unwrap()).collect();

        assert!(limit.open().is_empty());
    }
}
