//! Helpers of the cases, each of which makes one call of the store, or the request for it: second factors,
//! challenges and undo links.

use std::time::Duration;

use latchkey_domain::audit::AuditKind;
use latchkey_domain::challenge::{ChallengeKind, SecondFactorPolicy};
use latchkey_domain::client::{ClientType, OpenedFor};
use latchkey_domain::codes::{CodeMac, Purpose};
use latchkey_domain::factors::{FactorId, FactorName, Factors, TotpStep};
use latchkey_domain::guess_limits::SecondFactorGuard;
use latchkey_domain::ids::{SessionId, UserId};
use latchkey_domain::limits::{LimitKey, Limited, Rate};
use latchkey_domain::session::{AuthMethod, Level, NewSession};
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_domain::user::User;

use super::acts::email_code;
use super::fixtures::{World, days, key, mac};
use super::numbered::rules;
use latchkey_store::{
    AnswerChallenge, AnswerMails, Answered, BeginReauthentication, BeginReset, BeginResetChallenge,
    BeginTotp, BegunTotp, ChallengeTerms, ChangeFactors, CompletedSignIn, Completion, ConfirmTotp,
    ConfirmedTotp, Enroller, Entered, FoundChallenge, NewChallenge, NewToken, PasskeyRefusal, Shown,
    SignInOutcome, TurnedOn, TurnedOnEvents, UndoWrites, UseUndoLink,
};

/// Number of recovery codes of an account with two-step sign-in.
pub(super) const RECOVERY_CODES: u32 = 10;
/// Time step of the TOTP code that confirms the first factor.
pub(super) const FIRST_STEP: i64 = 100;

/// Makes the conditions for answering a challenge: at most five attempts, and a verified address.
pub(super) fn terms(now: Timestamp) -> ChallengeTerms {
    ChallengeTerms { attempts: 5, rules: rules(SecondFactorPolicy::Optional), must_verify: true, now }
}

/// Returns the MAC of the recovery code with this number, from 0 on.
pub(super) fn recovery_code(number: u8) -> CodeMac {
    mac(100 + number)
}

/// Default guess limits of second factors.
pub(super) fn second_factor_guard(account: &str, client: &str) -> SecondFactorGuard {
    SecondFactorGuard {
        pair: LimitKey::new("second pair", &[account, client]),
        pair_rate: Rate::per(10, 3_600),
        account: LimitKey::new("second account", &[account]),
        account_rate: Rate::per(30, 86_400),
        in_a_row: LimitKey::new("second row", &[account]),
        most_in_a_row: 100,
        known_client: LimitKey::new("known", &[account, client]),
    }
}

/// A user with two-step sign-in, the session in which it was turned on, and the TOTP factor.
pub(super) struct TwoStep {
    pub(super) user: User,
    pub(super) session: NewSession,
    pub(super) factor: FactorId,
}

/// Helpers for factors.
impl World {
    /// Makes a request to enrol a TOTP factor, which must be confirmed within ten minutes.
    pub(super) fn totp(&self, enroller: Enroller, now: Timestamp) -> BeginTotp {
        BeginTotp {
            enroller,
            id: self.id(now, FactorId::new),
            name: FactorName::of_totp(),
            secret: b"sealed secret".to_vec(),
            expires_at: now.plus(Duration::from_mins(10)),
            now,
        }
    }

    /// Begins the enrolment of a TOTP factor in a session, and returns the factor's id.
    pub(super) async fn pend(&self, user: UserId, session: SessionId, now: Timestamp) -> FactorId {
        let begin = self.totp(Enroller::Session(user, session), now);
        let id = begin.id;
        assert!(matches!(self.begin_totp(begin).await.unwrap(), BegunTotp::Begun(_)));
        id
    }

    /// Makes a session of authentication level two (password and one-time code).
    pub(super) fn session_of_two(&self, now: Timestamp) -> NewSession {
        let session = self.session(now);
        let methods = session.methods.clone().with(AuthMethod::OneTimeCode).with(AuthMethod::MultiFactor);
        NewSession { methods, level: Level::Two, ..session }
    }

