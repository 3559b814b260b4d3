//! Attempts at email codes. Every refused attempt executes the same statements, whether or not there is an
//! account or a code; a refused six-digit code counts in the lane of the client that entered it.

use latchkey_domain::code_window::{Lane, LaneAttempts};
use latchkey_domain::codes::{CodeForm, CodeMac, Purpose, StoredCode};
use latchkey_domain::email::EmailKey;
use latchkey_domain::email_verification::{Verification, VerifiedFrom};
use latchkey_domain::ids::UserId;
use latchkey_domain::session::NewSession;
use latchkey_domain::time::Timestamp;
use latchkey_store::{CodeAttempt, ExchangeOutcome, LimitedResult, NewToken, StoreResult, VerifyOutcome};

use super::code_lanes::LaneReads;
use super::prove_mailbox::{Proven, prove};
use super::takes;
use crate::form::{Decided, Executor, Results, Script, Slot};
use crate::tables::users::{self, Account};
use crate::tables::{audit_events, codes, known_clients, link_tokens, profiles, sessions};

/// Judgement of an attempt.
enum Verdict {
    Accepted(Box<Account>),
    Refused,
}

/// Slots of the reads that judge an attempt.
#[derive(Clone, Copy)]
struct Reads {
    limit: Option<Slot>,
    codes: Slot,
    lane: LaneReads,
    account: Slot,
}

pub(crate) async fn verify<E: Executor>(
    engine: &E,
    attempt: CodeAttempt,
    session: NewSession,
) -> LimitedResult<VerifyOutcome> {
    let purpose = Purpose::VerifyEmail;
    let mut script = Script::default();
    let reads = Reads::add(&mut script, &attempt, purpose);
    let profile = profiles::find_by_key_at_constant_cost(&mut script, &attempt.email);
    let caller = attempt.caller.map(|caller| sessions::find_owner(&mut script, caller, attempt.now));
    engine
        .transact(script, move |results| {
            let mut writes = Script::default();
            let account = match reads.judge(results, &mut writes, &attempt, purpose)? {
                Ok(Verdict::Accepted(account)) => *account,
                Ok(Verdict::Refused) => return Ok(Decided::done(writes, Ok(VerifyOutcome::Refused))),
                Err(limited) => return Ok(Decided::Return(Err(limited))),
            };
            let id = account.user.id;
            let proven = Proven { account, profile: profiles::profile_of(results, profile, id)? };
            let side = side_of_caller(results, caller, id)?;
            prove(&mut writes, &proven, Verification::Code(side), attempt.now);
            sessions::open(&mut writes, id, &session);
            known_clients::remember(&mut writes, &attempt.email, &session);
            audit_events::record_in(&mut writes, attempt.event.clone(), id, session.id)?;
            let user = users::find_by_id(&mut writes, id);
            Ok(Decided::write(writes, move |results| {
                Ok(Ok(VerifyOutcome::Verified(Box::new(users::user_that_is(results, user)?))))
            }))
        })
        .await
}

/// Side from which a caller verifies an account: inside with a live session of that account.
pub(crate) fn side_of_caller(
    results: &Results<'_>,
    caller: Option<Slot>,
    account: UserId,
) -> StoreResult<VerifiedFrom> {
    let Some(caller) = caller else { return Ok(VerifiedFrom::Outside) };
    let is_its_own = sessions::owner(results, caller)? == Some(account);
    Ok(if is_its_own { VerifiedFrom::Inside } else { VerifiedFrom::Outside })
}

