//! Lanes of email codes. A client that requests or enters a code is in the lane *known* if the account signed in from
//! the client recently, otherwise in the lane *other*. Each lane of an account has its own attempt counters, which also
//! decide whether the next code is long or has six digits.

use latchkey_domain::code_window::{Lane, LaneAttempts};
use latchkey_domain::codes::{CodeForm, Purpose};
use latchkey_domain::email::EmailKey;
use latchkey_domain::time::Timestamp;
use latchkey_store::{CodeLane, NewCode, NewEmailCode, NewMail, StoreResult};

use crate::form::{Results, Script, Slot};
use crate::tables::{codes, known_clients};

/// Handles of the statements that read a client's lane and the attempt counters of the lane.
#[derive(Clone, Copy)]
pub(crate) struct LaneReads {
    client: Slot,
    attempts: Slot,
}

impl LaneReads {
    /// Reads the lane of a client that requests a code, and the attempt counters of the lane.
    pub(crate) fn find(reads: &mut Script, email: &EmailKey, purpose: Purpose, lane: &CodeLane) -> Self {
        Self {
            client: known_clients::find(reads, &lane.client),
            attempts: codes::find_attempts(reads, email, purpose),
        }
    }

    /// Reads the lane of a client that enters a code, and locks the attempt counters of the lane.
    pub(crate) fn lock(reads: &mut Script, email: &EmailKey, purpose: Purpose, lane: &CodeLane) -> Self {
        Self {
            client: known_clients::find(reads, &lane.client),
            attempts: codes::lock_attempts(reads, email, purpose),
        }
    }

    /// Decodes the client's lane and the lane's attempt counters. The counters are `None` if none are stored.
    pub(crate) fn lane(
        self,
        results: &Results<'_>,
        now: Timestamp,
    ) -> StoreResult<(Lane, Option<LaneAttempts>)> {
        let lane = Lane::of(known_clients::is_known(results, self.client, now)?);
        Ok((lane, codes::attempts(results, self.attempts, lane)?))
    }

    /// Decodes the client's lane, and chooses the form of a code that the client requests: long if the lane's daily
    /// budget of attempts is used up, otherwise six digits.
    pub(crate) fn asked(self, results: &Results<'_>, code: &NewCode, now: Timestamp) -> StoreResult<Asked> {
        let (lane, made) = self.lane(results, now)?;
        let is_over = made.unwrap_or_default().is_daily_budget_used(code.lane.budget, now);
        Ok(Asked { lane, form: if is_over { CodeForm::Long } else { CodeForm::SixDigits } })
    }
}

/// Handles of the statements that read the lane of a client that requests a code; `None` if it requests a link, since
/// only codes are counted by lane.
#[derive(Clone, Copy)]
pub(crate) struct AskReads(Option<LaneReads>);

/// Lane of the client that requests a code, and form of the code to mail: six digits or long.
#[derive(Clone, Copy)]
pub(crate) struct Asked {
    pub(crate) lane: Lane,
    pub(crate) form: CodeForm,
}

impl AskReads {
    /// Reads the lane of the client, if it requests a code. Does nothing if it requests a link.
    pub(crate) fn find(
        reads: &mut Script,
        email: &EmailKey,
        purpose: Purpose,
        email_code: &NewEmailCode,
    ) -> Self {
        Self(match email_code {
            NewEmailCode::Code(code) => Some(LaneReads::find(reads, email, purpose, &code.lane)),
            NewEmailCode::Link { .. } => None,
        })
    }

    /// Decodes the lane and the form of the requested code, as [`LaneReads::asked`] does. A link has neither.
    pub(crate) fn asked(
        self,
        results: &Results<'_>,
        email_code: &NewEmailCode,
        now: Timestamp,
    ) -> StoreResult<Asked> {
        let (Some(reads), NewEmailCode::Code(code)) = (self.0, email_code) else {
            return Ok(Asked { lane: Lane::Other, form: CodeForm::SixDigits });
        };
        reads.asked(results, code, now)
    }
}

/// Chooses the mail to write: the one with the long code, or the one with the six-digit code or link.
pub(crate) fn mail_of(email_code: &NewEmailCode, mail: &NewMail, asked: Asked) -> NewMail {
    match email_code {
        NewEmailCode::Code(code) => mail_of_code(code, mail, asked),
        NewEmailCode::Link { .. } => mail.clone(),
    }
}

/// Chooses the mail with the long code or the one with the six-digit code.
pub(crate) fn mail_of_code(code: &NewCode, mail: &NewMail, asked: Asked) -> NewMail {
    match asked.form {
        CodeForm::Long => NewMail { id: mail.id, sealed: code.long_sealed.clone() },
        CodeForm::SixDigits => mail.clone(),
    }
}
