//! DNS resolver against DNS rebinding: it resolves a host when the connection is made, and returns only addresses that
//! the network policy allows.

use std::fmt;
use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::address::{NOT_PUBLIC, is_localhost};
use super::{Lookup, Networks};

/// Error: the network policy forbids all addresses of a host. The HTTP client's error has it among its sources.
#[derive(Debug)]
pub(super) struct NotPublic;

impl fmt::Display for NotPublic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(NOT_PUBLIC)
    }
}

impl std::error::Error for NotPublic {}

/// The DNS resolver of the operating system.
pub(super) struct SystemLookup;

impl Lookup for SystemLookup {
    fn lookup(&self, host: &str) -> Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send>> {
        let host = host.to_owned();
        Box::pin(async move {
            let found = tokio::net::lookup_host((host, 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }
}

/// Resolves a host and drops the addresses that the network policy forbids.
pub(super) struct GuardedResolver {
    pub(super) lookup: Arc<dyn Lookup>,
    pub(super) networks: Networks,
}

impl Resolve for GuardedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let networks = self.networks;
        let is_local = is_localhost(name.as_str());
        let lookup = self.lookup.lookup(name.as_str());
        Box::pin(async move {
            let found = lookup.await?;
            // A `localhost` name, for which http is allowed, must resolve to a loopback address.
            let is_allowed = |address: &IpAddr| {
                networks.allow(*address) && (!is_local || address.to_canonical().is_loopback())
            };
            let allowed: Vec<_> =
                found.into_iter().filter(is_allowed).map(|address| SocketAddr::new(address, 0)).collect();
            if allowed.is_empty() {
                return Err(NotPublic.into());
            }
            Ok(Box::new(allowed.into_iter()) as Addrs)
        })
    }
}
