//! Hearing at once that settings or signing keys changed elsewhere: a connection outside of the pool that listens.
//! It is a hint and no more: who needs to know looks at the version now and then as well, so that nothing is lost
//! where a server or a pooler has no notifications, or while the connection is being made again.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::future::{Either, select};
use tokio_postgres::{AsyncMessage, Client};

use crate::errors::{EngineFault, Fallible, driver, unavailable};
use crate::lasting::LastingFault;
use crate::options::{Address, PostgresOptions};
use crate::pool::tls_for;
use crate::script::Script;
use crate::store::Postgres;

const LISTEN: &str = "LISTEN latchkey_shared";
const ANNOUNCE: &str = "SELECT pg_notify('latchkey_shared', '')";
/// The pause before the connection is made anew.
const AGAIN: Duration = Duration::from_secs(1);
/// How often a silent connection is asked whether it lives, and how long it may think about it.
const ASK: Duration = Duration::from_secs(20);

/// Tells other instances in the same transaction, where the server is known to have notifications.
pub(crate) fn announce(store: &Postgres, writes: &mut Script) {
    if store.announces.load(Ordering::Relaxed) {
        writes.add(ANNOUNCE, Vec::new());
    }
}

impl Postgres {
    /// Calls `changed` whenever another instance changed settings or keys, and after each time that the connection
    /// was lost and made again. Goes on until it is dropped.
    pub async fn follow_changes(&self, options: &PostgresOptions, changed: impl Fn() + Send + Sync) {
        let mut is_told = false;
        loop {
            let Err(fault) = self.follow_once(options, &changed).await else { continue };
            if !is_told {
                let error = LastingFault::text_of(&fault.error);
                tracing::info!(error, "changes of settings are looked for: nobody can listen for them now");
                is_told = true;
            }
            tokio::time::sleep(AGAIN).await;
        }
    }

    async fn follow_once(&self, options: &PostgresOptions, changed: &(impl Fn() + Sync)) -> Fallible<()> {
        let address = Address::parse(options).map_err(driver)?;
        let tls = tls_for(&address).map_err(driver)?;
        let connecting = tokio::time::timeout(ASK, address.config.connect(tls)).await;
        let (client, mut connection) = connecting.map_err(|_| unavailable(EngineFault::Silent))??;
        let messages = async {
            while let Some(message) = poll_fn(|context| connection.poll_message(context)).await {
                if matches!(message?, AsyncMessage::Notification(_)) {
                    changed();
                }
            }
            Err::<(), _>(unavailable(EngineFault::Silent).into())
        };
        let asking = async {
            let listening = tokio::time::timeout(ASK, client.batch_execute(LISTEN)).await;
            listening.map_err(|_| unavailable(EngineFault::Silent))??;
            self.announces.store(true, Ordering::Relaxed);
            changed(); // what changed while nobody listened
            stay(&client).await
        };
        match select(pin!(messages), pin!(asking)).await {
            Either::Left((outcome, _)) | Either::Right((outcome, _)) => outcome,
        }
    }
}

/// Asks a sign of life of the server now and then: a connection can be lost without a word.
async fn stay(client: &Client) -> Fallible<()> {
    loop {
        tokio::time::sleep(ASK).await;
        let answer = tokio::time::timeout(ASK, client.batch_execute("")).await;
        answer.map_err(|_| unavailable(EngineFault::Silent))??;
    }
}
