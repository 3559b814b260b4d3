//! Listeners and connections: how many, how long, and how they end. Requests are the router's matter.

mod bare_refusals;
mod quiet;

use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use http::Request;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::MissedTickBehavior;
use tower::ServiceExt;

use self::bare_refusals::Dressed;
use self::quiet::{Activity, Patience, Verdict};
use crate::client::PeerAddr;
use crate::settings::ServeSettings;

/// Header lines that the parser takes before it closes the door itself: some over our own limit, so that the refusal is
/// an answer like any other. Not many, because the parser makes room for all of them at every request.
const PARSED_HEADERS: usize = 128;
/// The same for HTTP/2, in bytes with 32 for each field (RFC 9113 section 6.5.2).
const PARSED_HEADER_LIST: u32 = 128 * 1024;
/// Requests at once on one HTTP/2 connection.
const CONCURRENT_STREAMS: u32 = 100;
/// How often a silent HTTP/2 connection is asked whether it lives, and how long it may think about it.
const PING_EVERY: Duration = Duration::from_secs(20);
const PING_ANSWER: Duration = Duration::from_secs(10);
/// The wait after a failed accept that is not the connection's own fault, such as too many open files.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// The life of the server.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Connections are accepted.
    Open,
    /// No new connections; requests in flight are finished.
    Draining,
    /// What is left is cut.
    Closed,
}

/// What every connection shares.
struct Server {
    router: Router,
    builder: Builder<TokioExecutor>,
    settings: ServeSettings,
}

/// Serves HTTP/1.1 and HTTP/2 (by prior knowledge) on all listeners until `shutdown` is ready, then stops: the
/// listeners close, requests in flight are finished within the drain time, idle connections close at once. Returns
/// the number of connections that had to be cut.
///
/// Every request carries the extension [`PeerAddr`].
pub async fn serve(
    listeners: Vec<TcpListener>,
    router: Router,
    settings: ServeSettings,
    shutdown: impl Future<Output = ()>,
) -> usize {
    let slots = Arc::new(Semaphore::new(settings.max_connections.min(Semaphore::MAX_PERMITS)));
    let drain_timeout = settings.drain_timeout;
    let server = Arc::new(Server { router, builder: builder(&settings), settings });
    let (phase, watcher) = watch::channel(Phase::Open);
    for listener in listeners {
        tokio::spawn(accept(listener, Arc::clone(&server), Arc::clone(&slots), watcher.clone()));
    }
    drop(watcher); // from here, every watcher is an open door

    shutdown.await;
    let _ = phase.send(Phase::Draining); // fails only when nobody is left
    if tokio::time::timeout(drain_timeout, phase.closed()).await.is_ok() {
        return 0;
    }
    let cut = phase.receiver_count();
    tracing::warn!(connections = cut, "connections cut: they did not end within the drain time");
    let _ = phase.send(Phase::Closed);
    phase.closed().await;
    cut
}

/// The protocol settings.
fn builder(settings: &ServeSettings) -> Builder<TokioExecutor> {
    let mut builder = Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(settings.header_read_timeout)
        .max_headers(PARSED_HEADERS);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_header_list_size(PARSED_HEADER_LIST)
        .max_concurrent_streams(CONCURRENT_STREAMS)
        .keep_alive_interval(PING_EVERY)
        .keep_alive_timeout(PING_ANSWER);
    builder
}

/// Takes connections from one listener, each with a slot, until the phase changes.
async fn accept(
    listener: TcpListener,
    server: Arc<Server>,
    slots: Arc<Semaphore>,
    mut phase: watch::Receiver<Phase>,
) {
    loop {
        let next = async {
            // The slot first: without one the connection waits in the kernel's backlog. Never closed, so never an error.
            let slot = Arc::clone(&slots).acquire_owned().await.ok();
            (slot, listener.accept().await)
        };
        let (slot, accepted) = tokio::select! {
            _ = phase.changed() => return,
            next = next => next,
        };
        match accepted {
            Ok((stream, peer)) => {
                tokio::spawn(connection(stream, peer, Arc::clone(&server), slot, phase.clone()));
            }
            Err(error) if is_of_the_connection(&error) => {}
            Err(error) => {
                tracing::warn!(%error, "cannot accept connections");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

/// Whether a failed accept says something about one connection only.
fn is_of_the_connection(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

/// Serves one connection to its end.
async fn connection(
    stream: TcpStream,
    peer: SocketAddr,
    server: Arc<Server>,
    _slot: Option<OwnedSemaphorePermit>,
    mut phase: watch::Receiver<Phase>,
) {
    let _ = stream.set_nodelay(true); // an answer late by a delayed ACK is still an answer
    let activity = Arc::new(Activity::default());
    let service = service_fn(|mut request: Request<Incoming>| {
        let in_flight = activity.begin();
        request.extensions_mut().insert(PeerAddr(peer));
        let answer = server.router.clone().oneshot(request);
        async move {
            let answer = answer.await;
            drop(in_flight);
            answer
        }
    });
    let mut connection = pin!(
        server
            .builder
            .serve_connection(Dressed::new(TokioIo::new(stream), server.settings.is_https), service)
    );
    // The parser's own timer knows only half of those who waste a connection: see `quiet`. This one comes later, so
    // that the parser's way of closing is tried first.
    let mut patience = Patience::default();
    let mut look = tokio::time::interval(server.settings.header_read_timeout + Duration::from_secs(1));
    look.set_missed_tick_behavior(MissedTickBehavior::Delay);
    look.reset(); // the first look comes after a whole interval
    loop {
        tokio::select! {
            _ = connection.as_mut() => return, // a broken connection is the client's matter: not logged
            _ = look.tick() => match patience.judge(&activity) {
                Verdict::Keep => {}
                Verdict::AskToEnd => connection.as_mut().graceful_shutdown(),
                Verdict::Cut => return,
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
