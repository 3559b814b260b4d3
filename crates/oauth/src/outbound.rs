//! The one way to the outside: https, no redirects, at most 1 MiB and so many seconds, and never to an address that is
//! not a public one. What may be talked to is decided in `address`, on the address that is connected to.

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

pub(crate) use client::{Answer, Outbound, refusal, too_slow};

/// Which addresses may be connected to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Networks {
    /// Loopback addresses, and http towards them: for development.
    pub loopback: bool,
    /// Private networks, for a provider inside one. Addresses that clouds serve their metadata at stay forbidden.
    pub private: bool,
}

/// Finds the addresses of a host. Injected so that tests can change the answer.
pub trait Lookup: Send + Sync + 'static {
    /// All addresses of `host`.
    fn lookup(&self, host: &str) -> Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send>>;
}

/// A proxy that every request goes through; it then looks up the hosts.
#[derive(Clone)]
pub struct Proxy(pub(crate) Url);

impl Proxy {
    /// Reads the address of an http or https proxy, with or without `user:password@`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let url = Url::parse(text).ok()?;
        (matches!(url.scheme(), "http" | "https") && url.has_host()).then_some(Self(url))
    }
}

/// How the outside is talked to.
#[derive(Clone)]
pub struct OutboundSettings {
    /// Which addresses may be connected to.
    pub networks: Networks,
    /// The proxy, if there is one. Those of the environment are ignored.
    pub proxy: Option<Proxy>,
    /// A PEM file with certificates that are trusted besides the public ones.
    pub ca_file: Option<PathBuf>,
    /// The longest time for all requests of one use together.
    pub timeout: Duration,
    /// Instead of the system's resolver.
    pub lookup: Option<Arc<dyn Lookup>>,
}

impl Default for OutboundSettings {
    /// Public addresses alone, no proxy, and 9 seconds, so that an error is told within ten.
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

/// Why the client cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidOutbound {
    /// The file with certificates.
    #[error("oauth.ca_file {path}: {reason}")]
    CaFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Anything else about TLS.
    #[error("TLS towards providers cannot be set up: {0}")]
    Tls(String),
}
