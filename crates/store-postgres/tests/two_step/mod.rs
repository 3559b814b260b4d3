//! Round trips of the operations on second factors, challenges and undo links.

use latchkey_domain::challenge::{ChallengeKind, FactorRules, SecondFactorPolicy};
use latchkey_domain::client::{ClientType, OpenedFor};
use latchkey_domain::codes::{CodeMac, Purpose};
use latchkey_domain::factors::{FactorId, FactorName, TotpStep};
use latchkey_domain::guess_limits::SecondFactorGuard;
use latchkey_domain::limits::{LimitKey, Rate};
use latchkey_domain::operator::Protection;
use latchkey_domain::tokens::TokenHash;
use latchkey_store::{
    Accounts, AnswerChallenge, AnswerMails, BeginReauthentication, BeginResetChallenge, BeginTotp,
    ChallengeTerms, Challenges, ChangeFactors, CompletedSignIn, Completion, ConfirmTotp, EmailCodes,
    Enroller, Factors, NewChallenge, NewToken, PasskeyRefusal, ResetFactors, Sessions, Shown, SignIn,
    TurnedOn, TurnedOnEvents, UndoLinks, UndoWrites, UseUndoLink,
};

use latchkey_store_suite::conformance::numbered;

use super::{Measured, account, at, attempt, code, entry, event, key, mail, next, request, session, token};
use super::{guard, takes, user_id};

/// Number of the account.
const OWNER: u64 = 470;

fn rules() -> FactorRules {
    numbered::rules(SecondFactorPolicy::Optional)
}

fn terms() -> ChallengeTerms {
    ChallengeTerms { attempts: 5, rules: rules(), must_verify: true, now: at(0) }
}

fn factor(number: u8) -> FactorId {
    FactorId::new(at(0), [number; 10])
}

fn codes() -> Vec<CodeMac> {
    (0..10).map(|number| CodeMac::from_bytes([100 + number; 32])).collect()
}

fn begin(number: u8, enroller: Enroller) -> BeginTotp {
    let (name, secret) = (FactorName::of_totp(), vec![7; 60]);
    BeginTotp { enroller, id: factor(number), name, secret, expires_at: at(600), now: at(0) }
}

/// Data to write if two-step sign-in is turned on; its session has this number.
pub(crate) fn turned_on(opened: u64) -> TurnedOn {
    TurnedOn {
        session: session(opened),
        guard: Some(guard()),
        recovery_codes: codes(),
        events: TurnedOnEvents {
            two_step_on: event(next()),
            recovery_codes_made: event(next()),
            signed_in: event(next()),
            linked: event(next()),
        },
        mail: Some(mail(next())),
        linked_mail: Some(mail(next())),
        undo: Some(NewToken { hash: token(opened + 2_000), expires_at: at(10_000) }),
        sleeps: true,
    }
}

fn confirm(number: u8, enroller: Enroller, step: Option<i64>, opened: u64) -> ConfirmTotp {
    ConfirmTotp {
        enroller,
        id: factor(number),
        step: step.map(TotpStep),
        turned_on: turned_on(opened),
        added: event(next()),
        mail: Some(mail(next())),
        now: at(0),
    }
}

fn change<T>(change: T, in_session: u64) -> ChangeFactors<T> {
    ChangeFactors {
        user_id: user_id(OWNER),
        session_id: session(in_session).id,
        rp_id: rules().rp_id,
        change,
        event: event(next()),
        mail: Some(mail(next())),
        now: at(0),
    }
}

fn challenge(number: u64) -> NewChallenge {
    let (hash, opened_for) = (token(number), OpenedFor::App(ClientType::Web));
    NewChallenge { hash, opened_for, expires_at: at(600), event: event(next()) }
}

/// Signs in by password, which writes a challenge.
async fn challenged(measured: &Measured, number: u64) -> TokenHash {
    let owner = account(OWNER);
    let sign_in = SignIn {
        user_id: owner.id,
        checked: owner.password.unwrap(),
        rehashed: None,
        entry: entry(session(number)),
        guard: None,
        event: event(next()),
    };
    let hash = sign_in.entry.challenge.hash;
    measured.store.sign_in(sign_in).await.unwrap().unwrap();
    hash
}

fn answer(challenge: TokenHash, kind: ChallengeKind, shown: Shown, completes: Completion) -> AnswerChallenge {
    AnswerChallenge {
        challenge,
        terms: terms(),
        kind,
        shown,
        guard: Some(SecondFactorGuard {
            pair: LimitKey::from_bytes([71; 16]),
            pair_rate: Rate::per(10, 3_600),
            account: LimitKey::from_bytes([72; 16]),
            account_rate: Rate::per(30, 86_400),
            in_a_row: LimitKey::from_bytes([73; 16]),
            most_in_a_row: 100,
            known_client: LimitKey::from_bytes([74; 16]),
        }),
        completes,
        failed: Some(event(next())),
        recovery_code_used: event(next()),
        passkey_refusal: PasskeyRefusal { event: event(next()), mail: Some(mail(next())) },
        mails: AnswerMails {
            failed: Some(mail(next())),
            recovery_code_used: Some(mail(next())),
            recovery_codes_left: 10,
        },
    }
}

