//! The workers of a running service: loops around the service's steps, each a select of wake, timer and shutdown.

use std::sync::Arc;
use std::time::Duration;

use latchkey_http::error::chain_of;
use latchkey_service::Service;
use latchkey_store_postgres::{PostgresOptions, PostgresStore};
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;
use tokio::time::sleep;

/// Interval of polling the outbox without a wake: other processes write into it as well.
const OUTBOX_POLL: Duration = Duration::from_secs(2);
/// Interval of polling shared settings and keys. Changes must arrive within a second.
const SHARED_POLL: Duration = Duration::from_millis(400);
/// Interval of polling changes of profiles for the search index. Those of other instances must be found within a
/// second.
const SEARCH_POLL: Duration = Duration::from_millis(300);
// A poll that just missed a change, and the next one that brings it, both pass within the second of the contract.
const _: () = assert!(2 * SHARED_POLL.as_millis() < 1000 && 2 * SEARCH_POLL.as_millis() < 1000);
/// Interval of deleting expired rows and of checking the age of the signing key. Sealed refresh tokens must be gone soon
/// after their grace.
const UPKEEP: Duration = Duration::from_mins(1);
/// The pause after a step that failed.
const AFTER_FAILURE: Duration = Duration::from_secs(1);

/// The store that can listen to changes by other instances.
type Announcing = Option<(Arc<PostgresStore>, PostgresOptions)>;

/// Starts the workers; they end when the channel says so.
pub fn start(service: &Arc<Service>, announcing: Announcing, stop: &watch::Receiver<bool>) -> JoinSet<()> {
    let mut workers = JoinSet::new();
    let with = || (Arc::clone(service), stop.clone());
    let mails = with();
    workers.spawn(keep_alive("mails", AFTER_FAILURE, move || {
        deliver_mails(Arc::clone(&mails.0), mails.1.clone())
    }));
    let shared = with();
    let changed = Arc::new(Notify::new());
    let notified = Arc::clone(&changed);
    workers.spawn(keep_alive("shared state", AFTER_FAILURE, move || {
        follow_shared(Arc::clone(&shared.0), Arc::clone(&notified), shared.1.clone())
    }));
    if let Some((store, options)) = announcing {
        let mut stop = stop.clone();
        workers.spawn(async move {
            tokio::select! {
                () = store.follow_changes(&options, || changed.notify_one()) => {}
                _ = stop.changed() => {}
            }
        });
    }
    let search = with();
    workers.spawn(keep_alive("search", AFTER_FAILURE, move || {
        follow_search(Arc::clone(&search.0), search.1.clone())
    }));
    let upkeep = with();
    workers
        .spawn(keep_alive("upkeep", AFTER_FAILURE, move || keep_up(Arc::clone(&upkeep.0), upkeep.1.clone())));
    workers
}

/// Runs a worker to its end, and again after a panic: stopped mails beside working requests are noticed late.
async fn keep_alive<W>(name: &'static str, pause: Duration, worker: impl Fn() -> W)
where
    W: Future<Output = ()> + Send + 'static,
{
    loop {
        // A set of one: it ends its task when it is dropped.
        let mut alone = JoinSet::new();
        alone.spawn(worker());
        match alone.join_next().await {
            Some(Err(error)) if error.is_panic() => {
                tracing::error!(worker = name, "a worker panicked and is started again");
                sleep(pause).await;
            }
            _ => return,
        }
    }
}

async fn deliver_mails(service: Arc<Service>, mut stop: watch::Receiver<bool>) {
    loop {
        let pause = match deliver_once(&service).await {
            Ok(pause) => pause,
            Err(error) => {
                tracing::warn!(error = chain_of(&error), "the outbox could not be processed");
                AFTER_FAILURE
            }
        };
        tokio::select! {
            () = service.outbox.mail_written() => {}
            () = sleep(pause) => {}
            _ = stop.changed() => return,
        }
    }
}

async fn deliver_once(service: &Service) -> latchkey_service::Result<Duration> {
    let delivered = service.outbox.deliver_due().await?;
    if delivered == latchkey_service::outbox::Delivered::default() {
        service.outbox.rest_transport().await;
    }
    let due = service.outbox.next_due_in().await?.unwrap_or(OUTBOX_POLL);
    // A mail under another worker's lease can be due already: poll again soon, not at once.
    Ok(due.clamp(Duration::from_millis(100), OUTBOX_POLL))
}

async fn follow_shared(service: Arc<Service>, changed: Arc<Notify>, mut stop: watch::Receiver<bool>) {
    loop {
        tokio::select! {
            () = sleep(SHARED_POLL) => {}
            () = changed.notified() => {}
            _ = stop.changed() => return,
        }
        match service.shared.sync().await {
            Ok(true) => tracing::info!("settings or signing keys were changed by another instance: reloaded"),
            Ok(false) => {}
            Err(error) => {
                tracing::warn!(error = chain_of(&error), "shared settings could not be read");
                sleep(AFTER_FAILURE).await;
            }
        }
    }
}

/// Makes the index of the search, which can take long, and follows what changes.
async fn follow_search(service: Arc<Service>, mut stop: watch::Receiver<bool>) {
    loop {
        let was_loaded = service.search.is_loaded();
        let following = async {
            match service.search.follow().await {
                Ok(()) => SEARCH_POLL,
                Err(error) => {
                    tracing::warn!(
                        error = chain_of(&error),
                        "the search index could not follow the profiles"
                    );
                    AFTER_FAILURE
                }
            }
        };
        let pause = tokio::select! {
            pause = following => pause,
            _ = stop.changed() => return,
        };
        if !was_loaded && service.search.is_loaded() {
            tracing::info!("profile searches are answered from memory");
        }
        tokio::select! {
            () = sleep(pause) => {}
            _ = stop.changed() => return,
        }
    }
}

async fn keep_up(service: Arc<Service>, mut stop: watch::Receiver<bool>) {
    loop {
        if let Err(error) = keep_up_once(&service).await {
            tracing::warn!(error = chain_of(&error), "upkeep failed and will be tried again");
        }
        tokio::select! {
            () = sleep(UPKEEP) => {}
            _ = stop.changed() => {
                // Those of the last minute; a failure is no reason to stay.
                let _ = service.upkeep.record_refusals().await;
                return;
            }
        }
    }
}

async fn keep_up_once(service: &Service) -> latchkey_service::Result<()> {
    service.upkeep.record_refusals().await?;
    if service.upkeep.rotate_signing_key_if_due().await? {
        tracing::info!("the signing key was rotated");
    }
    let deleted = service.upkeep.purge().await?;
    if deleted > 0 {
        tracing::info!(deleted, "rows past their use were deleted");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[tokio::test]
    async fn a_worker_that_panics_is_started_again() {
        let starts = Arc::new(AtomicU32::new(0));
        let counted = Arc::clone(&starts);
        keep_alive("test", Duration::ZERO, move || {
            let number = counted.fetch_add(1, Ordering::SeqCst);
            async move { assert!(number > 1, "the first two panic") }
        })
        .await;
        assert_eq!(starts.load(Ordering::SeqCst), 3);
    }
}
