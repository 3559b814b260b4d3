//! Guarded HTTP client against server-side request forgery: https only, no redirects, at most 1 MiB, a
//! timeout, and public addresses only. The policy in `address` is applied to the address that is connected
//! to.

use std::future::Future;
use std::io;
use std::net::IpAddr;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use url::Url;

mod address;
mod client;
mod resolver;
mod tls;

pub(crate) use client::{JsonResponse, Outbound, refusal, too_slow};

/// Network policy of connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Networks {
    /// Allows loopback addresses, and http to them, for development.
    pub loopback: bool,
    /// Allows private networks, for a provider inside one. Metadata addresses of clouds stay forbidden.
    pub private: bool,
}

/// DNS lookup, injectable for tests.
pub trait Lookup: Send + Sync + 'static {
    /// Resolves all addresses of `host`.
    fn lookup(&self, host: &str) -> Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send>>;
}

/// A proxy for all requests; it also resolves the hosts.
#[derive(Clone)]
pub struct Proxy(pub(crate) Url);

impl Proxy {
    /// Parses the URL of an http or https proxy, optionally with `user:password@`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let url = Url::parse(text).ok()?;
        (matches!(url.scheme(), "http" | "https") && url.has_host()).then_some(Self(url))
    }
}

/// Settings of the outbound client.
#[derive(Clone)]
pub struct OutboundSettings {
    /// Network policy of connections.
    pub networks: Networks,
    /// Proxy, if any. Environment variables are ignored.
    pub proxy: Option<Proxy>,
    /// PEM file with root certificates in addition to the public ones.
    pub ca_file: Option<PathBuf>,
    /// Timeout of all requests of one operation together.
    pub timeout: Duration,
    /// Replacement of the system's resolver.
    pub lookup: Option<Arc<dyn Lookup>>,
}

impl Default for OutboundSettings {
    /// Public addresses only, no proxy, and 9 seconds, so that errors are reported within ten.
    fn default() -> Self {
        Self {
            networks: Networks::default(),
            proxy: None,
            ca_file: None,
            timeout: Duration::from_secs(9),
            lookup: None,
        }
    }
}

/// Error: invalid outbound settings.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidOutbound {
    /// Unusable root certificates.
    #[error("oauth.ca_file {path}: {reason}")]
    CaFile { path: PathBuf, reason: String },
    /// Other TLS errors.
    #[error("TLS towards providers cannot be set up: {0}")]
    Tls(String),
}
