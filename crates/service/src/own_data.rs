//! Data that the service stores about a user, shown to that user: security events.

use std::sync::Arc;
use std::time::Duration;

use latchkey_domain::audit::{Actor, AuditEvent, AuditKind};
use latchkey_domain::ids::{EventId, UserId};
use latchkey_domain::reason::Reason;
use latchkey_store::{EventPage, ListOwnEvents};
use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::sessions::authenticate::Caller;

/// Time for which users see the security events of their accounts.
const SHOWN_FOR: Duration = Duration::from_hours(90 * 24);

/// The use cases by which users read the data stored about them.
pub struct OwnData {
    pub(crate) kernel: Arc<Kernel>,
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

    /// Lists the latest completed sign-ins of an account in the last 90 days, newest first, for the operator.
    pub async fn last_sign_ins(&self, user_id: UserId, limit: u32) -> Result<Vec<AuditEvent>> {
        let list = ListOwnEvents { only: Some(AuditKind::SignedIn), ..self.list_of(user_id, limit) };
        let page = self.kernel.store.list_own_events(list).await?;
        Ok(page.map(|page| page.events).unwrap_or_default())
    }

    fn list_of(&self, user_id: UserId, limit: u32) -> ListOwnEvents {
        let since = self.kernel.now().minus(SHOWN_FOR);
        ListOwnEvents { user_id, only: None, since, before: None, limit }
    }
}

/// Removes from an event what is not the owner's: an admin's address and the details of the admin's act.
fn for_owner(event: AuditEvent) -> AuditEvent {
    if event.actor == Actor::User {
        return event;
    }
    let by = Map::from_iter([("by".to_owned(), Value::from(event.actor.as_str()))]);
    AuditEvent { client: None, details: by, ..event }
}
