//! Guess limits of password checks (limits on failed attempts), and scripts that begin by taking tokens for
//! rate limits. The crate `latchkey_domain` decides whether a limit is reached.

use latchkey_domain::guess_limits;
use latchkey_domain::ids::SessionId;
use latchkey_domain::limits::Limited;
use latchkey_domain::time::Timestamp;
use latchkey_store::{SignInGuard, StoreResult};

use crate::form::{Executor, Repeat, Results, Script, Slot};
use crate::tables::known_clients;
pub(crate) use crate::tables::limit_failures::Hold;
use crate::tables::limit_failures::{self, Counters};

/// Executes a script of reads that may begin by taking tokens from buckets. A retry after a lost connection can at
/// worst take them twice.
pub(crate) async fn take_and_read<E, T, F>(engine: &E, script: Script, finish: F) -> StoreResult<T>
where
    E: Executor,
    T: Send + 'static,
    F: FnOnce(&Results<'_>) -> StoreResult<T> + Send + 'static,
{
    if script.is_changing() {
        engine.write(script, Repeat::Harmless, finish).await
    } else {
        engine.read(script, finish).await
    }
}

/// Handles of the statements that read the state of the guess limits; `None` if there are no guess limits.
#[derive(Clone, Copy)]
pub(crate) struct Watch(Option<Slots>);

#[derive(Clone, Copy)]
struct Slots {
    failures: Slot,
    known_client: Slot,
}

impl Watch {
    /// Adds the statements that read the state of the guess limits: the counters of failed password checks,
    /// and whether the client is known to the account.
    pub(crate) fn over(script: &mut Script, guard: Option<&SignInGuard>, hold: Hold) -> Self {
        Self(guard.map(|guard| Slots {
            failures: Counters::find(script, &[guard.pair, guard.account], hold),
            known_client: known_clients::find(script, &guard.known_client),
        }))
    }

    /// Returns the limit that forbids a password check now; `None` permits it.
    pub(crate) fn judge(
        self,
        results: &Results<'_>,
        guard: Option<&SignInGuard>,
        now: Timestamp,
    ) -> StoreResult<Option<Limited>> {
        let (Some(slots), Some(guard)) = (self.0, guard) else { return Ok(None) };
        let counters = Counters::of(results, slots.failures)?;
        let is_known = known_clients::is_known(results, slots.known_client, now)?;
        let (pair, account) = (counters.failures_of(&guard.pair), counters.failures_of(&guard.account));
        Ok(guess_limits::limited(&pair, &account, &guard.account_policy, is_known, now))
    }

    /// Counts a failed password check for the account and client together, and for the account alone. The order of the
    /// keys is the lock order.
    pub(crate) fn count_failure(
        self,
        results: &Results<'_>,
        writes: &mut Script,
        guard: &SignInGuard,
        now: Timestamp,
    ) -> StoreResult<()> {
        let Some(slots) = self.0 else { return Ok(()) };
        let counters = Counters::of(results, slots.failures)?;
        let mut counted = [
            ((guard.pair, Some(guard.account)), guard.pair_policy),
            ((guard.account, None), guard.account_policy),
        ];
        counted.sort_unstable_by_key(|((key, _), _)| *key);
        for ((key, account), policy) in counted {
            counters.count(writes, (&key, account.as_ref()), &policy, now);
        }
        Ok(())
    }
}

/// Deletes the counter of failures of this client on this account.
pub(crate) fn forgive(writes: &mut Script, guard: &SignInGuard) {
    limit_failures::delete(writes, &guard.pair);
}

pub(crate) fn know_client(writes: &mut Script, guard: &SignInGuard, now: Timestamp) {
    known_clients::save(writes, &guard.known_client, now.plus(guard.known_for));
}

/// After a sign-in: deletes the counter of failures of this client on this account, and marks the client as known to
/// the account. Does nothing if the session was not inserted.
pub(crate) fn forgive_and_know_if_opened(
    writes: &mut Script,
    guard: &SignInGuard,
    now: Timestamp,
    session: SessionId,
) {
    limit_failures::delete_if_opened(writes, &guard.pair, session);
    known_clients::save_if_opened(writes, &guard.known_client, now.plus(guard.known_for), session);
}
