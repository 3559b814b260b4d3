//! Bulk insert of accounts into a file, for benchmarks: the usual statements in large transactions. No ANALYZE
//! runs, so the planner has no statistics, as in a file that grew.

use std::path::Path;
use std::time::Duration;

use latchkey_domain::profile::Profile;
use latchkey_store::{NewAccount, StoreResult};
use latchkey_store_operations::seeding;
use rusqlite::Connection;

use crate::errors::Fallible;
use crate::search::pending;
use crate::statements::execute;
use crate::{executor, migrations, open};

/// Accounts per transaction.
const BATCH: usize = 20_000;

/// Creates a file with these accounts, their profiles and first sessions, without an audit trail. An address that
/// already has an account is an error.
pub fn seed(path: &Path, people: impl Iterator<Item = (NewAccount, Profile)>) -> StoreResult<()> {
    open::create_file(path)?;
    let conn = open::writer(path, Duration::from_secs(5))?;
    migrations::migrate(&conn)?;
    // Durability is irrelevant: after a crash the file is discarded.
    conn.pragma_update(None, "synchronous", "OFF").map_err(crate::errors::driver)?;
    fill(&conn, people)?;
    Ok(())
}

fn fill(conn: &Connection, people: impl Iterator<Item = (NewAccount, Profile)>) -> Fallible<()> {
    conn.pragma_update(None, "cache_size", -512 * 1024)?;
    execute(conn, "BEGIN", [])?;
    for (number, (account, profile)) in people.enumerate() {
        if number > 0 && number % BATCH == 0 {
            pending::index_pending(conn, u32::MAX)?;
            execute(conn, "COMMIT", [])?;
            execute(conn, "BEGIN", [])?;
        }
        executor::finish(conn, &seeding(&account, profile)?, |_| Ok(()))?;
    }
    pending::index_pending(conn, u32::MAX)?;
    execute(conn, "COMMIT", [])?;
    conn.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)")?;
    Ok(())
}
