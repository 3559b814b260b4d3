//! Attempts at six-digit codes. Every attempt runs the same statements and is counted before it is judged, whether
//! or not there is an account or a code.

use latchkey_domain::codes::{CodeMac, Purpose, StoredCode};
use latchkey_domain::limits::Limited;
use latchkey_domain::mailbox_proof::Proof;
use latchkey_domain::session::NewSession;
use latchkey_domain::time::Timestamp;
use latchkey_store::{CodeAttempt, ExchangeOutcome, NewToken, StoreResult, VerifyOutcome};

use super::prove_mailbox::{Proven, prove};
use super::takes;
use crate::form::{Decided, Executor, Results, Script, Slot};
use crate::tables::users::{self, Account};
use crate::tables::{audit_events, codes, link_tokens, profiles, sessions};

/// The judgement on an attempt.
enum Verdict {
    Accepted(Box<Account>),
    Refused,
    Limited(Limited),
}

/// Results of the reads that an attempt is judged by.
#[derive(Clone, Copy)]
struct Reads {
    limit: Option<Slot>,
    code: Slot,
    window: Slot,
    account: Slot,
}

/// Tries a verification code.
pub(crate) async fn verify<E: Executor>(
    engine: &E,
    attempt: CodeAttempt,
    session: NewSession,
) -> StoreResult<VerifyOutcome> {
    let purpose = Purpose::VerifyEmail;
    let mut script = Script::default();
    let reads = Reads::add(&mut script, &attempt, purpose);
    let profile = profiles::find_by_key_at_constant_cost(&mut script, &attempt.email);
    engine
        .transact(script, move |results| {
            let mut writes = Script::default();
            let account = match reads.judge(results, &mut writes, &attempt, purpose)? {
                Verdict::Accepted(account) => *account,
                Verdict::Refused => return Ok(Decided::done(writes, VerifyOutcome::Refused)),
                Verdict::Limited(limited) => return Ok(Decided::Answer(VerifyOutcome::Limited(limited))),
            };
            let id = account.user.id;
            let proven = Proven { account, profile: profiles::profile_of(results, profile, id)? };
            prove(&mut writes, &proven, Proof::Verification, attempt.now);
            sessions::open(&mut writes, id, &session);
            audit_events::record_in(&mut writes, attempt.event.clone(), id, session.id)?;
            let user = users::find_by_id(&mut writes, id);
            Ok(Decided::write(writes, move |results| {
                Ok(VerifyOutcome::Verified(Box::new(users::user_that_is(results, user)?)))
            }))
        })
        .await
}

/// Exchanges a reset code for a reset token.
pub(crate) async fn exchange<E: Executor>(
    engine: &E,
    attempt: CodeAttempt,
    token: NewToken,
) -> StoreResult<ExchangeOutcome> {
    let purpose = Purpose::ResetPassword;
    let mut script = Script::default();
    let reads = Reads::add(&mut script, &attempt, purpose);
    engine
        .transact(script, move |results| {
            let mut writes = Script::default();
            let account = match reads.judge(results, &mut writes, &attempt, purpose)? {
                Verdict::Accepted(account) => account,
                Verdict::Refused => return Ok(Decided::done(writes, ExchangeOutcome::Refused)),
                Verdict::Limited(limited) => return Ok(Decided::Answer(ExchangeOutcome::Limited(limited))),
            };
            let id = account.user.id;
            link_tokens::supersede_tokens_of(&mut writes, id, purpose, attempt.now);
            link_tokens::insert_exchanged(&mut writes, attempt.email.as_str(), id, &token, attempt.now);
            audit_events::record_of(&mut writes, attempt.event.clone(), id)?;
            Ok(Decided::done(writes, ExchangeOutcome::Exchanged))
        })
        .await
}

impl Reads {
    /// Takes the tokens, locks the account, the code and its time window, and reads them.
    fn add(script: &mut Script, attempt: &CodeAttempt, purpose: Purpose) -> Self {
        let email = &attempt.email;
        let limit = takes::take(script, &attempt.takes, attempt.now);
        users::lock_by_key_at_constant_cost(script, email);
        Self {
            limit,
            code: codes::lock_code(script, email, purpose),
            window: codes::lock_window(script, email, purpose),
            account: users::find_by_key_at_constant_cost(script, email),
        }
    }

    /// Counts the attempt, judges it, and consumes the code if it is accepted.
    fn judge(
        self,
        results: &Results<'_>,
        writes: &mut Script,
        attempt: &CodeAttempt,
        purpose: Purpose,
    ) -> StoreResult<Verdict> {
        let (email, now) = (&attempt.email, attempt.now);
        if let Some(limited) = takes::limited(results, self.limit)? {
            return Ok(Verdict::Limited(limited));
        }
        let account = users::account_of_key(results, self.account, email)?;
        let found = codes::code(results, self.code)?;
        let stored_window = codes::window(results, self.window)?;
        let window = stored_window.unwrap_or_default();
        let counted = window.and_one_more(now);
        codes::count_on_code(writes, email, purpose);
        match stored_window {
            Some(_) => codes::save_window(writes, email, purpose, &counted),
            None => codes::create_window(writes, email, purpose, &counted),
        }

        let (owner, code) = found.unwrap_or((None, no_code()));
        let is_right = code.accepts(&attempt.mac, window.attempts_at(now), attempt.budget, now);
        let account = account.filter(|account| owner == Some(account.user.id) && !account.user.is_banned());
        match account {
            Some(account) if is_right => {
                codes::delete_code(writes, email.as_str(), purpose);
                Ok(Verdict::Accepted(Box::new(account)))
            }
            _ => Ok(Verdict::Refused),
        }
    }
}

/// Judged in place of a code that is absent, so that both cost the same. It expired long ago.
const fn no_code() -> StoredCode {
    StoredCode {
        mac: CodeMac::from_bytes([0; 32]),
        attempts: 0,
        expires_at: Timestamp::from_millis(i64::MIN),
    }
}
