//! signInWithPassword.

use latchkey_domain::audit::{Actor, AuditEvent, AuditKind};
use latchkey_domain::client::Client;
use latchkey_domain::email::Email;
use latchkey_domain::ids::UserId;
use latchkey_domain::password::{Password, PasswordHash};
use latchkey_domain::session::AuthMethod;
use latchkey_domain::sign_in::{Compared, Verdict};
use latchkey_domain::time::Timestamp;
use latchkey_store::{FailedSignIn, SignIn, SignInCandidate, SignInGuard, SignInOutcome};
use serde_json::Value;

use super::Passwords;
use crate::error::{Error, Result};
use crate::refusal::{EMAIL_NOT_VERIFIED, INVALID_CREDENTIALS, Refusal, USER_BANNED};
use crate::sessions::SignedIn;

/// The reason in the audit where a password was right.
const MAY_NOT: &str = "account may not sign in";

/// A password that opens its account.
struct RightPassword {
    user_id: UserId,
    checked: PasswordHash,
    rehashed: Option<PasswordHash>,
}

impl Passwords {
    /// Opens a session for a right password. An unknown address, an account without a password and a wrong password
    /// cost and answer the same; so do, for the password of the last sign-up, a pending and a taken address.
    pub async fn sign_in(&self, email: Email, password: Password, client: Client) -> Result<SignedIn> {
        let now = self.kernel.now();
        let guard = self.guard(email.key(), &client);
        let takes = self.takes(&client);

        let refuse = |limited| self.kernel.limited(limited, email.key(), &client);
        let begun = self.kernel.store.begin_sign_in(email.key(), &takes, guard.as_ref(), now).await?;
        let candidate = begun.map_err(refuse)?.map(|candidate| *candidate);
        let user_id = candidate.as_ref().map(|candidate| candidate.user.id);
        let (verdict, right) = self.check_password(candidate, password).await?;
        let (counted, reason, refusal) = match verdict {
            Verdict::Opens | Verdict::Wrong => (guard.clone(), "wrong password", &INVALID_CREDENTIALS),
            Verdict::SignedUpOnly => (guard.clone(), MAY_NOT, &EMAIL_NOT_VERIFIED),
            // The password was right: no guess to count.
            Verdict::Unverified => (None, MAY_NOT, &EMAIL_NOT_VERIFIED),
            Verdict::Banned => (None, MAY_NOT, &USER_BANNED),
        };
        let Some(right) = right.filter(|_| verdict == Verdict::Opens) else {
            return Err(self.fail_sign_in(user_id, counted, &client, (reason, refusal), now).await?);
        };

        let draft = self.sessions.draft_session(AuthMethod::Password, &client, now);
        let sign_in = SignIn {
            user_id: right.user_id,
            checked: right.checked,
            rehashed: right.rehashed,
            session: draft.session.clone(),
            guard,
            event: self.kernel.event(AuditKind::SignedIn, Actor::User, Some(&client), now),
        };
        match self.kernel.store.sign_in(sign_in).await?.map_err(refuse)? {
            SignInOutcome::Opened(user) => self.sessions.signed_in(*user, draft, now),
            SignInOutcome::Gone => Err(Error::Refused(&INVALID_CREDENTIALS)),
        }
    }

    async fn check_password(
        &self,
        candidate: Option<SignInCandidate>,
        password: Password,
    ) -> Result<(Verdict, Option<RightPassword>)> {
        let compared = candidate.as_ref().map_or_else(Compared::default, |found| {
            Compared::of(&found.user, found.password.as_ref(), found.last_sign_up.as_ref())
        });
        let check = self.hasher.check(password, compared).await?;
        let Some(found) = &candidate else { return Ok((Verdict::Wrong, None)) };
        let must_verify = self.kernel.settings.load().values.require_email_verification;
        let verdict = Verdict::on(&found.user, check.fit, must_verify);
        let checked = compared.fitting(check.fit).cloned();
        let user_id = found.user.id;
        Ok((verdict, checked.map(|checked| RightPassword { user_id, checked, rehashed: check.rehashed })))
    }

    /// Counts a failure and answers what the client is told, unless a limit is.
    pub(super) async fn fail_sign_in(
        &self,
        user_id: Option<UserId>,
        guard: Option<SignInGuard>,
        client: &Client,
        (reason, refusal): (&str, &'static Refusal),
        now: Timestamp,
    ) -> Result<Error> {
        let mut event = self.kernel.event(AuditKind::SignInFailed, Actor::User, Some(client), now);
        event.details.insert("reason".to_owned(), Value::from(reason));
        let event = AuditEvent { user_id, ..event };
        let counted = self.kernel.store.fail_sign_in(FailedSignIn { guard, event, now }).await?;
        Ok(counted.map_or_else(Error::from, |()| Error::Refused(refusal)))
    }
}
