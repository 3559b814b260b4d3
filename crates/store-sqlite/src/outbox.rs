//! The outbox. A claim moves a mail's next attempt to the end of its lease, so that "due" is one column.

use async_trait::async_trait;
use latchkey_domain::email::{Email, EmailKey};
use latchkey_domain::ids::{LeaseId, MailId, UserId};
use latchkey_domain::mail_schedule::MailSchedule;
use latchkey_domain::profile::Name;
use latchkey_domain::time::Timestamp;
use latchkey_store::{
    ClaimedMail, Lease, ListedMail, MailFate, MailKind, MailState, NewMail, Outbox, Recipient, StoreResult,
};
use rusqlite::{Connection, Row, params};

use crate::errors::Fallible;
use crate::rows::{Cells, Id};
use crate::statements::{execute, find, list};
use crate::store::SqliteStore;

const CREATE_MAIL: &str = "
    INSERT INTO outbox (id, kind, state, user_id, email, payload, attempts, created_at, next_attempt_at, lease_id,
        ended_at, last_error)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, 0, ?7, ?7, NULL, NULL, NULL)";
// The plus keeps the order of age, in which the index stands, from being sorted anew. The numbers are those of
// `latchkey_domain::mail_schedule::DueTerms`.
const LIST_DUE: &str = "
    SELECT m.id, m.kind, m.email, m.payload, m.created_at, m.attempts, m.user_id, u.contested, p.name
    FROM outbox AS m JOIN users AS u ON u.id = m.user_id LEFT JOIN profiles AS p ON p.user_id = m.user_id
    WHERE m.state = 'queued' AND (+m.next_attempt_at <= ?1 OR +m.next_attempt_at > ?3 AND +m.next_attempt_at > CASE
        WHEN m.lease_id IS NOT NULL THEN ?4
        WHEN m.attempts = 0 THEN ?3
        ELSE ?3 + min(?5 << min(m.attempts - 1, 16), ?6) END)
    ORDER BY m.created_at, m.id LIMIT ?2";
const LEASE_MAIL: &str = "
    UPDATE outbox SET lease_id = ?2, next_attempt_at = ?3, attempts = attempts + 1 WHERE id = ?1";
const SETTLE_SENT: &str = "
    UPDATE outbox SET state = 'sent', payload = NULL, ended_at = ?3, lease_id = NULL, last_error = NULL
    WHERE id = ?1 AND lease_id = ?2 AND state = 'queued'";
const SETTLE_RETRY: &str = "
    UPDATE outbox SET next_attempt_at = ?3, lease_id = NULL, last_error = ?4
    WHERE id = ?1 AND lease_id = ?2 AND state = 'queued'";
const SETTLE_DEAD: &str = "
    UPDATE outbox SET state = 'dead', ended_at = ?3, lease_id = NULL, last_error = ?4
    WHERE id = ?1 AND lease_id = ?2 AND state = 'queued'";
const NEXT_DUE: &str = "
    SELECT next_attempt_at FROM outbox WHERE state = 'queued' ORDER BY next_attempt_at LIMIT 1";
const LIST_MAILS: &str = "
    SELECT id, kind, email, state, attempts, created_at, next_attempt_at, last_error FROM outbox
    WHERE state <> 'decoy' ORDER BY created_at DESC, id DESC LIMIT ?1";
const LIST_MAILS_IN: &str = "
    SELECT id, kind, email, state, attempts, created_at, next_attempt_at, last_error FROM outbox
    WHERE state = ?2 AND state <> 'decoy' ORDER BY created_at DESC, id DESC LIMIT ?1";
const RETRY_MAIL: &str = "
    UPDATE outbox SET state = 'queued', attempts = 0, next_attempt_at = ?2, ended_at = NULL
    WHERE id = ?1 AND state = 'dead'";
const RETRY_ALL: &str = "
    UPDATE outbox SET state = 'queued', attempts = 0, next_attempt_at = ?1, ended_at = NULL WHERE state = 'dead'";

/// Where a new mail goes.
#[derive(Clone, Copy)]
pub(crate) enum Address<'a> {
    /// To a user.
    Of(UserId, &'a Email),
    /// Nowhere: it only costs what a real one costs.
    Decoy(&'a EmailKey),
}

impl Address<'_> {
    /// Whose it is.
    pub(crate) const fn user_id(self) -> Option<UserId> {
        match self {
            Self::Of(user_id, _) => Some(user_id),
            Self::Decoy(_) => None,
        }
    }
}

