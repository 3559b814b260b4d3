//! Limits that hold for an account: listed and lifted. Limits per client address, which include all that are counted in
//! the memory of a process, and those of a single session belong to no account.

use latchkey_domain::account_limits::{AccountLimits, HeldLimit};
use latchkey_domain::audit::AuditKind;
use latchkey_domain::client::Client;
use latchkey_domain::ids::UserId;
use latchkey_domain::operator::Party;
use latchkey_domain::time::Timestamp;
use latchkey_domain::user::User;

use super::Admin;
use crate::error::Result;

impl Admin {
    /// Lists the limits that refuse requests for an account now, by all instances of the service.
    pub async fn list_limits(&self, id: UserId) -> Result<Vec<HeldLimit>> {
        let user = self.find_user(id).await?;
        self.limits_of(&user, self.kernel.now()).await
    }

    /// Lifts the limits of an account, and clears its counters of failures.
    pub async fn lift_limits(&self, id: UserId, party: Party, client: Option<&Client>) -> Result<()> {
        let user = self.find_user(id).await?;
        let act = self.account_act(id, AuditKind::LimitsLifted, party, client);
        Ok(self.kernel.store.lift_limits(&self.account_limits(&user), act).await??)
    }

    pub(super) async fn limits_of(&self, user: &User, now: Timestamp) -> Result<Vec<HeldLimit>> {
        if !self.kernel.limits.is_enabled() {
            return Ok(Vec::new());
        }
        let limits = self.account_limits(user);
        let counters = self.kernel.store.find_account_limits(&limits).await?;
        let held = limits.held(&counters, now);
        // No list has the known clients of an account, but none is known for longer than this after its last use.
        let age = self.factors.known_client_age().unwrap_or_default();
        if counters.used_at.is_some_and(|at| now < at.plus(age)) {
            return Ok(held);
        }
        Ok(held.into_iter().map(HeldLimit::without_known_clients).collect())
    }

    fn account_limits(&self, user: &User) -> AccountLimits {
        let email = user.email.key();
        let (password, password_policy) = self.passwords.account_limit(email);
        let (mut buckets, codes) = self.passwords.mailbox.account_limits(email);
        buckets.extend(self.exports.takes(&self.kernel, user.id).into_iter().map(|take| (take, None)));
        AccountLimits {
            email: email.clone(),
            password,
            password_policy,
            second_factor: self.factors.account_limits(user.id),
            codes,
            buckets,
        }
    }
}
