//! Statements that read the audit log by a filter. Each reads an index in the order of ids, which is that of times.

use std::ops::Range;

use latchkey_domain::audit::{ActorKind, AuditFilter, AuditKind};
use latchkey_domain::ids::EventId;
use latchkey_store::{EVENTS_INSPECTED, ListEvents};

use super::event_columns;
use crate::form::{Script, Slot, Sql, Value, statements, values};

/// An event that is inspected takes as long as this number of events that an index counts.
const INSPECTED_SHARE: u32 = 10;

/// Condition for the events between two rows of an index, from the first on and below the second. Compared and ordered by
/// all columns of the index, they can be read from this index alone: no planner prefers another one.
macro_rules! between {
    ($columns:literal, $first:literal, $end:literal, $partial:literal) => {
        concat!(
            " FROM audit_events WHERE (",
            $columns,
            ") >= (",
            $first,
            ") AND (",
            $columns,
            ") < (",
            $end,
            ")",
            $partial
        )
    };
}
/// Query for the first events between two rows, in this order of the index.
macro_rules! events_in {
    ($between:expr, $order:literal) => {
        concat!("SELECT ", event_columns!(), $between, " ORDER BY ", $order, " LIMIT $3")
    };
}
/// Query for the number of the events between two rows, up to a limit.
macro_rules! count_in {
    ($between:expr) => {
        concat!("SELECT count(*) FROM (SELECT 1", $between, " LIMIT $3) AS counted")
    };
}
/// Query for the number of the first events between two rows, in this order of the index and up to a limit, and of those among
/// them that have a kind, an actor, an address and an operator. An empty text, and no operator, match all.
macro_rules! count_passing_in {
    ($between:expr, $order:literal, $kind:literal, $actor:literal, $address:literal, $operator:literal) => {
        concat!(
            "SELECT count(*), count(CASE WHEN (",
            $kind,
            " = '' OR kind = ",
            $kind,
            ") AND (",
            $actor,
            " = '' OR actor = ",
            $actor,
            ") AND (",
            $address,
            " = '' OR address = ",
            $address,
            ") AND coalesce(operator_id = ",
            $operator,
            ", ",
            $operator,
            " IS NULL) THEN 1 END) FROM (SELECT kind, actor, address, operator_id",
            $between,
            " ORDER BY ",
            $order,
            " LIMIT $3) AS counted"
        )
    };
}

macro_rules! of_all {
    () => {
        " FROM audit_events WHERE id >= $1 AND id < $2"
    };
}
macro_rules! of_user {
    () => {
        between!("user_id, happened_at, id", "$4, $5, $1", "$4, $6, $2", "")
    };
}
macro_rules! of_operator {
    () => {
        between!("operator_id, id", "$4, $1", "$4, $2", " AND operator_id IS NOT NULL")
    };
}
macro_rules! of_address {
    () => {
        between!("address, id", "$4, $1", "$4, $2", " AND address IS NOT NULL")
    };
}
/// The index has no events of users.
macro_rules! of_actor {
    () => {
        between!("actor, id", "$4, $1", "$4, $2", " AND actor <> 'user'")
    };
}
macro_rules! of_kind {
    () => {
        between!("kind, id", "$4, $1", "$4, $2", "")
    };
}

statements! {
    NEWEST = events_in!(of_all!(), "id DESC");
    NEWEST_OF_USER = events_in!(of_user!(), "user_id DESC, happened_at DESC, id DESC");
    NEWEST_OF_OPERATOR = events_in!(of_operator!(), "operator_id DESC, id DESC");
    NEWEST_OF_ADDRESS = events_in!(of_address!(), "address DESC, id DESC");
    NEWEST_OF_ACTOR = events_in!(of_actor!(), "actor DESC, id DESC");
    NEWEST_OF_KIND = events_in!(of_kind!(), "kind DESC, id DESC");
    OLDEST = events_in!(of_all!(), "id");
    OLDEST_OF_USER = events_in!(of_user!(), "user_id, happened_at, id");
    OLDEST_OF_OPERATOR = events_in!(of_operator!(), "operator_id, id");
    OLDEST_OF_ADDRESS = events_in!(of_address!(), "address, id");
    OLDEST_OF_ACTOR = events_in!(of_actor!(), "actor, id");
    OLDEST_OF_KIND = events_in!(of_kind!(), "kind, id");
    COUNT = count_in!(of_all!());
    COUNT_OF_USER = count_in!(of_user!());
    COUNT_OF_OPERATOR = count_in!(of_operator!());
    COUNT_OF_ADDRESS = count_in!(of_address!());
    COUNT_OF_ACTOR = count_in!(of_actor!());
    COUNT_OF_KIND = count_in!(of_kind!());
    PASSING = count_passing_in!(of_all!(), "id DESC", "$4", "$5", "$6", "$7");
    PASSING_OF_USER = count_passing_in!(of_user!(), "user_id DESC, happened_at DESC, id DESC", "$7", "$8", "$9", "$10");
    PASSING_OF_OPERATOR = count_passing_in!(of_operator!(), "operator_id DESC, id DESC", "$5", "$6", "$7", "$8");
    PASSING_OF_ADDRESS = count_passing_in!(of_address!(), "address DESC, id DESC", "$5", "$6", "$7", "$8");
    PASSING_OF_ACTOR = count_passing_in!(of_actor!(), "actor DESC, id DESC", "$5", "$6", "$7", "$8");
    PASSING_OF_KIND = count_passing_in!(of_kind!(), "kind DESC, id DESC", "$5", "$6", "$7", "$8");
}

