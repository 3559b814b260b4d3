//! Bringing the schema up to date: numbered steps, forward only, each applied once, all of them in one transaction.

use latchkey_store::StoreError;
use rusqlite::{Connection, params};
use sha2::{Digest, Sha256};

use crate::errors::{Fallible, driver};
use crate::statements::{execute, list, number};

/// Why a database is not opened.
#[derive(Debug, thiserror::Error)]
pub enum MigrationError {
    /// A newer binary has worked on it.
    #[error("the database has migration {found}, this version knows {known} at most: use a newer version")]
    Newer {
        /// The newest migration of the database.
        found: i64,
        /// The newest migration of this binary.
        known: i64,
    },
    /// An applied migration differs from the one in this binary.
    #[error(
        "migration {0} of the database is not the one of this version: was the database made by another build?"
    )]
    Changed(i64),
    /// The file holds something else.
    #[error("the file is a database of something else")]
    Foreign,
}

struct Migration {
    version: i64,
    name: &'static str,
    sql: &'static str,
}

macro_rules! migrations {
    ($($version:literal $file:literal,)*) => {
        &[$(Migration { version: $version, name: $file, sql: include_str!(concat!("../migrations/", $file, ".sql")) },)*]
    };
}

const MIGRATIONS: &[Migration] = migrations! {
    1 "0001_users",
    2 "0002_profiles",
    3 "0003_sessions",
    4 "0004_challenges",
    5 "0005_outbox",
    6 "0006_limits",
    7 "0007_settings",
    8 "0008_audit",
    9 "0009_search",
    10 "0010_health",
    12 "0012_search_feed",
};

const CREATE_TABLE: &str = "
    CREATE TABLE IF NOT EXISTS schema_migrations (
        version  INTEGER NOT NULL PRIMARY KEY,
        name     TEXT    NOT NULL,
        checksum BLOB    NOT NULL
    ) STRICT";
const COUNT_TABLES: &str = "SELECT count(*) FROM sqlite_schema WHERE name <> 'schema_migrations'";
const LIST_APPLIED: &str = "SELECT version, checksum FROM schema_migrations ORDER BY version";
const RECORD: &str = "INSERT INTO schema_migrations (version, name, checksum) VALUES (?1, ?2, ?3)";

/// Applies what is missing. Of several processes that start together, one does it and the others wait.
pub(crate) fn migrate(conn: &Connection) -> Fallible<()> {
    apply(conn, MIGRATIONS)
}

fn apply(conn: &Connection, migrations: &[Migration]) -> Fallible<()> {
    execute(conn, "BEGIN IMMEDIATE", [])?;
    let outcome = apply_missing(conn, migrations).and_then(|()| execute(conn, "COMMIT", []));
    if outcome.is_err() && !conn.is_autocommit() {
        execute(conn, "ROLLBACK", [])?;
    }
    outcome.map(|_| ())
}

fn apply_missing(conn: &Connection, migrations: &[Migration]) -> Fallible<()> {
    execute(conn, CREATE_TABLE, [])?;
    let applied = list(conn, LIST_APPLIED, [], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, Vec<u8>>(1)?)))?;
    if applied.is_empty() && number(conn, COUNT_TABLES, [])? > 0 {
        return Err(refusal(MigrationError::Foreign).into());
    }

    let known = migrations.last().map_or(0, |last| last.version);
    for (version, checksum) in &applied {
        let migration = migrations.iter().find(|migration| migration.version == *version);
        match migration {
            None if *version > known => {
                return Err(refusal(MigrationError::Newer { found: *version, known }).into());
            }
            Some(migration) if migration.checksum() == *checksum => {}
            _ => return Err(refusal(MigrationError::Changed(*version)).into()),
        }
    }

    let missing = |migration: &&Migration| applied.iter().all(|(version, _)| *version != migration.version);
    for migration in migrations.iter().filter(missing) {
        conn.execute_batch(migration.sql)?;
        execute(conn, RECORD, params![migration.version, migration.name, migration.checksum()])?;
    }
    Ok(())
}

fn refusal(error: MigrationError) -> StoreError {
    driver(error)
}

impl Migration {
    fn checksum(&self) -> Vec<u8> {
        Sha256::digest(self.sql.as_bytes()).to_vec()
    }
}

#[cfg(test)]
mod tests;
