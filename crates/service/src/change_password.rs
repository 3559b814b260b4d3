//! changePassword: by the owner, who knows the current one.

use latchkey_domain::audit::{Actor, AuditKind};
use latchkey_domain::client::Client;
use latchkey_domain::password::Password;
use latchkey_store::{BeginSignIn, ChangePassword, SignInOutcome};

use crate::error::{Error, Result};
use crate::passwords::PasswordCheck;
use crate::service::Service;

impl Service {
    /// Sets a new password and ends the other sessions. Shares the guess limits of sign-in.
    pub async fn change_password(
        &self,
        bearer: Option<&str>,
        current: Password,
        new: Password,
        client: Client,
    ) -> Result<()> {
        let (live, _) = self.current_session(bearer).await?;
        let (user, session_id) = (live.user, live.session.id);
        let now = self.clock.now();
        self.check_new_password(&self.settings(), &new, &user.email)?;

        let guard = self.limits.sign_in_guard(user.email.key(), &client);
        let takes = self.limits.sign_in(&client);
        let candidate = match self.store.begin_sign_in(user.email.key(), &takes, guard.as_ref(), now).await? {
            BeginSignIn::Limited(limited) => return Err(limited.into()),
            BeginSignIn::Candidate(candidate) => candidate.filter(|candidate| candidate.user.id == user.id),
        };
        let stored = candidate.and_then(|candidate| candidate.password);
        let check = self.passwords.check(current, stored.as_ref()).await?;
        let Some(checked) = stored.filter(|_| !matches!(check, PasswordCheck::Wrong)) else {
            return Err(self
                .fail_sign_in(Some(user.id), guard, &client, "wrong current password", now)
                .await?);
        };

        let change = ChangePassword {
            user_id: user.id,
            checked,
            password: self.passwords.hash(new).await?,
            keep: session_id,
            guard,
            event: self.event(AuditKind::PasswordChanged, Actor::User, Some(&client), now),
            now,
        };
        match self.store.change_password(change).await? {
            SignInOutcome::Opened(_) => Ok(()),
            SignInOutcome::Limited(limited) => Err(limited.into()),
            SignInOutcome::Gone => Err(Error::InvalidCredentials),
        }
    }
}
