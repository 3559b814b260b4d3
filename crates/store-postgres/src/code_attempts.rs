//! Attempts at six-digit codes. Every attempt runs the same statements and is counted before it is judged, whether
//! or not there is an account or a code.

use latchkey_domain::code_window::CodeWindow;
use latchkey_domain::codes::{CodeMac, Purpose, StoredCode};
use latchkey_domain::ids::UserId;
use latchkey_domain::limits::Limited;
use latchkey_domain::mailbox_proof::Proof;
use latchkey_domain::session::NewSession;
use latchkey_domain::time::Timestamp;
use latchkey_store::{CodeAttempt, ExchangeOutcome, NewToken, StoreResult, VerifyOutcome};
use tokio_postgres::Row;

use crate::accounts;
use crate::errors::Fallible;
use crate::limits::Buckets;
use crate::proof::{Proven, prove};
use crate::rows::Cells;
use crate::script::{Answers, Script, Slot};
use crate::store::PostgresStore;
use crate::transact::Step;
use crate::values::values;
use crate::{audit, challenges, links, profiles, sessions};

const LOCK_CODE: &str = "
    SELECT user_id, mac, attempts, expires_at FROM codes WHERE email_key = $1 AND purpose = $2 FOR NO KEY UPDATE";
const COUNT_ON_CODE: &str = "
    UPDATE codes SET attempts = least(attempts + 1, 1000000) WHERE email_key = $1 AND purpose = $2";
const LOCK_WINDOW: &str = "
    SELECT attempts, since FROM code_budgets WHERE email_key = $1 AND purpose = $2 FOR NO KEY UPDATE";
const CREATE_WINDOW: &str = "
    INSERT INTO code_budgets (email_key, purpose, attempts, since, ends_at) VALUES ($1, $2, $3, $4, $5)";
const SAVE_WINDOW: &str = "
    UPDATE code_budgets SET attempts = $3, since = $4, ends_at = $5 WHERE email_key = $1 AND purpose = $2";

enum Verdict {
    Accepted(Box<Proven>),
    Refused,
    Limited(Limited),
}

/// Where what an attempt is judged by is found.
struct Judged {
    buckets: Buckets,
    code: Slot,
    window: Slot,
    account: Slot,
    profile: Slot,
}

/// Tries a verification code.
pub(crate) async fn verify(
    store: &PostgresStore,
    attempt: &CodeAttempt,
    session: &NewSession,
) -> StoreResult<VerifyOutcome> {
    let purpose = Purpose::VerifyEmail;
    let mut reads = Script::default();
    let judged = Judged::read(&mut reads, attempt, purpose);
    store
        .transact(&reads, |answers| {
            let mut writes = Script::default();
            let proven = match judged.judge(answers, &mut writes, attempt, purpose)? {
                Verdict::Accepted(proven) => proven,
                Verdict::Refused => return Ok(Step::done(writes, VerifyOutcome::Refused)),
                Verdict::Limited(limited) => return Ok(Step::Answer(VerifyOutcome::Limited(limited))),
            };
            let id = proven.account.user.id;
            prove(&mut writes, &proven, Proof::Verification, attempt.now)?;
            sessions::open(&mut writes, id, session);
            audit::record_in(&mut writes, attempt.event.clone(), id, session.id)?;
            let user = accounts::find_by_id(&mut writes, id);
            Ok(Step::write(writes, move |answers| {
                Ok(VerifyOutcome::Verified(Box::new(accounts::user_that_is(answers, user)?)))
            }))
        })
        .await
}

