//! Checks of entered email codes. Every refused attempt executes the same statements, whether or not there is an
//! account or a code.

use latchkey_domain::audit::AuditEvent;
use latchkey_domain::codes::Purpose;
use latchkey_domain::email_verification::{Verification, VerifiedFrom};
use latchkey_domain::ids::UserId;
use latchkey_domain::session::Level;
use latchkey_store::{
    CodeAttempt, Entry, ExchangeOutcome, LimitedResult, NewToken, StoreResult, VerifyOutcome,
};

use super::code_attempts::{CodeOwner, CodeReads, Tried};
use super::entry::{self, Opening, Way};
use super::prove_mailbox::{Proven, prove};
use super::takes;
use crate::form::{Decided, Executor, Results, Script, Slot};
use crate::tables::users::{self, Account};
use crate::tables::{audit_events, known_clients, link_tokens, profiles, sessions};

/// Decision on an attempt to redeem an email code.
enum Verdict {
    Accepted(Box<Account>),
    Refused,
}

/// Handles of the statements that check the rate limits, and read the account and its codes.
#[derive(Clone, Copy)]
struct Reads {
    limit: Option<Slot>,
    codes: CodeReads,
    account: Slot,
}

pub(crate) async fn verify<E: Executor>(
    engine: &E,
    attempt: CodeAttempt,
    entry: Entry,
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
            let mail = entry.session.account_cleared.as_ref();
            prove(&mut writes, &proven, Verification::Code(side), mail, attempt.now);
            let opening = enter_verified(&mut writes, &proven, &entry, attempt.event.clone())?;
            Ok(Decided::write(writes, move |results| {
                Ok(Ok(VerifyOutcome::Entered(opening.entered(results)?)))
            }))
        })
        .await
}

/// Returns `Inside` if the caller has a live session of the account, otherwise `Outside`.
pub(crate) fn side_of_caller(
    results: &Results<'_>,
    caller: Option<Slot>,
    account: UserId,
) -> StoreResult<VerifiedFrom> {
    let Some(caller) = caller else { return Ok(VerifiedFrom::Outside) };
    let is_its_own = sessions::owner(results, caller)? == Some(account);
    Ok(if is_its_own { VerifiedFrom::Inside } else { VerifiedFrom::Outside })
}

/// Opens a session for an account whose address was verified, or writes a challenge if a second factor is needed.
pub(crate) fn enter_verified(
    writes: &mut Script,
    proven: &Proven,
    entry: &Entry,
    event: AuditEvent,
) -> StoreResult<Opening> {
    let (user, session) = (&proven.account.user, &entry.session);
    let way = Way::of(Some(user), entry);
    entry::open(writes, user.id, entry, way, None)?;
    match way {
        Way::Session => {
            known_clients::remember(writes, user.email.key(), session);
            audit_events::record_in(writes, event, user.id, session.id)?;
        }
        Way::Challenge => audit_events::record_of(writes, event, user.id)?,
    }
    Ok(Opening::find(writes, user.id, entry, way))
}

/// Exchanges a password reset code for a reset token.
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
            link_tokens::insert_exchanged(
                &mut writes,
                attempt.email.as_str(),
                id,
                (&token, Level::One),
                attempt.now,
            );
            audit_events::record_of(&mut writes, attempt.event.clone(), id)?;
            Ok(Decided::done(writes, Ok(ExchangeOutcome::Exchanged)))
        })
        .await
}

/// Redeems a code, with no further effect. Returns whether it was right.
pub(crate) async fn redeem<E: Executor>(
    engine: &E,
    attempt: CodeAttempt,
    purpose: Purpose,
) -> LimitedResult<bool> {
    let mut script = Script::default();
    let reads = Reads::add(&mut script, &attempt, purpose);
    engine
        .transact(script, move |results| {
            let mut writes = Script::default();
            let verdict = reads.judge(results, &mut writes, &attempt, purpose)?;
            Ok(match verdict {
                Ok(verdict) => Decided::done(writes, Ok(matches!(verdict, Verdict::Accepted(_)))),
                Err(limited) => Decided::Return(Err(limited)),
            })
        })
        .await
}

impl Reads {
    /// Adds the statements that take tokens from the rate limits, and that lock and read the account, its
    /// codes and attempt counters.
    fn add(script: &mut Script, attempt: &CodeAttempt, purpose: Purpose) -> Self {
        let email = &attempt.email;
        let limit = takes::take(script, &attempt.takes, attempt.now);
        users::lock_by_key_at_constant_cost(script, email);
        Self {
            limit,
            codes: CodeReads::lock(script, email, purpose, &attempt.lane),
            account: users::find_by_key_at_constant_cost(script, email),
        }
    }

    /// Decides on the attempt: checks the rate limits, then the code by [`CodeReads::redeem`].
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
        let account = account.filter(|account| account.user.accepts_mailed_tokens());
        let CodeAttempt { mac, form, lane, .. } = attempt;
        let tried = Tried { email, purpose, mac, form: *form, lane, now };
        let owner = account.as_ref().map(|account| CodeOwner::User(account.user.id));
        let is_right = self.codes.redeem(results, writes, &tried, owner)?;
        Ok(Ok(match account.filter(|_| is_right) {
            Some(account) => Verdict::Accepted(Box::new(account)),
            None => Verdict::Refused,
        }))
    }
}
