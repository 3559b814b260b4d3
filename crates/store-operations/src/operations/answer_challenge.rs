//! Answers to challenges (requests for a second factor or another confirmation). One transaction checks an
//! answer, counts it if it is wrong, and completes the sign-in, reauthentication, password reset or undo if
//! it is right.

use latchkey_domain::challenge::{ChallengeKind, ChallengePurpose};
use latchkey_domain::codes::Purpose;
use latchkey_domain::guess_limits::SecondFactorGuard;
use latchkey_domain::limits::Limited;
use latchkey_domain::mail_kind::MailKind;
use latchkey_domain::passkey::{PasskeyId, PasskeyState};
use latchkey_domain::session::{Level, NewSession};
use latchkey_domain::user::User;
use latchkey_store::{
    AnswerChallenge, Answered, CompletedSignIn, Completion, LimitedResult, LiveSession, Shown, StoreResult,
};

use super::second_factor_guard::{self, SecondFactorWatch, Told};
use super::sign_in_with_passkey::{accepted, write_refusal};
use super::undo::UndoReads;
use super::{delete_account, entry};
use crate::form::{Decided, Executor, Results, Script, Slot};
use crate::tables::challenges::{self, Challenge};
use crate::tables::undo_tokens::Undo;
use crate::tables::{audit_events, link_tokens, outbox, passkeys, recovery_codes, sessions, totp_factors};

type Outcome = Decided<Result<Answered, Limited>>;

/// Handles of the statements that read the challenge and all that an answer is compared with.
#[derive(Clone, Copy)]
struct Reads {
    watch: SecondFactorWatch,
    challenge: Slot,
    totp: Slot,
    recovery_code: Option<Slot>,
    passkeys: Slot,
    begun: BegunReads,
}

/// Handles of the statements that read what began a challenge: a first factor, a session, a reset token or an undo
/// link.
#[derive(Clone, Copy)]
enum BegunReads {
    SignIn { identity_owner: Slot },
    Reauthenticate { session: Slot },
    Reset { good_token: Slot },
    Undo(UndoReads),
}

/// What began a challenge, as it is when the challenge is answered: a first factor, a session, a reset token or an
/// undo link.
enum Begun {
    SignIn { is_identity_linked: bool },
    Reauthenticate(Box<LiveSession>),
    Reset,
    Undo(Box<Undo>, UndoReads),
}

/// Decision on an answer.
enum Verdict {
    /// The answer is right. The value is the new state of the passkey, if the answer is one.
    Right(Option<(PasskeyId, PasskeyState)>),
    /// The number of unused recovery codes changed after the challenge was read, so the answer must be
    /// checked again.
    Moved,
    Wrong,
    /// The signature of the passkey is valid, but the passkey is refused: its counter did not increase, or its
    /// backup eligibility changed. Counts as a wrong answer.
    PasskeyRefused,
}

pub(crate) async fn answer<E: Executor>(engine: &E, answer: AnswerChallenge) -> LimitedResult<Answered> {
    let mut script = Script::default();
    let reads = Reads::add(&mut script, &answer);
    engine.transact(script, move |results| decide(&answer, reads, results)).await
}

fn decide(answer: &AnswerChallenge, reads: Reads, results: &Results<'_>) -> StoreResult<Outcome> {
    let Some((challenge, begun)) = reads.live(results, answer)? else {
        return Ok(Decided::Return(Ok(Answered::Invalid)));
    };
    if let Some(limited) = reads.watch.judge(results, guard_of(answer), answer.terms.now)? {
        return Ok(Decided::Return(Err(limited)));
    }
    match reads.verdict(results, answer, &challenge)? {
        Verdict::Right(passkey) => complete(answer, results, &challenge, (begun, passkey)),
        Verdict::Moved => Ok(Decided::Return(Ok(Answered::Moved))),
        Verdict::Wrong => Ok(Decided::done(count(answer, reads, results, &challenge)?, Ok(Answered::Wrong))),
        Verdict::PasskeyRefused => {
            let mut writes = count(answer, reads, results, &challenge)?;
            let (user, now) = (&challenge.account.user, answer.terms.now);
            write_refusal(&mut writes, user, &answer.passkey_refusal, now)?;
            // The same assertion, sent again, must not cause a second mail.
            challenges::drop_passkey_options(&mut writes, answer.challenge);
            Ok(Decided::done(writes, Ok(Answered::Wrong)))
        }
    }
}

/// Returns the guess limits of an answer by TOTP or recovery code; `None` for a passkey.
fn guard_of(answer: &AnswerChallenge) -> Option<&SecondFactorGuard> {
    let is_limited = matches!(answer.kind, ChallengeKind::Totp | ChallengeKind::RecoveryCode);
    answer.guard.as_ref().filter(|_| is_limited)
}

