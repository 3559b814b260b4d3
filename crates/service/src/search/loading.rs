//! Building the index, and the threads of long work on it; the process does not wait for them at its end.

use std::thread::Builder;

use latchkey_domain::ids::ProfileId;
use latchkey_search::{Index, Loader};
use latchkey_store::{SearchEntry, Store};
use tokio::sync::{mpsc, oneshot};

use super::entry_of;
use crate::error::{Error, Result};

/// Profiles per page.
const AT_ONCE: u32 = 4_096;
/// Retries of a page that could not be read.
const RETRIES: u32 = 3;
/// Pages buffered while the index takes one in.
const WAITING: usize = 2;
/// Priority of these threads: requests go first.
const NICENESS: i32 = 10;

/// Builds the index of all profiles. Cancelling the caller drops it.
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
        let page = list_page(store, last).await?;
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

/// Reads a page, with retries: one failure must not restart the whole build.
async fn list_page(store: &dyn Store, after: Option<ProfileId>) -> Result<Vec<SearchEntry>> {
    let mut failures = 0;
    loop {
        match store.list_search_entries(after, AT_ONCE).await {
            Err(_) if failures < RETRIES => failures += 1,
            page => return Ok(page?),
        }
    }
}

/// Runs work on a thread of its own at low priority.
pub(super) fn work<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<oneshot::Receiver<T>> {
    work_soon(name, move || {
        // On Linux this is the priority of the calling thread alone. Where it is refused, nothing is lost but order.
        let _ = rustix::process::setpriority_process(None, NICENESS);
        work()
    })
}

/// Runs work that requests wait for, at normal priority.
pub(super) fn work_soon<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<oneshot::Receiver<T>> {
    let (reply, answer) = oneshot::channel();
    let thread = Builder::new().name(name.to_owned()).spawn(move || drop(reply.send(work())));
    thread.map(|_| answer).map_err(Error::internal)
}
