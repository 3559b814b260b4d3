//! Sign-in with email address and password.

use latchkey_domain::audit::{Actor, AuditEvent, AuditKind};
use latchkey_domain::client::Client;
use latchkey_domain::email::{Email, EmailKey};
use latchkey_domain::ids::UserId;
use latchkey_domain::password::{Password, PasswordHash};
use latchkey_domain::session::AuthMethod;
use latchkey_domain::sign_in::{Compared, Fit, Verdict};
use latchkey_domain::time::Timestamp;
use latchkey_store::{FailedSignIn, SignIn, SignInGuard, SignInOutcome, SignInSubject};
use serde_json::Value;

use super::Passwords;
use crate::error::{Error, Result};
use crate::metrics::Method;
use crate::refusal::{EMAIL_NOT_VERIFIED, INVALID_CREDENTIALS, Refusal, USER_BANNED};
use crate::sessions::{Entrance, SignInClient};

/// The reason in the audit event of a refused sign-in with the right password.
const MAY_NOT: &str = "account may not sign in";

/// The reason in the audit event of a sign-in to the console by an account that may not enter it. The password may be
/// right or wrong.
const NO_GRANT: &str = "no active role in the console";

/// A password that matched, and the account that it signs in to.
struct RightPassword {
    user_id: UserId,
    checked: PasswordHash,
    rehashed: Option<PasswordHash>,
}

impl Passwords {
    /// Opens a session for a correct password. An unknown address, an account without a password and a wrong password
    /// get the same response at the same cost. The password of the last sign-up for an address gets the same response
    /// too, whether that sign-up created a pending account or the address was taken already.
    pub async fn sign_in(&self, email: Email, password: Password, from: SignInClient) -> Result<Entrance> {
        let now = self.kernel.now();
        let entrance = self.open_at_last(&email, password, &from, now).await;
        self.kernel.metrics.sign_in(Method::Password, now, entrance)
    }

    /// Opens a session. If the stored hash was replaced while the password was compared, it is compared once more: another
    /// sign-in with the same password, or upkeep, may have hashed it anew.
    async fn open_at_last(
        &self,
        email: &Email,
        password: Password,
        from: &SignInClient,
        now: Timestamp,
    ) -> Result<Entrance> {
        if let Some(entrance) = self.open(email, password.clone(), from, now).await? {
            return Ok(entrance);
        }
        self.open(email, password, from, now).await?.ok_or(Error::Refused(&INVALID_CREDENTIALS))
    }

    /// Opens a session. `None` if the stored hash is no longer the one that the password was compared with.
    async fn open(
        &self,
        email: &Email,
        password: Password,
        from: &SignInClient,
        now: Timestamp,
    ) -> Result<Option<Entrance>> {
        let client = &from.client;
        let guard = self.guard(email.key(), client);
        let takes = self.takes(client);

        let refuse = |limited| self.kernel.limited(limited, email.key(), client);
        let begun = self.kernel.store.begin_sign_in(email.key(), &takes, guard.as_ref(), now).await?;
        let subject = begun.map_err(refuse)?;
        let user_id = match &subject {
            SignInSubject::Account(candidate) => Some(candidate.user.id),
            SignInSubject::Reserved(_) | SignInSubject::Unknown => None,
        };
        let may_open = self.sessions.may_open(user_id, &from.opens, now).await?;
        let (verdict, right) = self.check_password(&subject, email.key(), password).await?;
        // An account without an active grant learns no more at the console than one with a wrong password.
        let verdict = if may_open { verdict } else { Verdict::Wrong };
        let (counted, reason, refusal) = match verdict {
            Verdict::Wrong if !may_open => (guard.clone(), NO_GRANT, &INVALID_CREDENTIALS),
            Verdict::Opens | Verdict::Wrong => (guard.clone(), "wrong password", &INVALID_CREDENTIALS),
            Verdict::SignedUpOnly => (guard.clone(), MAY_NOT, &EMAIL_NOT_VERIFIED),
            // The password was right, so it does not count as a failed sign-in.
            Verdict::Unverified => (None, MAY_NOT, &EMAIL_NOT_VERIFIED),
            Verdict::Banned => (None, MAY_NOT, &USER_BANNED),
        };
        let Some(right) = right.filter(|_| verdict == Verdict::Opens) else {
            return Err(self.fail_sign_in(user_id, counted, client, (reason, refusal), now).await?);
        };

        let draft = self.sessions.draft_entry(AuthMethod::Password, from, now)?;
        let sign_in = SignIn {
            user_id: right.user_id,
            checked: right.checked,
            rehashed: right.rehashed,
            entry: draft.entry.clone(),
            guard,
            event: self.sessions.signed_in_event(&draft.entry.session, client, now),
        };
        match self.kernel.store.sign_in(sign_in).await?.map_err(refuse)? {
            SignInOutcome::Entered(entered) => self.sessions.entered(entered, draft, now).map(Some),
            SignInOutcome::Gone => Ok(None),
        }
    }

    async fn check_password(
        &self,
        subject: &SignInSubject,
        email: &EmailKey,
        password: Password,
    ) -> Result<(Verdict, Option<RightPassword>)> {
        let compared = match subject {
            SignInSubject::Account(found) => {
                Compared::of(&found.user, found.password.as_ref(), found.last_sign_up.as_ref())
            }
            SignInSubject::Reserved(last_sign_up) => {
                Compared { own: None, of_sign_up: last_sign_up.as_ref() }
            }
            SignInSubject::Unknown => Compared::default(),
        };
        let check = self.compare(email, password, compared).await?;
        let must_verify = self.kernel.settings.load().values.require_email_verification;
        let SignInSubject::Account(found) = subject else {
            let is_sign_up = must_verify && check.fit == Fit::SignUp;
            return Ok((if is_sign_up { Verdict::SignedUpOnly } else { Verdict::Wrong }, None));
        };
        let verdict = Verdict::on(&found.user, check.fit, must_verify);
        let checked = compared.fitting(check.fit).cloned();
        let user_id = found.user.id;
        Ok((verdict, checked.map(|checked| RightPassword { user_id, checked, rehashed: check.rehashed })))
    }

    /// Counts a failed sign-in and returns the error for the client: the refusal, or a used-up rate limit.
    pub(crate) async fn fail_sign_in(
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
