//! Notifications of changed settings, providers and signing keys (LISTEN/NOTIFY), on a connection outside the pool.
//! They only reduce latency. Every instance also polls the number in table `shared_version`, which every such change
//! increments. No change is thus missed if a server or pooler does not support notifications, or during a reconnect.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::future::{Either, select};
use tokio_postgres::{AsyncMessage, Client};

use crate::errors::{EngineFault, Fallible, driver, unavailable};
use crate::options::{Address, PostgresOptions};
use crate::permanent::PermanentFault;
use crate::pool::tls_for;
use crate::script::Script;
use crate::store::Postgres;

const LISTEN: &str = "LISTEN latchkey_shared";
const ANNOUNCE: &str = "SELECT pg_notify('latchkey_shared', '')";
/// Pause before a reconnect.
const RECONNECT_BACKOFF: Duration = Duration::from_secs(1);
/// Interval and timeout of the queries that check the connection.
const KEEPALIVE: Duration = Duration::from_secs(20);

/// Adds to a transaction a notification of the other instances that settings, identity providers or signing
/// keys changed. Adds nothing if the server does not support notifications.
pub(crate) fn announce(store: &Postgres, writes: &mut Script) {
    if store.announces.load(Ordering::Relaxed) {
        writes.add(ANNOUNCE, Vec::new());
    }
}

impl Postgres {
    /// Listens for notifications until the future is dropped. Calls `changed` after each change of settings,
    /// identity providers or signing keys by another instance, and after each reconnect.
    pub async fn follow_changes(&self, options: &PostgresOptions, changed: impl Fn() + Send + Sync) {
        let mut is_logged = false;
        loop {
            let Err(fault) = self.follow_once(options, &changed).await else { continue };
            if !is_logged {
                let error = PermanentFault::text_of(&fault.error);
                tracing::info!(error, "LISTEN is not possible: changes of settings are polled");
                is_logged = true;
            }
            tokio::time::sleep(RECONNECT_BACKOFF).await;
        }
    }

    async fn follow_once(&self, options: &PostgresOptions, changed: &(impl Fn() + Sync)) -> Fallible<()> {
        let address = Address::parse(options).map_err(driver)?;
        let tls = tls_for(&address).map_err(driver)?;
        let connecting = tokio::time::timeout(KEEPALIVE, address.config.connect(tls)).await;
        let (client, mut connection) = connecting.map_err(|_| unavailable(EngineFault::Timeout))??;
        let messages = async {
            while let Some(message) = poll_fn(|context| connection.poll_message(context)).await {
                if matches!(message?, AsyncMessage::Notification(_)) {
                    changed();
                }
            }
            Err::<(), _>(unavailable(EngineFault::Timeout).into())
        };
        let listening_loop = async {
            let listening = tokio::time::timeout(KEEPALIVE, client.batch_execute(LISTEN)).await;
            listening.map_err(|_| unavailable(EngineFault::Timeout))??;
            self.announces.store(true, Ordering::Relaxed);
            changed(); // for changes made during the reconnect
            keep_alive(&client).await
        };
        match select(pin!(messages), pin!(listening_loop)).await {
            Either::Left((outcome, _)) | Either::Right((outcome, _)) => outcome,
        }
    }
}

/// Sends an empty query at regular intervals, to detect a connection that was lost without notice.
async fn keep_alive(client: &Client) -> Fallible<()> {
    loop {
        tokio::time::sleep(KEEPALIVE).await;
        let output = tokio::time::timeout(KEEPALIVE, client.batch_execute("")).await;
        output.map_err(|_| unavailable(EngineFault::Timeout))??;
    }
}