/// Writes a mail, due at once.
pub(crate) fn write(
    conn: &Connection,
    mail: &NewMail,
    kind: MailKind,
    address: Address<'_>,
    now: Timestamp,
) -> Fallible<()> {
    let (state, email) = match address {
        Address::Of(_, email) => (MailState::Queued, email.as_typed()),
        Address::Decoy(key) => (MailState::Decoy, key.as_str()),
    };
    let user_id = address.user_id().map(|id| id.blob());
    let params =
        params![mail.id.blob(), kind.as_str(), state.as_str(), user_id, email, mail.sealed, now.as_millis()];
    execute(conn, CREATE_MAIL, params)?;
    Ok(())
}

#[async_trait]
impl Outbox for SqliteStore {
    async fn claim_mails(
        &self,
        lease: Lease,
        schedule: &MailSchedule,
        limit: u32,
        now: Timestamp,
    ) -> StoreResult<Vec<ClaimedMail>> {
        let due = schedule.due_terms(now);
        self.write(move |conn| {
            let (now, new, leased) = (due.now.as_millis(), due.new.as_millis(), due.leased.as_millis());
            let params = params![now, limit, new, leased, due.first_ms, due.longest_ms];
            let mails = list(conn, LIST_DUE, params, read_claimed)?;
            for mail in &mails {
                let params = params![mail.id.blob(), lease.id.blob(), lease.until.as_millis()];
                execute(conn, LEASE_MAIL, params)?;
            }
            Ok(mails)
        })
        .await
    }

    async fn settle_mail(
        &self,
        id: MailId,
        lease: LeaseId,
        fate: MailFate,
        now: Timestamp,
    ) -> StoreResult<bool> {
        self.write(move |conn| {
            let (id, lease) = (id.blob(), lease.blob());
            let settled = match fate {
                MailFate::Sent => execute(conn, SETTLE_SENT, params![id, lease, now.as_millis()])?,
                MailFate::RetryAt { at, error } => {
                    execute(conn, SETTLE_RETRY, params![id, lease, at.as_millis(), error])?
                }
                MailFate::Dead { error } => {
                    execute(conn, SETTLE_DEAD, params![id, lease, now.as_millis(), error])?
                }
            };
            Ok(settled > 0)
        })
        .await
    }

    async fn next_mail_due(&self) -> StoreResult<Option<Timestamp>> {
        self.read(|conn| find(conn, NEXT_DUE, [], |row| Cells::new(row, "outbox").time("next_attempt_at")))
    }

    async fn list_mails(&self, state: Option<MailState>, limit: u32) -> StoreResult<Vec<ListedMail>> {
        self.read_long(move |conn| match state {
            Some(state) => list(conn, LIST_MAILS_IN, params![limit, state.as_str()], read_listed),
            None => list(conn, LIST_MAILS, params![limit], read_listed),
        })
        .await
    }

    async fn retry_mails(&self, id: Option<MailId>, now: Timestamp) -> StoreResult<u64> {
        self.write(move |conn| {
            let retried = match id {
                Some(id) => execute(conn, RETRY_MAIL, params![id.blob(), now.as_millis()])?,
                None => execute(conn, RETRY_ALL, params![now.as_millis()])?,
            };
            Ok(retried as u64)
        })
        .await
    }
}

fn read_claimed(row: &Row<'_>) -> Fallible<ClaimedMail> {
    let mut cells = Cells::new(row, "outbox");
    let id = cells.id("id")?;
    let kind = cells.parsed("kind", MailKind::from_stored)?;
    let email = cells.email("email")?;
    let sealed = cells.bytes("payload")?;
    let created_at = cells.time("created_at")?;
    let attempts = cells.count("attempts")?;
    let user_id = cells.id("user_id")?;
    let is_contested = cells.of("users").flag("contested")?;
    let name = cells.of("profiles").maybe_text("name")?.map(Name::from_stored);
    let recipient = Recipient { user_id, email, name, is_contested };
    Ok(ClaimedMail { id, kind, recipient, sealed, created_at, attempts })
}

fn read_listed(row: &Row<'_>) -> Fallible<ListedMail> {
    let mut cells = Cells::new(row, "outbox");
    Ok(ListedMail {
        id: cells.id("id")?,
        kind: cells.parsed("kind", MailKind::from_stored)?,
        email: cells.email("email")?,
        state: cells.parsed("state", MailState::from_stored)?,
        attempts: cells.count("attempts")?,
        created_at: cells.time("created_at")?,
        next_attempt_at: cells.time("next_attempt_at")?,
        last_error: cells.maybe_text("last_error")?,
    })
}
