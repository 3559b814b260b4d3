//! The audit log: events by a filter, and the sign-ins of a user.

use latchkey_domain::audit::{ActorKind, AuditEvent, AuditFilter, AuditKind};
use latchkey_domain::ids::{EventId, UserId};
use latchkey_domain::time::Timestamp;
use latchkey_store::{EventPage, EventTotal, ListEvents, ListOwnEvents};

use super::Admin;
use crate::error::Result;

/// Number of reads of the audit log for one page, at most.
const READS: u32 = 20;

/// Number of events up to which they are counted: that many take a tenth of a second.
const MOST_COUNTED: u32 = 1_000_000;

/// Number of events, at most, that are looked through at once for those that concern no imported account.
const LOOKED_THROUGH: u32 = 1_000;

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

impl SignIns {
    /// Returns the latest of both, newest first.
    pub(super) fn latest(self, limit: u32) -> Vec<AuditEvent> {
        newest([self.completed, self.failed].concat(), limit)
    }
}

/// Returns the newest of events of several lists, newest first.
fn newest(mut events: Vec<AuditEvent>, limit: u32) -> Vec<AuditEvent> {
    events.sort_by_key(|event| std::cmp::Reverse(event.id));
    events.truncate(limit as usize);
    events
}

/// Leaves out the events of single accounts of imports.
fn without_accounts(mut events: Vec<AuditEvent>) -> Vec<AuditEvent> {
    events.retain(|event| event.kind != AuditKind::UserImported);
    events
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
        self.read_events(ListEvents { filter, before, after: None, limit }).await
    }

    /// Returns the page that precedes the event `after` in the list: the events next to it in time that are newer, newest
    /// first. The work is bounded likewise.
    pub async fn list_events_after(
        &self,
        filter: AuditFilter,
        after: EventId,
        limit: u32,
    ) -> Result<EventPage> {
        self.read_events(ListEvents { filter, before: None, after: Some(after), limit }).await
    }

    /// Counts the events that pass a filter, as far as that is quick.
    pub async fn count_events(&self, filter: AuditFilter) -> Result<EventTotal> {
        Ok(self.kernel.store.count_events(filter, MOST_COUNTED).await?)
    }

    /// Reads a page, in as many reads as it needs.
    async fn read_events(&self, mut list: ListEvents) -> Result<EventPage> {
        let (limit, goes_up) = (list.limit, list.after.is_some());
        let mut page = EventPage { events: Vec::new(), next: None };
        for _ in 0..READS {
            let more = self.kernel.store.list_events(list).await?;
            let place = if goes_up { 0 } else { page.events.len() };
            page.events.splice(place..place, more.events);
            page.next = more.next;
            list.limit = limit.saturating_sub(u32::try_from(page.events.len()).unwrap_or(limit));
            let cursor = if goes_up { &mut list.after } else { &mut list.before };
            *cursor = more.next;
            if more.next.is_none() || list.limit == 0 {
                break;
            }
        }
        Ok(page)
    }

    /// Reads the last events that admins, operators, the command line or the service itself caused, newest first. The
    /// accounts of an import are left out, since they would be all of the list: the import itself is in it.
    pub async fn last_changes(&self, limit: u32) -> Result<Vec<AuditEvent>> {
        let mut events = Vec::new();
        for actor in [ActorKind::Admin, ActorKind::Operator, ActorKind::System] {
            events.extend(self.changes_by(actor, limit).await?);
        }
        Ok(newest(events, limit))
    }

    /// Reads the last changes that one kind of actor caused. Behind many imported accounts they go on where the import
    /// began.
    async fn changes_by(&self, actor: ActorKind, limit: u32) -> Result<Vec<AuditEvent>> {
        let filter = AuditFilter { actor: Some(actor), ..AuditFilter::default() };
        let mut page = self.list_events(filter, None, limit).await?;
        let mut changes = without_accounts(page.events);
        if changes.len() < limit as usize && page.next.is_some() {
            page = self.list_events(filter, page.next, LOOKED_THROUGH).await?;
            changes.extend(without_accounts(page.events));
        }
        if changes.len() < limit as usize && page.next.is_some() {
            let begun = AuditFilter { kind: Some(AuditKind::ImportStarted), ..filter };
            let begun = self.list_events(begun, page.next, 1).await?.events;
            let before = begun.first().map(|event| event.id).or(page.next);
            changes.extend(begun);
            changes.extend(without_accounts(self.list_events(filter, before, LOOKED_THROUGH).await?.events));
        }
        Ok(changes)
    }

    /// Reads the last sign-ins of a user and the last failures, at most `limit` of each.
    pub async fn sign_ins(&self, user_id: UserId, limit: u32) -> Result<SignIns> {
        self.find_user(user_id).await?;
        let completed = self.latest_of(user_id, AuditKind::SignedIn, limit).await?;
        let mut failed = Vec::new();
        for kind in FAILURES {
            failed.extend(self.latest_of(user_id, kind, limit).await?);
        }
        Ok(SignIns { completed, failed: newest(failed, limit) })
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
