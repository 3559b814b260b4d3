//! The initial build of the search index, and helpers that run long work on threads. The process exits without waiting
//! for these threads.

use std::thread::Builder;

use latchkey_domain::ids::ProfileId;
use latchkey_search::{Index, Loader};
use latchkey_store::{SearchEntry, Store};
use tokio::sync::{mpsc, oneshot};

use super::entry_of;
use crate::error::{Error, Result};

/// Number of profiles per page read from the database.
const AT_ONCE: u32 = 4_096;
/// Maximum number of retries of a page that cannot be read.
const RETRIES: u32 = 3;
/// Maximum number of pages buffered between the reader and the thread that builds the index.
const WAITING: usize = 2;
/// Nice value of the threads that build, merge and free the index, so that requests go first.
const NICENESS: i32 = 10;

/// Builds an index of all profiles. If the caller is cancelled, the build stops.
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
            break; // the thread has ended, and `made` reports it below
        }
    }
    let _ = pages.send(Vec::new()).await; // an empty page ends the build
    made.await
        .ok()
        .flatten()
        .ok_or_else(|| Error::internal("the thread that makes the search index has stopped"))
}

/// Reads a page with retries, because a single failure should not restart the whole build.
async fn list_page(store: &dyn Store, after: Option<ProfileId>) -> Result<Vec<SearchEntry>> {
    let mut failures = 0;
    loop {
        match store.list_search_entries(after, AT_ONCE).await {
            Err(_) if failures < RETRIES => failures += 1,
            page => return Ok(page?),
        }
    }
}

/// Runs work on a new thread at low priority.
pub(super) fn work<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<oneshot::Receiver<T>> {
    work_soon(name, move || {
        // On Linux this changes only the calling thread. An error leaves it at normal priority.
        let _ = rustix::process::setpriority_process(None, NICENESS);
        work()
    })
}

/// Runs work on a new thread at normal priority, because requests wait for it.
pub(super) fn work_soon<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<oneshot::Receiver<T>> {
    let (reply, answer) = oneshot::channel();
    let thread = Builder::new().name(name.to_owned()).spawn(move || drop(reply.send(work())));
    thread.map(|_| answer).map_err(Error::internal)
}
