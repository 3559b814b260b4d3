//! Statements that read the audit log by a filter. Each reads an index in the order of ids, which is that of times.

use std::ops::Range;

use latchkey_domain::audit::{ActorKind, AuditFilter};
use latchkey_domain::ids::EventId;
use latchkey_store::{EVENTS_INSPECTED, ListEvents};

use super::event_columns;
use crate::form::{Script, Slot, Sql, Value, statements, values};

/// Query for the newest events between two rows of an index, from the first on and below the second. Compared and ordered
/// by all columns of the index, they can be read from this index alone: no planner prefers another one.
macro_rules! newest_between {
    ($columns:literal, $first:literal, $end:literal, $order:literal) => {
        newest_between!($columns, $first, $end, $order, "")
    };
    ($columns:literal, $first:literal, $end:literal, $order:literal, $partial:literal) => {
        concat!(
            "SELECT ",
            event_columns!(),
            " FROM audit_events WHERE (",
            $columns,
            ") >= (",
            $first,
            ") AND (",
            $columns,
            ") < (",
            $end,
            ")",
            $partial,
            " ORDER BY ",
            $order,
            " LIMIT $3"
        )
    };
}

statements! {
    NEWEST = concat!(
        "SELECT ",
        event_columns!(),
        " FROM audit_events WHERE id >= $1 AND id < $2 ORDER BY id DESC LIMIT $3"
    );
    NEWEST_OF_USER = newest_between!(
        "user_id, happened_at, id", "$4, $5, $1", "$4, $6, $2", "user_id DESC, happened_at DESC, id DESC"
    );
    NEWEST_OF_OPERATOR = newest_between!(
        "operator_id, id", "$4, $1", "$4, $2", "operator_id DESC, id DESC", " AND operator_id IS NOT NULL"
    );
    NEWEST_OF_ADDRESS = newest_between!(
        "address, id", "$4, $1", "$4, $2", "address DESC, id DESC", " AND address IS NOT NULL"
    );
    /// Reads events of an actor. The index has no events of users.
    NEWEST_OF_ACTOR = newest_between!(
        "actor, id", "$4, $1", "$4, $2", "actor DESC, id DESC", " AND actor <> 'user'"
    );
    NEWEST_OF_KIND = newest_between!("kind, id", "$4, $1", "$4, $2", "kind DESC, id DESC");
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
