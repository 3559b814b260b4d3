//! Schema migrations. They are numbered and only go forward. All missing ones are applied in one transaction. An empty
//! file gets the schema that they lead to in one script, which takes a tenth of the time.

pub(crate) mod fresh;

use std::num::NonZeroU32;

use latchkey_store::migrations::{Migration, MigrationError};
use rusqlite::{Connection, params};

use crate::errors::{Fallible, driver};
use crate::statements::{execute, list, number};

/// All migrations in order: those of this engine, then those shared by the engines.
const MIGRATIONS: &[Migration] = latchkey_store::migrations!();

/// Field of a file's header that SQLite leaves to the application.
const MARK: &str = "application_id";
const CREATE_TABLE: &str = "
    CREATE TABLE IF NOT EXISTS schema_migrations (
        version  INTEGER NOT NULL PRIMARY KEY,
        name     TEXT    NOT NULL,
        checksum BLOB    NOT NULL
    ) STRICT";
const COUNT_TABLES: &str = "SELECT count(*) FROM sqlite_schema WHERE name <> 'schema_migrations'";
const COUNT_ALL: &str = "SELECT count(*) FROM sqlite_schema";
const IS_THERE: &str = "SELECT count(*) FROM sqlite_schema WHERE name = 'schema_migrations'";
const LIST_APPLIED: &str = "SELECT version, checksum FROM schema_migrations ORDER BY version";
const RECORD: &str = "INSERT INTO schema_migrations (version, name, checksum) VALUES (?1, ?2, ?3)";

/// Applies the missing migrations, and gives a new database its mark. If several processes start together, one applies them and
/// the others wait.
pub(crate) fn migrate(conn: &Connection, mark: Option<NonZeroU32>) -> Fallible<()> {
    in_transaction(conn, |conn| {
        if number(conn, COUNT_ALL, [])? == 0 {
            conn.execute_batch(fresh::SCRIPT)?;
            execute(conn, CREATE_TABLE, [])?;
            mark.map_or(Ok(()), |mark| write_mark(conn, mark))?; // here it costs no wait for the disk
            return MIGRATIONS.iter().try_for_each(|migration| record(conn, migration));
        }
        apply_missing(conn, MIGRATIONS)
    })
}

/// Returns the number that tells the database from others, in the header of its file; `None` if it has none yet.
pub(crate) fn mark_of(conn: &Connection) -> Fallible<Option<NonZeroU32>> {
    let stored = conn.pragma_query_value(None, MARK, |row| row.get::<_, i32>(0))?;
    Ok(NonZeroU32::new(stored.cast_unsigned()))
}

/// Gives the database a number that tells it from others, unless it has one.
pub(crate) fn give_mark(conn: &Connection, mark: NonZeroU32) -> Fallible<()> {
    if mark_of(conn)?.is_some() {
        return Ok(());
    }
    in_transaction(conn, |conn| {
        // Another process may have been first.
        if mark_of(conn)?.is_none() {
            write_mark(conn, mark)?;
        }
        Ok(())
    })
}

fn write_mark(conn: &Connection, mark: NonZeroU32) -> Fallible<()> {
    Ok(conn.pragma_update(None, MARK, mark.get().cast_signed())?)
}

fn in_transaction(conn: &Connection, work: impl FnOnce(&Connection) -> Fallible<()>) -> Fallible<()> {
    execute(conn, "BEGIN IMMEDIATE", [])?;
    let outcome = work(conn).and_then(|()| execute(conn, "COMMIT", []));
    if outcome.is_err() && !conn.is_autocommit() {
        execute(conn, "ROLLBACK", [])?;
    }
    outcome.map(|_| ())
}

fn apply(conn: &Connection, migrations: &[Migration]) -> Fallible<()> {
    in_transaction(conn, |conn| apply_missing(conn, migrations))
}

/// Returns the names of missing migrations, oldest first. Changes nothing.
pub(crate) fn check(conn: &Connection) -> Fallible<Vec<&'static str>> {
    Ok(look(conn, MIGRATIONS)?.into_iter().map(|migration| migration.name).collect())
}

fn apply_missing(conn: &Connection, migrations: &[Migration]) -> Fallible<()> {
    let missing = look(conn, migrations)?;
    execute(conn, CREATE_TABLE, [])?;
    for migration in missing {
        conn.execute_batch(&migration.sqlite())?;
        record(conn, migration)?;
    }
    Ok(())
}

fn record(conn: &Connection, migration: &Migration) -> Fallible<()> {
    execute(conn, RECORD, params![migration.version, migration.name, migration.checksum()])?;
    Ok(())
}

/// Returns the missing migrations. Fails if the file belongs to another application, or was migrated by a newer or
/// otherwise different version of the service.
fn look<'a>(conn: &Connection, migrations: &'a [Migration]) -> Fallible<Vec<&'a Migration>> {
    let applied = list_applied(conn)?;
    if applied.is_empty() && number(conn, COUNT_TABLES, [])? > 0 {
        return Err(driver(MigrationError::Foreign).into());
    }
    Ok(Migration::missing(migrations, &applied).map_err(driver)?)
}

/// True if the table of applied migrations exists.
pub(crate) fn is_begun(conn: &Connection) -> Fallible<bool> {
    Ok(number(conn, IS_THERE, [])? > 0)
}

fn list_applied(conn: &Connection) -> Fallible<Vec<(i64, Vec<u8>)>> {
    if !is_begun(conn)? {
        return Ok(Vec::new());
    }
    list(conn, LIST_APPLIED, [], |cells| {
        let cells = cells.of("schema_migrations");
        Ok((cells.int("version")?, cells.bytes("checksum")?))
    })
}

#[cfg(test)]
mod tests;
