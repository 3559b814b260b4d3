//! The passkeys of an account: listing, renaming and removal by the owner, and removal by an admin.

use latchkey_domain::audit::AuditKind;
use latchkey_domain::client::Client;
use latchkey_domain::factors::FactorName;
use latchkey_domain::ids::UserId;
use latchkey_domain::operator::Party;
use latchkey_domain::passkey::{CredentialId, Passkey, PasskeyId, Passkeys as Stored, RpId, UserHandle};
use latchkey_domain::user::User;
use latchkey_store::RemovePasskeyOf;

use super::Passkeys;
use crate::error::{Error, Result};
use crate::factors::changed;
use crate::refusal::{AUTH_UNAUTHORIZED, PASSKEY_NOT_FOUND, USER_NOT_FOUND};
use crate::sessions::FreshCaller;
use crate::sessions::authenticate::Caller;

/// The passkeys of an account, with the data from which a browser updates its passkey manager (WebAuthn section 5.1.10,
/// signal methods).
pub struct OwnPasskeys {
    /// Relying party id that the service uses; `None` if the service has no domain.
    pub rp_id: Option<RpId>,
    /// User handle of the account; `None` before its first registration.
    pub user_handle: Option<UserHandle>,
    /// Passkeys, oldest first, including those registered for another relying party id.
    pub passkeys: Vec<Passkey>,
}

impl OwnPasskeys {
    /// Returns the credential ids of the passkeys that the account can sign in with.
    pub fn accepted(&self) -> impl Iterator<Item = &CredentialId> {
        let usable = self.passkeys.iter().filter(|one| Some(&one.rp_id) == self.rp_id.as_ref());
        usable.map(|one| &one.credential_id)
    }
}

impl Passkeys {
    /// True if the passkey was registered for the relying party id that the service uses.
    #[must_use]
    pub fn is_usable(&self, passkey: &Passkey) -> bool {
        Some(&passkey.rp_id) == self.relying_party.id.as_ref()
    }

    /// True if the user has a passkey for the relying party id that the service uses.
    #[must_use]
    pub fn has_usable(&self, user: &User) -> bool {
        user.has_usable_passkey(self.relying_party.id.as_ref())
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
        let rename = self.factors.change(caller, AuditKind::PasskeyRenamed, (id, name), Some(client), now);
        changed(self.kernel.store.rename_passkey(rename).await?, &PASSKEY_NOT_FOUND)
    }

    /// Removes a passkey of the caller and ends the other sessions that it opened. Refused for the last second factor
    /// while two-step sign-in is on, and for the last way to sign in.
    pub async fn remove(&self, caller: &FreshCaller, id: PasskeyId, client: &Client) -> Result<OwnPasskeys> {
        let now = self.kernel.now();
        let caller = caller.caller();
        let remove = self.factors.mailed_change(caller, AuditKind::PasskeyRemoved, id, client, now)?;
        let removed = self.kernel.store.remove_passkey(remove, self.sessions.sign_in_offer()).await?;
        let stored = changed(removed, &PASSKEY_NOT_FOUND)?;
        self.kernel.mails.wake();
        Ok(self.own(stored))
    }

    /// Removes a passkey of any account for an admin, and ends the sessions that it opened. The mail to the account's
    /// owner does not mention the admin's client.
    pub async fn remove_of(
        &self,
        user_id: UserId,
        id: PasskeyId,
        party: Party,
        client: &Client,
    ) -> Result<()> {
        let now = self.kernel.now();
        let remove = RemovePasskeyOf {
            user_id,
            passkey: id,
            event: self.kernel.event(AuditKind::PasskeyRemoved, party, Some(client), now),
            mail: self.kernel.required_notification(None, None, now)?,
            rp_id: self.relying_party.id.clone(),
            protection: self.kernel.protection(party),
            even_last_owner: party == Party::System,
            now,
        };
        if self.kernel.store.remove_passkey_of(remove).await?? {
            self.kernel.mails.wake();
            return Ok(());
        }
        let user = self.kernel.store.find_factors(user_id).await?;
        Err(Error::Refused(if user.is_some() { &PASSKEY_NOT_FOUND } else { &USER_NOT_FOUND }))
    }

    /// Counts the passkeys of all accounts that were registered for another relying party id than the one
    /// that the service uses.
    pub async fn count_unusable(&self) -> Result<u64> {
        Ok(self.kernel.store.count_unusable_passkeys(self.relying_party.id.as_ref()).await?)
    }

    fn own(&self, stored: Stored) -> OwnPasskeys {
        let Stored { user_handle, passkeys } = stored;
        OwnPasskeys { rp_id: self.relying_party.id.clone(), user_handle, passkeys }
    }
}
