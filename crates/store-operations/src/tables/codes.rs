//! Tables `codes` and `code_budgets`: email codes, and counters of wrong attempts per email address. Clients known to
//! the account and all other clients have separate codes and counters. The code calls these two groups *lanes*
//! ([`Lane`]).

use latchkey_domain::code_window::{CodeWindow, Lane, LaneAttempts};
use latchkey_domain::codes::{CodeForm, CodeMac, Purpose, StoredCode};
use latchkey_domain::email::EmailKey;
use latchkey_domain::ids::UserId;
use latchkey_domain::time::Timestamp;
use latchkey_store::StoreResult;

use crate::bulk::{Table, columns};
use crate::form::{Cells, Results, Slot, statements};

pub const TABLE: Table = Table::new(
    "codes",
    3,
    columns! {
        text email_key, text purpose, int lane, id user_id, bytes mac, flag long, int attempts, int other_attempts,
        int created_at, int expires_at
    },
);

pub const CODE_BUDGETS: Table = Table::new(
    "code_budgets",
    3,
    columns! {
        text email_key, text purpose, int lane, int attempts, int since, int day_attempts, int day_since, int ends_at
    },
);

statements! {
    /// Inserts or replaces the code of an email address and purpose for one group of clients (known to the account, or
    /// others). A code without a user is never valid; it is written so that response times are equal.
    SAVE_CODE: change save_code(
        key: &str, purpose: Purpose, user_id: Option<UserId>, code: &CodeInLane<'_>, now: Timestamp
    ) [key, purpose, code.lane.as_number(), user_id, code.mac, code.form == CodeForm::Long, now, code.expires_at] = "
        INSERT INTO codes (email_key, purpose, lane, user_id, mac, long, attempts, other_attempts, created_at, expires_at)
        VALUES ($1, $2, $3, $4, $5, $6, 0, 0, $7, $8)
        ON CONFLICT (email_key, purpose, lane) DO UPDATE SET user_id = excluded.user_id, mac = excluded.mac,
            long = excluded.long, attempts = 0, other_attempts = 0, created_at = excluded.created_at,
            expires_at = excluded.expires_at";
    /// Deletes the codes of an email address and purpose, for known clients and for all others.
    DELETE_CODE: change delete_code(key: &str, purpose: Purpose) =
        "DELETE FROM codes WHERE email_key = $1 AND purpose = $2";
    DELETE_CODES_OF: change delete_codes_of(user_id: UserId, purpose: Purpose) =
        "DELETE FROM codes WHERE user_id = $1 AND purpose = $2";
    DELETE_CODES_OF_EVERYBODY: change delete_codes_of_everybody() = "DELETE FROM codes";
    DELETE_ALL_CODES_OF: change delete_all_codes_of(user_id: UserId) = "DELETE FROM codes WHERE user_id = $1";
    LOCK_CODES: read lock_codes(email: &EmailKey, purpose: Purpose) = "
        SELECT lane, user_id, mac, long, attempts, other_attempts, expires_at FROM codes
        WHERE email_key = $1 AND purpose = $2 ORDER BY lane FOR NO KEY UPDATE";
    /// Counts a wrong attempt on all codes of an email address and purpose. A code has two counters, for attempts by
    /// clients known to the account and by all others. `typed_from` selects the counter.
    COUNT_ON_CODES: change count_on_codes(email: &EmailKey, purpose: Purpose, typed_from: Lane)
        [email, purpose, typed_from.as_number()] = "
        UPDATE codes SET attempts = least(attempts + CASE lane WHEN $3 THEN 1 ELSE 0 END, 1000000),
            other_attempts = least(other_attempts + CASE lane WHEN $3 THEN 0 ELSE 1 END, 1000000)
        WHERE email_key = $1 AND purpose = $2";
    FIND_ATTEMPTS: read find_attempts(email: &EmailKey, purpose: Purpose) = "
        SELECT lane, attempts, since, day_attempts, day_since FROM code_budgets
        WHERE email_key = $1 AND purpose = $2 ORDER BY lane";
    LOCK_ATTEMPTS: read lock_attempts(email: &EmailKey, purpose: Purpose) = "
        SELECT lane, attempts, since, day_attempts, day_since FROM code_budgets
        WHERE email_key = $1 AND purpose = $2 ORDER BY lane FOR NO KEY UPDATE";
    LIST_ATTEMPTS: read list_attempts(email: &EmailKey) = "
        SELECT purpose, lane, attempts, since, day_attempts, day_since FROM code_budgets
        WHERE email_key = $1 ORDER BY purpose, lane";
    DELETE_ATTEMPTS: change delete_attempts(email: &EmailKey) = "DELETE FROM code_budgets WHERE email_key = $1";
    /// Inserts the attempt counters of one group of clients (known to the account, or others). A concurrent insert is
    /// a unique violation, which restarts the operation, so that both attempts count.
    CREATE_ATTEMPTS: change create_attempts(email: &EmailKey, purpose: Purpose, from: Lane, made: &LaneAttempts) [
        email, purpose, from.as_number(), made.hour.attempts, made.hour.since, made.day.attempts, made.day.since,
        made.ends_at()
    ] = "
        INSERT INTO code_budgets (email_key, purpose, lane, attempts, since, day_attempts, day_since, ends_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
    SAVE_ATTEMPTS: change save_attempts(email: &EmailKey, purpose: Purpose, from: Lane, made: &LaneAttempts) [
        email, purpose, from.as_number(), made.hour.attempts, made.hour.since, made.day.attempts, made.day.since,
        made.ends_at()
    ] = "
        UPDATE code_budgets SET attempts = $4, since = $5, day_attempts = $6, day_since = $7, ends_at = $8
        WHERE email_key = $1 AND purpose = $2 AND lane = $3";
}

/// A code to be mailed, valid for clients known to the account or for all others.
pub(crate) struct CodeInLane<'a> {
    pub(crate) lane: Lane,
    pub(crate) form: CodeForm,
    pub(crate) mac: &'a CodeMac,
    pub(crate) expires_at: Timestamp,
}