fn sign_in(number: u64) -> Completion {
    let completed = CompletedSignIn {
        session: session(number),
        guard: Some(guard()),
        event: event(next()),
        linked: event(next()),
        mail: Some(mail(next())),
    };
    Completion::SignIn(Box::new(completed), Box::new(challenge(number)))
}

fn totp(step: i64) -> Shown {
    Shown::Totp(factor(1), TotpStep(step))
}

pub(crate) async fn measure(measured: &mut Measured) {
    factors(measured).await;
    challenges(measured).await;
    undo(measured).await;
}

async fn factors(measured: &mut Measured) {
    let m = measured;
    m.store.create_account_and_enter(account(OWNER), entry(session(470))).await.unwrap();
    let enroller = Enroller::Session(user_id(OWNER), session(470).id);
    op!(m.begin_totp(begin(1, enroller.clone())));
    op!(m.find_pending_totp(enroller.clone(), factor(1), at(0))).unwrap();
    op!(m.confirm_totp(confirm(1, enroller.clone(), None, 471)), "wrong");
    op!(m.confirm_totp(confirm(1, enroller, Some(1), 471)), "turns on");
    op!(m.find_own_account(session(471).id, at(0))).unwrap();
    op!(m.find_factors(user_id(OWNER))).unwrap();
    let enroller = Enroller::Session(user_id(OWNER), session(471).id);
    m.store.begin_totp(begin(2, enroller.clone())).await.unwrap();
    op!(m.confirm_totp(confirm(2, enroller, Some(1), 472)), "added");
    op!(m.rename_totp(change((factor(2), FactorName::of_totp()), 471)));
    op!(m.remove_totp(change(factor(2), 471)));
    op!(m.replace_recovery_codes(change(codes(), 471)));
}

async fn challenges(measured: &mut Measured) {
    let m = measured;
    let written = challenged(m, 473).await;
    op!(m.find_challenge(written, terms())).unwrap();
    let kind = ChallengeKind::Totp;
    op!(m.answer_challenge(answer(written, kind, Shown::Wrong, sign_in(473))), "wrong").unwrap();
    op!(m.answer_challenge(answer(written, kind, totp(2), sign_in(473))), "sign-in").unwrap();
    op!(m.answer_challenge(answer(written, kind, totp(3), sign_in(473))), "used").unwrap();
    let begin = BeginReauthentication {
        session_id: session(471).id,
        challenge: challenge(475),
        takes: takes(),
        rules: rules(),
        level_two_required: None,
        now: at(0),
    };
    op!(m.begin_reauthentication(begin)).unwrap();
    let shown = Shown::RecoveryCode(codes()[0]);
    let completes = Completion::Reauthenticate(session(471).id, event(next()), None);
    let step_up = answer(token(475), ChallengeKind::RecoveryCode, shown, completes);
    op!(m.answer_challenge(step_up), "reauthentication").unwrap();

    m.store.request_email_code(request(OWNER, Purpose::ResetPassword, code(7))).await.unwrap().unwrap();
    let exchanged = NewToken { hash: token(476), expires_at: at(900) };
    m.store.exchange_reset_code(attempt(OWNER, 7), exchanged).await.unwrap().unwrap();
    let begin =
        BeginResetChallenge { token: token(476), challenge: challenge(477), rules: rules(), now: at(1) };
    op!(m.begin_reset_challenge(begin)).unwrap();
    let completes = Completion::Reset(NewToken { hash: token(478), expires_at: at(900) });
    op!(m.answer_challenge(answer(token(477), kind, totp(4), completes)), "reset").unwrap();
}

async fn undo(measured: &mut Measured) {
    let m = measured;
    let undo_token = token(471 + 2_000);
    op!(m.find_undo(undo_token, &takes(), at(0))).unwrap();
    let undo = || UseUndoLink {
        token: undo_token,
        takes: takes(),
        challenge: challenge(next()),
        rules: rules(),
        writes: UndoWrites {
            email: key(OWNER),
            event: event(next()),
            reset: code(8),
            reset_mail: mail(next()),
            mail: Some(mail(next())),
            left_mail: Some(mail(next())),
            now: at(1),
        },
    };
    op!(m.turn_two_step_off(change((), 471)));
    op!(m.undo(undo()), "done").unwrap();
    op!(m.undo(undo()), "used").unwrap();
    let reset = ResetFactors {
        user_id: user_id(OWNER),
        with_passkeys: true,
        event: event(next()),
        mail: Some(mail(next())),
        protection: Protection::Operators,
        even_last_owner: false,
        now: at(1),
    };
    op!(m.reset_factors(reset));
}
