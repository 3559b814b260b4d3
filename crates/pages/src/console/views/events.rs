//! Views of the audit.

use latchkey_domain::audit::{AuditKind, EventId};
use serde::Serialize;

use super::parts::{ClientShown, Filter, PersonLink};
use super::word;
use crate::message::When;
use crate::view::views;

/// The audit: filters, and events, newest first.
#[derive(Debug, Clone, Serialize)]
pub struct Audit {
    pub filters: Vec<Filter>,
    /// The typed filters of user, network address, and first and last day; empty for none.
    pub user: String,
    pub address: String,
    pub since: String,
    pub until: String,
    /// URL of the list without filters; `None` if there are none.
    pub clear: Option<String>,
    pub rows: Vec<EventRow>,
    /// Number of all events that match.
    pub total: EventTotal,
    /// URL of the page of later events; `None` on the first.
    pub previous: Option<String>,
    /// URL of the page of earlier events; `None` on the last.
    pub next: Option<String>,
    /// URL of the filtered events as JSON lines.
    pub export: String,
}

/// Number of events, as far as counting is cheap.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(tag = "key", rename_all = "snake_case")]
pub enum EventTotal {
    Exact {
        count: u64,
    },
    MoreThan {
        count: u64,
    },
    /// Not all events were looked through.
    AtLeast {
        count: u64,
    },
}

/// An audit event.
#[derive(Debug, Clone, Serialize)]
pub struct EventRow {
    pub id: EventId,
    #[serde(serialize_with = "word")]
    pub kind: AuditKind,
    pub at: When,
    pub by: By,
    /// User concerned; `None` on the page of that user, and if there is none.
    pub person: Option<PersonLink>,
    pub client: Option<ClientShown>,
    /// Further data as words and values, such as the names of changed settings.
    pub details: Vec<Detail>,
}

/// Actor of an event.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "key", rename_all = "snake_case")]
pub enum By {
    /// The user, or a client that claims to be the user.
    User,
    /// The holder of an admin key.
    Key,
    /// An operator.
    Operator { name: String },
    /// The command line, or the service itself.
    System,
}

/// A further datum of an event.
#[derive(Debug, Clone, Serialize)]
pub struct Detail {
    pub name: String,
    pub value: String,
}

views! {
    Audit "console/audit.html"
}
