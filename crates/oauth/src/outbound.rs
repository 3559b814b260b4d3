//! HTTP client guarded against server-side request forgery: https only, no redirects, responses of at most 1 MiB, a
//! timeout, and public addresses only. The network policy in `address` is applied to the IP address of the connection.

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

/// The network policy: networks to which connections are allowed besides public ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Networks {
    /// True if loopback addresses, and http to them, are allowed, for development.
    pub loopback: bool,
    /// True if private networks are allowed, for providers inside them. Metadata services of clouds remain forbidden.
    pub private: bool,
}

/// DNS lookup, injectable for tests.
pub trait Lookup: Send + Sync + 'static {
    /// Resolves all addresses of `host`.
    fn lookup(&self, host: &str) -> Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send>>;
}

/// A proxy for all requests. It also resolves the host names.
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

/// Settings of the HTTP client for requests to providers.
#[derive(Clone)]
pub struct OutboundSettings {
    pub networks: Networks,
    /// Proxy for all requests, if any. Proxy settings in environment variables are ignored.
    pub proxy: Option<Proxy>,
    /// PEM file with root certificates in addition to the public ones.
    pub ca_file: Option<PathBuf>,
    /// Timeout of all requests of one operation together.
    pub timeout: Duration,
    /// Replacement of the system's DNS resolver, if any.
    pub lookup: Option<Arc<dyn Lookup>>,
}

impl Default for OutboundSettings {
    /// Allows only public addresses and uses no proxy. The timeout is 9 seconds, so that errors are reported within ten.
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

/// The reason for which [`OutboundSettings`] are invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidOutbound {
    /// The file of root certificates cannot be read or contains none.
    #[error("oauth.ca_file {path}: {reason}")]
    CaFile { path: PathBuf, reason: String },
    /// TLS or the HTTP client cannot be configured.
    #[error("TLS towards providers cannot be set up: {0}")]
    Tls(String),
}
