//! Contract for a database that was restored from a backup: what must not come back with it.

use async_trait::async_trait;
use latchkey_domain::audit::AuditEvent;
use latchkey_domain::time::Timestamp;

use crate::error::StoreResult;
use crate::signing_keys::NewSigningKey;

/// Settlement of a restored database.
#[derive(Debug, Clone)]
pub struct SettleRestored {
    /// The key that signs from now on. All earlier keys verify no more, and all sessions end, with everything that could
    /// open one or prove an address. `None` keeps all: what ended or was used since the backup is good again then.
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
    /// Queued mails that are dead now: old ones, and those whose code or link has ended.
    pub mails: u64,
}

/// Settlement of restored databases.
#[async_trait]
pub trait Restores {
    /// Ends sessions and half sign-ins, replaces signing keys and gives up old mails, in one transaction.
    async fn settle_restored(&self, settle: SettleRestored) -> StoreResult<SettledRestored>;
}
