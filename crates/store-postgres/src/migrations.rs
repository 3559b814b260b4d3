//! Schema migrations. They are numbered and only go forward. All missing ones are applied in one transaction.
//! Instances that start together wait for each other on a locked row of the migrations table. A session-level advisory
//! lock would not work behind every pooler.

use std::time::Duration;

use deadpool::managed::Object;
use futures_util::future::FutureExt;
use latchkey_store::StoreError;
use latchkey_store::migrations::{Migration, MigrationError};
use tokio::time::timeout;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{ToSql, Type};

use crate::errors::{EngineFault, Fallible, Fault, Remedy, ServerFault, driver, unavailable};
use crate::link::{Link, Pool};

/// All migrations in order: those of this engine, then those shared by the engines.
const MIGRATIONS: &[Migration] = latchkey_store::migrations!();

/// Query that returns true if a copy into this database is unfinished.
pub(crate) const IS_COPY_BEGUN: &str = "SELECT to_regclass('unfinished_copy') IS NOT NULL";
const ENCODING: &str = "SELECT current_setting('server_encoding')";
const IS_THERE: &str = "SELECT to_regclass('schema_migrations') IS NOT NULL";
const CREATE_TABLE: &str = "
    CREATE TABLE IF NOT EXISTS schema_migrations (
        version  BIGINT NOT NULL PRIMARY KEY,
        name     TEXT   COLLATE \"C\" NOT NULL,
        checksum BYTEA  NOT NULL
    )";
/// Inserts the row with version 0, which stands for no migration. The instance that applies migrations locks
/// it, so that others wait.
const CREATE_LOCK: &str = "
    INSERT INTO schema_migrations (version, name, checksum) VALUES (0, 'lock', '') ON CONFLICT DO NOTHING";
/// Begins the transaction in which migrations are applied. There is no statement timeout, because a migration may run
/// long. Waits for locks are short, so that other transactions do not queue behind the migration. The idle timeout
/// releases the locks soon if the instance crashes.
const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL statement_timeout = 0; \
    SET LOCAL lock_timeout = 10000; SET LOCAL idle_in_transaction_session_timeout = 60000";
/// Timeout for reading the list of applied migrations, or the rights.
pub(crate) const LOOK: Duration = Duration::from_secs(10);
const LOCK: &str = "SELECT version FROM schema_migrations WHERE version = 0 FOR UPDATE";
const LIST_APPLIED: &str =
    "SELECT version, checksum FROM schema_migrations WHERE version > 0 ORDER BY version";
/// Query that counts tables in the current schema that do not belong to the service, without those of
/// extensions. The result is 0 if the query `$unless` returns a row, which means that the schema is the
/// service's. Both are one statement, so that another instance cannot create tables in between.
macro_rules! count_foreign_tables {
    ($unless:literal) => {
        concat!(
            "SELECT count(*) FROM pg_catalog.pg_class AS c
                JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
            WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p') AND c.relname <> 'schema_migrations'
                AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_depend AS d WHERE d.objid = c.oid AND d.deptype = 'e')
                AND NOT EXISTS (",
            $unless,
            ")"
        )
    };
}
const COUNT_FOREIGN_WHERE_NEW: &str = count_foreign_tables!(
    "SELECT 1 FROM pg_catalog.pg_class AS m
    WHERE m.relnamespace = c.relnamespace AND m.relname = 'schema_migrations'"
);
const COUNT_FOREIGN: &str = count_foreign_tables!("SELECT 1 FROM schema_migrations WHERE version > 0");
const RECORD: &str = "INSERT INTO schema_migrations (version, name, checksum) VALUES ($1, $2, $3)";

/// Maximum number of attempts to create the migrations table, if other instances create it concurrently.
const ATTEMPTS: u32 = 10;

/// Applies the missing migrations. If several instances start together, one applies them and the others wait.
pub(crate) async fn migrate(pool: &Pool) -> Fallible<()> {
    refuse_unfinished_copy(pool).await?;
    apply(pool, MIGRATIONS).await
}

/// Applies the missing migrations before a copy, even if the database holds an unfinished copy.
pub(crate) async fn migrate_for_copy(pool: &Pool) -> Fallible<()> {
    apply(pool, MIGRATIONS).await
}

/// Returns the names of missing migrations, oldest first.
pub(crate) async fn check(pool: &Pool) -> Fallible<Vec<&'static str>> {
    refuse_unfinished_copy(pool).await?;
    let missing = look_in_time(pool, MIGRATIONS).await?;
    Ok(missing.into_iter().map(|migration| migration.name).collect())
}

/// Applies the missing migrations. An up-to-date schema is not touched, so that the service then needs no privilege to
/// create tables.
async fn apply(pool: &Pool, migrations: &[Migration]) -> Fallible<()> {
    if look_in_time(pool, migrations).await?.is_empty() {
        return Ok(());
    }
    let client = pool.get().await?;
    let mut attempts = 1;
    while let Err(fault) = prepare(&client).await {
        if fault.remedy != Remedy::Retry || attempts == ATTEMPTS {
            return Err(fault);
        }
        attempts += 1;
    }

    loop {
        match take_turn(&client, migrations).await {
            Err(fault) if ServerFault::code_of(&fault.error) == Some(&SqlState::LOCK_NOT_AVAILABLE) => {
                tracing::warn!(
                    "waiting for a lock to migrate the database: another instance migrates, or a client locks a table"
                );
            }
            outcome => return outcome,
        }
    }
}

