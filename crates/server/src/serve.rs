//! `latchkey serve`: listeners, workers, signals, and the way down.

use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use latchkey_http::app::App;
use latchkey_http::edge::Edge;
use latchkey_http::router::router;
use latchkey_service::Service;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use crate::banner::banner;
use crate::settings::Settings;
use crate::wiring::{WiringError, assemble, http_settings, serve_settings};
use crate::workers;

/// How long workers may take to end what they are at.
const WORKERS_END: Duration = Duration::from_secs(10);

/// The service does not run.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// A part cannot be made.
    #[error(transparent)]
    Wiring(#[from] WiringError),
    /// The address cannot be listened on.
    #[error("server.bind: cannot listen on {address}: {source}")]
    Bind {
        /// The address.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// Signals cannot be received.
    #[error("signals cannot be received: {0}")]
    Signals(io::Error),
}

/// Runs the service until SIGTERM or Ctrl-C, then finishes what is in flight and closes.
pub async fn serve(settings: Settings) -> Result<(), ServeError> {
    let stop_signal = stop_signal().map_err(ServeError::Signals)?;
    let listeners = listen(&settings).await?;
    let addresses: Vec<_> = listeners.iter().filter_map(|listener| listener.local_addr().ok()).collect();
    let settings = match addresses.first() {
        Some(address) => settings.bound_to(*address),
        None => settings,
    };
    for warning in settings.warnings() {
        tracing::warn!("{warning}");
    }
    let assembly = assemble(&settings).await?;
    let service = assembly.service;
    // A reader that has gone away is no reason not to serve.
    let _ = writeln!(
        io::stdout(),
        "{}",
        banner(&settings, &service, &addresses, assembly.kept_admin_key.as_ref())
    );
    tracing::info!(
        mode = if settings.server.is_development() { "development" } else { "production" },
        mails = %settings.mail.dir.display(),
        "started"
    );

    let (stop, stopped) = watch::channel(false);
    let mut workers = workers::start(&service, &stopped);
    let routes = layered_router(&service, &settings);
    latchkey_http::serve::serve(listeners, routes, serve_settings(&settings), stop_signal).await;

    let _ = stop.send(true); // fails only when all workers are gone
    let ended = async { while workers.join_next().await.is_some() {} };
    if tokio::time::timeout(WORKERS_END, ended).await.is_err() {
        tracing::warn!("a worker did not end in time; its mails go out after the next start");
    }
    tracing::info!("stopped");
    Ok(())
}

fn layered_router(service: &Arc<Service>, settings: &Settings) -> axum::Router {
    let app = App::new(Arc::clone(service), http_settings(settings), settings.server.cors_origins.clone());
    let ids = Arc::clone(service);
    let next_id = move || uuid::Builder::from_random_bytes(ids.random_bytes()).into_uuid();
    let edge = Edge::new(Arc::clone(&app.settings), app.origins.clone(), Arc::new(next_id));
    edge.wrap(router(app))
}

/// Listens on the address; in development on the other loopback as well, because `localhost` is either.
async fn listen(settings: &Settings) -> Result<Vec<TcpListener>, ServeError> {
    let address = settings.server.bind;
    let listener = TcpListener::bind(address).await.map_err(|source| ServeError::Bind { address, source })?;
    let port = listener.local_addr().map_or(address.port(), |bound| bound.port());
    let mut listeners = vec![listener];
    let other = match address.ip() {
        IpAddr::V4(ip) if ip == Ipv4Addr::LOCALHOST => Some(IpAddr::V6(Ipv6Addr::LOCALHOST)),
        IpAddr::V6(ip) if ip == Ipv6Addr::LOCALHOST => Some(IpAddr::V4(Ipv4Addr::LOCALHOST)),
        _ => None,
    };
    if let Some(other) = other.filter(|_| settings.server.is_development()) {
        match TcpListener::bind((other, port)).await {
            Ok(listener) => listeners.push(listener),
            Err(error) => tracing::warn!(%other, port, %error, "the other loopback cannot be listened on"),
        }
    }
    Ok(listeners)
}

/// Ready at SIGTERM or Ctrl-C. Received from here on, so that none is lost during the start.
fn stop_signal() -> io::Result<impl Future<Output = ()>> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        tracing::info!("stopping: requests in flight are finished");
    })
}
