//! Worker that makes backups while the service runs, and watches the folder of backups for their age.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use latchkey_domain::time::Timestamp;
use latchkey_http::error::chain_of;
use latchkey_service::Service;
use latchkey_service::backups::BackupOutcome;
use latchkey_service::secrets::ServerSecret;
use latchkey_store_sqlite::LogAtClose;
use tokio::sync::{oneshot, watch};
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::backup::{Place, Source, Taken, take};
use super::{BackupError, folder};
use crate::settings::{Settings, StorageUrl};
use crate::workers::keep_alive;

/// Interval in which the folder is read. Commands and other instances write there too.
const WATCH: Duration = Duration::from_mins(1);
/// Pause after a failed backup.
const AFTER_FAILURE: Duration = Duration::from_mins(10);
/// Pause of the worker after a panic.
const AFTER_PANIC: Duration = Duration::from_secs(1);
/// Nice value of the thread that makes a backup, so that requests go first.
const NICENESS: i32 = 10;

/// Database, folder and interval of the backups of a running service.
pub struct Schedule {
    database: PathBuf,
    secret: ServerSecret,
    log: LogAtClose,
    folder: PathBuf,
    keep: NonZeroUsize,
    /// Interval; `None` if the folder is only watched.
    every: Option<Duration>,
}

impl Schedule {
    /// Returns the schedule of the settings; `None` on PostgreSQL, whose tools make backups.
    #[must_use]
    pub fn of(settings: &Settings, secret: ServerSecret) -> Option<Self> {
        let StorageUrl::Sqlite(database) = &settings.storage.url else { return None };
        let backup = &settings.backup;
        Some(Self {
            database: database.clone(),
            secret,
            log: settings.storage.log_at_close(),
            folder: backup.dir.clone(),
            keep: backup.keep,
            every: backup.every,
        })
    }

    /// Starts the worker. It stops when `stop` becomes true.
    pub fn start(self, workers: &mut JoinSet<()>, service: &Arc<Service>, stop: &watch::Receiver<bool>) {
        let (schedule, service, stop) = (Arc::new(self), Arc::clone(service), stop.clone());
        workers.spawn(keep_alive("backups", AFTER_PANIC, move || {
            Arc::clone(&schedule).follow(Arc::clone(&service), stop.clone())
        }));
    }

    async fn follow(self: Arc<Self>, service: Arc<Service>, mut stopping: watch::Receiver<bool>) {
        loop {
            let step = async {
                match self.step(&service).await {
                    Ok(()) => WATCH,
                    Err(error) => {
                        service.backups.count(BackupOutcome::Failed);
                        tracing::error!(error = chain_of(&error), "the database was not backed up");
                        AFTER_FAILURE
                    }
                }
            };
            let pause = tokio::select! {
                pause = step => pause,
                _ = stopping.changed() => return,
            };
            tokio::select! {
                () = sleep(pause) => {}
                _ = stopping.changed() => return,
            }
        }
    }

    /// Reads the folder, and makes a backup if the newest one is older than the interval.
    async fn step(self: &Arc<Self>, service: &Service) -> Result<(), BackupError> {
        let newest = folder::newest(&self.folder)?;
        service.backups.remember(newest);
        let now = service.now();
        if self.every.is_none_or(|every| newest.is_some_and(|newest| now.since(newest.created_at) < every)) {
            return Ok(());
        }
        let Taken { manifest, pruned, .. } = self.take(now).await?;
        tracing::info!(bytes = manifest.bytes, users = manifest.users, pruned = pruned.len(), "backed up");
        service.backups.count(BackupOutcome::Made);
        service.backups.remember(folder::newest(&self.folder)?);
        Ok(())
    }

    /// Makes a backup on a thread of its own at low priority: it reads the whole database.
    async fn take(self: &Arc<Self>, now: Timestamp) -> Result<Taken, BackupError> {
        let (reply, answer) = oneshot::channel();
        let schedule = Arc::clone(self);
        let thread = std::thread::Builder::new().name("backup".to_owned()).spawn(move || {
            // On Linux this changes only the calling thread. An error leaves it at normal priority.
            let _ = rustix::process::setpriority_process(None, NICENESS);
            let Self { database, secret, log, folder, keep, .. } = &*schedule;
            let source = Source { database, secret, log: *log };
            drop(reply.send(take(&source, &Place::Folder(folder, Some(*keep)), now)));
        });
        thread.map_err(BackupError::file(&self.folder, "no thread for the backup"))?;
        answer
            .await
            .unwrap_or_else(|_| Err(BackupError::Refused("the thread of the backup panicked".to_owned())))
    }
}
