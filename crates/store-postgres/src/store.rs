//! The store itself: a pool of connections. Scripts run on it in `executor.rs`.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use deadpool_postgres::Pool;
use latchkey_store::StoreResult;
use latchkey_store_operations::Engine;

use crate::errors::{Fallible, driver};
use crate::link::Link;
use crate::options::{PostgresOptions, Prepared};
use crate::{migrations, pool};

/// The storage contract on a PostgreSQL database.
pub type PostgresStore = Engine<Postgres>;

/// A PostgreSQL database, which other instances may share. All of its state is in the
/// database; a crash at any time loses nothing that was answered, as far as the server's `synchronous_commit` goes.
pub struct Postgres {
    pool: Pool,
    prepared: Prepared,
    patience: Duration,
    opening_of_one: String,
    opening_of_reads: String,
    opening_of_writes: String,
    /// Whether the server was seen to have notifications: one that has none must not be asked for them in a transaction.
    pub(crate) announces: AtomicBool,
}

impl Postgres {
    /// Sets the engine up and makes a first connection. [`latchkey_store::StoreError::Driver`] of a
    /// [`crate::OptionsError`] where the options cannot be used, [`latchkey_store::StoreError::Unavailable`] where
    /// the database cannot be reached. Does not migrate.
    pub async fn connect(options: PostgresOptions) -> StoreResult<PostgresStore> {
        let store = Self::open(&options)?;
        store.ask("SELECT 1", Vec::new()).await?;
        Ok(store)
    }

    /// Sets the engine up without contacting the database: operations are
    /// [`latchkey_store::StoreError::Unavailable`] until it can be reached. Wants a Tokio runtime around it.
    pub fn open(options: &PostgresOptions) -> StoreResult<PostgresStore> {
        let pool = pool::build(options).map_err(driver)?;
        pool::close_idle(&pool, options.idle_timeout);
        let limit = options.statement_timeout.as_millis().max(1);
        // An instance that dies silently amid a transaction must not hold its locks for long.
        let idle = 2 * limit;
        Ok(Engine::new(Self {
            pool,
            announces: AtomicBool::new(false),
            prepared: options.prepared,
            patience: options.patience(),
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

    /// Applies the migrations that are missing. Of several instances that start together one does it and the others
    /// wait. A database of a newer version, of another build or of something else is refused with
    /// [`latchkey_store::StoreError::Driver`] of a [`crate::MigrationError`].
    pub async fn migrate(&self) -> StoreResult<()> {
        Ok(migrations::migrate(&self.pool).await?)
    }

    /// The same for the target of a copy, which may hold half a copy already.
    pub(crate) async fn migrate_for_copy(&self) -> StoreResult<()> {
        Ok(migrations::migrate_for_copy(&self.pool).await?)
    }

    /// The names of the migrations that are missing, oldest first; changes nothing. Refuses what
    /// [`Postgres::migrate`] refuses.
    pub async fn check_migrations(&self) -> StoreResult<Vec<&'static str>> {
        Ok(migrations::check(&self.pool).await?)
    }

    /// Closes all connections; operations that begin later are [`latchkey_store::StoreError::Unavailable`].
    pub fn close(&self) {
        self.pool.close();
    }

    /// A connection of this operation's own.
    pub(crate) async fn link(&self) -> Fallible<Link> {
        Ok(Link::new(self.pool.get().await?, self.prepared, self.patience))
    }

    /// Begins one statement, which commits in the same message: that it has a limit on the server too, where it would go
    /// on when nobody waits for it any more.
    pub(crate) fn opening_of_one(&self) -> &str {
        &self.opening_of_one
    }

    /// Begins reads of one moment. A search is too short for compiling its plan to pay.
    pub(crate) fn opening_of_reads(&self) -> &str {
        &self.opening_of_reads
    }

    /// Begins writes. Each statement sees what was committed before it.
    pub(crate) fn opening_of_writes(&self) -> &str {
        &self.opening_of_writes
    }
}
