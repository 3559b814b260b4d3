//! Verification of an answer to a challenge: the part that needs keys or password hashing. Replays, used-up
//! codes and the number of attempts are checked by the store, in the transaction that counts the answer.

use latchkey_domain::audit::{Actor, AuditKind};
use latchkey_domain::challenge::ChallengeKind;
use latchkey_domain::client::Client;
use latchkey_domain::codes::{EnteredCode, Purpose, SixDigitCode};
use latchkey_domain::long_code::LongCode;
use latchkey_domain::password::Password;
use latchkey_domain::reason::Reason;
use latchkey_domain::session::AuthMethod;
use latchkey_domain::time::Timestamp;
use latchkey_store::{CodeAttempt, FoundChallenge, Shown};

use super::{Answer, Challenges};
use crate::error::{Error, Result};
use crate::passkeys::Assertion;
use crate::refusal::{INVALID_CHALLENGE, INVALID_SECOND_FACTOR};

/// The content of an answer, parsed by its kind.
pub(super) enum Given {
    Totp(SixDigitCode),
    RecoveryCode(LongCode),
    Password(Password),
    EmailCode(EnteredCode),
    Passkey(Assertion),
    Restore,
}

/// The outcome of verifying an answer.
pub(super) struct Judged {
    pub(super) shown: Shown,
    /// The error for a wrong answer; `None` stands for
    /// [`INVALID_SECOND_FACTOR`](crate::refusal::INVALID_SECOND_FACTOR).
    pub(super) refusal: Option<Error>,
    /// The `amr` value of the passkey in the answer (synced or hardware-bound); `None` for an answer of
    /// another kind.
    pub(super) passkey: Option<AuthMethod>,
}

impl From<Shown> for Judged {
    fn from(shown: Shown) -> Self {
        Self { shown, refusal: None, passkey: None }
    }
}

impl Given {
    /// Parses the field of the answer that its kind requires. A password or assertion is moved out of `answer`.
    pub(super) fn parse(answer: &mut Answer) -> Result<Self> {
        let refuse = |field, reason, problem| Error::validation(field, reason, problem);
        if answer.kind == ChallengeKind::Password {
            let password = answer.password.take();
            return password
                .map(Self::Password)
                .ok_or_else(|| refuse("password", Reason::Required, "is required"));
        }
        if answer.kind == ChallengeKind::Passkey {
            let assertion = answer.assertion.take();
            return assertion
                .map(Self::Passkey)
                .ok_or_else(|| refuse("credential", Reason::Required, "is required"));
        }
        if answer.kind == ChallengeKind::Restore {
            return Ok(Self::Restore);
        }
        let code = answer.code.as_deref();
        let code = code.ok_or_else(|| refuse("code", Reason::Required, "is required"))?;
        let malformed = |problem| refuse("code", Reason::InvalidFormat, problem);
        match answer.kind {
            ChallengeKind::RecoveryCode => LongCode::parse(code)
                .map(Self::RecoveryCode)
                .ok_or_else(|| malformed("must be a recovery code: sixteen letters and digits in groups")),
            ChallengeKind::EmailCode => EnteredCode::parse(code).map(Self::EmailCode).map_err(|_| {
                malformed("must be the code of the mail: six digits, or sixteen letters and digits")
            }),
            _ => SixDigitCode::parse(code).map(Self::Totp).map_err(|_| malformed("must be six digits")),
        }
    }
}

impl Challenges {
    pub(super) async fn judge(
        &self,
        found: &FoundChallenge,
        given: Given,
        client: &Client,
        now: Timestamp,
    ) -> Result<Judged> {
        let user = &found.user;
        Ok(match given {
            Given::Totp(code) => {
                let matched = self.factors.match_totp(user.id, &found.totp, &code, now)?;
                matched.map_or(Shown::Wrong, |(id, step)| Shown::Totp(id, step)).into()
            }
            Given::RecoveryCode(code) => {
                Shown::RecoveryCode(self.factors.recovery_code_mac(user.id, &code)).into()
            }
            Given::Password(password) => self.judge_password(found, password, client, now).await?,
            Given::EmailCode(code) => self.judge_email_code(found, &code, client, now).await?,
            Given::Passkey(assertion) => self.judge_passkey(found, assertion)?,
            Given::Restore => Shown::Restore(self.kernel.restoral(Actor::User, Some(client), now)?).into(),
        })
    }

    /// Verifies a password. The rate limits on wrong passwords at sign-in apply.
    async fn judge_password(
        &self,
        found: &FoundChallenge,
        password: Password,
        client: &Client,
        now: Timestamp,
    ) -> Result<Judged> {
        let session = found.session_id.ok_or(&INVALID_CHALLENGE)?;
        let compared = self.passwords.compare_own(session, &found.user, password, client, now).await?;
        Ok(match compared {
            Ok(checked) => Shown::Password(checked).into(),
            Err(refusal) => Judged { refusal: Some(refusal), ..Shown::Wrong.into() },
        })
    }

    fn judge_passkey(&self, found: &FoundChallenge, assertion: Assertion) -> Result<Judged> {
        let answer = self.passkeys.verify_answer(assertion, found)?;
        Ok(answer.map_or(Shown::Wrong.into(), |(shown, options, method)| Judged {
            passkey: Some(method),
            ..Shown::Passkey(shown, options).into()
        }))
    }

    /// Checks a mailed code, and consumes it if it is right. The limits on wrong email codes apply. A wrong code
    /// counts as a failed sign-in in the audit log.
    async fn judge_email_code(
        &self,
        found: &FoundChallenge,
        code: &EnteredCode,
        client: &Client,
        now: Timestamp,
    ) -> Result<Judged> {
        let (email, purpose) = (found.user.email.key(), Purpose::Reauthenticate);
        let attempt = CodeAttempt {
            mac: self.mailbox.code_mac(email, purpose, code),
            form: code.form(),
            lane: self.mailbox.code_lane(email, client),
            email: email.clone(),
            caller: found.session_id,
            takes: self.mailbox.attempt_takes(client),
            event: self.kernel.event(AuditKind::Reauthenticated, Actor::User, Some(client), now),
            now,
        };
        let redeemed = self.kernel.store.use_email_code(attempt, purpose).await?;
        if redeemed.map_err(|limited| self.kernel.limited(limited, email, client))? {
            return Ok(Shown::EmailCode.into());
        }
        let refusal = ("wrong code", &INVALID_SECOND_FACTOR);
        let refusal = self.passwords.fail_sign_in(Some(found.user.id), None, client, refusal, now).await?;
        Ok(Judged { refusal: Some(refusal), ..Shown::Wrong.into() })
    }
}
