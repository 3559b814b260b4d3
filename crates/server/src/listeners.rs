//! The listeners: those of `server.bind`, that of `console.bind` if the console has its own, and that of `metrics.bind`.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use axum::Router;
use latchkey_hosted::Routers;
use latchkey_http::readiness_gate::ReadinessGate;
use latchkey_http::serve::serve;
use latchkey_http::settings::ServeSettings;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::serve::ServeError;
use crate::settings::Settings;

/// Open sockets.
pub(crate) struct Listeners {
    main: Vec<TcpListener>,
    /// Empty if the console has no listener of its own.
    console: Vec<TcpListener>,
    /// Empty if the metrics have no listener.
    metrics: Vec<TcpListener>,
}

/// The readiness gates of the listeners.
#[derive(Default)]
pub(crate) struct Gates {
    main: ReadinessGate,
    console: ReadinessGate,
}

impl Listeners {
    /// Listens on `server.bind`, `console.bind` and `metrics.bind`.
    pub(crate) async fn open(settings: &Settings) -> Result<Self, ServeError> {
        let is_development = settings.server.is_development();
        let main = listen("server.bind", settings.server.bind, is_development).await?;
        let console = match settings.console.bind.filter(|_| settings.console.enabled) {
            Some(address) => listen("console.bind", address, is_development).await?,
            None => Vec::new(),
        };
        let metrics = match settings.metrics.bind {
            Some(address) => listen("metrics.bind", address, is_development).await?,
            None => Vec::new(),
        };
        Ok(Self { main, console, metrics })
    }

    /// Returns the addresses of `server.bind`.
    pub(crate) fn addresses(&self) -> Vec<SocketAddr> {
        addresses(&self.main)
    }

    /// Returns the addresses of `console.bind`.
    pub(crate) fn console_addresses(&self) -> Vec<SocketAddr> {
        addresses(&self.console)
    }

    /// Returns the addresses of `metrics.bind`.
    pub(crate) fn metrics_addresses(&self) -> Vec<SocketAddr> {
        addresses(&self.metrics)
    }

    /// Serves the routes until `stop` completes. All listeners drain at the same time.
    pub(crate) async fn serve(
        self,
        routers: Routers,
        metrics: Router,
        settings: ServeSettings,
        stop: impl Future<Output = ()> + Send + 'static,
    ) {
        let (stopping, stopped) = watch::channel(());
        let others = [(self.console, routers.console), (self.metrics, Some(metrics))];
        let mut others: JoinSet<usize> = others
            .into_iter()
            .filter_map(|(listeners, routes)| Some((listeners, routes?)))
            .filter(|(listeners, _)| !listeners.is_empty())
            .map(|(listeners, routes)| {
                let mut stopped = stopped.clone();
                let stopped = async move {
                    let _ = stopped.changed().await; // an error means that the main listener is gone too
                };
                serve(listeners, routes, settings.clone(), stopped)
            })
            .collect();
        drop(stopped);
        let stop = async move {
            stop.await;
            drop(stopping);
        };
        serve(self.main, routers.main, settings, stop).await;
        while others.join_next().await.is_some() {} // a panic of a server is in the log already
    }
}

impl Gates {
    /// Puts the gates before the routes of the service, which answer 503 until then.
    pub(crate) fn before(&self, unready: &axum::Router) -> Routers {
        Routers {
            main: self.main.before(unready.clone()),
            console: Some(self.console.before(unready.clone())),
        }
    }

    /// Passes all further requests to the service.
    pub(crate) fn open(&self, routers: Routers) {
        self.main.open(routers.main);
        self.console.open(routers.console.unwrap_or_default());
    }
}

/// Listens on an address. In development mode a loopback address gets a second listener on the other IP version,
/// because `localhost` may resolve to either.
async fn listen(
    key: &'static str,
    address: SocketAddr,
    is_development: bool,
) -> Result<Vec<TcpListener>, ServeError> {
    let refused = |source: io::Error| ServeError::Bind { key, address, source };
    let listener = TcpListener::bind(address).await.map_err(refused)?;
    let port = listener.local_addr().map_or(address.port(), |bound| bound.port());
    let mut listeners = vec![listener];
    let other = match address.ip() {
        IpAddr::V4(ip) if ip == Ipv4Addr::LOCALHOST => Some(IpAddr::V6(Ipv6Addr::LOCALHOST)),
        IpAddr::V6(ip) if ip == Ipv6Addr::LOCALHOST => Some(IpAddr::V4(Ipv4Addr::LOCALHOST)),
        _ => None,
    };
    if let Some(other) = other.filter(|_| is_development) {
        match TcpListener::bind((other, port)).await {
            Ok(listener) => listeners.push(listener),
            Err(error) => tracing::warn!(%other, port, %error, "the other loopback cannot be listened on"),
        }
    }
    Ok(listeners)
}

fn addresses(listeners: &[TcpListener]) -> Vec<SocketAddr> {
    listeners.iter().filter_map(|listener| listener.local_addr().ok()).collect()
}
