//! Rate limits that all instances share: implementation of [`Limits`].

use async_trait::async_trait;
use latchkey_domain::account_limits::{AccountCounters, AccountLimits, SecondFactorLimits};
use latchkey_domain::limits::{LimitKey, Take};
use latchkey_domain::operator::Effect;
use latchkey_domain::time::Timestamp;
use latchkey_store::{AccountAct, GuardedResult, LimitedResult, Limits, StoreResult};

use super::Engine;
use crate::form::{Decided, Executor, Repeat, Results, Script};
use crate::operations::operator_guard::OperatorReads;
use crate::tables::limit_failures::{self, Counters, Hold};
use crate::tables::{audit_events, codes, limit_buckets, seen_devices, users};

#[crate::measured]
#[async_trait]
impl<E: Executor> Limits for Engine<E> {
    async fn take(&self, takes: &[Take], now: Timestamp) -> LimitedResult<()> {
        if takes.is_empty() {
            return Ok(Ok(()));
        }
        let mut script = Script::default();
        let limit = script.take(takes, now);
        self.0
            .write(script, Repeat::Harmless, move |results| Ok(results.limited(limit)?.map_or(Ok(()), Err)))
            .await
    }

    async fn find_account_limits(&self, limits: &AccountLimits) -> StoreResult<AccountCounters> {
        let AccountLimits { password, second_factor: SecondFactorLimits { account, in_a_row, .. }, .. } =
            *limits;
        let mut reads = Script::default();
        let own = Counters::find(&mut reads, &[password, account, in_a_row], Hold::Free);
        let password_pairs = limit_failures::list_pairs(&mut reads, &password);
        let second_factor_pairs = limit_failures::list_pairs(&mut reads, &account);
        let attempts = codes::list_attempts(&mut reads, &limits.email);
        let used = seen_devices::find_last(&mut reads, &limits.email);
        let keys = keys_in_order(limits);
        let buckets: Vec<_> = keys.iter().map(|key| (*key, limit_buckets::find(&mut reads, key))).collect();
        let finish = move |results: &Results<'_>| {
            let own = Counters::of(results, own)?;
            let full_at = |(key, slot)| Ok(limit_buckets::full_at(results, slot)?.map(|at| (key, at)));
            let buckets = buckets.into_iter().map(full_at).collect::<StoreResult<Vec<_>>>()?;
            Ok(AccountCounters {
                password: own.failures_of(&password),
                password_pairs: limit_failures::failures(results, password_pairs)?,
                second_factor: own.failures_of(&account),
                second_factor_pairs: limit_failures::failures(results, second_factor_pairs)?,
                in_a_row: own.failures_of(&in_a_row),
                codes: codes::all_attempts(results, attempts)?,
                buckets: buckets.into_iter().flatten().collect(),
                used_at: results
                    .find(used, |cells| cells.of("seen_devices").maybe_time("seen_at"))?
                    .flatten(),
            })
        };
        self.read_long(reads, finish).await
    }

    async fn lift_limits(&self, limits: &AccountLimits, act: AccountAct) -> GuardedResult<()> {
        let AccountLimits { password, second_factor: SecondFactorLimits { account, in_a_row, .. }, .. } =
            *limits;
        let (keys, email) = (keys_in_order(limits), limits.email.clone());
        let mut reads = Script::default();
        for key in &keys {
            limit_buckets::lock(&mut reads, key);
        }
        limit_failures::lock_all_of_account(&mut reads, &password, &account, &in_a_row);
        let AccountAct { user_id, event, protection, .. } = act;
        users::lock_by_id(&mut reads, user_id);
        let guard = OperatorReads::find(&mut reads, Effect::Change);
        self.transact(reads, move |results| {
            if let Err(refusal) = guard.judge(results, protection, &[user_id])? {
                return Ok(Decided::Return(Err(refusal)));
            }
            let mut writes = Script::default();
            for key in &keys {
                limit_buckets::delete(&mut writes, key);
            }
            limit_failures::delete_all_of_account(&mut writes, &password, &account, &in_a_row);
            codes::delete_attempts(&mut writes, &email);
            audit_events::record_of(&mut writes, event.clone(), user_id)?;
            Ok(Decided::done(writes, Ok(())))
        })
        .await
    }
}

/// Returns the keys of the buckets of an account, in the order in which buckets are locked.
fn keys_in_order(limits: &AccountLimits) -> Vec<LimitKey> {
    let mut keys: Vec<_> = limits.buckets.iter().map(|(take, _)| take.key).collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}