    /// Makes a confirmation of a TOTP factor. `step` is the entered code's time step; `None` for a wrong
    /// code.
    pub(super) fn confirmation(
        &self,
        enroller: Enroller,
        id: FactorId,
        step: Option<i64>,
        now: Timestamp,
    ) -> ConfirmTotp {
        let turned_on = TurnedOn {
            session: self.session_of_two(now),
            guard: None,
            recovery_codes: (0..10).map(recovery_code).collect(),
            events: TurnedOnEvents {
                two_step_on: self.event(AuditKind::TwoStepOn, now),
                recovery_codes_made: self.event(AuditKind::RecoveryCodesMade, now),
                signed_in: self.event(AuditKind::SignedIn, now),
                linked: self.event(AuditKind::IdentityLinked, now),
            },
            mail: Some(self.mail(now)),
            linked_mail: Some(self.mail(now)),
            undo: Some(self.new_token(now, days(3))),
            sleeps: false,
        };
        ConfirmTotp {
            enroller,
            id,
            step: step.map(TotpStep),
            turned_on,
            added: self.event(AuditKind::TotpAdded, now),
            mail: Some(self.mail(now)),
            now,
        }
    }

    /// Makes a token with this lifetime.
    pub(super) fn new_token(&self, now: Timestamp, lifetime: Duration) -> NewToken {
        NewToken { hash: self.token(), expires_at: now.plus(lifetime) }
    }

    /// Confirms a TOTP factor whose enrolment was begun in a session.
    pub(super) async fn confirm(
        &self,
        user: UserId,
        session: SessionId,
        id: FactorId,
        step: Option<i64>,
        now: Timestamp,
    ) -> ConfirmedTotp {
        let enroller = Enroller::Session(user, session);
        self.confirm_totp(self.confirmation(enroller, id, step, now)).await.unwrap()
    }

    /// Creates a verified account with two-step sign-in.
    pub(super) async fn two_step(&self, name: &str, now: Timestamp) -> TwoStep {
        let user = self.verified(name, now).await;
        self.turn_on(user.id, now).await
    }

    /// Turns two-step sign-in on for an account with the password `secret`.
    pub(super) async fn turn_on(&self, id: UserId, now: Timestamp) -> TwoStep {
        self.turn_on_with_undo(id, now).await.0
    }

    /// Like [`Self::turn_on`]; returns the token of the mail's undo link as well.
    pub(super) async fn turn_on_with_undo(&self, id: UserId, now: Timestamp) -> (TwoStep, TokenHash) {
        let first = self.open_session(id, now).await;
        let factor = self.pend(id, first.id, now).await;
        let enroller = Enroller::Session(id, first.id);
        let confirm = self.confirmation(enroller, factor, Some(FIRST_STEP), now);
        let session = confirm.turned_on.session.clone();
        let undo = confirm.turned_on.undo.as_ref().unwrap().hash;
        match self.confirm_totp(confirm).await.unwrap() {
            ConfirmedTotp::TurnedOn(user, _) => (TwoStep { user: *user, session, factor }, undo),
            other => panic!("{other:?}"),
        }
    }

    /// Makes a request of the owner to change factors in the session of `two_step`.
    pub(super) fn factor_change<T>(
        &self,
        two_step: &TwoStep,
        change: T,
        kind: AuditKind,
        now: Timestamp,
    ) -> ChangeFactors<T> {
        ChangeFactors {
            user_id: two_step.user.id,
            session_id: two_step.session.id,
            rp_id: rules(SecondFactorPolicy::Optional).rp_id,
            change,
            event: self.event(kind, now),
            mail: Some(self.mail(now)),
            now,
        }
    }

    pub(super) async fn factors_of(&self, id: UserId) -> Factors {
        self.find_factors(id).await.unwrap().unwrap().factors
    }
}

