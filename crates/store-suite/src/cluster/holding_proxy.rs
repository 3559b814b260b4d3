//! Proxy that can stall a connection. After a number of requests it holds back everything that the client sends, until
//! the test releases it.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{Notify, Semaphore};

/// Name of the socket file.
const SOCKET: &str = ".s.PGSQL.5432";

/// Running proxy.
#[derive(Clone)]
pub struct HoldingProxy(Arc<Shared>);

struct Shared {
    /// Number of requests that still pass; the maximum of the type if none are held back.
    passing: AtomicUsize,
    release: Notify,
    arrived: Semaphore,
}

impl HoldingProxy {
    /// Starts the proxy between a socket in `folder` and the server's socket in `server`. Requires a Tokio
    /// runtime.
    ///
    /// # Panics
    ///
    /// If the socket cannot be created.
    #[must_use]
    pub fn start(folder: &Path, server: &Path) -> Self {
        let listener = match UnixListener::bind(folder.join(SOCKET)) {
            Ok(listener) => listener,
            Err(error) => panic!("{error}"),
        };
        let server = server.join(SOCKET);
        let proxy = Self(Arc::new(Shared {
            passing: AtomicUsize::new(usize::MAX),
            release: Notify::new(),
            arrived: Semaphore::new(0),
        }));
        let shared = proxy.0.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let Ok(server) = UnixStream::connect(&server).await else { continue };
                tokio::spawn(stand_between(client, server, shared.clone()));
            }
        });
        proxy
    }

    /// Lets a number of requests pass and holds back the following ones.
    pub fn hold_after(&self, questions: usize) {
        self.0.passing.store(questions, Ordering::SeqCst);
    }

    /// Releases held requests, and waits until the server has processed them.
    pub async fn release(&self) {
        self.0.passing.store(usize::MAX, Ordering::SeqCst);
        self.0.release.notify_one();
        let _ = self.0.arrived.acquire().await;
    }
}

impl Shared {
    /// Counts a request. Returns `false` if it is held back.
    fn passes(&self) -> bool {
        let less = |left: usize| if left == usize::MAX { Some(left) } else { left.checked_sub(1) };
        self.passing.fetch_update(Ordering::SeqCst, Ordering::SeqCst, less).is_ok()
    }
}

async fn stand_between(mut client: UnixStream, mut server: UnixStream, shared: Arc<Shared>) {
    let (mut asked, mut said) = (vec![0; 65_536], vec![0; 65_536]);
    let mut was_answered = true;
    loop {
        tokio::select! {
            read = client.read(&mut asked) => {
                let Ok(length @ 1..) = read else { return };
                if was_answered && !shared.passes() {
                    return hold(asked[..length].to_vec(), client, server, &shared).await;
                }
                was_answered = false;
                if server.write_all(&asked[..length]).await.is_err() {
                    return;
                }
            }
            read = server.read(&mut said) => {
                let Ok(length @ 1..) = read else { return };
                was_answered = true;
                if client.write_all(&said[..length]).await.is_err() {
                    return;
                }
            }
        }
    }
}

/// Buffers the client's bytes until the release. The server sees the end of the request stream as a disconnected
/// client; the proxy sees the end of the response stream as a server that has finished.
async fn hold(mut kept: Vec<u8>, mut client: UnixStream, mut server: UnixStream, shared: &Shared) {
    shared.release.notified().await;
    let _ = client.read_to_end(&mut kept).await;
    let _ = server.write_all(&kept).await;
    let _ = server.shutdown().await;
    let mut answers = Vec::new();
    let _ = server.read_to_end(&mut answers).await;
    shared.arrived.add_permits(1);
}
