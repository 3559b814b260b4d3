//! Tables `codes` and `code_budgets`: email codes, and wrong attempts per address and lane.

use latchkey_domain::code_window::{CodeWindow, Lane, LaneAttempts};
use latchkey_domain::codes::{CodeForm, CodeMac, Purpose, StoredCode};
use latchkey_domain::email::EmailKey;
use latchkey_domain::ids::UserId;
use latchkey_domain::time::Timestamp;
use latchkey_store::StoreResult;

use crate::bulk::{Table, columns};
use crate::form::{Cells, Results, Script, Slot, Value, statements, values};

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
    SAVE_CODE = "
        INSERT INTO codes (email_key, purpose, lane, user_id, mac, long, attempts, other_attempts, created_at, expires_at)
        VALUES ($1, $2, $3, $4, $5, $6, 0, 0, $7, $8)
        ON CONFLICT (email_key, purpose, lane) DO UPDATE SET user_id = excluded.user_id, mac = excluded.mac,
            long = excluded.long, attempts = 0, other_attempts = 0, created_at = excluded.created_at,
            expires_at = excluded.expires_at";
    /// Deletes the codes of an address and purpose in every lane.
    DELETE_CODE: change delete_code(key: &str, purpose: Purpose) =
        "DELETE FROM codes WHERE email_key = $1 AND purpose = $2";
    DELETE_CODES_OF: change delete_codes_of(user_id: UserId, purpose: Purpose) =
        "DELETE FROM codes WHERE user_id = $1 AND purpose = $2";
    DELETE_ALL_CODES_OF: change delete_all_codes_of(user_id: UserId) = "DELETE FROM codes WHERE user_id = $1";
    LOCK_CODES: read lock_codes(email: &EmailKey, purpose: Purpose) = "
        SELECT lane, user_id, mac, long, attempts, other_attempts, expires_at FROM codes
        WHERE email_key = $1 AND purpose = $2 ORDER BY lane FOR NO KEY UPDATE";
    /// Counts a wrong attempt from a lane on the codes of an address and purpose.
    COUNT_ON_CODES: change count_on_codes(email: &EmailKey, purpose: Purpose, typed_from: Lane)
        [email, purpose, typed_from.as_number()] = "
        UPDATE codes SET attempts = least(attempts + CASE lane WHEN $3 THEN 1 ELSE 0 END, 1000000),
            other_attempts = least(other_attempts + CASE lane WHEN $3 THEN 0 ELSE 1 END, 1000000)
        WHERE email_key = $1 AND purpose = $2";
    /// Reads the attempt counters of an address and purpose.
    FIND_ATTEMPTS: read find_attempts(email: &EmailKey, purpose: Purpose) = "
        SELECT lane, attempts, since, day_attempts, day_since FROM code_budgets
        WHERE email_key = $1 AND purpose = $2 ORDER BY lane";
    /// Locks and reads the attempt counters of an address and purpose.
    LOCK_ATTEMPTS: read lock_attempts(email: &EmailKey, purpose: Purpose) = "
        SELECT lane, attempts, since, day_attempts, day_since FROM code_budgets
        WHERE email_key = $1 AND purpose = $2 ORDER BY lane FOR NO KEY UPDATE";
    CREATE_ATTEMPTS = "
        INSERT INTO code_budgets (email_key, purpose, lane, attempts, since, day_attempts, day_since, ends_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
    SAVE_ATTEMPTS = "
        UPDATE code_budgets SET attempts = $4, since = $5, day_attempts = $6, day_since = $7, ends_at = $8
        WHERE email_key = $1 AND purpose = $2 AND lane = $3";
}

/// A code about to be mailed in a lane.
pub(crate) struct CodeInLane<'a> {
    pub(crate) lane: Lane,
    pub(crate) form: CodeForm,
    pub(crate) mac: &'a CodeMac,
    pub(crate) expires_at: Timestamp,
}

/// Upserts the code of an address, purpose and lane. Without a user it is a decoy.
pub(crate) fn save_code(
    writes: &mut Script,
    key: &str,
    purpose: Purpose,
    user_id: Option<UserId>,
    code: &CodeInLane<'_>,
    now: Timestamp,
) {
    let (lane, is_long) = (code.lane.as_number(), code.form == CodeForm::Long);
    writes.change(&SAVE_CODE, values![key, purpose, lane, user_id, code.mac, is_long, now, code.expires_at]);
}

/// Code mailed in a lane, as seen by an attempt from that or another lane, and its user. A decoy has no user.
pub(crate) fn code(
    results: &Results<'_>,
    slot: Slot,
    mailed_in: Lane,
    typed_from: Lane,
) -> StoreResult<Option<(Option<UserId>, StoredCode)>> {
    let codes = results.list(slot, |cells| read_code(cells, typed_from))?;
    Ok(codes.into_iter().find(|(lane, ..)| *lane == mailed_in).map(|(_, owner, code)| (owner, code)))
}

/// Attempt counter of a lane, if it was found.
pub(crate) fn attempts(results: &Results<'_>, slot: Slot, from: Lane) -> StoreResult<Option<LaneAttempts>> {
    let lanes = results.list(slot, read_attempts)?;
    Ok(lanes.into_iter().find(|(lane, _)| *lane == from).map(|(_, made)| made))
}

/// Inserts the attempt counter of a lane. A concurrent insert is a unique violation, and its attempt is not lost.
pub(crate) fn create_attempts(
    writes: &mut Script,
    email: &EmailKey,
    purpose: Purpose,
    from: Lane,
    made: &LaneAttempts,
) {
    writes.change(&CREATE_ATTEMPTS, attempt_values(email, purpose, from, made));
}

/// Updates the attempt counter of a lane.
pub(crate) fn save_attempts(
    writes: &mut Script,
    email: &EmailKey,
    purpose: Purpose,
    from: Lane,
    made: &LaneAttempts,
) {
    writes.change(&SAVE_ATTEMPTS, attempt_values(email, purpose, from, made));
}

fn attempt_values(email: &EmailKey, purpose: Purpose, from: Lane, made: &LaneAttempts) -> Vec<Value> {
    let LaneAttempts { hour, day } = made;
    values![
        email,
        purpose,
        from.as_number(),
        hour.attempts,
        hour.since,
        day.attempts,
        day.since,
        made.ends_at(),
    ]
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
