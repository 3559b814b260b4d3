//! The change of a password by its owner, who must enter the current one.

use latchkey_domain::audit::{Actor, AuditKind};
use latchkey_domain::client::Client;
use latchkey_domain::email::Email;
use latchkey_domain::ids::SessionId;
use latchkey_domain::page_session::PageToken;
use latchkey_domain::password::Password;
use latchkey_domain::sign_in::{Compared, Fit};
use latchkey_domain::time::Timestamp;
use latchkey_store::{BeginPasswordChange, ChangePassword, LiveSession, PasswordChange, SignInGuard};

use super::Passwords;
use crate::error::{Error, Result};
use crate::refusal::{AUTH_UNAUTHORIZED, BUSY, INVALID_CREDENTIALS};
use crate::sessions::Credential;

impl Passwords {
    /// Sets a new password and ends the user's other sessions. A wrong current password counts as a failed sign-in.
    /// Returns the new token of the caller's page session; `None` for an app session.
    pub async fn change(
        &self,
        credential: impl Into<Credential<'_>>,
        current: Password,
        new: Password,
        client: Client,
    ) -> Result<Option<PageToken>> {
        let now = self.kernel.now();
        let LiveSession { session, user } = self.sessions.fresh_if_two_step(credential.into()).await?;
        self.check_new_password(&self.kernel.settings(), "newPassword", &new, &user.email)?;
        let (begun, guard) = self.begin_change(session.id, &user.email, &client, now).await?;
        let candidate = match begun {
            BeginPasswordChange::Candidate(candidate) => candidate,
            BeginPasswordChange::NoSession => return Err(Error::Refused(&AUTH_UNAUTHORIZED)),
            // The address changed after it was read, by an admin for example.
            BeginPasswordChange::OtherEmail(_) => return Err(Error::Refused(&BUSY)),
        };
        let stored = candidate.password;
        let compared = Compared { own: stored.as_ref(), of_sign_up: None };
        let check = self.compare(user.email.key(), current, compared).await?;
        let Some(checked) = stored.filter(|_| check.fit == Fit::Own) else {
            let refusal = ("wrong current password", &INVALID_CREDENTIALS);
            return Err(self.fail_sign_in(Some(user.id), guard, &client, refusal, now).await?);
        };

        let page_token = self.sessions.new_page_token(&session);
        let change = ChangePassword {
            user_id: user.id,
            checked,
            password: self.hasher.hash_like(new, candidate.last_sign_up.as_ref()).await?,
            keep: session.id,
            page_token: page_token.as_ref().map(PageToken::hash),
            guard,
            event: self.kernel.event(AuditKind::PasswordChanged, Actor::User, Some(&client), now),
            mail: self.kernel.notification(Some(&client), None, now)?,
            now,
        };
        let changed = self.kernel.store.change_password(change).await?;
        match changed.map_err(|limited| self.kernel.limited(limited, user.email.key(), &client))? {
            PasswordChange::Changed => {
                self.kernel.mails.wake_for_notification();
                Ok(page_token)
            }
            PasswordChange::Gone => Err(Error::Refused(&INVALID_CREDENTIALS)),
        }
    }

    /// Takes one token from each rate limit and reads the account of a session, whose password is to be
    /// checked. If the address of the account is no longer `email`, no token is taken, and the outcome
    /// contains the current address.
    pub(super) async fn begin_change(
        &self,
        session: SessionId,
        email: &Email,
        client: &Client,
        now: Timestamp,
    ) -> Result<(BeginPasswordChange, Option<SignInGuard>)> {
        let guard = self.guard(email.key(), client);
        let takes = self.takes(client);
        let begun = self
            .kernel
            .store
            .begin_password_change(session, email.key(), &takes, guard.as_ref(), now)
            .await?;
        Ok((begun.map_err(|limited| self.kernel.limited(limited, email.key(), client))?, guard))
    }
}
