//! Enrolment of a TOTP factor, in a session or as the answer to the challenge of a sign-in. An account's first factor
//! turns two-step sign-in on.

use std::time::Duration;

use latchkey_domain::audit::{Actor, AuditKind};
use latchkey_domain::codes::SixDigitCode;
use latchkey_domain::factors::{FactorId, FactorName};
use latchkey_store::{
    BeginTotp, BegunTotp as BegunOutcome, ConfirmTotp, ConfirmedTotp as ConfirmOutcome, PendingTotp,
};

use super::enroller::gone;
use super::totp::TotpSecret;
use super::{BegunTotp, ConfirmedTotp, FactorEnroller, Factors};
use crate::error::{Error, Result};
use crate::refusal::{
    EMAIL_NOT_VERIFIED, FACTOR_NOT_FOUND, INVALID_SECOND_FACTOR, REAUTHENTICATION_REQUIRED, TOO_MANY_FACTORS,
};
use crate::sessions::SignInClient;

/// Time after which a factor that was not confirmed is deleted.
const PENDING: Duration = Duration::from_mins(10);

impl Factors {
    /// Begins the enrolment of a factor: creates its secret and stores the factor as unconfirmed. An earlier
    /// unconfirmed factor is replaced.
    pub async fn begin_totp(&self, enroller: FactorEnroller, name: Option<FactorName>) -> Result<BegunTotp> {
        let now = self.kernel.now();
        let of_store = self.beginning(&enroller, now)?;
        let user = match enroller {
            FactorEnroller::Fresh(fresh) => {
                self.check_enabled()?;
                fresh.user().clone()
            }
            FactorEnroller::Session(_) => return Err(Error::Refused(&REAUTHENTICATION_REQUIRED)),
            FactorEnroller::Challenge(id) => {
                let found = self.enrolling_challenge(&id, now).await?;
                self.check_permitted(Some(found.opened_for))?;
                found.user
            }
        };
        let id = FactorId::new(now, self.kernel.id_bytes(now));
        let secret = TotpSecret::new(&*self.kernel.entropy);
        let sealed = secret.seal(&self.totp_key, &*self.kernel.entropy, (user.id, id));
        let begin = BeginTotp {
            enroller: of_store.clone(),
            id,
            name: name.unwrap_or_else(FactorName::of_totp),
            secret: sealed.map_err(Error::internal)?,
            expires_at: now.plus(PENDING),
            now,
        };
        let expires_at = begin.expires_at;
        match self.kernel.store.begin_totp(begin).await? {
            BegunOutcome::Begun(user) => Ok(BegunTotp {
                factor_id: id,
                secret: secret.to_base32(),
                uri: secret.uri(&self.kernel.site.service_name, user.email.as_typed()),
                expires_at,
            }),
            BegunOutcome::NoEnroller => Err(Error::Refused(gone(&of_store))),
            BegunOutcome::Unverified => Err(Error::Refused(&EMAIL_NOT_VERIFIED)),
            BegunOutcome::TooMany => Err(Error::Refused(&TOO_MANY_FACTORS)),
        }
    }

    /// Confirms a factor by its first correct code. If two-step sign-in is off, this turns it on: all sessions end, and
    /// a new session of level 2 (two factors) is opened.
    pub async fn confirm_totp(
        &self,
        enroller: FactorEnroller,
        id: FactorId,
        code: SixDigitCode,
        from: &SignInClient,
    ) -> Result<ConfirmedTotp> {
        let (client, now) = (&from.client, self.kernel.now());
        let found = self.find_enroller(enroller, now).await?;
        self.check_permitted(found.opened_for)?;
        let enroller = found.enroller.clone();
        let pending = self.kernel.store.find_pending_totp(enroller.clone(), id, now).await?;
        let PendingTotp { totp, user } = *pending.ok_or(&FACTOR_NOT_FOUND)?;
        // The store decides whether the factor turns two-step sign-in on or joins others, so it gets the data for both.
        let (turned_on, opening) = self.draft_enrolled(&found, None, from, now)?;
        let confirm = ConfirmTotp {
            enroller: enroller.clone(),
            id,
            step: self.match_totp(user.id, &[totp], &code, now)?.map(|(_, step)| step),
            turned_on,
            added: self.kernel.event(AuditKind::TotpAdded, Actor::User, Some(client), now),
            mail: self.kernel.required_notification(Some(client), None, now)?,
            now,
        };
        match self.kernel.store.confirm_totp(confirm).await? {
            ConfirmOutcome::TurnedOn(user, factor) => {
                self.kernel.mails.wake();
                Ok(ConfirmedTotp::TurnedOn(self.turned_on(*user, opening, now)?, factor))
            }
            ConfirmOutcome::Added(factor) => {
                self.kernel.mails.wake();
                Ok(ConfirmedTotp::Added(factor))
            }
            ConfirmOutcome::Wrong => Err(Error::Refused(&INVALID_SECOND_FACTOR)),
            ConfirmOutcome::NotFound => Err(Error::Refused(&FACTOR_NOT_FOUND)),
            ConfirmOutcome::NoEnroller => Err(Error::Refused(gone(&enroller))),
        }
    }
}
