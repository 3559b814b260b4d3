//! Separate counters of wrong email codes for two groups of clients. A client that requests or enters a code is *known*
//! if the account signed in from it recently, otherwise *other*. The code calls such a group a *lane*. The counters of
//! a lane also decide whether its next code has six digits or is long.

use latchkey_domain::code_window::{Lane, LaneAttempts};
use latchkey_domain::codes::{CodeForm, Purpose};
use latchkey_domain::email::EmailKey;
use latchkey_domain::time::Timestamp;
use latchkey_store::{CodeLane, NewCode, NewEmailCode, NewMail, StoreResult};

use crate::form::{Results, Script, Slot};
use crate::tables::{codes, known_clients};

/// Handles of the statements that read whether a client is known to the account, and the attempt counters of its lane
/// (known or other clients).
#[derive(Clone, Copy)]
pub(crate) struct LaneReads {
    client: Slot,
    attempts: Slot,
}

impl LaneReads {
    /// Adds the statements that read whether the client that requests a code is known to the account, and the
    /// attempt counters.
    pub(crate) fn find(reads: &mut Script, email: &EmailKey, purpose: Purpose, lane: &CodeLane) -> Self {
        Self {
            client: known_clients::find(reads, &lane.client),
            attempts: codes::find_attempts(reads, email, purpose),
        }
    }

    /// Adds the statements that read whether the client that enters a code is known to the account, and that
    /// lock and read the attempt counters.
    pub(crate) fn lock(reads: &mut Script, email: &EmailKey, purpose: Purpose, lane: &CodeLane) -> Self {
        Self {
            client: known_clients::find(reads, &lane.client),
            attempts: codes::lock_attempts(reads, email, purpose),
        }
    }

    /// Decodes the client's lane (known or other), and the attempt counters of the lane. The counters are `None` if
    /// none are stored.
    pub(crate) fn lane(
        self,
        results: &Results<'_>,
        now: Timestamp,
    ) -> StoreResult<(Lane, Option<LaneAttempts>)> {
        let lane = Lane::of(known_clients::is_known(results, self.client, now)?);
        Ok((lane, codes::attempts(results, self.attempts, lane)?))
    }

    /// Decodes the client's lane (known or other), and chooses the form of the requested code: long if the lane has
    /// used up its attempts of the day, otherwise six digits.
    pub(crate) fn asked(self, results: &Results<'_>, code: &NewCode, now: Timestamp) -> StoreResult<Asked> {
        let (lane, made) = self.lane(results, now)?;
        let is_over = made.unwrap_or_default().is_daily_budget_used(code.lane.budget, now);
        Ok(Asked { lane, form: if is_over { CodeForm::Long } else { CodeForm::SixDigits } })
    }
}

/// Handles of the statements that read the lane (known or other) of a client that requests a code. `None` if it
/// requests a link, which has no counters.
#[derive(Clone, Copy)]
pub(crate) struct AskReads(Option<LaneReads>);

/// Lane of the client that requests a code (known or other), and form of the code to mail: six digits or long.
#[derive(Clone, Copy)]
pub(crate) struct Asked {
    pub(crate) lane: Lane,
    pub(crate) form: CodeForm,
}

impl AskReads {
    /// Adds the statements for the request of a code, as [`LaneReads::find`] does. Adds none for the request
    /// of a link.
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

    /// Decodes the client's lane (known or other) and the form of the requested code, as [`LaneReads::asked`]
    /// does. For a link, which has neither, the result is a placeholder.
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
