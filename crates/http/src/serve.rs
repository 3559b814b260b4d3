//! Listeners and connections: limits, timeouts, graceful stop. The router handles the requests.

mod connection_limit;
mod idle_timeout;
mod in_flight;
mod log_throttle;
mod protocol;
mod unread_body;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use futures_util::future::BoxFuture;
use http::Request;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use hyper_util::server::conn::auto::Builder;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{Instant, MissedTickBehavior, timeout};
use tower::ServiceExt;

pub(crate) use self::in_flight::Overloaded;

use self::connection_limit::{ConnectionLimit, ConnectionPermit};
use self::idle_timeout::{Activity, IdleTimeout, Verdict};
use self::in_flight::{PermitBody, RequestLimit, RequestPermits};
use self::log_throttle::LogThrottle;
use self::protocol::StreamTasks;
use crate::client::PeerAddr;
use crate::settings::ServeSettings;

/// Pause after an accept error that affects the whole process, such as too many open files.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Phase of the server's life cycle.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// New connections are accepted.
    Open,
    /// No new connections are accepted; requests in flight are finished.
    Draining,
    /// Remaining connections are closed.
    Closed,
}

/// State shared by all connections.
struct Server {
    router: Router,
    builder: Builder<StreamTasks>,
    settings: ServeSettings,
    connections: Arc<Semaphore>,
    per_client: Arc<ConnectionLimit>,
    per_client_exceeded: LogThrottle,
    requests: RequestLimit,
    requests_exceeded: LogThrottle,
}

impl Server {
    fn new(router: Router, settings: ServeSettings) -> Self {
        Self {
            router,
            builder: protocol::builder(&settings),
            connections: Arc::new(Semaphore::new(settings.max_connections.min(Semaphore::MAX_PERMITS))),
            per_client: Arc::new(ConnectionLimit::new(&settings)),
            per_client_exceeded: LogThrottle::default(),
            requests: RequestLimit::new(settings.max_requests),
            requests_exceeded: LogThrottle::default(),
            settings,
        }
    }

    /// Takes a permit for the request. If there is none, marks the request as [`Overloaded`](in_flight::Overloaded).
    fn admit(&self, request: &mut Request<Incoming>, activity: &Arc<Activity>) -> RequestPermits {
        let permit = match self.requests.take(request.uri().path()) {
            Ok(permit) => Some(permit),
            Err(overloaded) => {
                request.extensions_mut().insert(overloaded);
                if let Some(refused) = self.requests_exceeded.count(Instant::now()) {
                    let limit = self.settings.max_requests;
                    tracing::warn!(refused, limit, "requests refused: server.max_requests are in flight");
                }
                None
            }
        };
        RequestPermits { _permit: permit, _in_flight: activity.begin() }
    }
}

/// The two permits of an open connection: one of its client's limit and one of the limit for the process.
struct Admitted {
    _per_client: ConnectionPermit,
    _connection: Option<OwnedSemaphorePermit>,
}

/// Serves HTTP/1.1 and HTTP/2 (by prior knowledge) on all listeners until `shutdown` completes, then stops: listeners
/// close, requests in flight get the drain timeout, idle connections close at once. Returns the number of connections
/// that were still open after the drain timeout and were closed.
///
/// Every request gets the extension [`PeerAddr`].
pub fn serve(
    listeners: Vec<TcpListener>,
    router: Router,
    settings: ServeSettings,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> impl Future<Output = usize> + Send {
    run(listeners, router, settings, Box::pin(shutdown))
}

/// Implements [`serve`] with boxed futures. A future is compiled in the crate that boxes or awaits it, so boxing
/// compiles the protocol once, in this crate, with this crate's optimisation level.
fn run(
    listeners: Vec<TcpListener>,
    router: Router,
    settings: ServeSettings,
    shutdown: BoxFuture<'static, ()>,
) -> BoxFuture<'static, usize> {
    Box::pin(async move {
        let drain_timeout = settings.drain_timeout;
        let server = Arc::new(Server::new(router, settings));
        let (phase, watcher) = watch::channel(Phase::Open);
        for listener in listeners {
            tokio::spawn(accept(listener, Arc::clone(&server), watcher.clone()));
        }
        drop(watcher); // from here on only listeners and connections hold a watcher

        shutdown.await;
        let _ = phase.send(Phase::Draining); // fails only without listeners and connections
        if tokio::time::timeout(drain_timeout, phase.closed()).await.is_ok() {
            return 0;
        }
        let cut = phase.receiver_count();
        tracing::warn!(connections = cut, "connections cut: they did not end within the drain time");
        let _ = phase.send(Phase::Closed);
        phase.closed().await;
        cut
    })
}