/// The index that selects the fewest events.
struct Served {
    newest: &'static Sql,
    oldest: &'static Sql,
    count: &'static Sql,
    count_passing: &'static Sql,
    /// Parameters from `$4` on.
    values: Vec<Value>,
    /// Conditions that are left to be inspected.
    rest: AuditFilter,
}

/// How the events of a filter are counted.
pub(crate) enum Counting {
    /// An index counts them, up to the limit and one more.
    Counted(Slot),
    /// Events of an index are inspected, at most this number.
    Inspected(Slot, u32),
}

/// Reads the next events by the index that selects the fewest. Returns the slot, and the maximum number of rows.
pub(crate) fn list(script: &mut Script, list: &ListEvents) -> (Slot, u32) {
    let ids = list.filter.ids(list.before, list.after);
    let served = serve(&list.filter, &ids);
    // One row more than requested tells whether there is a next page.
    let inspected = if served.is_whole() { list.limit.saturating_add(1) } else { EVENTS_INSPECTED };
    let sql = if list.after.is_some() { served.oldest } else { served.newest };
    (script.read(sql, served.parameters(&ids, inspected)), inspected)
}

/// Counts events by the same index, up to a limit.
pub(crate) fn count(script: &mut Script, filter: &AuditFilter, limit: u32) -> Counting {
    let ids = filter.ids(None, None);
    let served = serve(filter, &ids);
    if served.is_whole() {
        let sql = served.count;
        return Counting::Counted(script.read(sql, served.parameters(&ids, limit.saturating_add(1))));
    }
    let (sql, rest) = (served.count_passing, served.rest);
    // One more than are inspected tells whether these are all.
    let inspected = limit.div_ceil(INSPECTED_SHARE).saturating_add(1);
    let mut parameters = served.parameters(&ids, inspected);
    let kind = rest.kind.map_or("", AuditKind::as_str);
    let actor = rest.actor.map_or("", ActorKind::as_str);
    let address = rest.address.map(|address| address.to_string()).unwrap_or_default();
    parameters.extend(values![kind, actor, address, rest.operator]);
    Counting::Inspected(script.read(sql, parameters), inspected)
}

impl Served {
    /// True if the index serves the whole filter.
    fn is_whole(&self) -> bool {
        self.rest == AuditFilter::default()
    }

    fn parameters(self, ids: &Range<EventId>, limit: u32) -> Vec<Value> {
        let mut parameters = values![ids.start, ids.end, limit];
        parameters.extend(self.values);
        parameters
    }
}

/// Makes a [`Served`] of the statements of an index.
macro_rules! served {
    ($newest:ident, $oldest:ident, $count:ident, $passing:ident, $values:expr, $rest:expr) => {
        Served {
            newest: &$newest,
            oldest: &$oldest,
            count: &$count,
            count_passing: &$passing,
            values: $values,
            rest: $rest,
        }
    };
}

/// Chooses an index.
fn serve(filter: &AuditFilter, ids: &Range<EventId>) -> Served {
    let filter = AuditFilter { from: None, until: None, ..*filter };
    match filter {
        AuditFilter { user_id: Some(id), .. } => {
            let values = values![id, ids.start.time(), ids.end.time()];
            let rest = AuditFilter { user_id: None, ..filter };
            served!(NEWEST_OF_USER, OLDEST_OF_USER, COUNT_OF_USER, PASSING_OF_USER, values, rest)
        }
        AuditFilter { operator: Some(id), .. } => {
            let rest = AuditFilter { operator: None, ..filter };
            served!(
                NEWEST_OF_OPERATOR,
                OLDEST_OF_OPERATOR,
                COUNT_OF_OPERATOR,
                PASSING_OF_OPERATOR,
                values![id],
                rest
            )
        }
        AuditFilter { address: Some(address), .. } => {
            let (values, rest) = (values![address.to_string()], AuditFilter { address: None, ..filter });
            served!(NEWEST_OF_ADDRESS, OLDEST_OF_ADDRESS, COUNT_OF_ADDRESS, PASSING_OF_ADDRESS, values, rest)
        }
        AuditFilter { actor: Some(actor), .. } if actor != ActorKind::User => {
            let (values, rest) = (values![actor.as_str()], AuditFilter { actor: None, ..filter });
            served!(NEWEST_OF_ACTOR, OLDEST_OF_ACTOR, COUNT_OF_ACTOR, PASSING_OF_ACTOR, values, rest)
        }
        AuditFilter { kind: Some(kind), .. } => {
            let (values, rest) = (values![kind.as_str()], AuditFilter { kind: None, ..filter });
            served!(NEWEST_OF_KIND, OLDEST_OF_KIND, COUNT_OF_KIND, PASSING_OF_KIND, values, rest)
        }
        _ => served!(NEWEST, OLDEST, COUNT, PASSING, Vec::new(), filter),
    }
}
