//! Background loops of a running service, called workers: mail delivery, reload of shared settings and keys, search
//! index, deletion of expired rows, counting of the statistics. Each runs at an interval, or earlier when notified, until shutdown.

use std::sync::Arc;
use std::time::Duration;

use latchkey_http::error::chain_of;
use latchkey_service::Service;
use latchkey_store_postgres::{PostgresOptions, PostgresStore};
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;
use tokio::time::sleep;

/// Polling interval of the outbox. Other processes write mails without notifying this one.
const OUTBOX_POLL: Duration = Duration::from_secs(2);
/// Polling interval of shared settings and signing keys. Changes by other instances must take effect within a second.
const SHARED_POLL: Duration = Duration::from_millis(400);
/// Polling interval of the search's change feed. Changes by other instances must be found within a second.
const SEARCH_POLL: Duration = Duration::from_millis(300);
// In the worst case a change is seen one full interval after a poll, plus the duration of that poll. Both fit into the
// second that is promised.
const _: () = assert!(2 * SHARED_POLL.as_millis() < 1000 && 2 * SEARCH_POLL.as_millis() < 1000);
/// Interval of counting, of deleting expired rows and of checking the age of the signing key. It is short because of one kind of
/// row: the encrypted new refresh token, kept for a repeated refresh, must be deleted soon after the grace period.
const UPKEEP: Duration = Duration::from_mins(1);
/// Pause of a worker after a failed step.
const AFTER_FAILURE: Duration = Duration::from_secs(1);

/// PostgreSQL store that can listen for notifications of other instances, with its options.
type Announcing = Option<(Arc<PostgresStore>, PostgresOptions)>;

/// Starts the workers. They stop when `stop` becomes true. `of_another_secret` is notified when the database turns out to be
/// sealed under another secret, so that this process must stop.
pub fn start(
    service: &Arc<Service>,
    announcing: Announcing,
    stop: &watch::Receiver<bool>,
    of_another_secret: &Arc<Notify>,
) -> JoinSet<()> {
    let mut workers = JoinSet::new();
    let with = || (Arc::clone(service), stop.clone());
    let mails = with();
    workers.spawn(keep_alive("mails", AFTER_FAILURE, move || {
        deliver_mails(Arc::clone(&mails.0), mails.1.clone())
    }));
    let shared = with();
    let changed = Arc::new(Notify::new());
    let (notified, end) = (Arc::clone(&changed), Arc::clone(of_another_secret));
    workers.spawn(keep_alive("shared state", AFTER_FAILURE, move || {
        follow_shared(Arc::clone(&shared.0), Arc::clone(&notified), Arc::clone(&end), shared.1.clone())
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
    let counting = with();
    workers.spawn(keep_alive("statistics", AFTER_FAILURE, move || {
        keep_counting(Arc::clone(&counting.0), counting.1.clone())
    }));
    let upkeep = with();
    workers
        .spawn(keep_alive("upkeep", AFTER_FAILURE, move || keep_up(Arc::clone(&upkeep.0), upkeep.1.clone())));
    workers
}

/// Runs a worker and restarts it after a panic. Otherwise mails could stop unnoticed while requests still succeed.
pub(crate) async fn keep_alive<W>(name: &'static str, pause: Duration, worker: impl Fn() -> W)
where
    W: Future<Output = ()> + Send + 'static,
{
    loop {
        // A `JoinSet` of one task aborts the task when it is dropped.
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
    // A due mail may be leased by another worker. The lower bound avoids a busy loop.
    Ok(due.clamp(Duration::from_millis(100), OUTBOX_POLL))
}

async fn follow_shared(
    service: Arc<Service>,
    changed: Arc<Notify>,
    of_another_secret: Arc<Notify>,
    mut stop: watch::Receiver<bool>,
) {
    loop {
        tokio::select! {
            () = sleep(SHARED_POLL) => {}
            () = changed.notified() => {}
            _ = stop.changed() => return,
        }
        match service.shared.sync().await {
            Ok(true) => {
                tracing::info!("settings or signing keys have changed since they were read: reloaded");
            }
            Ok(false) => {}
            Err(error) if error.is_of_another_secret() => {
                tracing::error!(
                    error = chain_of(&error),
                    "the database is sealed under another server.secret: this process stops, so that it writes nothing \
                     under its own"
                );
                // Requests in flight are finished, as at a signal.
                of_another_secret.notify_one();
                return;
            }
            Err(error) => {
                tracing::warn!(error = chain_of(&error), "shared settings could not be read");
                sleep(AFTER_FAILURE).await;
            }
        }
    }
}

/// Builds the search index, which can take long, and keeps it up to date with the change feed.
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
        keep_up_once(&service, &mut stop).await;
        tokio::select! {
            () = sleep(UPKEEP) => {}
            () = stopping(&mut stop) => {
                // Writes the refusals of the last minute, and takes the instance from the list. A failure must not delay
                // the shutdown.
                let _ = service.upkeep.record_refusals().await;
                let _ = service.instances.leave().await;
                return;
            }
        }
    }
}

/// Does all steps of upkeep. One that fails is logged and holds up no other: without the purge the database grows, and
/// deleted accounts stay.
async fn keep_up_once(service: &Service, stop: &mut watch::Receiver<bool>) {
    attempt("report this instance", service.instances.report()).await;
    attempt("record refusals", service.upkeep.record_refusals()).await;
    if attempt("rotate the signing key", service.upkeep.rotate_signing_key_if_due()).await == Some(true) {
        tracing::info!("the signing key was rotated");
    }
    // A purge also adds profiles to the search index, which takes long after a large import.
    tokio::select! {
        deleted = attempt("delete expired rows", service.upkeep.purge()) => {
            if let Some(deleted @ 1..) = deleted {
                tracing::info!(deleted, "rows past their use were deleted");
            }
        }
        () = stopping(stop) => return,
    }
    if let Some(wrapped @ 1..) = attempt("wrap digests", service.passwords.wrap_digests()).await {
        tracing::info!(wrapped, "weak password hashes of imported accounts were wrapped in argon2id");
    }
}

/// Waits until the workers are to stop.
async fn stopping(stop: &mut watch::Receiver<bool>) {
    let _ = stop.wait_for(|is_stopping| *is_stopping).await;
}

/// Counts the statistics, which can take minutes: no other step waits for it, and no stop.
async fn keep_counting(service: Arc<Service>, mut stop: watch::Receiver<bool>) {
    loop {
        let counting = async {
            attempt("count the statistics", service.upkeep.count_statistics_if_due()).await;
            attempt("learn the work classes of passwords", service.passwords.learn_classes()).await;
            sleep(UPKEEP).await;
        };
        tokio::select! {
            () = counting => {}
            _ = stop.changed() => return,
        }
    }
}

async fn attempt<T>(step: &str, work: impl Future<Output = latchkey_service::Result<T>>) -> Option<T> {
    match work.await {
        Ok(done) => Some(done),
        Err(error) => {
            tracing::warn!(step, error = chain_of(&error), "a step of upkeep failed and will be tried again");
            None
        }
    }
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