impl Reads {
    fn add(script: &mut Script, answer: &AnswerChallenge) -> Self {
        let hash = answer.challenge;
        let sign_in = match &answer.completes {
            Completion::SignIn(completed, _) => completed.guard.as_ref(),
            _ => None,
        };
        let watch = SecondFactorWatch::over(script, guard_of(answer), sign_in);
        challenges::lock_user(script, hash);
        Self {
            watch,
            challenge: challenges::find(script, hash),
            totp: totp_factors::list_sealed(script, hash),
            passkeys: passkeys::list_of_challenge(script, hash),
            recovery_code: match &answer.shown {
                Shown::RecoveryCode(mac) => Some(recovery_codes::find_of_challenge(script, hash, mac)),
                _ => None,
            },
            begun: BegunReads::add(script, answer),
        }
    }

    /// Decodes the challenge, together with the first factor, session or token that began it. Returns `None`
    /// if the challenge is not live, does not accept this kind of answer, or is not for the operation that
    /// the caller wants to complete.
    fn live(
        self,
        results: &Results<'_>,
        answer: &AnswerChallenge,
    ) -> StoreResult<Option<(Challenge, Begun)>> {
        let terms = &answer.terms;
        let is_answerable = |challenge: &Challenge| {
            challenge.is_live(terms)
                && challenge.kinds(&terms.rules).contains(&answer.kind)
                && answer.kind != ChallengeKind::Enroll
        };
        let Some(challenge) = challenges::challenge(results, self.challenge)?.filter(is_answerable) else {
            return Ok(None);
        };
        let begun = self.begun.begun(results, answer, &challenge)?;
        Ok(begun.map(|begun| (challenge, begun)))
    }

    fn verdict(
        self,
        results: &Results<'_>,
        answer: &AnswerChallenge,
        challenge: &Challenge,
    ) -> StoreResult<Verdict> {
        let is_right = match (answer.kind, &answer.shown) {
            (ChallengeKind::Passkey, Shown::Passkey(shown, options)) => {
                let owned = passkeys::owned(results, self.passkeys)?;
                let usable = owned.into_usable(answer.terms.rules.rp_id.as_ref());
                let passkey = usable.iter().find(|one| one.passkey.id == shown.id);
                let is_asked = challenge.passkey_options == Some(*options);
                return Ok(match passkey.filter(|_| is_asked) {
                    None => Verdict::Wrong,
                    Some(passkey) => match accepted(shown, passkey) {
                        None => Verdict::PasskeyRefused,
                        Some(state) => Verdict::Right(Some((shown.id, state))),
                    },
                });
            }
            (ChallengeKind::Totp, Shown::Totp(id, step)) => {
                let factors = totp_factors::answering(results, self.totp)?;
                let shown = factors.iter().find(|factor| factor.totp.id == *id);
                shown.is_some_and(|factor| factor.last_step.is_none_or(|last| last < *step))
            }
            (ChallengeKind::RecoveryCode, Shown::RecoveryCode(_)) => {
                let is_unused = self.recovery_code.map_or(Ok(false), |found| results.any(found))?;
                if is_unused && challenge.recovery_codes_left != answer.mails.recovery_codes_left {
                    return Ok(Verdict::Moved);
                }
                is_unused
            }
            (ChallengeKind::Password, Shown::Password(hash)) => {
                challenge.account.password.as_ref() == Some(hash)
            }
            (ChallengeKind::EmailCode, Shown::EmailCode) | (ChallengeKind::Restore, Shown::Restore(_)) => {
                true
            }
            _ => false,
        };
        Ok(if is_right { Verdict::Right(None) } else { Verdict::Wrong })
    }
}

impl BegunReads {
    fn add(script: &mut Script, answer: &AnswerChallenge) -> Self {
        let (hash, now) = (answer.challenge, answer.terms.now);
        match &answer.completes {
            Completion::SignIn(..) => {
                Self::SignIn { identity_owner: challenges::find_identity_owner(script, hash) }
            }
            Completion::Reauthenticate(session_id, ..) => {
                Self::Reauthenticate { session: sessions::find_live(script, *session_id, now) }
            }
            Completion::Reset(_) => {
                Self::Reset { good_token: challenges::find_good_reset_token(script, hash, now) }
            }
            Completion::Undo(writes) => Self::Undo(UndoReads::of_challenge(script, hash, writes)),
        }
    }

    /// Returns what began the challenge; `None` if that is no longer valid, or if the challenge is not for
    /// the operation that the caller wants to complete.
    fn begun(
        self,
        results: &Results<'_>,
        answer: &AnswerChallenge,
        challenge: &Challenge,
    ) -> StoreResult<Option<Begun>> {
        Ok(match (self, challenge.purpose) {
            (Self::SignIn { identity_owner }, ChallengePurpose::SignIn) => {
                let owner = challenges::identity_owner(results, identity_owner)?;
                let is_linked = challenge.is_identity_linked(owner);
                is_linked.map(|is_identity_linked| Begun::SignIn { is_identity_linked })
            }
            (Self::Reauthenticate { session }, ChallengePurpose::Reauthenticate) => {
                let live = results.find(session, sessions::read_live)?;
                let live = live.filter(|live| {
                    challenge.session_id == Some(live.session.id)
                        && answer.terms.rules.policy.permits(live.session.level)
                });
                live.map(|live| Begun::Reauthenticate(Box::new(live)))
            }
            (Self::Reset { good_token }, ChallengePurpose::Reset) => {
                results.any(good_token)?.then_some(Begun::Reset)
            }
            (Self::Undo(reads), ChallengePurpose::Undo) => match &answer.completes {
                Completion::Undo(writes) => {
                    reads.undo(results, writes)?.map(|undo| Begun::Undo(Box::new(undo), reads))
                }
                _ => None,
            },
            _ => None,
        })
    }
}

