//! Listing and unlinking the identities of one's own account. Linking is in [`super::start`] and [`super::exchange`].

use latchkey_domain::audit::{Actor, AuditKind};
use latchkey_domain::client::Client;
use latchkey_domain::identity::{ProviderKey, Subject};
use latchkey_domain::user::User;
use latchkey_store::{LinkedIdentity, UnlinkIdentity, UnlinkOutcome, Unlinker};
use serde_json::Value;

use super::OAuth;
use crate::error::{Error, Result};
use crate::refusal::{IDENTITY_NOT_FOUND, LAST_SIGN_IN_METHOD};
use crate::sessions::FreshCaller;
use crate::sessions::authenticate::Caller;

impl OAuth {
    /// Lists the caller's linked identities, oldest first.
    pub async fn list_identities(&self, caller: Caller) -> Result<Vec<LinkedIdentity>> {
        Ok(self.kernel.store.list_identities(caller.user_id).await?)
    }

    /// Unlinks the caller's identities of a provider: the one with this subject, or all with `None`. The last way to
    /// sign in cannot be removed. Other sessions that were opened with these identities end.
    pub async fn unlink_identity(
        &self,
        caller: &FreshCaller,
        provider: &str,
        subject: Option<&str>,
        client: &Client,
    ) -> Result<User> {
        let caller = caller.caller();
        let not_found = || Error::Refused(&IDENTITY_NOT_FOUND);
        let provider = ProviderKey::parse(provider).map_err(|_| not_found())?;
        let subject = subject.map(|text| Subject::parse(text).ok_or_else(not_found)).transpose()?;
        let now = self.kernel.now();
        let mut event = self.kernel.event(AuditKind::IdentityUnlinked, Actor::User, Some(client), now);
        event.details.insert("provider".to_owned(), Value::from(provider.as_str()));
        let mail = self.sessions.identity_notification(Some(client), &provider, now)?;
        let unlink = UnlinkIdentity {
            user_id: caller.user_id,
            provider,
            subject,
            offer: self.sessions.sign_in_offer(),
            by: Unlinker::Owner(caller.session_id),
            event,
            mail,
            now,
        };
        match self.kernel.store.unlink_identity(unlink).await? {
            UnlinkOutcome::Unlinked(user) => {
                self.kernel.mails.wake_for_notification();
                Ok(*user)
            }
            UnlinkOutcome::NotFound => Err(not_found()),
            UnlinkOutcome::LastWayIn => Err(Error::Refused(&LAST_SIGN_IN_METHOD)),
            UnlinkOutcome::Refused(refusal) => Err(refusal.into()),
        }
    }
}
