//! signInWithPassword.

use latchkey_domain::audit::{Actor, AuditEvent, AuditKind};
use latchkey_domain::client::Client;
use latchkey_domain::email::Email;
use latchkey_domain::ids::UserId;
use latchkey_domain::password::{Password, PasswordHash};
use latchkey_domain::session::AuthMethod;
use latchkey_domain::time::Timestamp;
use latchkey_domain::user::User;
use latchkey_store::{BeginSignIn, FailedSignIn, SignIn, SignInCandidate, SignInGuard, SignInOutcome};
use serde_json::Value;

use crate::error::{Error, Result};
use crate::passwords::PasswordCheck;
use crate::service::{Service, SignedIn};

/// A password that was found right.
struct RightPassword {
    user: User,
    checked: PasswordHash,
    rehashed: Option<PasswordHash>,
}

impl Service {
    /// Opens a session for a right password. An unknown address, an account without a password and a wrong password
    /// cost and answer the same.
    pub async fn sign_in(&self, email: Email, password: Password, client: Client) -> Result<SignedIn> {
        let now = self.clock.now();
        let guard = self.limits.sign_in_guard(email.key(), &client);
        let takes = self.limits.sign_in(&client);

        let candidate = match self.store.begin_sign_in(email.key(), &takes, guard.as_ref(), now).await? {
            BeginSignIn::Limited(limited) => return Err(self.limited(limited, email.key(), &client)),
            BeginSignIn::Candidate(candidate) => candidate.map(|candidate| *candidate),
        };
        let user_id = candidate.as_ref().map(|candidate| candidate.user.id);
        let Some(right) = self.right_password(candidate, password).await? else {
            return Err(self.fail_sign_in(user_id, guard, &client, "wrong password", now).await?);
        };
        if let Some(error) = self.refusal(&right.user) {
            // The password was right: no guess to count.
            self.fail_sign_in(user_id, None, &client, "account may not sign in", now).await?;
            return Err(error);
        }

        let draft = self.draft_session(AuthMethod::Password, &client, now);
        let sign_in = SignIn {
            user_id: right.user.id,
            checked: right.checked,
            rehashed: right.rehashed,
            session: draft.session.clone(),
            guard,
            event: self.event(AuditKind::SignedIn, Actor::User, Some(&client), now),
        };
        match self.store.sign_in(sign_in).await? {
            SignInOutcome::Opened(user) => self.signed_in(*user, draft, now),
            SignInOutcome::Limited(limited) => Err(self.limited(limited, email.key(), &client)),
            SignInOutcome::Gone => Err(Error::InvalidCredentials),
        }
    }

    async fn right_password(
        &self,
        candidate: Option<SignInCandidate>,
        password: Password,
    ) -> Result<Option<RightPassword>> {
        let stored = candidate.as_ref().and_then(|candidate| candidate.password.as_ref());
        let check = self.passwords.check(password, stored).await?;
        let Some(SignInCandidate { user, password: Some(checked) }) = candidate else { return Ok(None) };
        Ok(match check {
            PasswordCheck::Wrong => None,
            PasswordCheck::Right => Some(RightPassword { user, checked, rehashed: None }),
            PasswordCheck::RightButOutdated(new) => {
                Some(RightPassword { user, checked, rehashed: Some(new) })
            }
        })
    }

    /// Why an account whose password was right may not sign in.
    fn refusal(&self, user: &User) -> Option<Error> {
        let must_verify = self.settings.load().values.require_email_verification;
        if user.is_banned() {
            return Some(Error::UserBanned);
        }
        if must_verify && !user.email_verified {
            return Some(Error::EmailNotVerified);
        }
        // Two people know an unproven password each; neither is known to own the address.
        user.is_contested.then_some(Error::InvalidCredentials)
    }

    /// Counts a failure and answers what the client is told.
    pub(crate) async fn fail_sign_in(
        &self,
        user_id: Option<UserId>,
        guard: Option<SignInGuard>,
        client: &Client,
        reason: &str,
        now: Timestamp,
    ) -> Result<Error> {
        let mut event = self.event(AuditKind::SignInFailed, Actor::User, Some(client), now);
        event.details.insert("reason".to_owned(), Value::from(reason));
        let event = AuditEvent { user_id, ..event };
        let limited = self.store.fail_sign_in(FailedSignIn { guard, event, now }).await?;
        Ok(limited.map_or(Error::InvalidCredentials, Error::from))
    }
}
