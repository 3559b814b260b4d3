//! Profiles for which the trigram index is behind. A search looks at each of them, so what it finds is right at any time;
//! how many there are is only a matter of how long it takes.

use rusqlite::{Connection, params};

use crate::errors::Fallible;
use crate::statements::{execute, find};

/// Profiles that are taken up in one go: some milliseconds.
pub(crate) const AT_ONCE: u32 = 256;

const FIND_LAST: &str = "
    SELECT max(search_id) FROM (SELECT search_id FROM profile_search_pending ORDER BY search_id LIMIT ?1)";
const FORGET_OLD_WORDS: &str = "
    INSERT INTO profile_search (profile_search, rowid, words)
    SELECT 'delete', search_id, indexed FROM profile_search_pending WHERE search_id <= ?1 AND indexed IS NOT NULL";
const TAKE_NEW_WORDS: &str = "
    INSERT INTO profile_search (rowid, words)
    SELECT p.search_id, '  ' || replace(p.folded_name || ' ' || p.folded_username || ' ' || p.folded_bio, ' ', '  ')
    FROM profile_search_pending AS behind JOIN profiles AS p ON p.search_id = behind.search_id
    WHERE behind.search_id <= ?1 AND p.searchable = 1";
const SETTLE: &str = "DELETE FROM profile_search_pending WHERE search_id <= ?1";

/// Brings the index up to date for at most so many profiles; answers for how many.
pub(crate) fn take_up(conn: &Connection, at_most: u32) -> Fallible<usize> {
    let last = find(conn, FIND_LAST, params![at_most], |row| Ok(row.get::<_, Option<i64>>(0)?))?.flatten();
    let Some(last) = last else { return Ok(0) };
    execute(conn, FORGET_OLD_WORDS, params![last])?;
    execute(conn, TAKE_NEW_WORDS, params![last])?;
    execute(conn, SETTLE, params![last])
}