/// Accepts connections from one listener until the phase changes.
async fn accept(listener: TcpListener, server: Arc<Server>, mut phase: watch::Receiver<Phase>) {
    loop {
        let accepted = tokio::select! {
            _ = phase.changed() => return,
            accepted = listener.accept() => accepted,
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) if is_of_the_connection(&error) => continue,
            Err(error) => {
                tracing::warn!(%error, "cannot accept connections");
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        // The limit per client is checked first, so a client over its limit never waits for a permit of the process.
        let Some(per_client) = server.per_client.take(peer.ip()) else {
            refuse(stream, peer, &server);
            continue;
        };
        let permit = tokio::select! {
            _ = phase.changed() => return,
            // Further connections wait in the kernel's backlog. The semaphore is never closed, so this cannot fail.
            permit = Arc::clone(&server.connections).acquire_owned() => permit.ok(),
        };
        let admitted = Admitted { _per_client: per_client, _connection: permit };
        tokio::spawn(connection(stream, peer, Arc::clone(&server), admitted, phase.clone()));
    }
}

/// Closes a connection over its client's limit without reading from it.
fn refuse(stream: TcpStream, peer: SocketAddr, server: &Server) {
    drop(stream);
    if let Some(refused) = server.per_client_exceeded.count(Instant::now()) {
        let (limit, client) = (server.settings.max_connections_per_address, peer.ip().to_canonical());
        tracing::warn!(refused, limit, %client, "connections closed: over server.max_connections_per_address");
    }
}

/// True for an accept error that concerns only one connection.
fn is_of_the_connection(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

/// Serves one connection until it closes.
async fn connection(
    stream: TcpStream,
    peer: SocketAddr,
    server: Arc<Server>,
    _admitted: Admitted,
    mut phase: watch::Receiver<Phase>,
) {
    let limit = server.settings.first_byte_timeout.min(server.settings.header_read_timeout);
    let is_http = tokio::select! {
        biased;
        first = timeout(limit, has_first_byte(&stream)) => first.unwrap_or(false),
        _ = phase.changed() => false,
    };
    if !is_http {
        return;
    }
    let _ = stream.set_nodelay(true); // without it responses are only slower (delayed ACK)
    // The buffers of a connection are allocated from here on, so a silent connection costs almost no memory.
    Box::pin(serve_requests(stream, peer, server, phase)).await;
}

/// Waits for the first byte of a connection without consuming it. False if the connection ends before.
async fn has_first_byte(stream: &TcpStream) -> bool {
    matches!(stream.peek(&mut [0]).await, Ok(1))
}

async fn serve_requests(
    stream: TcpStream,
    peer: SocketAddr,
    server: Arc<Server>,
    mut phase: watch::Receiver<Phase>,
) {
    let activity = Arc::new(Activity::default());
    let service = service_fn(|mut request: Request<Incoming>| {
        let permits = server.admit(&mut request, &activity);
        request.extensions_mut().insert(PeerAddr(peer));
        let (request, unread) = unread_body::lend(request);
        let response = server.router.clone().oneshot(request);
        async move {
            let mut response = response.await?;
            if let Some(unread) = unread {
                unread.settle(&mut response).await;
            }
            Ok::<_, Infallible>(response.map(|body| PermitBody::new(body, permits)))
        }
    });
    let mut connection = pin!(server.builder.serve_connection(TokioIo::new(stream), service));
    // The parser has an idle timeout too, but only for some connections (see `idle_timeout`). This one is a second
    // longer, so that the parser closes first where it can.
    let mut idle = IdleTimeout::default();
    let mut tick = tokio::time::interval(server.settings.header_read_timeout + Duration::from_secs(1));
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    tick.reset(); // the first tick comes after a whole interval
    loop {
        tokio::select! {
            _ = connection.as_mut() => return, // errors of a connection are the client's: not logged
            _ = tick.tick() => match idle.judge(&activity) {
                Verdict::Keep => {}
                Verdict::ShutDown => connection.as_mut().graceful_shutdown(),
                Verdict::Close => return,
            },
            changed = phase.changed() => match *phase.borrow_and_update() {
                Phase::Open | Phase::Draining if changed.is_ok() => connection.as_mut().graceful_shutdown(),
                _ => return,
            },
        }
    }
}

#[cfg(test)]
mod tests;
