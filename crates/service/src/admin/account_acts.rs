//! Acts of admins and operators on the account of one user: end sessions, set a password, remove the text of the profile,
//! unlink identities. Each is audited and spares the accounts of operators; removal of factors is in [`crate::factors`]
//! and [`crate::passkeys`].

use latchkey_domain::audit::AuditKind;
use latchkey_domain::client::Client;
use latchkey_domain::identity::{ProviderKey, Subject};
use latchkey_domain::ids::{SessionId, UserId};
use latchkey_domain::operator::Party;
use latchkey_domain::password::Password;
use latchkey_store::{AccountAct, ClearedProfile, ReplacePassword, UnlinkIdentity, UnlinkOutcome, Unlinker};
use serde_json::Value;

use super::Admin;
use crate::error::{Error, Result};
use crate::refusal::{
    IDENTITY_NOT_FOUND, LAST_SIGN_IN_METHOD, PROFILE_NOT_FOUND, SESSION_NOT_FOUND, USER_NOT_FOUND,
};

impl Admin {
    /// Ends all sessions of a user; returns their number.
    pub async fn end_all_sessions(&self, id: UserId, party: Party, client: Option<&Client>) -> Result<u64> {
        let act = self.end_of_sessions(id, AuditKind::SessionsEnded, party, client);
        self.kernel.store.end_all_sessions(act).await??.ok_or(Error::Refused(&USER_NOT_FOUND))
    }

    /// Ends one session of a user.
    pub async fn end_session(
        &self,
        id: UserId,
        session: SessionId,
        party: Party,
        client: Option<&Client>,
    ) -> Result<()> {
        let act = self.end_of_sessions(id, AuditKind::SessionEnded, party, client);
        if self.kernel.store.end_session(act, session).await?? {
            return Ok(());
        }
        self.find_user(id).await?;
        Err(Error::Refused(&SESSION_NOT_FOUND))
    }

    /// Sets the password of a user, which must follow the password policy. All sessions end, outstanding codes and tokens
    /// become invalid, and the user gets a mail. Two-step sign-in stays as it is.
    pub async fn set_password(
        &self,
        id: UserId,
        password: Password,
        party: Party,
        client: Option<&Client>,
    ) -> Result<()> {
        let user = self.find_user(id).await?;
        self.passwords.check_new_password(&self.kernel.settings(), "newPassword", &password, &user.email)?;
        let password = self.passwords.hasher.hash(password).await?;
        let act = self.account_act(id, AuditKind::PasswordSet, party, client);
        let mail = self.kernel.required_notification(None, None, act.now)?;
        if !self.kernel.store.replace_password(ReplacePassword { act, password, mail }).await?? {
            return Err(Error::Refused(&USER_NOT_FOUND));
        }
        self.kernel.mails.wake();
        Ok(())
    }

    /// Removes name, username, bio, picture and custom fields from the profile of a user.
    pub async fn clear_profile(&self, id: UserId, party: Party, client: Option<&Client>) -> Result<()> {
        let act = self.account_act(id, AuditKind::ProfileCleared, party, client);
        match self.kernel.store.clear_profile(act).await?? {
            ClearedProfile::Cleared => Ok(()),
            ClearedProfile::NotFound => Err(Error::Refused(&PROFILE_NOT_FOUND)),
        }
    }

    /// Unlinks a user's identities of a provider: the one with this subject, or all with `None`. The last way to sign in
    /// cannot be removed. Sessions that were opened with these identities end, and the user gets a mail.
    pub async fn unlink_identity(
        &self,
        id: UserId,
        (provider, subject): (&str, Option<&str>),
        party: Party,
        client: Option<&Client>,
    ) -> Result<()> {
        let not_found = || Error::Refused(&IDENTITY_NOT_FOUND);
        self.find_user(id).await?;
        let provider = ProviderKey::parse(provider).map_err(|_| not_found())?;
        let subject = subject.map(|text| Subject::parse(text).ok_or_else(not_found)).transpose()?;
        let AccountAct { user_id, mut event, protection, now } =
            self.account_act(id, AuditKind::IdentityUnlinked, party, client);
        event.details.insert("provider".to_owned(), Value::from(provider.as_str()));
        let unlink = UnlinkIdentity {
            user_id,
            mail: self.passwords.sessions.identity_notification(None, &provider, now)?,
            provider,
            subject,
            offer: self.factors.sign_in_offer(),
            by: Unlinker::Admin(protection),
            event,
            now,
        };
        match self.kernel.store.unlink_identity(unlink).await? {
            UnlinkOutcome::Unlinked(_) => {
                self.kernel.mails.wake_for_notification();
                Ok(())
            }
            UnlinkOutcome::NotFound => Err(not_found()),
            UnlinkOutcome::LastWayIn => Err(Error::Refused(&LAST_SIGN_IN_METHOD)),
            UnlinkOutcome::Refused(refusal) => Err(refusal.into()),
        }
    }

    pub(super) fn account_act(
        &self,
        user_id: UserId,
        kind: AuditKind,
        party: Party,
        client: Option<&Client>,
    ) -> AccountAct {
        let now = self.kernel.now();
        let event = self.kernel.event(kind, party, client, now);
        AccountAct { user_id, event, protection: self.kernel.protection(party), now }
    }

    fn end_of_sessions(
        &self,
        user_id: UserId,
        kind: AuditKind,
        party: Party,
        client: Option<&Client>,
    ) -> AccountAct {
        let protection = party.protection_from_end_of_sessions();
        AccountAct { protection, ..self.account_act(user_id, kind, party, client) }
    }
}
