//! A way to the server on which a connection can get stuck: from a question on, the proxy keeps what the client sends,
//! until it is told to let it go.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{Notify, Semaphore};

/// The name of a socket in its folder.
const SOCKET: &str = ".s.PGSQL.5432";

/// The proxy.
#[derive(Clone)]
pub struct HoldingProxy(Arc<Shared>);

struct Shared {
    /// Questions that still pass; all of them where nothing is to be held.
    passing: AtomicUsize,
    release: Notify,
    arrived: Semaphore,
}

impl HoldingProxy {
    /// Stands between a socket in `folder` and the server's socket in `server`. Wants a Tokio runtime around it.
    ///
    /// # Panics
    ///
    /// Where the socket cannot be made.
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

    /// Lets so many questions pass and keeps those that follow.
    pub fn hold_after(&self, questions: usize) {
        self.0.passing.store(questions, Ordering::SeqCst);
    }

    /// Lets go what a connection kept back, and waits until the server is done with it.
    pub async fn release(&self) {
        self.0.passing.store(usize::MAX, Ordering::SeqCst);
        self.0.release.notify_one();
        let _ = self.0.arrived.acquire().await;
    }
}

impl Shared {
    /// Whether one more question passes.
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

/// Keeps all that the client sends until it may go. The end of it tells the server that nobody is there any more, and
/// the end of the answers that the server is done.
async fn hold(mut kept: Vec<u8>, mut client: UnixStream, mut server: UnixStream, shared: &Shared) {
    shared.release.notified().await;
    let _ = client.read_to_end(&mut kept).await;
    let _ = server.write_all(&kept).await;
    let _ = server.shutdown().await;
    let mut answers = Vec::new();
    let _ = server.read_to_end(&mut answers).await;
    shared.arrived.add_permits(1);
}
