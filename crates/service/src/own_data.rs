//! Data that the service stores about a user, shown to that user: security events, export.

use std::sync::Arc;
use std::time::Duration;

use latchkey_domain::audit::{Actor, AuditEvent, AuditKind};
use latchkey_domain::client::Client;
use latchkey_domain::email::Email;
use latchkey_domain::ids::{EventId, UserId};
use latchkey_domain::limits::{Rate, Take};
use latchkey_domain::reason::Reason;
use latchkey_domain::time::Timestamp;
use latchkey_settings::settings;
use latchkey_store::{EventPage, ListOwnEvents};
use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::sessions::FreshCaller;
use crate::sessions::authenticate::Caller;

/// Time for which users see the security events of their accounts.
const SHOWN_FOR: Duration = Duration::from_hours(90 * 24);

const LIMIT: &str = "export, per account";

/// Number of events that an export reads from the database at once.
const EXPORTED_PAGE: u32 = 1_000;
const EXPORTED_PAGES: usize = 10;

settings! {
    /// The rate limit of exports.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Limits {
        /// The limit on exports of one account by its owner.
        "limits.export_per_account" => export: Rate = "5/24h";
    }
}

impl Limits {
    /// Returns a request for one token from the account's bucket of exports; empty if rate limits are off.
    pub(crate) fn takes(&self, kernel: &Kernel, user_id: UserId) -> Vec<Take> {
        kernel.limits.by_account(LIMIT, self.export, user_id)
    }
}

/// The use cases by which users read the data stored about them.
pub struct OwnData {
    pub(crate) kernel: Arc<Kernel>,
    pub(crate) limits: Limits,
}

/// The part of a user's data export that this module reads: security events and email addresses. The rest
/// (account, profile, sessions) comes from the use cases that show it.
pub struct ExportedData {
    pub at: Timestamp,
    /// The security events of the last 90 days, newest first; at most ten thousand.
    pub events: Vec<AuditEvent>,
    /// The present address of the account, then its former addresses that are still reserved.
    pub emails: Vec<ExportedEmail>,
}

/// A present or former address of the account.
pub struct ExportedEmail {
    pub email: Email,
    /// Time until which a former address is reserved for the account; `None` for the present address.
    pub reserved_until: Option<Timestamp>,
}

impl OwnData {
    /// Lists the security events of the caller's account in the last 90 days, newest first: those that precede the event
    /// `before`, or the newest with `None`.
    pub async fn events(&self, caller: Caller, before: Option<EventId>, limit: u32) -> Result<EventPage> {
        let list = ListOwnEvents { only: None, before, ..self.list_of(caller.user_id, limit) };
        let page = self.kernel.store.list_own_events(list).await?;
        let unknown = || {
            let problem = "must be the id of an event of this account";
            Error::validation("before", Reason::NotAllowed, problem)
        };
        let EventPage { events, next } = page.ok_or_else(unknown)?;
        Ok(EventPage { events: events.into_iter().map(for_owner).collect(), next })
    }

    /// Reads the events and addresses of the caller's account, and records the export.
    pub async fn export(&self, caller: &FreshCaller, client: &Client) -> Result<ExportedData> {
        let (now, user, by) = (self.kernel.now(), caller.user(), caller.caller());
        let takes = self.limits.takes(&self.kernel, by.user_id);
        let outcome = self.kernel.store.take(&takes, now).await?;
        outcome.map_err(|limited| self.kernel.limited(limited, user.email.key(), client))?;
        let event = self.kernel.event(AuditKind::AccountExported, Actor::User, Some(client), now);
        let (user_id, session_id) = (Some(by.user_id), Some(by.session_id));
        self.kernel.store.record_event(AuditEvent { user_id, session_id, ..event }).await?;
        let (mut events, mut before) = (Vec::new(), None);
        for _ in 0..EXPORTED_PAGES {
            let page = self.events(by, before, EXPORTED_PAGE).await?;
            events.extend(page.events);
            before = page.next;
            if before.is_none() {
                break;
            }
        }
        let mut emails = vec![ExportedEmail { email: user.email.clone(), reserved_until: None }];
        let reserved = self.kernel.store.list_reserved_emails(by.user_id, now).await?;
        let former = |(email, until)| ExportedEmail { email, reserved_until: Some(until) };
        emails.extend(reserved.into_iter().map(former));
        Ok(ExportedData { at: now, events, emails })
    }

    fn list_of(&self, user_id: UserId, limit: u32) -> ListOwnEvents {
        let since = self.kernel.now().minus(SHOWN_FOR);
        ListOwnEvents { user_id, only: None, since, before: None, limit }
    }
}

/// Removes from an audit event the data that the owner of the account must not see: the admin's network
/// address, and the details of what the admin did.
fn for_owner(event: AuditEvent) -> AuditEvent {
    if event.actor == Actor::User {
        return event;
    }
    // To the owner an operator is an admin: which tool was used, and by whom, is for the audit log.
    let by = if let Actor::Operator(_) = event.actor { Actor::Admin } else { event.actor };
    let by = Map::from_iter([("by".to_owned(), Value::from(by.as_str()))]);
    AuditEvent { client: None, details: by, ..event }
}
