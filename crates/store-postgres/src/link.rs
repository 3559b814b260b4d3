//! Connections of the pool. Each knows whether it is direct, that is, whether the same server process answers all its
//! statements. Only then does session state (names of statements, timeouts) belong to it.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use deadpool::managed::{self, Metrics, RecycleError, RecycleResult};
use deadpool_postgres::{ClientWrapper, Manager};
use tokio_postgres::Error;

use crate::backend::Announced;
use crate::options::Prepared;

/// A connection of the pool, checked out.
pub(crate) type PooledLink = managed::Object<LinkManager>;
/// The pool of connections.
pub(crate) type Pool = managed::Pool<LinkManager>;

/// A direct connection is checked again after this many uses, and after a pause of [`PAUSE`].
const USES: usize = 256;
const PAUSE: Duration = Duration::from_secs(1);

/// A connection to the server.
pub(crate) struct Link {
    client: ClientWrapper,
    announced: Announced,
    is_direct: bool,
    names: bool,
    shared: Shared,
}

impl Link {
    /// True if statements are prepared under names.
    pub(crate) const fn names_statements(&self) -> bool {
        self.names
    }

    /// True if the session has the timeouts and the isolation level of a lone statement, which then needs no BEGIN.
    pub(crate) const fn has_session_settings(&self) -> bool {
        self.is_direct
    }

    /// Notes that the name of a statement was unknown or taken.
    pub(crate) fn suspect(&self) {
        if self.is_direct {
            self.shared.suspect();
        }
    }
}

impl Deref for Link {
    type Target = ClientWrapper;

    fn deref(&self) -> &ClientWrapper {
        &self.client
    }
}

/// Makes connections and checks them at each checkout.
pub(crate) struct LinkManager {
    driver: Manager,
    prepared: Prepared,
    /// Settings of a direct connection's session.
    session: String,
    shared: Shared,
}

/// Sign of a pooler that shares connections although it announced the process ids of its servers: set once a statement's
/// name was unknown or taken. From then on no connection counts as direct.
#[derive(Clone, Default)]
struct Shared(Arc<AtomicBool>);

impl Shared {
    fn is_suspected(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    fn suspect(&self) {
        if !self.0.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                "a pooler shares the connections to the database: statements are no longer prepared under names"
            );
        }
    }
}

impl LinkManager {
    /// Wraps the driver's manager. `session` is executed once on each direct connection.
    pub(crate) fn new(driver: Manager, prepared: Prepared, session: String) -> Self {
        Self { driver, prepared, session, shared: Shared::default() }
    }

    /// True if the connection is direct. Statements without names need no check.
    async fn is_direct(&self, client: &ClientWrapper, announced: Announced) -> Result<bool, Error> {
        if self.prepared == Prepared::Never || self.shared.is_suspected() {
            return Ok(false);
        }
        announced.is_current(client).await
    }
}

impl managed::Manager for LinkManager {
    type Type = Link;
    type Error = Error;

    async fn create(&self) -> Result<Link, Error> {
        let client = self.driver.create().await?;
        let announced = Announced::of(&client).await;
        let is_direct = self.is_direct(&client, announced).await?;
        if is_direct {
            client.batch_execute(&self.session).await?;
        }
        let names = is_direct || self.prepared == Prepared::Named;
        Ok(Link { client, announced, is_direct, names, shared: self.shared.clone() })
    }

    /// Discards a direct connection that another server process answers now.
    async fn recycle(&self, link: &mut Link, metrics: &Metrics) -> RecycleResult<Error> {
        self.driver.recycle(&mut link.client, metrics).await?;
        let is_due = metrics.recycle_count % USES == USES - 1 || metrics.last_used() > PAUSE;
        let is_refused = link.is_direct
            && (self.shared.is_suspected() || is_due && !link.announced.is_current(&link.client).await?);
        if is_refused { Err(RecycleError::message("not direct any more")) } else { Ok(()) }
    }

    fn detach(&self, link: &mut Link) {
        self.driver.detach(&mut link.client);
    }
}

#[cfg(test)]
mod tests;
