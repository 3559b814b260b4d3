//! Profiles that are not in the trigram index yet, called pending. Every search checks each of them, so that results
//! are always complete. Their number affects only the time that a search takes.

use latchkey_domain::ids::UserId;
use rusqlite::{Connection, params};

use crate::errors::Fallible;
use crate::statements::{execute, find};

/// Number of profiles that are indexed in one batch, which takes some milliseconds.
pub(crate) const BATCH: u32 = 256;

const FIND_LAST: &str = "
    SELECT max(search_id) FROM (SELECT search_id FROM profile_search_pending ORDER BY search_id LIMIT ?1)";
const FIND_ONE: &str = "SELECT search_id FROM profiles WHERE user_id = ?1";
const FORGET_OLD_WORDS: &str = "
    INSERT INTO profile_search (profile_search, rowid, words)
    SELECT 'delete', search_id, indexed FROM profile_search_pending 
    WHERE search_id BETWEEN ?1 AND ?2 AND indexed IS NOT NULL";
/// Indexes the text of pending profiles, as the triggers of `profiles` take it back. `CROSS JOIN` fixes the join order, because pending profiles are few and each
/// is found by key.
const TAKE_NEW_WORDS: &str = "
    INSERT INTO profile_search (rowid, words)
    SELECT p.search_id, '  ' || replace(p.folded_name || ' ' || p.folded_username || ' ' || p.folded_bio
        || ' ' || upper(p.folded_name || ' ' || p.folded_username), ' ', '  ')
    FROM profile_search_pending AS behind CROSS JOIN profiles AS p ON p.search_id = behind.search_id
    WHERE behind.search_id BETWEEN ?1 AND ?2 AND p.searchable = 1";
const SETTLE: &str = "DELETE FROM profile_search_pending WHERE search_id BETWEEN ?1 AND ?2";

/// Indexes at most `at_most` pending profiles and returns their number.
pub(crate) fn index_pending(conn: &Connection, at_most: u32) -> Fallible<usize> {
    let last = find(conn, FIND_LAST, params![at_most], |cells| cells.maybe_int("search_id"))?.flatten();
    last.map_or(Ok(0), |last| take_up_range(conn, i64::MIN, last))
}

/// Indexes the profile of a user at once, so that none of its former text stays in the index.
pub(crate) fn index_profile_of(conn: &Connection, user_id: UserId) -> Fallible<()> {
    let own = find(conn, FIND_ONE, params![user_id.as_uuid().as_bytes()], |cells| cells.int("search_id"))?;
    own.map_or(Ok(0), |own| take_up_range(conn, own, own)).map(|_| ())
}

fn take_up_range(conn: &Connection, first: i64, last: i64) -> Fallible<usize> {
    execute(conn, FORGET_OLD_WORDS, params![first, last])?;
    execute(conn, TAKE_NEW_WORDS, params![first, last])?;
    execute(conn, SETTLE, params![first, last])
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::{migrations, open};

    #[test]
    fn few_pending_profiles_are_looked_up_by_key() {
        let conn = open::empty_in_memory().unwrap();
        migrations::migrate(&conn, None).unwrap();
        for sql in [TAKE_NEW_WORDS, super::super::LIST_PENDING] {
            let mut statement = conn.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
            if statement.parameter_count() > 0 {
                statement.raw_bind_parameter(1, 1).unwrap();
                statement.raw_bind_parameter(2, 2).unwrap();
            }
            let mut rows = statement.raw_query();
            let mut plan = Vec::new();
            while let Some(row) = rows.next().unwrap() {
                plan.push(row.get::<_, String>(3).unwrap());
            }
            assert!(
                plan[0].contains("behind")
                    && plan[1].contains("SEARCH p USING INTEGER PRIMARY KEY (rowid=?)"),
                "{plan:?}"
            );
        }
    }
}
