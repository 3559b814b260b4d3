//! The listeners: those of `server.bind`, and that of `console.bind` if the console has its own.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use latchkey_hosted::Routers;
use latchkey_http::readiness_gate::ReadinessGate;
use latchkey_http::serve::serve;
use latchkey_http::settings::ServeSettings;
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::serve::ServeError;
use crate::settings::Settings;

/// Open sockets.
pub(crate) struct Listeners {
    main: Vec<TcpListener>,
    /// Empty if the console has no listener of its own.
    console: Vec<TcpListener>,
}

/// The readiness gates of the listeners.
#[derive(Default)]
pub(crate) struct Gates {
    main: ReadinessGate,
    console: ReadinessGate,
}

impl Listeners {
    /// Listens on `server.bind` and `console.bind`.
    pub(crate) async fn open(settings: &Settings) -> Result<Self, ServeError> {
        let is_development = settings.server.is_development();
        let main = listen("server.bind", settings.server.bind, is_development).await?;
        let console = match settings.console.bind.filter(|_| settings.console.enabled) {
            Some(address) => listen("console.bind", address, is_development).await?,
            None => Vec::new(),
        };
        Ok(Self { main, console })
    }

    /// Returns the addresses of `server.bind`.
    pub(crate) fn addresses(&self) -> Vec<SocketAddr> {
        addresses(&self.main)
    }

    /// Returns the addresses of `console.bind`.
    pub(crate) fn console_addresses(&self) -> Vec<SocketAddr> {
        addresses(&self.console)
    }

    /// Serves the routes until `stop` completes. Both listeners drain at the same time.
    pub(crate) async fn serve(
        self,
        routers: Routers,
        settings: ServeSettings,
        stop: impl Future<Output = ()> + Send + 'static,
    ) {
        let (stopping, mut stopped) = watch::channel(());
        let console = routers.console.filter(|_| !self.console.is_empty()).map(|routes| {
            let stopped = async move {
                let _ = stopped.changed().await; // an error means that the main listener is gone too
            };
            tokio::spawn(serve(self.console, routes, settings.clone(), stopped))
        });
        let stop = async move {
            stop.await;
            drop(stopping);
        };
        serve(self.main, routers.main, settings, stop).await;
        if let Some(console) = console {
            let _ = console.await; // a panic of the server is in the log already
        }
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
