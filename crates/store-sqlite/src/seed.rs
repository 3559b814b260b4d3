//! Many accounts at once into a file, for benchmarks: the same statements as one by one, in transactions of many. The
//! planner gets no statistics, as in a file that grew.

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

/// Accounts that share a transaction.
const BATCH: usize = 20_000;

/// Makes a file of these accounts with their profiles and first sessions, without an audit trail. What is there is
/// not looked at: an address that has an account is an error.
pub fn seed(path: &Path, people: impl Iterator<Item = (NewAccount, Profile)>) -> StoreResult<()> {
    open::create_file(path)?;
    let conn = open::writer(path, Duration::from_secs(5))?;
    migrations::migrate(&conn)?;
    // A crash leaves a file that nobody wants anyhow.
    conn.pragma_update(None, "synchronous", "OFF").map_err(crate::errors::driver)?;
    fill(&conn, people)?;
    Ok(())
}

fn fill(conn: &Connection, people: impl Iterator<Item = (NewAccount, Profile)>) -> Fallible<()> {
    conn.pragma_update(None, "cache_size", -512 * 1024)?;
    execute(conn, "BEGIN", [])?;
    for (number, (account, profile)) in people.enumerate() {
        if number > 0 && number % BATCH == 0 {
            pending::take_up(conn, u32::MAX)?;
            execute(conn, "COMMIT", [])?;
            execute(conn, "BEGIN", [])?;
        }
        executor::finish(conn, &seeding(&account, profile)?, |_| Ok(()))?;
    }
    pending::take_up(conn, u32::MAX)?;
    execute(conn, "COMMIT", [])?;
    conn.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)")?;
    Ok(())
}
