//! The store: a pool of connections. `executor.rs` runs scripts on it.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use deadpool_postgres::Pool;
use latchkey_store::StoreResult;
use latchkey_store_operations::Engine;

use crate::connection::Connection;
use crate::errors::{Fallible, driver};
use crate::options::{PostgresOptions, Prepared};
use crate::{migrations, pool};

/// The storage contract on a PostgreSQL database.
pub type PostgresStore = Engine<Postgres>;

/// A PostgreSQL database, which several instances may share. All state is in the database; a crash at any time
/// loses no acknowledged write, as far as the server's `synchronous_commit` guarantees.
pub struct Postgres {
    pool: Pool,
    prepared: Prepared,
    response_timeout: Duration,
    opening_of_one: String,
    opening_of_reads: String,
    opening_of_writes: String,
    /// True once the server has shown support for notifications: NOTIFY on a server without it would abort the
    /// transaction.
    pub(crate) announces: AtomicBool,
}

impl Postgres {
    /// Opens the engine and makes a first connection. Does not migrate. Fails with
    /// [`latchkey_store::StoreError::Driver`] of a [`crate::OptionsError`] for invalid options, and with
    /// [`latchkey_store::StoreError::Unavailable`] if the database is unreachable.
    pub async fn connect(options: PostgresOptions) -> StoreResult<PostgresStore> {
        let store = Self::open(&options)?;
        store.query("SELECT 1", Vec::new()).await?;
        Ok(store)
    }

    /// Opens the engine without contacting the database: operations are
    /// [`latchkey_store::StoreError::Unavailable`] until it is reachable. Requires a Tokio runtime.
    pub fn open(options: &PostgresOptions) -> StoreResult<PostgresStore> {
        let pool = pool::build(options).map_err(driver)?;
        pool::close_idle(&pool, options.idle_timeout);
        let limit = options.statement_timeout.as_millis().max(1);
        // An instance that dies silently inside a transaction must not hold its locks for long.
        let idle = 2 * limit;
        Ok(Engine::new(Self {
            pool,
            announces: AtomicBool::new(false),
            prepared: options.prepared,
            response_timeout: options.response_timeout(),
            opening_of_one: format!(
                "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL statement_timeout = {limit}"
            ),
            opening_of_reads: format!(
                "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY; SET LOCAL statement_timeout = {limit}; \
                 SET LOCAL jit = off"
            ),
            opening_of_writes: format!(
                "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL statement_timeout = {limit}; \
                 SET LOCAL idle_in_transaction_session_timeout = {idle}"
            ),
        }))
    }

    /// Applies missing migrations. Of instances that start together one applies them and the others wait. Refuses
    /// a database of a newer version, of another build or of another application with
    /// [`latchkey_store::StoreError::Driver`] of a [`crate::MigrationError`].
    pub async fn migrate(&self) -> StoreResult<()> {
        Ok(migrations::migrate(&self.pool).await?)
    }

    /// Same for the target of a copy, which may be unfinished.
    pub(crate) async fn migrate_for_copy(&self) -> StoreResult<()> {
        Ok(migrations::migrate_for_copy(&self.pool).await?)
    }

    /// Names of missing migrations, oldest first; changes nothing. Refuses the same databases as
    /// [`Postgres::migrate`].
    pub async fn check_migrations(&self) -> StoreResult<Vec<&'static str>> {
        Ok(migrations::check(&self.pool).await?)
    }

    /// Closes all connections; later operations are [`latchkey_store::StoreError::Unavailable`].
    pub fn close(&self) {
        self.pool.close();
    }

    /// Checks out a connection.
    pub(crate) async fn connection(&self) -> Fallible<Connection> {
        Ok(Connection::new(self.pool.get().await?, self.prepared, self.response_timeout))
    }

    /// BEGIN of a single statement, which commits in the same message: sets the server-side statement timeout,
    /// because the server continues after the client has given up.
    pub(crate) fn opening_of_one(&self) -> &str {
        &self.opening_of_one
    }

    /// BEGIN of reads from one snapshot. JIT compilation of a search does not pay off.
    pub(crate) fn opening_of_reads(&self) -> &str {
        &self.opening_of_reads
    }

    /// BEGIN of writes at READ COMMITTED: each statement sees everything committed before it.
    pub(crate) fn opening_of_writes(&self) -> &str {
        &self.opening_of_writes
    }
}
