//! The first password of an account without one, such as an account that signs in through an identity provider.

use latchkey_domain::audit::{Actor, AuditKind};
use latchkey_domain::client::Client;
use latchkey_domain::page_session::PageToken;
use latchkey_domain::password::Password;
use latchkey_domain::reason::Reason;
use latchkey_store::{BeginPasswordChange, LiveSession, PasswordSet, SetPassword};

use super::Passwords;
use crate::error::{Error, Result};
use crate::refusal::{AUTH_UNAUTHORIZED, BUSY, EMAIL_NOT_VERIFIED};
use crate::sessions::Credential;

impl Passwords {
    /// Sets a password for an account that has none, and ends the user's other sessions. The sign-in or
    /// reauthentication of the credential must be recent. Returns the new token of the caller's page session; `None` for an
    /// app session. An account with a password needs the current one ([`Passwords::change`]).
    pub async fn set(
        &self,
        credential: impl Into<Credential<'_>>,
        new: Password,
        client: Client,
    ) -> Result<Option<PageToken>> {
        let now = self.kernel.now();
        let LiveSession { session, user } = self.sessions.fresh_to_set_password(credential.into()).await?;
        if user.has_password {
            return Err(current_password_is_required());
        }
        // While an account is contested, a password does not sign in, and verification would remove it.
        if user.is_contested {
            return Err(Error::Refused(&EMAIL_NOT_VERIFIED));
        }
        self.check_new_password(&self.kernel.settings(), "newPassword", &new, &user.email)?;
        let takes = self.takes(&client);
        let begun = self.kernel.store.begin_password_change(session.id, user.email.key(), &takes, None, now);
        let candidate =
            match begun.await?.map_err(|limited| self.kernel.limited(limited, user.email.key(), &client))? {
                BeginPasswordChange::Candidate(candidate) => candidate,
                BeginPasswordChange::NoSession => return Err(Error::Refused(&AUTH_UNAUTHORIZED)),
                BeginPasswordChange::OtherEmail(_) => return Err(Error::Refused(&BUSY)),
            };
        let page_token = self.sessions.new_page_token(&session);
        let set = SetPassword {
            user_id: user.id,
            password: self.hasher.hash_like(new, candidate.last_sign_up.as_ref()).await?,
            keep: session.id,
            page_token: page_token.as_ref().map(PageToken::hash),
            event: self.kernel.event(AuditKind::PasswordSet, Actor::User, Some(&client), now),
            mail: self.kernel.required_notification(Some(&client), None, now)?,
            now,
        };
        match self.kernel.store.set_password(set).await? {
            PasswordSet::Set => {
                self.kernel.mails.wake();
                Ok(page_token)
            }
            PasswordSet::HasPassword => Err(current_password_is_required()),
            PasswordSet::NoSession => Err(Error::Refused(&AUTH_UNAUTHORIZED)),
        }
    }
}

fn current_password_is_required() -> Error {
    Error::validation("currentPassword", Reason::Required, "is required")
}
