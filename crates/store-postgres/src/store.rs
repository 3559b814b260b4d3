//! The open database: its pool of connections. Scripts are executed in `executor`.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use deadpool_postgres::Status;
use latchkey_store::StoreResult;
use latchkey_store_operations::Engine;

use crate::connection::Connection;
use crate::errors::{Fallible, driver};
use crate::link::{Pool, PooledLink};
use crate::opening::Openings;
use crate::options::PostgresOptions;
use crate::{migrations, pool};

/// Store on a PostgreSQL database: the shared operations, executed by [`Postgres`].
pub type PostgresStore = Engine<Postgres>;

/// A PostgreSQL database, which several instances may share. All state is in the database. A crash at any time loses
/// no acknowledged write, as far as the server's `synchronous_commit` guarantees that.
pub struct Postgres {
    pool: Pool,
    response_timeout: Duration,
    page_response_timeout: Duration,
    openings: Openings,
    /// True once the server has accepted LISTEN. On a server without notifications, NOTIFY would abort the
    /// transaction.
    pub(crate) announces: AtomicBool,
}

impl Postgres {
    /// Connects to the database without migrating it. Fails with a [`crate::OptionsError`] in
    /// [`latchkey_store::StoreError::Driver`] if the options are invalid, and with
    /// [`latchkey_store::StoreError::Unavailable`] if the database is unreachable.
    pub async fn connect(options: PostgresOptions) -> StoreResult<PostgresStore> {
        let store = Self::open(&options)?;
        store.query("SELECT 1", Vec::new()).await?;
        Ok(store)
    }

    /// Builds the store without contacting the database. Operations fail with
    /// [`latchkey_store::StoreError::Unavailable`] until the database is reachable. Requires a Tokio runtime.
    pub fn open(options: &PostgresOptions) -> StoreResult<PostgresStore> {
        let pool = pool::build(options).map_err(driver)?;
        pool::close_idle(&pool, options.idle_timeout);
        Ok(Engine::new(Self {
            pool,
            announces: AtomicBool::new(false),
            response_timeout: options.response_timeout(),
            page_response_timeout: options.page_response_timeout(),
            openings: Openings::new(options),
        }))
    }

    /// Applies the missing migrations. If several instances start together, one applies them and the others wait. A
    /// database of a newer version, of another build or of another application is refused with a
    /// [`crate::MigrationError`] in [`latchkey_store::StoreError::Driver`].
    pub async fn migrate(&self) -> StoreResult<()> {
        Ok(migrations::migrate(&self.pool).await?)
    }

    /// Applies the missing migrations before data is copied into this database, even if an earlier copy into it was
    /// interrupted.
    pub(crate) async fn migrate_for_copy(&self) -> StoreResult<()> {
        Ok(migrations::migrate_for_copy(&self.pool).await?)
    }

    /// Returns the names of missing migrations, oldest first. Changes nothing. Refuses the same databases as
    /// [`Postgres::migrate`].
    pub async fn check_migrations(&self) -> StoreResult<Vec<&'static str>> {
        Ok(migrations::check(&self.pool).await?)
    }

    /// Closes all connections. Later operations fail with [`latchkey_store::StoreError::Unavailable`].
    pub fn close(&self) {
        self.pool.close();
    }

    pub(crate) fn pool_status(&self) -> Status {
        self.pool.status()
    }

    pub(crate) async fn connection(&self) -> Fallible<Connection> {
        Ok(Connection::new(self.pool.get().await?, self.response_timeout))
    }

    /// Returns a connection for reads that follow one another in a snapshot.
    pub(crate) async fn connection_for_pages(&self) -> Fallible<Connection> {
        Ok(Connection::new(self.pool.get().await?, self.page_response_timeout))
    }

    pub(crate) async fn link(&self) -> Fallible<PooledLink> {
        Ok(self.pool.get().await?)
    }

    pub(crate) const fn openings(&self) -> &Openings {
        &self.openings
    }
}
