//! Proxy that counts the round trips between client and server. It holds back a response until the client has been idle
//! for a while, and counts the requests that follow a response.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};
use tokio::time::{Instant, sleep_until};

/// Time for which the client must be idle before a response is delivered. On a busy machine the client pauses between two requests
/// of one round trip.
const WAY: Duration = Duration::from_millis(20);
/// Name of the socket file.
const SOCKET: &str = ".s.PGSQL.5432";
/// Protocol message of a ROLLBACK, which the engine sends without waiting for the response.
const ROLLBACK: &[u8] = b"Q\0\0\0\x0dROLLBACK\0";

/// Counter of the round trips on all connections of a proxy.
#[derive(Clone, Default)]
pub struct RoundTrips(Arc<AtomicUsize>);

impl RoundTrips {
    /// Number of round trips since the last call.
    #[must_use]
    pub fn take(&self) -> usize {
        self.0.swap(0, Ordering::SeqCst)
    }
}

/// Starts the proxy between a socket in `folder` and the server's socket in `server`. Requires a Tokio runtime.
///
/// # Panics
///
/// If the socket cannot be created.
#[must_use]
pub fn start(folder: &Path, server: &Path) -> RoundTrips {
    let listener = match UnixListener::bind(folder.join(SOCKET)) {
        Ok(listener) => listener,
        Err(error) => panic!("{error}"),
    };
    let server = server.join(SOCKET);
    let count = RoundTrips::default();
    let shared = count.clone();
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let Ok(server) = UnixStream::connect(&server).await else { continue };
            tokio::spawn(stand_between(client, server, shared.clone()));
        }
    });
    count
}

async fn stand_between(mut client: UnixStream, mut server: UnixStream, count: RoundTrips) {
    let (mut asked, mut said) = (vec![0; 65_536], vec![0; 65_536]);
    let mut kept_back: Vec<u8> = Vec::new();
    let mut was_answered = true;
    let mut quiet_from = Instant::now();
    loop {
        tokio::select! {
            read = client.read(&mut asked) => {
                let Ok(length @ 1..) = read else { return };
                quiet_from = Instant::now() + WAY;
                let question = asked[..length].strip_prefix(ROLLBACK).unwrap_or(&asked[..length]);
                if was_answered && !question.is_empty() {
                    was_answered = false;
                    count.0.fetch_add(1, Ordering::SeqCst);
                }
                if server.write_all(&asked[..length]).await.is_err() {
                    return;
                }
            }
            read = server.read(&mut said) => {
                let Ok(length @ 1..) = read else { return };
                kept_back.extend_from_slice(&said[..length]);
            }
            () = sleep_until(quiet_from), if !kept_back.is_empty() => {
                if client.write_all(&kept_back).await.is_err() {
                    return;
                }
                kept_back.clear();
                was_answered = true;
            }
        }
    }
}
