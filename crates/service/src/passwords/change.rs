//! changePassword: by the owner, who knows the current one.

use latchkey_domain::audit::{Actor, AuditKind};
use latchkey_domain::client::Client;
use latchkey_domain::email::Email;
use latchkey_domain::ids::SessionId;
use latchkey_domain::password::Password;
use latchkey_domain::sign_in::{Compared, Fit};
use latchkey_domain::time::Timestamp;
use latchkey_store::{BeginPasswordChange, ChangePassword, SignInGuard, SignInOutcome};

use super::Passwords;
use crate::error::{Error, Result};
use crate::refusal::{AUTH_UNAUTHORIZED, INVALID_CREDENTIALS};

impl Passwords {
    /// Sets a new password and ends the other sessions. Shares the guess limits of sign-in.
    pub async fn change(
        &self,
        bearer: Option<&str>,
        current: Password,
        new: Password,
        client: Client,
    ) -> Result<()> {
        let now = self.kernel.now();
        let claims = self.sessions.good_claims(bearer, now).await?;
        // What the token says is what the account has, unless its address changed since.
        let mut email = Email::parse(&claims.email).map_err(|_| Error::Refused(&AUTH_UNAUTHORIZED))?;
        let (candidate, guard) = loop {
            if let Err(weak) = self.check_new_password(&self.kernel.settings(), "newPassword", &new, &email) {
                self.sessions.authenticate(bearer).await?; // who may not call hears nothing about the password
                return Err(weak);
            }
            match self.begin_change(claims.sid, &email, &client, now).await? {
                (BeginPasswordChange::OtherEmail(other), _) => email = other,
                (BeginPasswordChange::Candidate(candidate), guard) if candidate.user.id == claims.sub => {
                    break (candidate, guard);
                }
                (BeginPasswordChange::NoSession | BeginPasswordChange::Candidate(_), _) => {
                    return Err(Error::Refused(&AUTH_UNAUTHORIZED));
                }
            }
        };
        let (user, session_id) = (candidate.user, claims.sid);
        let stored = candidate.password;
        let compared = Compared { own: stored.as_ref(), of_sign_up: None };
        let check = self.hasher.check(current, compared).await?;
        let Some(checked) = stored.filter(|_| check.fit == Fit::Own) else {
            let refusal = ("wrong current password", &INVALID_CREDENTIALS);
            return Err(self.fail_sign_in(Some(user.id), guard, &client, refusal, now).await?);
        };

        let change = ChangePassword {
            user_id: user.id,
            checked,
            password: self.hasher.hash_like(new, candidate.last_sign_up.as_ref()).await?,
            keep: session_id,
            guard,
            event: self.kernel.event(AuditKind::PasswordChanged, Actor::User, Some(&client), now),
            mail: self.kernel.notification(Some(&client), None, now)?,
            now,
        };
        let changed = self.kernel.store.change_password(change).await?;
        match changed.map_err(|limited| self.kernel.limited(limited, email.key(), &client))? {
            SignInOutcome::Opened(_) => {
                self.kernel.mails.wake_for_notification();
                Ok(())
            }
            SignInOutcome::Gone => Err(Error::Refused(&INVALID_CREDENTIALS)),
        }
    }

    /// Takes the tokens and finds the account of a session, if its address is this one.
    async fn begin_change(
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
