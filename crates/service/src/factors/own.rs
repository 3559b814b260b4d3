//! A signed-in user's own second factors: list, rename and remove them, turn two-step sign-in on or off, and make new
//! recovery codes.

use latchkey_domain::audit::{Actor, AuditKind};
use latchkey_domain::challenge::{ChallengeFacts, ChallengePurpose, SecondFactorPolicy};
use latchkey_domain::client::Client;
use latchkey_domain::factors::{FactorId, FactorName, TotpFactor};
use latchkey_domain::long_code::LongCode;
use latchkey_domain::session::Level;
use latchkey_domain::time::Timestamp;
use latchkey_store::{
    ChangeFactors, ChangedFactors, LiveSession, OwnAccount, TurnTwoStepOn, TurnedTwoStepOn,
};

use super::recovery_codes::NewCodes;
use super::{Account, FactorEnroller, Factors, TwoStepSet};
use crate::error::{Error, Result};
use crate::refusal::{
    AUTH_UNAUTHORIZED, EMAIL_NOT_VERIFIED, FACTOR_NOT_FOUND, LAST_OWNER, LAST_SECOND_FACTOR,
    LAST_SIGN_IN_METHOD, Refusal, TWO_STEP_REQUIRED,
};
use crate::sessions::authenticate::Caller;
use crate::sessions::{Credential, FreshCaller, SignInClient};

impl Factors {
    /// Returns the caller's account, with the authentication level and the sign-in time of the presented
    /// credential.
    pub async fn account(&self, credential: impl Into<Credential<'_>>) -> Result<Account> {
        let now = self.kernel.now();
        let by = self.sessions.verify_credential(credential.into(), now).await?;
        let found = self.kernel.store.find_own_account(by.session_id, now).await?;
        let found = found.filter(|found| found.live.user.id == by.user_id);
        let OwnAccount { live: LiveSession { user, session }, factors, email_change, locale } =
            found.ok_or(&AUTH_UNAUTHORIZED)?;
        let rules = self.sessions.factor_rules();
        let facts = ChallengeFacts {
            has_two_step: user.has_two_step(),
            has_passkey: user.has_usable_passkey(rules.rp_id.as_ref()),
            has_totp: !factors.totp.is_empty(),
            has_recovery_code: factors.recovery_codes_left > 0,
            has_password: user.has_password,
            email_verified: user.email_verified,
            is_in_deletion: false, // an account in deletion has no session
            level: Level::One,
        };
        Ok(Account {
            level: by.level,
            auth_time: by.authenticated_at,
            fresh_until: self.sessions.fresh_until(&by, &user),
            reauthenticate_with: if rules.policy.permits(session.level) {
                facts.kinds(ChallengePurpose::Reauthenticate, rules.policy)
            } else {
                Vec::new()
            },
            user,
            factors,
            own_change: email_change
                .as_ref()
                .filter(|change| change.session_id == Some(by.session_id))
                .map(|change| change.id),
            email_change,
            locale,
        })
    }

    pub async fn rename_totp(&self, caller: Caller, id: FactorId, name: FactorName) -> Result<TotpFactor> {
        let now = self.kernel.now();
        let rename = self.change(caller, AuditKind::TotpAdded, (id, name), None, now);
        changed(self.kernel.store.rename_totp(rename).await?, &FACTOR_NOT_FOUND)
    }

    /// Removes a TOTP factor, unless it is the last one while two-step sign-in is on.
    pub async fn remove_totp(&self, caller: &FreshCaller, id: FactorId, client: &Client) -> Result<()> {
        let now = self.kernel.now();
        let remove = self.change(caller.caller(), AuditKind::TotpRemoved, id, Some(client), now);
        changed(self.kernel.store.remove_totp(remove).await?, &FACTOR_NOT_FOUND)
    }

    /// Turns two-step sign-in on or off. Turning it on needs a passkey here, since a first TOTP factor turns it on when
    /// it is confirmed. All sessions end then, and a new one is opened. Turning it off removes TOTP factors and
    /// recovery codes.
    pub async fn set_two_step(
        &self,
        caller: &FreshCaller,
        enabled: bool,
        from: &SignInClient,
    ) -> Result<TwoStepSet> {
        if enabled {
            return self.turn_two_step_on(caller, from).await;
        }
        if self.kernel.settings.load().values.second_factor == SecondFactorPolicy::Required {
            return Err(Error::Refused(&TWO_STEP_REQUIRED));
        }
        let now = self.kernel.now();
        let off = self.mailed_change(caller.caller(), AuditKind::TwoStepOff, (), &from.client, now)?;
        match self.kernel.store.turn_two_step_off(off).await? {
            ChangedFactors::Unchanged => Ok(TwoStepSet::Unchanged),
            outcome => {
                changed(outcome, &FACTOR_NOT_FOUND)?;
                self.kernel.mails.wake();
                Ok(TwoStepSet::TurnedOff)
            }
        }
    }

