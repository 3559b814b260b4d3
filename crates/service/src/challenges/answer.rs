//! The answer to a challenge: verifies it and completes the sign-in, reauthentication, password reset or undo that the
//! challenge was begun for.

use latchkey_domain::audit::{Actor, AuditKind};
use latchkey_domain::challenge::{ChallengeKind, ChallengePurpose};
use latchkey_domain::client::Client;
use latchkey_domain::factors::RECOVERY_CODES;
use latchkey_domain::reason::Reason;
use latchkey_domain::session::AuthMethod;
use latchkey_domain::time::Timestamp;
use latchkey_store::{
    AnswerChallenge, AnswerMails, Answered as AnswerOutcome, Completion, FoundChallenge, Shown,
};

use super::completion::Pending;
use super::judge::{Given, Judged};
use super::{Answer, Answered, Challenges};
use crate::error::{Error, Result};
use crate::kernel::ActFact;
use crate::refusal::{AUTH_UNAUTHORIZED, BUSY, INVALID_CHALLENGE, INVALID_SECOND_FACTOR};
use crate::sessions::{Credential, PageSignedIn, SignInClient};

/// Maximum number of attempts to verify an answer. An attempt is repeated if a concurrent answer used up a recovery
/// code of the account. That happens at most once for each recovery code of a set, because a new set ends the
/// challenge.
const TRIES: usize = RECOVERY_CODES + 1;

impl Challenges {
    /// Answers a challenge. A wrong answer counts as one of the attempts that the challenge permits. An answer of a
    /// kind that the challenge does not accept, or with a malformed field, is refused without being counted. Challenge,
    /// account and factors are read anew from the database.
    ///
    /// The challenge of a reauthentication is answered with the credential of the session that began it. That of a sign-in
    /// opens the kind of session that the sign-in asked for; `from` must ask for the same.
    pub async fn answer(
        &self,
        answer: Answer,
        credential: impl Into<Credential<'_>>,
        from: &SignInClient,
    ) -> Result<Answered> {
        let kind = answer.kind;
        self.kernel.metrics.challenge(kind, self.complete(answer, credential.into(), from).await)
    }

    async fn complete(
        &self,
        mut answer: Answer,
        credential: Credential<'_>,
        from: &SignInClient,
    ) -> Result<Answered> {
        let (client, now) = (&from.client, self.kernel.now());
        for _ in 0..TRIES {
            let found = *self.find(&answer.challenge, now).await?;
            self.check_session(&found, credential).await?;
            check_kind(&found, answer.kind)?;
            let given = Given::parse(&mut answer)?;
            let Judged { shown, refusal, passkey } = self.judge(&found, given, client, now).await?;
            let kind = (answer.kind, passkey);
            let (completion, pending) = self.completion(&found, kind, (credential, from), now)?;
            let request = self.request(&answer, &found, (shown, completion), client, now)?;
            let outcome = self.kernel.store.answer_challenge(request).await?;
            let outcome =
                outcome.map_err(|limited| self.kernel.limited(limited, found.user.email.key(), client))?;
            self.kernel.mails.wake();
            match outcome {
                AnswerOutcome::Moved => {}
                AnswerOutcome::Wrong => {
                    // Counted only after the store has counted the answer on the challenge: a client over this limit
                    // must still lose an attempt of the challenge.
                    if answer.kind == ChallengeKind::Passkey {
                        self.passkeys.count_failure(Some(found.user.email.key()), client, now).await?;
                    }
                    return Err(refusal.unwrap_or(Error::Refused(&INVALID_SECOND_FACTOR)));
                }
                AnswerOutcome::Invalid => return Err(Error::Refused(&INVALID_CHALLENGE)),
                right => return self.completed(right, pending, kind, now),
            }
        }
        Err(Error::Refused(&BUSY))
    }

    /// Checks that the challenge of a reauthentication is answered in the session that began it. Other challenges need
    /// no session.
    async fn check_session(&self, found: &FoundChallenge, credential: Credential<'_>) -> Result<()> {
        if found.purpose != ChallengePurpose::Reauthenticate {
            return Ok(());
        }
        let caller = self.sessions.authenticate(credential).await?;
        if found.session_id == Some(caller.session_id) {
            Ok(())
        } else {
            Err(Error::Refused(&AUTH_UNAUTHORIZED))
        }
    }

    fn request(
        &self,
        answer: &Answer,
        found: &FoundChallenge,
        (shown, completes): (Shown, Completion),
        client: &Client,
        now: Timestamp,
    ) -> Result<AnswerChallenge> {
        let event = |kind| self.kernel.event(kind, Actor::User, Some(client), now);
        let left = ActFact::CodesLeft(found.recovery_codes_left.saturating_sub(1));
        let is_guarded = matches!(answer.kind, ChallengeKind::Totp | ChallengeKind::RecoveryCode);
        Ok(AnswerChallenge {
            challenge: answer.challenge.hash(),
            terms: self.sessions.challenge_terms(now),
            kind: answer.kind,
            shown,
            guard: self.factors.guard(&found.user, client).filter(|_| is_guarded),
            completes,
            failed: answer.kind.is_second_factor().then(|| event(AuditKind::SecondFactorFailed)),
            recovery_code_used: event(AuditKind::RecoveryCodeUsed),
            passkey_refusal: self.passkeys.refusal(client, now)?,
            mails: AnswerMails {
                failed: self.kernel.required_notification(Some(client), None, now)?,
                recovery_code_used: self.kernel.required_notification(Some(client), Some(left), now)?,
                recovery_codes_left: found.recovery_codes_left,
            },
        })
    }

    fn completed(
        &self,
        outcome: AnswerOutcome,
        pending: Pending,
        kind: (ChallengeKind, Option<AuthMethod>),
        now: Timestamp,
    ) -> Result<Answered> {
        Ok(match (outcome, pending) {
            (AnswerOutcome::Entered(entered), Pending::SignIn(draft)) => {
                Answered::Entered(self.sessions.entered(entered, *draft, now)?)
            }
            (AnswerOutcome::Reauthenticated(live), Pending::Nothing) => {
                let user = Box::new(live.user.clone());
                Answered::Reauthenticated { user, access: self.sessions.step_up(*live, kind, now)? }
            }
            (AnswerOutcome::Reauthenticated(live), Pending::Renewal { session, token }) => {
                Answered::Renewed(Box::new(PageSignedIn { user: live.user, session: *session, token }))
            }
            (AnswerOutcome::Reset, Pending::Reset { token, expires_at }) => {
                Answered::Reset { token, expires_at }
            }
            (AnswerOutcome::Undone, Pending::Nothing) => Answered::Undone,
            _ => return Err(Error::internal("an answer completed another purpose than its challenge's")),
        })
    }
}

/// Checks that the challenge accepts answers of this kind. An enrolment is refused here, because it has endpoints of
/// its own.
fn check_kind(found: &FoundChallenge, kind: ChallengeKind) -> Result<()> {
    if kind != ChallengeKind::Enroll && found.kinds.contains(&kind) {
        return Ok(());
    }
    Err(Error::validation(
        "kind",
        Reason::NotAllowed,
        "must be one of the challenge's `kinds` that has an answer",
    ))
}
