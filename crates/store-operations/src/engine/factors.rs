//! Operations on second factors: implementation of [`Factors`].

use async_trait::async_trait;
use latchkey_domain::codes::CodeMac;
use latchkey_domain::factors::{FactorId, FactorName, Factors as OwnFactors, TotpFactor};
use latchkey_domain::ids::{SessionId, UserId};
use latchkey_domain::time::Timestamp;
use latchkey_store::{
    AccountFactors, BeginTotp, BegunTotp, ChangeFactors, ChangedFactors, ConfirmTotp, ConfirmedTotp,
    Enroller, Factors, GuardedResult, OwnAccount, PendingTotp, ResetFactors, StoreResult, TurnTwoStepOn,
    TurnedTwoStepOn,
};

use super::Engine;
use crate::form::{Executor, Results, Script, Slot};
use crate::operations::{change_factors, enroll_totp};
use crate::tables::{email_changes, passkeys, recovery_codes, sessions, totp_factors, users};

#[crate::measured]
#[async_trait]
impl<E: Executor> Factors for Engine<E> {
    async fn find_own_account(
        &self,
        session_id: SessionId,
        now: Timestamp,
    ) -> StoreResult<Option<OwnAccount>> {
        let mut script = Script::default();
        let live = sessions::find_live(&mut script, session_id, now);
        let totp = totp_factors::list_of_session(&mut script, session_id);
        let passkeys = passkeys::list_of_session(&mut script, session_id);
        let codes = recovery_codes::count_of_session(&mut script, session_id);
        let change = email_changes::find_of_session(&mut script, session_id);
        let locale = users::find_locale_of_session(&mut script, session_id);
        let finish = move |results: &Results<'_>| {
            let Some(live) = results.find(live, sessions::read_live)? else { return Ok(None) };
            let factors = own_factors(results, totp, passkeys, codes)?;
            let email_change = email_changes::live(results, change, now)?;
            let locale = results.find(locale, users::read_locale)?.flatten();
            Ok(Some(OwnAccount { live, factors, email_change, locale }))
        };
        self.read(script, finish).await
    }

    async fn find_factors(&self, user_id: UserId) -> StoreResult<Option<AccountFactors>> {
        let mut script = Script::default();
        let found = users::find_by_id(&mut script, user_id);
        let totp = totp_factors::list_of(&mut script, user_id);
        let passkeys = passkeys::list_of(&mut script, user_id);
        let codes = recovery_codes::count_of(&mut script, user_id);
        let finish = move |results: &Results<'_>| {
            let Some(account) = users::account(results, found)? else { return Ok(None) };
            let factors = own_factors(results, totp, passkeys, codes)?;
            Ok(Some(AccountFactors { user: account.user, factors }))
        };
        self.read(script, finish).await
    }

    async fn begin_totp(&self, begin: BeginTotp) -> StoreResult<BegunTotp> {
        enroll_totp::begin(&self.0, begin).await
    }

    async fn find_pending_totp(
        &self,
        enroller: Enroller,
        id: FactorId,
        now: Timestamp,
    ) -> StoreResult<Option<Box<PendingTotp>>> {
        enroll_totp::find_pending(&self.0, enroller, id, now).await
    }

    async fn confirm_totp(&self, confirm: ConfirmTotp) -> StoreResult<ConfirmedTotp> {
        enroll_totp::confirm(&self.0, confirm).await
    }

    async fn rename_totp(
        &self,
        rename: ChangeFactors<(FactorId, FactorName)>,
    ) -> StoreResult<ChangedFactors<TotpFactor>> {
        change_factors::rename(&self.0, rename).await
    }

    async fn remove_totp(&self, remove: ChangeFactors<FactorId>) -> StoreResult<ChangedFactors> {
        change_factors::remove(&self.0, remove).await
    }

    async fn turn_two_step_on(&self, on: TurnTwoStepOn) -> StoreResult<TurnedTwoStepOn> {
        change_factors::turn_two_step_on(&self.0, on).await
    }

    async fn turn_two_step_off(&self, off: ChangeFactors<()>) -> StoreResult<ChangedFactors> {
        change_factors::turn_two_step_off(&self.0, off).await
    }

    async fn replace_recovery_codes(
        &self,
        replace: ChangeFactors<Vec<CodeMac>>,
    ) -> StoreResult<ChangedFactors> {
        change_factors::replace_recovery_codes(&self.0, replace).await
    }

    async fn reset_factors(&self, reset: ResetFactors) -> GuardedResult<bool> {
        change_factors::reset(&self.0, reset).await
    }
}

fn own_factors(results: &Results<'_>, totp: Slot, passkeys: Slot, codes: Slot) -> StoreResult<OwnFactors> {
    Ok(OwnFactors {
        totp: totp_factors::factors(results, totp)?,
        passkeys: passkeys::owned(results, passkeys)?.into_own().passkeys,
        recovery_codes_left: recovery_codes::number(results, codes)?,
    })
}