    async fn turn_two_step_on(&self, caller: &FreshCaller, from: &SignInClient) -> Result<TwoStepSet> {
        self.check_enabled()?;
        let now = self.kernel.now();
        let found = self.find_enroller(FactorEnroller::Session(caller.caller()), now).await?;
        let shown = (found.methods.clone(), found.level);
        let (turned_on, opening) = self.draft_turned_on(&found, shown, from, now)?;
        let Caller { user_id, session_id, .. } = caller.caller();
        let rp_id = self.sessions.factor_rules().rp_id;
        let on = TurnTwoStepOn { user_id, session_id, rp_id, turned_on, now };
        match self.kernel.store.turn_two_step_on(on).await? {
            TurnedTwoStepOn::TurnedOn(user) => {
                self.kernel.mails.wake();
                Ok(TwoStepSet::TurnedOn(self.turned_on(*user, opening, now)?))
            }
            TurnedTwoStepOn::Unchanged => Ok(TwoStepSet::Unchanged),
            TurnedTwoStepOn::NoFactor => Err(Error::Refused(&LAST_SECOND_FACTOR)),
            TurnedTwoStepOn::Unverified => Err(Error::Refused(&EMAIL_NOT_VERIFIED)),
            TurnedTwoStepOn::NoSession => Err(Error::Refused(&AUTH_UNAUTHORIZED)),
        }
    }

    /// Creates a new set of recovery codes, which replaces the old set.
    pub async fn replace_recovery_codes(
        &self,
        caller: &FreshCaller,
        client: &Client,
    ) -> Result<Vec<LongCode>> {
        let now = self.kernel.now();
        let caller = caller.caller();
        let new = NewCodes::new(&self.codes_key, &*self.kernel.entropy, caller.user_id);
        let replace = self.mailed_change(caller, AuditKind::RecoveryCodesMade, new.macs, client, now)?;
        changed(self.kernel.store.replace_recovery_codes(replace).await?, &FACTOR_NOT_FOUND)?;
        self.kernel.mails.wake();
        Ok(new.codes)
    }

    /// Builds the store's input for a change of second factors by their owner, with the audit event but
    /// without a mail. `change` is the content, for example the id of the factor to remove.
    pub(crate) fn change<T>(
        &self,
        caller: Caller,
        kind: AuditKind,
        change: T,
        client: Option<&Client>,
        now: Timestamp,
    ) -> ChangeFactors<T> {
        ChangeFactors {
            user_id: caller.user_id,
            session_id: caller.session_id,
            rp_id: self.sessions.factor_rules().rp_id,
            change,
            event: self.kernel.event(kind, Actor::User, client, now),
            mail: None,
            now,
        }
    }

    /// Builds the same input as [`Self::change`], with a security notification to the owner.
    pub(crate) fn mailed_change<T>(
        &self,
        caller: Caller,
        kind: AuditKind,
        change: T,
        client: &Client,
        now: Timestamp,
    ) -> Result<ChangeFactors<T>> {
        let mail = self.kernel.required_notification(Some(client), None, now)?;
        Ok(ChangeFactors { mail, ..self.change(caller, kind, change, Some(client), now) })
    }
}

/// Converts the store's outcome of a change into its result or a refusal. `unknown` is the refusal for a factor that
/// the account does not have.
pub(crate) fn changed<T>(outcome: ChangedFactors<T>, unknown: &'static Refusal) -> Result<T> {
    match outcome {
        ChangedFactors::Changed(done) => Ok(done),
        ChangedFactors::NotFound => Err(Error::Refused(unknown)),
        ChangedFactors::LastSecondFactor | ChangedFactors::Unchanged => {
            Err(Error::Refused(&LAST_SECOND_FACTOR))
        }
        ChangedFactors::LastWayIn => Err(Error::Refused(&LAST_SIGN_IN_METHOD)),
        ChangedFactors::LastOwner => Err(Error::Refused(&LAST_OWNER)),
        ChangedFactors::NoSession => Err(Error::Refused(&AUTH_UNAUTHORIZED)),
    }
}
