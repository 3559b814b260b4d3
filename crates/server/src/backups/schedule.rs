//! Worker that makes backups while the service runs, and watches the folder of backups for their age.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use latchkey_domain::time::Timestamp;
use latchkey_http::error::chain_of;
use latchkey_service::Service;
use latchkey_service::backups::{BackupOutcome, NewestBackup};
use latchkey_service::secrets::ServerSecret;
use latchkey_store_sqlite::{CopyError, LogAtClose, Sqlite};
use tokio::sync::{oneshot, watch};
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::backup::{Place, Source, Taken, take};
use super::manifest::Owner;
use super::{BackupError, draft, folder};
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
    /// What the log has of the folder already.
    told: Mutex<Told>,
}

/// What lies in the folder beside the backups that count: those whose time is ahead of the clock, those that cannot be
/// read, and whether there are some of other databases.
type Told = (Vec<PathBuf>, Vec<PathBuf>, bool);

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
            told: Mutex::default(),
        })
    }

    /// Starts the worker. It stops when `stop` becomes true. What a backup or a restore left behind that was killed is
    /// deleted first.
    pub fn start(self, workers: &mut JoinSet<()>, service: &Arc<Service>, stop: &watch::Receiver<bool>) {
        if let Some(every) = self.every {
            service.backups.schedule(every);
        }
        for folder in [self.folder.as_path(), draft::folder_of(&self.database)] {
            draft::delete_abandoned(folder, service.now());
        }
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
        let now = service.now();
        let newest = self.newest(now)?;
        service.backups.remember(newest);
        if self.every.is_none_or(|every| newest.is_some_and(|newest| now.since(newest.created_at) < every)) {
            return Ok(());
        }
        let Taken { manifest, pruned, faults, .. } = self.take(now).await?;
        tracing::info!(bytes = manifest.bytes, users = manifest.users, pruned = pruned.len(), "backed up");
        for fault in faults {
            tracing::warn!(error = chain_of(&fault), "an old backup could not be deleted");
        }
        service.backups.count(BackupOutcome::Made);
        service.backups.remember(self.newest(service.now())?);
        Ok(())
    }

    /// Returns the newest backup of this database in the folder. Logs what else lies there, once.
    fn newest(&self, now: Timestamp) -> Result<Option<NewestBackup>, BackupError> {
        let mark = Sqlite::mark_of(&self.database).map_err(CopyError::from);
        let mark = mark.map_err(BackupError::copy(&self.database))?;
        let owner =
            Owner { database: mark.map(Owner::name_of), secret_fingerprint: self.secret.fingerprint()? };
        let look = folder::look(&self.folder, &owner, now)?;
        let newest = look.newest();
        let found = (look.ahead, look.unreadable, look.others > 0);
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if *told != found {
            tell(&self.folder, &found, look.others);
            *told = found;
        }
        Ok(newest)
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

/// Logs what lies in the folder of backups beside those that count.
fn tell(folder: &Path, (ahead, unreadable, _): &Told, others: usize) {
    let names = |paths: &[PathBuf]| {
        paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
    };
    if !unreadable.is_empty() {
        tracing::warn!(
            files = names(unreadable),
            "backups have a manifest that cannot be read: they do not count, and are not deleted; give the files to the \
             user of the service"
        );
    }
    if !ahead.is_empty() {
        tracing::warn!(
            files = names(ahead),
            "backups have a time that is ahead of the clock: they do not count as the newest, and are not deleted; correct \
             the clock, or delete them"
        );
    }
    if others > 0 {
        tracing::info!(
            others,
            folder = %folder.display(),
            "backups of another database are in this folder: they are not counted, and not deleted"
        );
    }
}
