//! Backups as the running service sees them: the age of the newest, and the settlement of a restored database. The binary
//! makes, verifies and restores the files.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use latchkey_domain::audit::{Actor, AuditKind};
use latchkey_domain::time::Timestamp;
use latchkey_store::{SettleRestored, SettledRestored};
use serde_json::Value;

use crate::error::Result;
use crate::kernel::Kernel;
pub use crate::metrics::BackupOutcome;
use crate::shared::Shared;

/// The age from which a queued mail of a restored database is not sent: its code has expired, or its reader has seen it.
const STALE_MAIL: Duration = Duration::from_hours(1);

/// What becomes of the sessions of a restored database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RestoredSessions {
    /// All end, as do open challenges, codes and mailed links, and no token of an earlier signing key is accepted. Otherwise
    /// what was signed out, banned, used or stolen since the backup would come back.
    End,
    Keep,
}

/// The newest backup in the configured folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewestBackup {
    pub created_at: Timestamp,
    /// Size of the file.
    pub bytes: u64,
}

pub struct Backups {
    kernel: Arc<Kernel>,
    shared: Arc<Shared>,
    newest: Mutex<Option<NewestBackup>>,
    /// Interval of the backups that the service makes itself.
    interval: OnceLock<Duration>,
}

impl Backups {
    pub(crate) fn new(kernel: Arc<Kernel>, shared: Arc<Shared>) -> Self {
        Self { kernel, shared, newest: Mutex::default(), interval: OnceLock::new() }
    }

    /// Remembers the newest backup of the folder; `None` if there is none.
    pub fn remember(&self, newest: Option<NewestBackup>) {
        *self.newest.lock().unwrap_or_else(PoisonError::into_inner) = newest;
    }

    /// Tells that the service makes backups itself, in this interval.
    pub fn schedule(&self, interval: Duration) {
        // It is set once, at the start.
        self.interval.get_or_init(|| interval);
    }

    /// Returns the interval of the backups that the service makes itself; `None` if it makes none.
    #[must_use]
    pub fn interval(&self) -> Option<Duration> {
        self.interval.get().copied()
    }

    /// Counts a backup of the schedule, for the metrics.
    pub fn count(&self, outcome: BackupOutcome) {
        self.kernel.metrics.backup(outcome);
    }

    /// Returns the newest backup; `None` if there is none, or if this instance does not watch a folder of backups.
    #[must_use]
    pub fn newest(&self) -> Option<NewestBackup> {
        *self.newest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the age of the newest backup.
    #[must_use]
    pub fn age(&self) -> Option<Duration> {
        self.newest().map(|newest| self.kernel.now().since(newest.created_at))
    }

    /// Settles a restored database before a service starts on it: ends sessions and half sign-ins, replaces the signing
    /// key, and gives up queued mails that are older than an hour or carry what has ended.
    pub async fn settle_restored(&self, sessions: RestoredSessions) -> Result<SettledRestored> {
        let now = self.kernel.now();
        let key = match sessions {
            RestoredSessions::End => Some(self.shared.tokens.new_key(&*self.kernel.entropy, now)?),
            RestoredSessions::Keep => None,
        };
        let mut event = self.kernel.event(AuditKind::DatabaseRestored, Actor::System, None, now);
        event.details.insert("sessionsEnded".to_owned(), Value::from(key.is_some()));
        let settle = SettleRestored { key, mails_since: now.minus(STALE_MAIL), event, now };
        let settled = self.kernel.store.settle_restored(settle).await?;
        self.shared.reload().await?;
        Ok(settled)
    }
}
