//! The long work on the index: making it and keeping it quick, on threads of their own that nobody waits for at the
//! end of the process.

use std::sync::Arc;
use std::thread::Builder;

use latchkey_search::{Index, Loader};
use latchkey_store::{SearchEntry, Store};
use tokio::sync::{mpsc, oneshot};

use super::entry_of;
use crate::error::{Error, Result};

/// Profiles that are read at once.
const AT_ONCE: u32 = 4_096;
/// Pages that may wait while the index takes in another one.
const WAITING: usize = 2;
/// Priority of these threads: requests go first.
const NICENESS: i32 = 10;

/// Makes the index of all profiles. Nothing is kept of it where the caller stops waiting.
pub(super) async fn load(store: &dyn Store) -> Result<Index> {
    let (pages, mut waiting) = mpsc::channel::<Vec<SearchEntry>>(WAITING);
    let made = work("search-loader", move || {
        let mut loader = Loader::new();
        while let Some(page) = waiting.blocking_recv() {
            if page.is_empty() {
                return Some(loader.finish());
            }
            for entry in page {
                loader.push(entry_of(entry));
            }
        }
        None
    })?;

    let mut last = None;
    loop {
        let page = store.list_search_entries(last, AT_ONCE).await?;
        let Some(entry) = page.last() else { break };
        last = Some(entry.id);
        if pages.send(page).await.is_err() {
            break; // the thread is gone, which the answer below tells
        }
    }
    let _ = pages.send(Vec::new()).await; // the end
    made.await
        .ok()
        .flatten()
        .ok_or_else(|| Error::internal("the thread that makes the search index has stopped"))
}

/// Tidies the index until there is nothing to tidy.
pub(super) async fn tidy(index: &Arc<Index>) {
    if !index.wants_tidying() {
        return;
    }
    let tidied = Arc::clone(index);
    if let Ok(done) = work("search-tidier", move || while tidied.tidy() {}) {
        let _ = done.await; // a panic is in the log, and the index is as it was
    }
}

fn work<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<oneshot::Receiver<T>> {
    let (reply, answer) = oneshot::channel();
    let thread = Builder::new().name(name.to_owned()).spawn(move || {
        // On Linux this is the priority of the calling thread alone. Where it is refused, nothing is lost but order.
        let _ = rustix::process::setpriority_process(None, NICENESS);
        let _ = reply.send(work());
    });
    thread.map(|_| answer).map_err(Error::internal)
}
