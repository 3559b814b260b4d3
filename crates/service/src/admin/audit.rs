//! The audit log: events by a filter, and the sign-ins of a user.

use latchkey_domain::audit::{ActorKind, AuditEvent, AuditFilter, AuditKind};
use latchkey_domain::ids::{EventId, UserId};
use latchkey_domain::time::Timestamp;
use latchkey_store::{EventPage, ListEvents, ListOwnEvents};

use super::Admin;
use crate::error::Result;

/// Number of reads of the audit log for one page, at most.
const READS: u32 = 20;

/// Kinds of events that report a failed sign-in.
const FAILURES: [AuditKind; 3] =
    [AuditKind::SignInFailed, AuditKind::SecondFactorFailed, AuditKind::PasskeyRefused];

/// The last sign-ins of a user and the last failures, as far as the audit log retains them.
pub struct SignIns {
    /// Completed sign-ins, newest first.
    pub completed: Vec<AuditEvent>,
    /// Wrong passwords, codes and second factors, and refused passkeys, newest first.
    pub failed: Vec<AuditEvent>,
}

impl Admin {
    /// Returns a page of audit events, newest first: those older than the event `before`, or the newest with `None`. The
    /// work is bounded: where few of very many events pass the filter, the page may have fewer events than `limit`
    /// although there is a next page.
    pub async fn list_events(
        &self,
        filter: AuditFilter,
        before: Option<EventId>,
        limit: u32,
    ) -> Result<EventPage> {
        let mut page = EventPage { events: Vec::new(), next: before };
        for _ in 0..READS {
            let missing = limit.saturating_sub(u32::try_from(page.events.len()).unwrap_or(limit));
            let list = ListEvents { filter, before: page.next, limit: missing };
            let more = self.kernel.store.list_events(list).await?;
            page.events.extend(more.events);
            page.next = more.next;
            if page.next.is_none() || page.events.len() >= limit as usize {
                break;
            }
        }
        Ok(page)
    }

    /// Reads the last events that admins, operators, the command line or the service itself caused, newest first.
    pub async fn last_changes(&self, limit: u32) -> Result<Vec<AuditEvent>> {
        let mut events = Vec::new();
        for actor in [ActorKind::Admin, ActorKind::Operator, ActorKind::System] {
            let filter = AuditFilter { actor: Some(actor), ..AuditFilter::default() };
            events.extend(self.list_events(filter, None, limit).await?.events);
        }
        events.sort_by_key(|event| std::cmp::Reverse(event.id));
        events.truncate(limit as usize);
        Ok(events)
    }

    /// Reads the last sign-ins of a user and the last failures, at most `limit` of each.
    pub async fn sign_ins(&self, user_id: UserId, limit: u32) -> Result<SignIns> {
        self.find_user(user_id).await?;
        let completed = self.latest_of(user_id, AuditKind::SignedIn, limit).await?;
        let mut failed = Vec::new();
        for kind in FAILURES {
            failed.extend(self.latest_of(user_id, kind, limit).await?);
        }
        failed.sort_by_key(|event| std::cmp::Reverse(event.id));
        failed.truncate(limit as usize);
        Ok(SignIns { completed, failed })
    }

    /// Returns the time of the last known request of a user: the last use of a live session, or else the last sign-in. `None`
    /// if there was none.
    pub async fn last_seen(&self, user_id: UserId) -> Result<Option<Timestamp>> {
        let sessions = self.kernel.store.list_sessions(user_id, self.kernel.now()).await?;
        let used = sessions.into_iter().map(|session| session.last_seen_at).max();
        let found = self.kernel.store.find_user(user_id).await?;
        Ok(used.max(found.and_then(|user| user.last_sign_in_at)))
    }

    pub(super) async fn latest_of(
        &self,
        user_id: UserId,
        kind: AuditKind,
        limit: u32,
    ) -> Result<Vec<AuditEvent>> {
        let since = Timestamp::from_millis(i64::MIN);
        let list = ListOwnEvents { user_id, only: Some(kind), since, before: None, limit };
        let page = self.kernel.store.list_own_events(list).await?;
        Ok(page.map(|page| page.events).unwrap_or_default())
    }
}