/// Decodes the code mailed to one group of clients (`mailed_in`: known to the account, or others), with its user;
/// `None` if no code is stored. A code without a user is never valid. The result has the number of attempts by the
/// group that entered the code (`typed_from`).
pub(crate) fn code(
    results: &Results<'_>,
    slot: Slot,
    mailed_in: Lane,
    typed_from: Lane,
) -> StoreResult<Option<(Option<UserId>, StoredCode)>> {
    let codes = results.list(slot, |cells| read_code(cells, typed_from))?;
    Ok(codes.into_iter().find(|(lane, ..)| *lane == mailed_in).map(|(_, owner, code)| (owner, code)))
}

/// Decodes the attempt counters of one group of clients (known to the account, or others); `None` if none are stored.
pub(crate) fn attempts(results: &Results<'_>, slot: Slot, from: Lane) -> StoreResult<Option<LaneAttempts>> {
    let lanes = results.list(slot, read_attempts)?;
    Ok(lanes.into_iter().find(|(lane, _)| *lane == from).map(|(_, made)| made))
}

/// Decodes all attempt counters of an email address, with their purposes and groups of clients. Counters of a purpose
/// that this version does not know, which a newer one wrote, are left out.
pub(crate) fn all_attempts(
    results: &Results<'_>,
    slot: Slot,
) -> StoreResult<Vec<(Purpose, Lane, LaneAttempts)>> {
    let rows = results.list(slot, |cells| {
        let purpose = Purpose::parse(cells.of("code_budgets").text("purpose")?);
        Ok((purpose, read_attempts(cells)?))
    })?;
    Ok(rows.into_iter().filter_map(|(purpose, (lane, made))| Some((purpose?, lane, made))).collect())
}

fn read_lane(cells: &mut Cells<'_>) -> StoreResult<Lane> {
    let lane = cells.int("lane")?;
    Lane::from_stored(lane).ok_or_else(|| cells.corrupt("lane"))
}

fn read_code(cells: &mut Cells<'_>, typed_from: Lane) -> StoreResult<(Lane, Option<UserId>, StoredCode)> {
    let lane = read_lane(cells.of("codes"))?;
    let owner = cells.maybe_id("user_id")?;
    let mac = CodeMac::from_bytes(cells.array("mac")?);
    let form = if cells.flag("long")? { CodeForm::Long } else { CodeForm::SixDigits };
    let (own, other) = (cells.count("attempts")?, cells.count("other_attempts")?);
    let attempts = if lane == typed_from { own } else { other };
    Ok((lane, owner, StoredCode { mac, form, attempts, expires_at: cells.time("expires_at")? }))
}

fn read_attempts(cells: &mut Cells<'_>) -> StoreResult<(Lane, LaneAttempts)> {
    let lane = read_lane(cells.of("code_budgets"))?;
    let hour = CodeWindow { attempts: cells.count("attempts")?, since: cells.time("since")? };
    let day = CodeWindow { attempts: cells.count("day_attempts")?, since: cells.time("day_since")? };
    Ok((lane, LaneAttempts { hour, day }))
}
