//! Guess limits of second factors. The rules are in [`latchkey_domain::guess_limits`].

use latchkey_domain::guess_limits::{FAILURES_TOLD, SecondFactorFailures, SecondFactorGuard};
use latchkey_domain::limits::Limited;
use latchkey_domain::time::Timestamp;
use latchkey_store::{SignInGuard, StoreResult};

use super::guards::Hold;
use crate::form::{Results, Script, Slot};
use crate::tables::known_clients;
use crate::tables::limit_failures::{self, Counters};

/// Handles of the statements that lock the counters; `None` if there are none.
#[derive(Clone, Copy)]
pub(crate) struct SecondFactorWatch {
    failures: Option<Slot>,
    known_client: Option<Slot>,
}

/// Result of counting a failure: whether the owner must get a mail about it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Told {
    Yes,
    No,
}

impl SecondFactorWatch {
    /// Locks the counters of wrong answers, and the counter of failed password checks, which a right answer resets.
    /// All counters are locked before the user, in the order of their keys.
    pub(crate) fn over(
        script: &mut Script,
        guard: Option<&SecondFactorGuard>,
        sign_in: Option<&SignInGuard>,
    ) -> Self {
        let own = guard.map(|guard| [guard.pair, guard.account, guard.in_a_row]);
        let keys: Vec<_> = own.into_iter().flatten().chain(sign_in.map(|sign_in| sign_in.pair)).collect();
        let failures = (!keys.is_empty()).then(|| Counters::find(script, &keys, Hold::Locked));
        let known_client = guard.map(|guard| known_clients::find(script, &guard.known_client));
        Self { failures, known_client }
    }

    /// Returns the limit that refuses an answer now; `None` permits it.
    pub(crate) fn judge(
        self,
        results: &Results<'_>,
        guard: Option<&SecondFactorGuard>,
        now: Timestamp,
    ) -> StoreResult<Option<Limited>> {
        let (Some(failures), Some(known_client), Some(guard)) = (self.failures, self.known_client, guard)
        else {
            return Ok(None);
        };
        let counters = Counters::of(results, failures)?;
        let failures = SecondFactorFailures {
            pair: counters.failures_of(&guard.pair),
            account: counters.failures_of(&guard.account),
            in_a_row: counters.failures_of(&guard.in_a_row),
        };
        let is_known = known_clients::is_known(results, known_client, now)?;
        Ok(guard.limited(&failures, is_known, now))
    }

    /// Counts a wrong answer on all counters. The order of the keys is the lock order.
    pub(crate) fn count_failure(
        self,
        results: &Results<'_>,
        writes: &mut Script,
        guard: Option<&SecondFactorGuard>,
        now: Timestamp,
    ) -> StoreResult<Told> {
        let (Some(failures), Some(guard)) = (self.failures, guard) else { return Ok(Told::No) };
        let counters = Counters::of(results, failures)?;
        let [pair, account, in_a_row] = guard.policies();
        let number = counters.failures_of(&guard.account).incremented(&account, now).count;
        let mut counted = [
            ((guard.pair, Some(guard.account)), pair),
            ((guard.account, None), account),
            ((guard.in_a_row, None), in_a_row),
        ];
        counted.sort_unstable_by_key(|((key, _), _)| *key);
        for ((key, account), policy) in counted {
            counters.count(writes, (&key, account.as_ref()), &policy, now);
        }
        Ok(if number == FAILURES_TOLD { Told::Yes } else { Told::No })
    }
}

/// Resets the account's counter of consecutive wrong answers.
pub(crate) fn end_row(writes: &mut Script, guard: Option<&SecondFactorGuard>) {
    if let Some(guard) = guard {
        limit_failures::delete(writes, &guard.in_a_row);
    }
}