/// Helpers for challenges.
impl World {
    /// Makes a challenge that is valid for ten minutes.
    pub(super) fn new_challenge(&self, now: Timestamp) -> NewChallenge {
        NewChallenge {
            hash: self.token(),
            opened_for: OpenedFor::App(ClientType::Mobile),
            expires_at: now.plus(Duration::from_mins(10)),
            event: self.event(AuditKind::SignInChallenged, now),
        }
    }

    /// Signs in with the password `secret` to an account with two-step sign-in. Returns the challenge.
    pub(super) async fn challenged(&self, user: UserId, now: Timestamp) -> TokenHash {
        let mut sign_in = self.right(user, "secret", None, now);
        sign_in.entry.challenge = self.new_challenge(now);
        let hash = sign_in.entry.challenge.hash;
        let outcome = self.sign_in(sign_in).await.unwrap().unwrap();
        assert!(matches!(outcome, SignInOutcome::Entered(Entered::Challenge(_))), "{outcome:?}");
        hash
    }

    /// Begins a reauthentication in a session, and returns the challenge with the kinds of answers that it
    /// accepts.
    pub(super) async fn step_up(
        &self,
        session_id: SessionId,
        now: Timestamp,
    ) -> Option<(TokenHash, Vec<ChallengeKind>)> {
        let challenge = self.new_challenge(now);
        let (hash, rules) = (challenge.hash, rules(SecondFactorPolicy::Optional));
        let takes = Vec::new();
        let begin =
            BeginReauthentication { session_id, challenge, takes, rules, level_two_required: None, now };
        self.begin_reauthentication(begin).await.unwrap().unwrap().map(|kinds| (hash, kinds))
    }

    /// Begins the challenge of a password reset. Returns `None` if the reset token is refused.
    pub(super) async fn reset_challenge(&self, token: TokenHash, now: Timestamp) -> Option<TokenHash> {
        let challenge = self.new_challenge(now);
        let (hash, rules) = (challenge.hash, rules(SecondFactorPolicy::Optional));
        let begin = BeginResetChallenge { token, challenge, rules, now };
        self.begin_reset_challenge(begin).await.unwrap().map(|_| hash)
    }

    pub(super) async fn found(&self, challenge: TokenHash, now: Timestamp) -> Option<FoundChallenge> {
        self.find_challenge(challenge, terms(now)).await.unwrap().map(|found| *found)
    }

    /// Makes the completion of a sign-in: a session of authentication level two, events and a mail.
    pub(super) fn completed(&self, now: Timestamp) -> CompletedSignIn {
        CompletedSignIn {
            session: self.session_of_two(now),
            guard: None,
            event: self.event(AuditKind::SignedIn, now),
            linked: self.event(AuditKind::IdentityLinked, now),
            mail: Some(self.mail(now)),
        }
    }

    /// Makes an answer to the challenge of a sign-in, without guess limits. The account must have all its
    /// recovery codes.
    pub(super) fn answer(
        &self,
        challenge: TokenHash,
        kind: ChallengeKind,
        shown: Shown,
        now: Timestamp,
    ) -> AnswerChallenge {
        AnswerChallenge {
            challenge,
            terms: terms(now),
            kind,
            shown,
            guard: None,
            completes: Completion::SignIn(Box::new(self.completed(now)), Box::new(self.new_challenge(now))),
            failed: Some(self.event(AuditKind::SecondFactorFailed, now)),
            recovery_code_used: self.event(AuditKind::RecoveryCodeUsed, now),
            passkey_refusal: PasskeyRefusal {
                event: self.event(AuditKind::PasskeyRefused, now),
                mail: Some(self.mail(now)),
            },
            mails: AnswerMails {
                failed: Some(self.mail(now)),
                recovery_code_used: Some(self.mail(now)),
                recovery_codes_left: RECOVERY_CODES,
            },
        }
    }

    /// Makes an answer to the challenge of a sign-in with a right TOTP code.
    pub(super) fn totp_answer(
        &self,
        challenge: TokenHash,
        factor: FactorId,
        step: i64,
        now: Timestamp,
    ) -> AnswerChallenge {
        self.answer(challenge, ChallengeKind::Totp, Shown::Totp(factor, TotpStep(step)), now)
    }

