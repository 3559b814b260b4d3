//! Lane of a client that requests or enters an email code, and the form of the mailed code.

use latchkey_domain::code_window::{Lane, LaneAttempts};
use latchkey_domain::codes::{CodeForm, Purpose};
use latchkey_domain::email::EmailKey;
use latchkey_domain::time::Timestamp;
use latchkey_store::{CodeLane, NewEmailCode, NewMail, StoreResult};

use crate::form::{Results, Script, Slot};
use crate::tables::{codes, known_clients};

/// Slots of the reads that determine a lane.
#[derive(Clone, Copy)]
pub(crate) struct LaneReads {
    client: Slot,
    attempts: Slot,
}

impl LaneReads {
    /// Reads the lane of a requester.
    pub(crate) fn find(reads: &mut Script, email: &EmailKey, purpose: Purpose, lane: &CodeLane) -> Self {
        Self {
            client: known_clients::find(reads, &lane.client),
            attempts: codes::find_attempts(reads, email, purpose),
        }
    }

    /// Reads the lane of a client that enters a code, and locks its attempt counter.
    pub(crate) fn lock(reads: &mut Script, email: &EmailKey, purpose: Purpose, lane: &CodeLane) -> Self {
        Self {
            client: known_clients::find(reads, &lane.client),
            attempts: codes::lock_attempts(reads, email, purpose),
        }
    }

    /// Lane and its attempt counter; `None` without a row.
    pub(crate) fn lane(
        self,
        results: &Results<'_>,
        now: Timestamp,
    ) -> StoreResult<(Lane, Option<LaneAttempts>)> {
        let lane = Lane::of(known_clients::is_known(results, self.client, now)?);
        Ok((lane, codes::attempts(results, self.attempts, lane)?))
    }
}

/// Reads needed before a code is written. A link has no lane.
#[derive(Clone, Copy)]
pub(crate) struct AskReads(Option<LaneReads>);

/// Lane and form of the code to mail.
#[derive(Clone, Copy)]
pub(crate) struct Asked {
    pub(crate) lane: Lane,
    pub(crate) form: CodeForm,
}

impl AskReads {
    /// Reads the lane of the requester of a code.
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

    /// Lane, and the form that codes have in it.
    pub(crate) fn asked(
        self,
        results: &Results<'_>,
        email_code: &NewEmailCode,
        now: Timestamp,
    ) -> StoreResult<Asked> {
        let (Some(reads), NewEmailCode::Code(code)) = (self.0, email_code) else {
            return Ok(Asked { lane: Lane::Other, form: CodeForm::SixDigits });
        };
        let (lane, made) = reads.lane(results, now)?;
        let is_over = made.unwrap_or_default().is_daily_budget_used(code.lane.budget, now);
        Ok(Asked { lane, form: if is_over { CodeForm::Long } else { CodeForm::SixDigits } })
    }
}

/// Mail of a code or link, with the code in its form.
pub(crate) fn mail_of(email_code: &NewEmailCode, mail: &NewMail, asked: Asked) -> NewMail {
    match email_code {
        NewEmailCode::Code(code) if asked.form == CodeForm::Long => {
            NewMail { id: mail.id, sealed: code.long_sealed.clone() }
        }
        _ => mail.clone(),
    }
}