/// Exchanges a reset code for a reset token.
pub(crate) async fn exchange(
    store: &PostgresStore,
    attempt: &CodeAttempt,
    token: &NewToken,
) -> StoreResult<ExchangeOutcome> {
    let purpose = Purpose::ResetPassword;
    let mut reads = Script::default();
    let judged = Judged::read(&mut reads, attempt, purpose);
    store
        .transact(&reads, |answers| {
            let mut writes = Script::default();
            let proven = match judged.judge(answers, &mut writes, attempt, purpose)? {
                Verdict::Accepted(proven) => proven,
                Verdict::Refused => return Ok(Step::done(writes, ExchangeOutcome::Refused)),
                Verdict::Limited(limited) => return Ok(Step::Answer(ExchangeOutcome::Limited(limited))),
            };
            let id = proven.account.user.id;
            challenges::supersede_tokens_of(&mut writes, id, purpose, attempt.now);
            links::insert_exchanged(&mut writes, attempt.email.as_str(), id, token, attempt.now);
            audit::record_of(&mut writes, attempt.event.clone(), id)?;
            Ok(Step::done(writes, ExchangeOutcome::Exchanged))
        })
        .await
}

impl Judged {
    /// Locks and reads it.
    fn read(reads: &mut Script, attempt: &CodeAttempt, purpose: Purpose) -> Self {
        let email = &attempt.email;
        let buckets = Buckets::lock(reads, &attempt.takes);
        accounts::lock_by_key_evenly(reads, email);
        Self {
            buckets,
            code: reads.add(LOCK_CODE, values![email, purpose]),
            window: reads.add(LOCK_WINDOW, values![email, purpose]),
            account: accounts::find_by_key_evenly(reads, email),
            profile: profiles::find_by_key_evenly(reads, email),
        }
    }

    /// Counts the attempt, judges it, and consumes the code where it opens.
    fn judge(
        &self,
        answers: &Answers,
        writes: &mut Script,
        attempt: &CodeAttempt,
        purpose: Purpose,
    ) -> Fallible<Verdict> {
        let (email, now) = (&attempt.email, attempt.now);
        if let Err(limited) = self.buckets.take_all(answers, writes, &attempt.takes, now)? {
            return Ok(Verdict::Limited(limited));
        }
        let account = accounts::account_of_key(answers, self.account, email)?;
        let found = answers.find(self.code, read_code)?;
        let kept = answers.find(self.window, read_window)?;
        let window = kept.unwrap_or_default();
        writes.add(COUNT_ON_CODE, values![email, purpose]);
        let counted = window.and_one_more(now);
        let values = values![email, purpose, counted.attempts, counted.since, counted.ends_at()];
        writes.add(if kept.is_some() { SAVE_WINDOW } else { CREATE_WINDOW }, values);

        let (owner, code) = found.unwrap_or((None, no_code()));
        let is_right = code.accepts(&attempt.mac, window.attempts_at(now), attempt.budget, now);
        let account = account.filter(|account| owner == Some(account.user.id) && !account.user.is_banned());
        match account {
            Some(account) if is_right => {
                challenges::delete_code(writes, email.as_str(), purpose);
                let profile = profiles::profile_of(answers, self.profile, account.user.id)?;
                Ok(Verdict::Accepted(Box::new(Proven { account, profile })))
            }
            _ => Ok(Verdict::Refused),
        }
    }
}

/// Stands where there is no code: it is judged all the same, and has expired long ago.
const fn no_code() -> StoredCode {
    StoredCode {
        mac: CodeMac::from_bytes([0; 32]),
        attempts: 0,
        expires_at: Timestamp::from_millis(i64::MIN),
    }
}

fn read_code(row: &Row) -> Fallible<(Option<UserId>, StoredCode)> {
    let mut cells = Cells::new(row, "codes");
    let owner = cells.maybe_id("user_id")?;
    let code = StoredCode {
        mac: CodeMac::from_bytes(cells.array("mac")?),
        attempts: cells.count("attempts")?,
        expires_at: cells.time("expires_at")?,
    };
    Ok((owner, code))
}

fn read_window(row: &Row) -> Fallible<CodeWindow> {
    let mut cells = Cells::new(row, "code_budgets");
    Ok(CodeWindow { attempts: cells.count("attempts")?, since: cells.time("since")? })
}