/// Exchanges a reset code for a reset token.
pub(crate) async fn exchange<E: Executor>(
    engine: &E,
    attempt: CodeAttempt,
    token: NewToken,
) -> LimitedResult<ExchangeOutcome> {
    let purpose = Purpose::ResetPassword;
    let mut script = Script::default();
    let reads = Reads::add(&mut script, &attempt, purpose);
    engine
        .transact(script, move |results| {
            let mut writes = Script::default();
            let account = match reads.judge(results, &mut writes, &attempt, purpose)? {
                Ok(Verdict::Accepted(account)) => account,
                Ok(Verdict::Refused) => return Ok(Decided::done(writes, Ok(ExchangeOutcome::Refused))),
                Err(limited) => return Ok(Decided::Return(Err(limited))),
            };
            let id = account.user.id;
            link_tokens::supersede_tokens_of(&mut writes, id, purpose, attempt.now);
            link_tokens::insert_exchanged(&mut writes, attempt.email.as_str(), id, &token, attempt.now);
            audit_events::record_of(&mut writes, attempt.event.clone(), id)?;
            Ok(Decided::done(writes, Ok(ExchangeOutcome::Exchanged)))
        })
        .await
}

impl Reads {
    /// Takes from the rate limits; locks and reads the account, the codes and the attempt counters.
    fn add(script: &mut Script, attempt: &CodeAttempt, purpose: Purpose) -> Self {
        let email = &attempt.email;
        let limit = takes::take(script, &attempt.takes, attempt.now);
        users::lock_by_key_at_constant_cost(script, email);
        Self {
            limit,
            codes: codes::lock_codes(script, email, purpose),
            lane: LaneReads::lock(script, email, purpose, &attempt.lane),
            account: users::find_by_key_at_constant_cost(script, email),
        }
    }

    /// Judges the attempt: consumes the code if accepted, otherwise counts the attempt.
    fn judge(
        self,
        results: &Results<'_>,
        writes: &mut Script,
        attempt: &CodeAttempt,
        purpose: Purpose,
    ) -> LimitedResult<Verdict> {
        let (email, now) = (&attempt.email, attempt.now);
        if let Some(limited) = takes::limited(results, self.limit)? {
            return Ok(Err(limited));
        }
        let account = users::account_of_key(results, self.account, email)?;
        let (lane, made) = self.lane.lane(results, now)?;
        let owner = self.owner_of_opened(results, attempt, lane, made.unwrap_or_default())?;
        let account =
            account.filter(|account| owner == Some(account.user.id) && account.user.accepts_mailed_tokens());
        if let Some(account) = account {
            codes::delete_code(writes, email.as_str(), purpose);
            return Ok(Ok(Verdict::Accepted(Box::new(account))));
        }
        if attempt.form == CodeForm::SixDigits {
            count(writes, (email, purpose), lane, made, now);
        }
        Ok(Ok(Verdict::Refused))
    }

    /// User of the code that matches the attempt, in any lane.
    fn owner_of_opened(
        self,
        results: &Results<'_>,
        attempt: &CodeAttempt,
        lane: Lane,
        made: LaneAttempts,
    ) -> StoreResult<Option<UserId>> {
        let mut opened = None;
        for mailed_in in Lane::ALL {
            let found = codes::code(results, self.codes, mailed_in, lane)?;
            let (owner, code) = found.unwrap_or((None, no_code()));
            if code.accepts(&attempt.mac, made, attempt.lane.budget, attempt.now) {
                opened = owner;
            }
        }
        Ok(opened)
    }
}

/// Counts a wrong attempt on the codes and in the caller's lane.
fn count(
    writes: &mut Script,
    (email, purpose): (&EmailKey, Purpose),
    lane: Lane,
    made: Option<LaneAttempts>,
    now: Timestamp,
) {
    codes::count_on_codes(writes, email, purpose, lane);
    let counted = made.unwrap_or_default().incremented(now);
    match made {
        Some(_) => codes::save_attempts(writes, email, purpose, lane, &counted),
        None => codes::create_attempts(writes, email, purpose, lane, &counted),
    }
}

/// Stand-in for a missing code, long expired, so that both cases cost the same.
const fn no_code() -> StoredCode {
    StoredCode {
        mac: CodeMac::from_bytes([0; 32]),
        form: CodeForm::SixDigits,
        attempts: 0,
        expires_at: Timestamp::from_millis(i64::MIN),
    }
}
