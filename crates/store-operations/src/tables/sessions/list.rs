//! Statements of the list of all live sessions. Each filter with an index has its own, so that a plan never depends on
//! statistics: by user, by network address, and all.

use latchkey_domain::email::Email;
use latchkey_domain::time::Timestamp;
use latchkey_store::{ListLiveSessions, ListedSession, SessionKey, SessionPosition, StoreResult};
use uuid::Uuid;

use super::{read_session, session_columns};
use crate::form::{Cells, Script, Slot, Sql, Value, statements, values};
use crate::is_live;

/// Condition on a session: live at `$1`, of the user `$2`, from the address `$3`, with `$4` in the user agent. Null and empty
/// texts match all. Case is ignored in ASCII alone, since SQLite's `lower` knows no other letters.
macro_rules! passes {
    ($index:literal) => {
        concat!(
            $index,
            is_live!("$1"),
            " AND (s.user_id = $2 OR $2 IS NULL) AND ($3 = '' OR s.address = $3)
            AND ($4 = '' OR strpos(lower(coalesce(s.user_agent, '') COLLATE \"C\"), $4) > 0)"
        )
    };
}
macro_rules! count {
    ($index:literal) => {
        concat!("SELECT count(*) FROM sessions AS s WHERE ", passes!($index))
    };
}
macro_rules! page {
    ($index:literal, $beyond:literal, $order:literal) => {
        concat!(
            "SELECT ",
            session_columns!(),
            ", u.email FROM sessions AS s CROSS JOIN users AS u WHERE ",
            passes!($index),
            " AND u.id = s.user_id AND (s.created_at, s.id) ",
            $beyond,
            " ($5, $6) ORDER BY ",
            $order,
            " LIMIT $7"
        )
    };
}
macro_rules! down {
    ($index:literal) => {
        page!($index, "<", "s.created_at DESC, s.id DESC")
    };
}
macro_rules! up {
    ($index:literal) => {
        page!($index, ">", "s.created_at, s.id")
    };
}

statements! {
    COUNT_ALL_LIVE = count!("");
    COUNT_LIVE_OF_USER = count!("s.user_id = $2 AND ");
    COUNT_LIVE_FROM_ADDRESS = count!("s.address = $3 AND ");
    LIST_ALL_DOWN = down!("");
    LIST_ALL_UP = up!("");
    LIST_OF_USER_DOWN = down!("s.user_id = $2 AND ");
    LIST_OF_USER_UP = up!("s.user_id = $2 AND ");
    LIST_FROM_ADDRESS_DOWN = down!("s.address = $3 AND ");
    LIST_FROM_ADDRESS_UP = up!("s.address = $3 AND ");
}

/// Adds the statements that count the sessions and read a page.
pub(crate) fn list(script: &mut Script, list: &ListLiveSessions) -> [Slot; 2] {
    let filter = &list.filter;
    let [count, down, up] = match (filter.user_id, &filter.address) {
        (Some(_), _) => [&COUNT_LIVE_OF_USER, &LIST_OF_USER_DOWN, &LIST_OF_USER_UP],
        (None, Some(_)) => [&COUNT_LIVE_FROM_ADDRESS, &LIST_FROM_ADDRESS_DOWN, &LIST_FROM_ADDRESS_UP],
        (None, None) => [&COUNT_ALL_LIVE, &LIST_ALL_DOWN, &LIST_ALL_UP],
    };
    let (page, key): (&'static Sql, SessionKey) = match list.position {
        SessionPosition::First => (down, newest()),
        SessionPosition::After(key) => (down, key),
        SessionPosition::Before(key) => (up, key),
    };
    let mut values = passing(list);
    let total = script.read(count, values.clone());
    values.extend(values![key.created_at, key.id, i64::from(list.limit) + 1]);
    [total, script.read(page, values)]
}

pub(crate) fn read_listed(cells: &mut Cells<'_>) -> StoreResult<ListedSession> {
    let session = read_session(cells)?;
    let email: Email = cells.of("users").email("email")?;
    Ok(ListedSession { session, email })
}

fn passing(list: &ListLiveSessions) -> Vec<Value> {
    let filter = &list.filter;
    let device = filter.device.as_deref().unwrap_or_default().to_ascii_lowercase();
    values![list.now, filter.user_id, filter.address.clone().unwrap_or_default(), device]
}

/// Returns a key before the newest session.
fn newest() -> SessionKey {
    SessionKey { created_at: Timestamp::from_millis(i64::MAX), id: Uuid::max().into() }
}