/// Makes the script that counts a wrong answer on the challenge and on the guess limits.
fn count(
    answer: &AnswerChallenge,
    reads: Reads,
    results: &Results<'_>,
    challenge: &Challenge,
) -> StoreResult<Script> {
    let (user, now) = (&challenge.account.user, answer.terms.now);
    let mut writes = Script::default();
    let told = reads.watch.count_failure(results, &mut writes, guard_of(answer), now)?;
    challenges::count_attempt(&mut writes, answer.challenge);
    if let Some(failed) = &answer.failed {
        audit_events::record_of(&mut writes, failed.clone(), user.id)?;
    }
    if told == Told::Yes {
        outbox::notify(&mut writes, user, answer.mails.failed.as_ref(), MailKind::SecondFactorFailed, now);
    }
    Ok(writes)
}

/// Completes a challenge after a right answer: marks the factor as used, deletes the challenge, and performs the
/// sign-in, reauthentication, reset or undo that waited for it.
fn complete(
    answer: &AnswerChallenge,
    results: &Results<'_>,
    challenge: &Challenge,
    (begun, passkey): (Begun, Option<(PasskeyId, PasskeyState)>),
) -> StoreResult<Outcome> {
    let (user, now) = (&challenge.account.user, answer.terms.now);
    let mut writes = Script::default();
    let told = match (&begun, &answer.shown) {
        (Begun::Undo(undo, _), _) => undo.restored(),
        (_, Shown::Restore(restoral)) => delete_account::restore(&mut writes, user, restoral, now)?,
        _ => user.clone(),
    };
    use_up(&mut writes, answer, &told)?;
    if let Some((id, state)) = passkey {
        passkeys::accept(&mut writes, id, state, now);
    }
    let answered = match (begun, &answer.completes) {
        (Begun::SignIn { is_identity_linked }, Completion::SignIn(completed, next)) => {
            let passkey = passkey.map(|(id, _)| id).or(challenge.passkey);
            let session = NewSession { passkey, ..completed.session.clone() };
            let completed = CompletedSignIn { session, ..CompletedSignIn::clone(completed) };
            let (rules, of) = (&answer.terms.rules, (completed, &**next));
            let opening = entry::go_on(&mut writes, challenge, &told, of, rules, is_identity_linked)?;
            return Ok(Decided::write(writes, move |results| {
                Ok(Ok(Answered::Entered(opening.entered(results)?)))
            }));
        }
        (Begun::Reauthenticate(live), Completion::Reauthenticate(session_id, event, step_up)) => {
            if let Some(step_up) = step_up {
                let passkey = passkey.map(|(id, _)| id);
                sessions::pages::step_up(&mut writes, user.id, *session_id, step_up, passkey);
            }
            audit_events::record_in(&mut writes, event.clone(), user.id, *session_id)?;
            Answered::Reauthenticated(live)
        }
        (Begun::Reset, Completion::Reset(token)) => {
            link_tokens::supersede_tokens_of(&mut writes, user.id, Purpose::ResetPassword, now);
            let key = user.email.key().as_str();
            link_tokens::insert_exchanged(&mut writes, key, user.id, (token, Level::Two), now);
            Answered::Reset
        }
        (Begun::Undo(undo, reads), Completion::Undo(undo_writes)) => {
            reads.apply(results, &mut writes, &undo, (undo_writes, &answer.terms.rules))?;
            Answered::Undone
        }
        _ => return Ok(Decided::Return(Ok(Answered::Invalid))), // `BegunReads::begun` lets no other combination pass
    };
    Ok(Decided::done(writes, Ok(answered)))
}

fn use_up(writes: &mut Script, answer: &AnswerChallenge, user: &User) -> StoreResult<()> {
    let now = answer.terms.now;
    second_factor_guard::end_row(writes, guard_of(answer));
    match &answer.shown {
        Shown::Totp(id, step) => totp_factors::accept_step(writes, *id, *step, now),
        Shown::RecoveryCode(mac) => {
            recovery_codes::delete(writes, user.id, mac);
            audit_events::record_of(writes, answer.recovery_code_used.clone(), user.id)?;
            let mail = answer.mails.recovery_code_used.as_ref();
            outbox::notify(writes, user, mail, MailKind::RecoveryCodeUsed, now);
        }
        Shown::Passkey(..) | Shown::Password(_) | Shown::EmailCode | Shown::Restore(_) | Shown::Wrong => {}
    }
    challenges::delete(writes, answer.challenge);
    Ok(())
}
