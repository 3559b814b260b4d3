//! Contract for a database that was restored from a backup: what must not come back with it.

use async_trait::async_trait;
use latchkey_domain::audit::AuditEvent;
use latchkey_domain::time::Timestamp;

use crate::error::StoreResult;
use crate::signing_keys::NewSigningKey;

/// Settlement of a restored database.
#[derive(Debug, Clone)]
pub struct SettleRestored {
    /// The key that signs from now on. All earlier keys verify no more, and all sessions end. `None` keeps both: sessions
    /// that ended since the backup are live again then.
    pub key: Option<NewSigningKey>,
    /// Queued mails that were written before this time are dead.
    pub mails_since: Timestamp,
    /// Event that records the restore.
    pub event: AuditEvent,
    /// Time of the settlement.
    pub now: Timestamp,
}

/// Numbers of rows that a settlement changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SettledRestored {
    /// Sessions that were live and have ended.
    pub sessions: u64,
    /// Queued mails that are dead now.
    pub mails: u64,
}

/// Settlement of restored databases.
#[async_trait]
pub trait Restores {
    /// Ends sessions, replaces signing keys and buries old mails, in one transaction.
    async fn settle_restored(&self, settle: SettleRestored) -> StoreResult<SettledRestored>;
}
