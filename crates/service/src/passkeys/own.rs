//! The passkeys of an account: list, rename and removal by the owner, removal by an admin.

use latchkey_domain::audit::{Actor, AuditKind};
use latchkey_domain::client::Client;
use latchkey_domain::factors::FactorName;
use latchkey_domain::ids::UserId;
use latchkey_domain::passkey::{CredentialId, Passkey, PasskeyId, Passkeys as Stored, RpId, UserHandle};
use latchkey_domain::time::Timestamp;
use latchkey_store::{ChangeFactors, ChangedFactors, NewMail, RemovePasskeyOf, RemovedPasskey};

use super::Passkeys;
use crate::error::{Error, Result};
use crate::refusal::{
    AUTH_UNAUTHORIZED, LAST_SECOND_FACTOR, LAST_SIGN_IN_METHOD, PASSKEY_NOT_FOUND, USER_NOT_FOUND,
};
use crate::sessions::FreshCaller;
use crate::sessions::authenticate::Caller;

/// The passkeys of an account, with the facts by which a browser keeps its passkey provider up to date (WebAuthn section
/// 5.1.10, signal methods).
pub struct OwnPasskeys {
    /// Relying party id in force; `None` if the service has no domain.
    pub rp_id: Option<RpId>,
    /// `None` before the account's first registration.
    pub user_handle: Option<UserHandle>,
    /// Oldest first, those of another relying party id included.
    pub passkeys: Vec<Passkey>,
}

impl OwnPasskeys {
    /// Returns the ids of the usable passkeys.
    pub fn accepted(&self) -> impl Iterator<Item = &CredentialId> {
        let usable = self.passkeys.iter().filter(|one| Some(&one.rp_id) == self.rp_id.as_ref());
        usable.map(|one| &one.credential_id)
    }
}

impl Passkeys {
    /// True if the passkey is of the relying party id in force.
    #[must_use]
    pub fn is_usable(&self, passkey: &Passkey) -> bool {
        Some(&passkey.rp_id) == self.relying_party.id.as_ref()
    }

    pub async fn list(&self, caller: Caller) -> Result<OwnPasskeys> {
        let found = self.kernel.store.find_own_passkeys(caller.session_id, self.kernel.now()).await?;
        let found = found.filter(|(live, _)| live.user.id == caller.user_id);
        let (_, stored) = found.ok_or(&AUTH_UNAUTHORIZED)?;
        Ok(self.own(stored))
    }

    pub async fn rename(
        &self,
        caller: Caller,
        id: PasskeyId,
        name: FactorName,
        client: &Client,
    ) -> Result<Passkey> {
        let now = self.kernel.now();
        let rename = self.change(caller, AuditKind::PasskeyRenamed, (id, name), (client, None), now);
        match self.kernel.store.rename_passkey(rename).await? {
            ChangedFactors::Changed(passkey) => Ok(passkey),
            ChangedFactors::NoSession => Err(Error::Refused(&AUTH_UNAUTHORIZED)),
            _ => Err(Error::Refused(&PASSKEY_NOT_FOUND)),
        }
    }

    /// Removes a passkey, unless it is the last second factor while two-step sign-in is on, or the last way to sign in.
    /// Ends the other sessions that it opened.
    pub async fn remove(&self, caller: &FreshCaller, id: PasskeyId, client: &Client) -> Result<OwnPasskeys> {
        let now = self.kernel.now();
        let mail = self.kernel.required_notification(Some(client), None, now)?;
        let remove = self.change(caller.caller(), AuditKind::PasskeyRemoved, id, (client, mail), now);
        let removed = self.kernel.store.remove_passkey(remove, self.sessions.sign_in_offer()).await?;
        match removed {
            RemovedPasskey::Removed(stored) => {
                self.kernel.mails.wake();
                Ok(self.own(stored))
            }
            RemovedPasskey::NotFound => Err(Error::Refused(&PASSKEY_NOT_FOUND)),
            RemovedPasskey::LastSecondFactor => Err(Error::Refused(&LAST_SECOND_FACTOR)),
            RemovedPasskey::LastWayIn => Err(Error::Refused(&LAST_SIGN_IN_METHOD)),
            RemovedPasskey::NoSession => Err(Error::Refused(&AUTH_UNAUTHORIZED)),
        }
    }

    /// Removes a passkey of any account for an admin, and ends the sessions that it opened. The mail to the account's
    /// owner does not mention the admin's client.
    pub async fn remove_of(&self, user_id: UserId, id: PasskeyId, client: &Client) -> Result<()> {
        let now = self.kernel.now();
        let remove = RemovePasskeyOf {
            user_id,
            passkey: id,
            event: self.kernel.event(AuditKind::PasskeyRemoved, Actor::Admin, Some(client), now),
            mail: self.kernel.required_notification(None, None, now)?,
            now,
        };
        if self.kernel.store.remove_passkey_of(remove).await? {
            self.kernel.mails.wake();
            return Ok(());
        }
        let user = self.kernel.store.find_factors(user_id).await?;
        Err(Error::Refused(if user.is_some() { &PASSKEY_NOT_FOUND } else { &USER_NOT_FOUND }))
    }

    /// Counts the passkeys of the instance that are of another relying party id than the one in force.
    pub async fn count_unusable(&self) -> Result<u64> {
        Ok(self.kernel.store.count_unusable_passkeys(self.relying_party.id.as_ref()).await?)
    }

    fn own(&self, stored: Stored) -> OwnPasskeys {
        let Stored { user_handle, passkeys } = stored;
        OwnPasskeys { rp_id: self.relying_party.id.clone(), user_handle, passkeys }
    }

    fn change<T>(
        &self,
        caller: Caller,
        kind: AuditKind,
        change: T,
        (client, mail): (&Client, Option<NewMail>),
        now: Timestamp,
    ) -> ChangeFactors<T> {
        ChangeFactors {
            user_id: caller.user_id,
            session_id: caller.session_id,
            rp_id: self.relying_party.id.clone(),
            change,
            event: self.kernel.event(kind, Actor::User, Some(client), now),
            mail,
            now,
        }
    }
}
