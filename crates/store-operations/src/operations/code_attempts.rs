//! Judgement of entered email codes. Wrong six-digit codes are counted, separately for clients known to the account and
//! for all others. Each of these groups is called a *lane*.

use latchkey_domain::code_window::{Lane, LaneAttempts};
use latchkey_domain::codes::{CodeForm, CodeMac, Purpose, StoredCode};
use latchkey_domain::email::EmailKey;
use latchkey_domain::ids::UserId;
use latchkey_domain::time::Timestamp;
use latchkey_store::{CodeLane, StoreResult};

use super::code_lanes::LaneReads;
use crate::form::{Results, Script, Slot};
use crate::tables::codes;

/// Handles of the statements that read the codes of an email address and purpose, and the client's attempt counters.
#[derive(Clone, Copy)]
pub(crate) struct CodeReads {
    codes: Slot,
    lane: LaneReads,
}

/// Owner of the mailbox that a code was mailed to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum CodeOwner {
    User(UserId),
    /// Address without an account. A code for sign-in creates the account; codes of other purposes can never be used.
    NoAccount,
}

/// An attempt to redeem a code: the text that a client entered, and its context.
pub(crate) struct Tried<'a> {
    pub(crate) email: &'a EmailKey,
    pub(crate) purpose: Purpose,
    pub(crate) mac: &'a CodeMac,
    pub(crate) form: CodeForm,
    pub(crate) lane: &'a CodeLane,
    pub(crate) now: Timestamp,
}

impl CodeReads {
    /// Adds the statements that lock and read the codes of an email address and purpose, and the attempt
    /// counters. An earlier statement must lock the user's row.
    pub(crate) fn lock(script: &mut Script, email: &EmailKey, purpose: Purpose, lane: &CodeLane) -> Self {
        Self {
            codes: codes::lock_codes(script, email, purpose),
            lane: LaneReads::lock(script, email, purpose, lane),
        }
    }

    /// Checks an entered code, and returns whether it is right. Clients from which the user signed in before and all
    /// other clients have codes of their own; a right code deletes both. A wrong code counts as an attempt if it has six
    /// digits; a long one does not. If `owner` is `None`, no account belongs to the code, and every code is wrong.
    pub(crate) fn redeem(
        self,
        results: &Results<'_>,
        writes: &mut Script,
        tried: &Tried<'_>,
        owner: Option<CodeOwner>,
    ) -> StoreResult<bool> {
        let (lane, made) = self.lane.lane(results, tried.now)?;
        let opened = self.owner_of_opened(results, tried, lane, made.unwrap_or_default())?;
        let is_right = opened.is_some() && opened == owner;
        if is_right {
            codes::delete_code(writes, tried.email.as_str(), tried.purpose);
        } else if tried.form == CodeForm::SixDigits {
            count(writes, (tried.email, tried.purpose), lane, made, tried.now);
        }
        Ok(is_right)
    }

    /// Returns the owner of the stored code that the entered code matches. It is compared with both stored codes: the
    /// one mailed to known clients and the one mailed to all others.
    fn owner_of_opened(
        self,
        results: &Results<'_>,
        tried: &Tried<'_>,
        lane: Lane,
        made: LaneAttempts,
    ) -> StoreResult<Option<CodeOwner>> {
        let mut opened = None;
        for mailed_in in Lane::ALL {
            let found = codes::code(results, self.codes, mailed_in, lane)?;
            let (owner, code) = found.unwrap_or((None, no_code()));
            if code.accepts(tried.mac, made, tried.lane.budget, tried.now) {
                opened = Some(owner.map_or(CodeOwner::NoAccount, CodeOwner::User));
            }
        }
        Ok(opened)
    }
}

/// Counts a wrong attempt twice: on each stored code, and in the counter of the client's group (known to the account,
/// or other).
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
    };
}

/// Returns a placeholder that is used if no code is stored. It has expired, and is compared like a stored
/// code, so that both cases cost the same.
const fn no_code() -> StoredCode {
    StoredCode {
        mac: CodeMac::from_bytes([0; 32]),
        form: CodeForm::SixDigits,
        attempts: 0,
        expires_at: Timestamp::from_millis(i64::MIN),
    }
}
