//! Attempts at six-digit codes. Every attempt runs the same statements and is counted before it is judged, whether
//! or not there is an account or a code.

use latchkey_domain::code_window::CodeWindow;
use latchkey_domain::codes::{CodeMac, Purpose, StoredCode};
use latchkey_domain::ids::UserId;
use latchkey_domain::limits::Limited;
use latchkey_domain::mailbox_proof::Proof;
use latchkey_domain::session::NewSession;
use latchkey_domain::time::Timestamp;
use latchkey_store::{CodeAttempt, ExchangeOutcome, NewToken, VerifyOutcome};
use rusqlite::{Connection, Row, params};

use crate::accounts::{self, Account, find_by_key_evenly};
use crate::errors::Fallible;
use crate::limits::take_all;
use crate::proof::prove;
use crate::rows::Cells;
use crate::statements::{execute, find};
use crate::{audit, challenges, links, sessions};

const FIND_CODE: &str = "
    SELECT user_id, mac, attempts, expires_at FROM codes WHERE email_key = ?1 AND purpose = ?2";
const COUNT_ON_CODE: &str = "
    UPDATE codes SET attempts = min(attempts + 1, 1000000) WHERE email_key = ?1 AND purpose = ?2";
const FIND_WINDOW: &str = "SELECT attempts, since FROM code_budgets WHERE email_key = ?1 AND purpose = ?2";
const SAVE_WINDOW: &str = "
    INSERT INTO code_budgets (email_key, purpose, attempts, since, ends_at) VALUES (?1, ?2, ?3, ?4, ?5)
    ON CONFLICT (email_key, purpose)
    DO UPDATE SET attempts = excluded.attempts, since = excluded.since, ends_at = excluded.ends_at";

enum Verdict {
    Accepted(Box<Account>),
    Refused,
    Limited(Limited),
}

/// Tries a verification code.
pub(crate) fn verify(
    conn: &Connection,
    attempt: CodeAttempt,
    session: &NewSession,
) -> Fallible<VerifyOutcome> {
    let account = match judge(conn, &attempt, Purpose::VerifyEmail)? {
        Verdict::Accepted(account) => account,
        Verdict::Refused => return Ok(VerifyOutcome::Refused),
        Verdict::Limited(limited) => return Ok(VerifyOutcome::Limited(limited)),
    };
    let id = account.user.id;
    prove(conn, &account, Proof::Verification, attempt.now)?;
    sessions::open(conn, id, session)?;
    audit::record_in(conn, attempt.event, id, session.id)?;
    Ok(VerifyOutcome::Verified(Box::new(accounts::user_that_is(conn, id)?)))
}

/// Exchanges a reset code for a reset token.
pub(crate) fn exchange(
    conn: &Connection,
    attempt: CodeAttempt,
    token: NewToken,
) -> Fallible<ExchangeOutcome> {
    let account = match judge(conn, &attempt, Purpose::ResetPassword)? {
        Verdict::Accepted(account) => account,
        Verdict::Refused => return Ok(ExchangeOutcome::Refused),
        Verdict::Limited(limited) => return Ok(ExchangeOutcome::Limited(limited)),
    };
    let id = account.user.id;
    challenges::supersede_tokens_of(conn, id, Purpose::ResetPassword, attempt.now)?;
    links::insert_exchanged(conn, attempt.email.as_str(), id, &token, attempt.now)?;
    audit::record_of(conn, attempt.event, id)?;
    Ok(ExchangeOutcome::Exchanged)
}

/// Counts the attempt, judges it, and consumes the code where it opens.
fn judge(conn: &Connection, attempt: &CodeAttempt, purpose: Purpose) -> Fallible<Verdict> {
    let now = attempt.now;
    if let Err(limited) = take_all(conn, &attempt.takes, now)? {
        return Ok(Verdict::Limited(limited));
    }
    let key = attempt.email.as_str();
    let account = find_by_key_evenly(conn, &attempt.email)?;
    let found = find(conn, FIND_CODE, params![key, purpose.as_str()], read_code)?;
    let window = find(conn, FIND_WINDOW, params![key, purpose.as_str()], read_window)?.unwrap_or_default();
    count(conn, key, purpose, window.and_one_more(now))?;

    let (owner, code) = found.unwrap_or((None, no_code()));
    let is_right = code.accepts(&attempt.mac, window.attempts_at(now), attempt.budget, now);
    let account = account.filter(|account| owner == Some(account.user.id) && !account.user.is_banned());
    match account {
        Some(account) if is_right => {
            challenges::delete_code(conn, key, purpose)?;
            Ok(Verdict::Accepted(Box::new(account)))
        }
        _ => Ok(Verdict::Refused),
    }
}

fn count(conn: &Connection, key: &str, purpose: Purpose, window: CodeWindow) -> Fallible<()> {
    execute(conn, COUNT_ON_CODE, params![key, purpose.as_str()])?;
    let (since, ends_at) = (window.since.as_millis(), window.ends_at().as_millis());
    execute(conn, SAVE_WINDOW, params![key, purpose.as_str(), window.attempts, since, ends_at])?;
    Ok(())
}

/// Stands where there is no code: it is judged all the same, and has expired long ago.
const fn no_code() -> StoredCode {
    StoredCode {
        mac: CodeMac::from_bytes([0; 32]),
        attempts: 0,
        expires_at: Timestamp::from_millis(i64::MIN),
    }
}

fn read_code(row: &Row<'_>) -> Fallible<(Option<UserId>, StoredCode)> {
    let mut cells = Cells::new(row, "codes");
    let owner = cells.maybe_id("user_id")?;
    let code = StoredCode {
        mac: CodeMac::from_bytes(cells.array("mac")?),
        attempts: cells.count("attempts")?,
        expires_at: cells.time("expires_at")?,
    };
    Ok((owner, code))
}

fn read_window(row: &Row<'_>) -> Fallible<CodeWindow> {
    let mut cells = Cells::new(row, "code_budgets");
    Ok(CodeWindow { attempts: cells.count("attempts")?, since: cells.time("since")? })
}
