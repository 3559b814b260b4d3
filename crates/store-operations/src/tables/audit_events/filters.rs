//! Statements that read the audit log by a filter. Each reads an index in the order of ids, which is that of times.

use std::ops::Range;

use latchkey_domain::audit::{ActorKind, AuditFilter};
use latchkey_domain::ids::EventId;
use latchkey_store::{EVENTS_INSPECTED, ListEvents};

use super::event_columns;
use crate::form::{Script, Slot, Sql, Value, statements, values};

/// Query for the newest events that meet a condition of an index, with ids from `$1` and below `$2`.
macro_rules! newest_where {
    ($condition:literal) => {
        newest_where!($condition, "id DESC")
    };
    ($condition:literal, $order:literal) => {
        concat!(
            "SELECT ",
            event_columns!(),
            " FROM audit_events WHERE id >= $1 AND id < $2",
            $condition,
            " ORDER BY ",
            $order,
            " LIMIT $3"
        )
    };
}

statements! {
    NEWEST = newest_where!("");
    /// Reads events of a user. The conditions on the time are implied by those on the id, and are there so that the index
    /// is used.
    NEWEST_OF_USER = newest_where!(
        " AND user_id = $4 AND happened_at >= $5 AND happened_at <= $6", "happened_at DESC, id DESC"
    );
    NEWEST_OF_OPERATOR = newest_where!(" AND operator_id = $4");
    NEWEST_OF_ADDRESS = newest_where!(" AND address = $4");
    /// Reads events of an actor. The index has no events of users.
    NEWEST_OF_ACTOR = newest_where!(" AND actor = $4 AND actor <> 'user'");
    NEWEST_OF_KIND = newest_where!(" AND kind = $4");
}

/// Reads the next events by the index that selects the fewest. Returns the slot, and the maximum number of rows.
pub(crate) fn list(script: &mut Script, list: &ListEvents) -> (Slot, u32) {
    let ids = list.filter.ids(list.before);
    let (sql, values, rest) = index(&list.filter, &ids);
    // One row more than requested tells whether there is a next page.
    let inspected =
        if rest == AuditFilter::default() { list.limit.saturating_add(1) } else { EVENTS_INSPECTED };
    let mut parameters = values![ids.start, ids.end, inspected];
    parameters.extend(values);
    (script.read(sql, parameters), inspected)
}

/// Chooses an index: its statement, the parameters from `$4` on, and the conditions that it leaves to be inspected.
fn index(filter: &AuditFilter, ids: &Range<EventId>) -> (&'static Sql, Vec<Value>, AuditFilter) {
    let filter = AuditFilter { from: None, until: None, ..*filter };
    match filter {
        AuditFilter { user_id: Some(id), .. } => {
            let values = values![id, ids.start.time(), ids.end.time()];
            (&NEWEST_OF_USER, values, AuditFilter { user_id: None, ..filter })
        }
        AuditFilter { operator: Some(id), .. } => {
            (&NEWEST_OF_OPERATOR, values![id], AuditFilter { operator: None, ..filter })
        }
        AuditFilter { address: Some(address), .. } => {
            (&NEWEST_OF_ADDRESS, values![address.to_string()], AuditFilter { address: None, ..filter })
        }
        AuditFilter { actor: Some(actor), .. } if actor != ActorKind::User => {
            (&NEWEST_OF_ACTOR, values![actor.as_str()], AuditFilter { actor: None, ..filter })
        }
        AuditFilter { kind: Some(kind), .. } => {
            (&NEWEST_OF_KIND, values![kind.as_str()], AuditFilter { kind: None, ..filter })
        }
        _ => (&NEWEST, Vec::new(), filter),
    }
}