/// Applies the missing migrations in one transaction, after waiting for other instances that are applying
/// them.
async fn take_turn(client: &Link, migrations: &[Migration]) -> Fallible<()> {
    let turn = Turn { client };
    client.batch_execute(BEGIN).await?;
    apply_missing(client, migrations).await?;
    client.batch_execute("COMMIT").await?;
    std::mem::forget(turn);
    Ok(())
}

/// Guard of the transaction in which migrations are applied. Dropping it rolls the transaction back, which releases the
/// lock on the row of version 0.
struct Turn<'a> {
    client: &'a Link,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let _ = self.client.batch_execute("ROLLBACK").now_or_never();
    }
}

/// Creates the migrations table and the row that the migrating instance locks. If several instances do
/// so concurrently, even `IF NOT EXISTS` fails; such a failure is marked to be retried.
async fn prepare(client: &Link) -> Fallible<()> {
    let made = client.batch_execute(CREATE_TABLE).await;
    let is_raced = |code: &SqlState| {
        [SqlState::DUPLICATE_TABLE, SqlState::DUPLICATE_OBJECT, SqlState::UNIQUE_VIOLATION].contains(code)
    };
    if let Err(error) = made {
        let is_again = error.code().is_some_and(is_raced);
        let fault = Fault::from(error);
        return Err(if is_again { Fault { remedy: Remedy::Retry, ..fault } } else { fault });
    }
    client.batch_execute(CREATE_LOCK).await?;
    Ok(())
}

/// Returns the missing migrations. The query has a connection of its own, which is closed if the query
/// exceeds its time limit.
async fn look_in_time<'a>(pool: &Pool, migrations: &'a [Migration]) -> Fallible<Vec<&'a Migration>> {
    let client = pool.get().await?;
    let looked = timeout(LOOK, look(&client, migrations)).await;
    looked.unwrap_or_else(|_| {
        drop(Object::take(client)); // closed instead of returned to the pool, because its response is outstanding
        Err(unavailable(EngineFault::Timeout).into())
    })
}

/// Returns the missing migrations. Fails if the database belongs to another application, has another encoding, or was
/// migrated by a newer or otherwise different version of the service.
async fn look<'a>(client: &Link, migrations: &'a [Migration]) -> Fallible<Vec<&'a Migration>> {
    check_encoding(client).await?;
    if flag(client, IS_THERE).await? {
        return look_at_ours(client, migrations).await;
    }
    refuse_foreign(client, COUNT_FOREIGN_WHERE_NEW).await?;
    Ok(migrations.iter().collect())
}

async fn look_at_ours<'a>(client: &Link, migrations: &'a [Migration]) -> Fallible<Vec<&'a Migration>> {
    refuse_foreign(client, COUNT_FOREIGN).await?;
    let applied = list_applied(client).await?;
    Ok(Migration::missing(migrations, &applied).map_err(driver)?)
}

async fn apply_missing(client: &Link, migrations: &[Migration]) -> Fallible<()> {
    client.batch_execute(LOCK).await?;
    for migration in look_at_ours(client, migrations).await? {
        tracing::info!(migration = migration.name, "migrating the database");
        client.batch_execute(&migration.postgres()).await?;
        let values: [(&(dyn ToSql + Sync), Type); 3] = [
            (&migration.version, Type::INT8),
            (&migration.name, Type::TEXT),
            (&migration.checksum(), Type::BYTEA),
        ];
        client.execute_typed(RECORD, &values).await?;
    }
    Ok(())
}

/// Fails if the database holds an unfinished copy.
async fn refuse_unfinished_copy(pool: &Pool) -> Fallible<()> {
    let client = pool.get().await?;
    match timeout(LOOK, flag(&client, IS_COPY_BEGUN)).await {
        Ok(Ok(false)) => Ok(()),
        Ok(Ok(true)) => Err(driver(MigrationError::UnfinishedCopy).into()),
        Ok(Err(fault)) => Err(fault),
        Err(_) => {
            drop(Object::take(client)); // closed instead of returned to the pool, because its response is outstanding
            Err(unavailable(EngineFault::Timeout).into())
        }
    }
}

async fn refuse_foreign(client: &Link, count: &str) -> Fallible<()> {
    match number(client, count).await? {
        0 => Ok(()),
        _ => Err(driver(MigrationError::Foreign).into()),
    }
}

async fn list_applied(client: &Link) -> Fallible<Vec<(i64, Vec<u8>)>> {
    let rows = client.query_typed(LIST_APPLIED, &[]).await?;
    rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect()
}

async fn check_encoding(client: &Link) -> Fallible<()> {
    let row = client.query_typed_opt(ENCODING, &[]).await?.ok_or_else(no_row)?;
    let encoding: String = row.try_get(0)?;
    if encoding == "UTF8" { Ok(()) } else { Err(driver(MigrationError::Encoding(encoding)).into()) }
}

async fn number(client: &Link, sql: &str) -> Fallible<i64> {
    let row = client.query_typed_opt(sql, &[]).await?.ok_or_else(no_row)?;
    Ok(row.try_get(0)?)
}

async fn flag(client: &Link, sql: &str) -> Fallible<bool> {
    let row = client.query_typed_opt(sql, &[]).await?.ok_or_else(no_row)?;
    Ok(row.try_get(0)?)
}

fn no_row() -> StoreError {
    driver(EngineFault::NoRow)
}

#[cfg(test)]
mod tests;
