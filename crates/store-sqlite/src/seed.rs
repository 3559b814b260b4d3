//! Bulk insert of accounts into a database file for benchmarks, with the usual statements in large transactions.
//! ANALYZE does not run, so the query planner has no statistics, as in a database that grew.

use std::path::Path;
use std::time::Duration;

use latchkey_domain::profile::Profile;
use latchkey_domain::session::NewSession;
use latchkey_store::{NewAccount, StoreResult};
use latchkey_store_operations::seeding;
use rusqlite::Connection;

use crate::errors::Fallible;
use crate::search::pending;
use crate::statements::execute;
use crate::{executor, migrations, open};

/// An account, its profile, and its session if it has one.
pub type SeededAccount = (NewAccount, Profile, Option<NewSession>);

/// Number of accounts per transaction.
const BATCH: usize = 20_000;

/// Creates a file with these accounts, their profiles and first sessions, but without audit events. Fails if an email
/// address occurs twice.
pub fn seed(path: &Path, people: impl Iterator<Item = SeededAccount>) -> StoreResult<()> {
    open::create_file(path)?;
    let conn = open::writer(path, Duration::from_secs(5))?;
    migrations::migrate(&conn, None)?;
    // Durability is not needed, because the file is discarded after a crash.
    conn.pragma_update(None, "synchronous", "OFF").map_err(crate::errors::driver)?;
    fill(&conn, people)?;
    Ok(())
}

fn fill(conn: &Connection, people: impl Iterator<Item = SeededAccount>) -> Fallible<()> {
    conn.pragma_update(None, "cache_size", -512 * 1024)?;
    execute(conn, "BEGIN", [])?;
    for (number, (account, profile, session)) in people.enumerate() {
        if number > 0 && number % BATCH == 0 {
            pending::index_pending(conn, u32::MAX)?;
            execute(conn, "COMMIT", [])?;
            execute(conn, "BEGIN", [])?;
        }
        executor::finish(conn, &seeding(&account, profile, session.as_ref())?, |_| Ok(()))?;
    }
    pending::index_pending(conn, u32::MAX)?;
    execute(conn, "COMMIT", [])?;
    conn.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)")?;
    Ok(())
}