    /// Makes an answer to a sign-in's challenge with a recovery code. `left` counts the unused codes.
    pub(super) fn recovery_answer(
        &self,
        challenge: TokenHash,
        number: u8,
        left: u32,
        now: Timestamp,
    ) -> AnswerChallenge {
        let shown = Shown::RecoveryCode(recovery_code(number));
        let mut answer = self.answer(challenge, ChallengeKind::RecoveryCode, shown, now);
        answer.mails.recovery_codes_left = left;
        answer
    }

    /// Makes an answer to the challenge of a sign-in with a wrong TOTP code.
    pub(super) fn wrong(&self, challenge: TokenHash, now: Timestamp) -> AnswerChallenge {
        self.answer(challenge, ChallengeKind::Totp, Shown::Wrong, now)
    }

    pub(super) async fn judged(&self, answer: AnswerChallenge) -> Answered {
        self.answer_challenge(answer).await.unwrap().unwrap()
    }

    /// Sends an answer to a challenge. Returns the guess limit that refuses it, or `None` if it is judged.
    pub(super) async fn limited(&self, answer: AnswerChallenge) -> Option<Limited> {
        self.answer_challenge(answer).await.unwrap().err()
    }
}

/// Helpers for password resets.
impl World {
    /// Requests a password reset, and exchanges the mailed code for a token of authentication level one.
    pub(super) async fn reset_token(&self, name: &str, now: Timestamp) -> TokenHash {
        self.send_code(&key(name), Purpose::ResetPassword, mac(1), now).await;
        self.exchange(&key(name), mac(1), now).await.unwrap()
    }

    /// Makes an answer that exchanges the challenge of a password reset for a token of authentication level
    /// two.
    pub(super) fn reset_answer(
        &self,
        challenge: TokenHash,
        factor: FactorId,
        step: i64,
        now: Timestamp,
    ) -> (AnswerChallenge, TokenHash) {
        let token = self.new_token(now, Duration::from_mins(15));
        let answer = self.totp_answer(challenge, factor, step, now);
        (AnswerChallenge { completes: Completion::Reset(token), ..answer }, token.hash)
    }

    /// Obtains a reset token of authentication level two, by a mailed code and a TOTP code.
    pub(super) async fn second_reset_token(
        &self,
        two_step: &TwoStep,
        step: i64,
        now: Timestamp,
    ) -> TokenHash {
        let email = two_step.user.email.key();
        let token = self.reset_token(email.as_str().split('@').next().unwrap(), now).await;
        let challenge = self.reset_challenge(token, now).await.unwrap();
        let (answer, token) = self.reset_answer(challenge, two_step.factor, step, now);
        assert_eq!(self.judged(answer).await, Answered::Reset);
        token
    }

    /// Reads the id of the user with the address `name`@example.org.
    pub(super) async fn user_of(&self, name: &str) -> UserId {
        self.find_user_by_email(&key(name)).await.unwrap().unwrap().id
    }
}

/// Helpers for undo links.
impl World {
    /// Makes a use of an undo link. The mail after the undo has the password reset code `mac(9)`.
    pub(super) fn use_undo(&self, token: TokenHash, name: &str, now: Timestamp) -> UseUndoLink {
        UseUndoLink {
            token,
            takes: Vec::new(),
            challenge: self.new_challenge(now),
            rules: rules(SecondFactorPolicy::Optional),
            writes: UndoWrites {
                email: key(name),
                event: self.event(AuditKind::Undone, now),
                reset: email_code(mac(9), now),
                reset_mail: self.mail(now),
                mail: Some(self.mail(now)),
                left_mail: Some(self.mail(now)),
                now,
            },
        }
    }

    /// True if a reset with this token needs a second factor.
    pub(super) async fn needs_second_factor(&self, token: TokenHash, now: Timestamp) -> bool {
        match self.begin_reset(token, &[], now).await.unwrap().unwrap() {
            BeginReset::Good(subject) => subject.needs_second_factor,
            BeginReset::Refused => panic!("the token should be good"),
        }
    }
}
