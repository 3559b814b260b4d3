//! Second factors of any account, listed and reset by an admin or the operator.

use latchkey_domain::audit::AuditKind;
use latchkey_domain::client::Client;
use latchkey_domain::ids::UserId;
use latchkey_domain::operator::Party;
use latchkey_store::ResetFactors;

use super::{AccountFactors, Factors};
use crate::error::{Error, Result};
use crate::refusal::USER_NOT_FOUND;

impl Factors {
    pub async fn of_user(&self, id: UserId) -> Result<AccountFactors> {
        self.kernel.store.find_factors(id).await?.ok_or(Error::Refused(&USER_NOT_FOUND))
    }

    /// Removes the second factors of an account, turns two-step sign-in off, and ends all sessions. Passkeys are
    /// removed only if requested. The command line alone may put the last owner to sleep, since it makes owners without
    /// the console. `client` is the admin's client, for the audit log; the mail to the account's owner
    /// does not mention it.
    pub async fn reset(
        &self,
        id: UserId,
        with_passkeys: bool,
        party: Party,
        client: Option<&Client>,
    ) -> Result<()> {
        let now = self.kernel.now();
        let reset = ResetFactors {
            user_id: id,
            with_passkeys,
            event: self.kernel.event(AuditKind::FactorsReset, party, client, now),
            mail: self.kernel.required_notification(None, None, now)?,
            protection: self.kernel.protection(party),
            even_last_owner: party == Party::System,
            now,
        };
        if !self.kernel.store.reset_factors(reset).await?? {
            return Err(Error::Refused(&USER_NOT_FOUND));
        }
        self.kernel.mails.wake();
        Ok(())
    }
}
