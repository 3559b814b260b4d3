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
use tokio_postgres::Row;

use crate::errors::Fallible;
use crate::rows::Cells;
use crate::script::Script;
use crate::store::PostgresStore;
use crate::values::values;

const CREATE_MAIL: &str = "
    INSERT INTO outbox (id, kind, state, user_id, email, payload, attempts, created_at, next_attempt_at, lease_id,
        ended_at, last_error)
    VALUES ($1, $2, $3, $4, $5, $6, 0, $7, $7, NULL, NULL, NULL)";
/// Mails that somebody else is claiming at this moment are passed over. The numbers are those of
/// [`latchkey_domain::mail_schedule::DueTerms`].
const CLAIM_MAILS: &str = "
    WITH due AS MATERIALIZED (
        SELECT m.id FROM outbox AS m
        WHERE m.state = 'queued' AND (m.next_attempt_at <= $1 OR m.next_attempt_at > $5 AND m.next_attempt_at > CASE
                WHEN m.lease_id IS NOT NULL THEN $6
                WHEN m.attempts = 0 THEN $5
                ELSE $5 + least($7 << least(m.attempts - 1, 16)::int, $8) END)
            AND EXISTS (SELECT 1 FROM users AS u WHERE u.id = m.user_id)
        ORDER BY m.created_at, m.id LIMIT $2 FOR NO KEY UPDATE OF m SKIP LOCKED
    ), leased AS (
        UPDATE outbox AS m SET lease_id = $3, next_attempt_at = $4, attempts = m.attempts + 1
        FROM due WHERE m.id = due.id
        RETURNING m.id, m.kind, m.email, m.payload, m.created_at, m.attempts - 1 AS attempts, m.user_id
    )
    SELECT m.id, m.kind, m.email, m.payload, m.created_at, m.attempts, m.user_id, u.contested, p.name
    FROM leased AS m JOIN users AS u ON u.id = m.user_id LEFT JOIN profiles AS p ON p.user_id = m.user_id
    ORDER BY m.created_at, m.id";
const SETTLE_SENT: &str = "
    UPDATE outbox SET state = 'sent', payload = NULL, ended_at = $3, lease_id = NULL, last_error = NULL
    WHERE id = $1 AND lease_id = $2 AND state = 'queued'";
const SETTLE_RETRY: &str = "
    UPDATE outbox SET next_attempt_at = $3, lease_id = NULL, last_error = $4
    WHERE id = $1 AND lease_id = $2 AND state = 'queued'";
const SETTLE_DEAD: &str = "
    UPDATE outbox SET state = 'dead', ended_at = $3, lease_id = NULL, last_error = $4
    WHERE id = $1 AND lease_id = $2 AND state = 'queued'";
const NEXT_DUE: &str = "
    SELECT next_attempt_at FROM outbox WHERE state = 'queued' ORDER BY next_attempt_at LIMIT 1";
const LIST_MAILS: &str = "
    SELECT id, kind, email, state, attempts, created_at, next_attempt_at, last_error FROM outbox
    WHERE state <> 'decoy' ORDER BY created_at DESC, id DESC LIMIT $1";
const LIST_MAILS_IN: &str = "
    SELECT id, kind, email, state, attempts, created_at, next_attempt_at, last_error FROM outbox
    WHERE state = $2 AND state <> 'decoy' ORDER BY created_at DESC, id DESC LIMIT $1";
const RETRY_MAIL: &str = "
    UPDATE outbox SET state = 'queued', attempts = 0, next_attempt_at = $2, ended_at = NULL
    WHERE id = $1 AND state = 'dead'";
const RETRY_ALL: &str = "
    UPDATE outbox SET state = 'queued', attempts = 0, next_attempt_at = $1, ended_at = NULL WHERE state = 'dead'";

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
    writes: &mut Script,
    mail: &NewMail,
    kind: MailKind,
    address: Address<'_>,
    now: Timestamp,
) {
    let (state, email) = match address {
        Address::Of(_, email) => (MailState::Queued, email.as_typed()),
        Address::Decoy(key) => (MailState::Decoy, key.as_str()),
    };
    let sealed = mail.sealed.as_slice();
    let values = values![mail.id, kind.as_str(), state.as_str(), address.user_id(), email, sealed, now];
    writes.add(CREATE_MAIL, values);
}

#[async_trait]
impl Outbox for PostgresStore {
    async fn claim_mails(
        &self,
        lease: Lease,
        schedule: &MailSchedule,
        limit: u32,
        now: Timestamp,
    ) -> StoreResult<Vec<ClaimedMail>> {
        let due = schedule.due_terms(now);
        let values =
            values![due.now, limit, lease.id, lease.until, due.new, due.leased, due.first_ms, due.longest_ms];
        let claimed = self.tell(CLAIM_MAILS, values).await?;
        Ok(claimed.list(read_claimed)?)
    }

    async fn settle_mail(
        &self,
        id: MailId,
        lease: LeaseId,
        fate: MailFate,
        now: Timestamp,
    ) -> StoreResult<bool> {
        let settled = match fate {
            MailFate::Sent => self.tell(SETTLE_SENT, values![id, lease, now]).await?,
            MailFate::RetryAt { at, error } => self.tell(SETTLE_RETRY, values![id, lease, at, error]).await?,
            MailFate::Dead { error } => self.tell(SETTLE_DEAD, values![id, lease, now, error]).await?,
        };
        Ok(settled.affected > 0)
    }

    async fn next_mail_due(&self) -> StoreResult<Option<Timestamp>> {
        let found = self.ask(NEXT_DUE, Vec::new()).await?;
        Ok(found.find(|row| Cells::new(row, "outbox").time("next_attempt_at"))?)
    }

    async fn list_mails(&self, state: Option<MailState>, limit: u32) -> StoreResult<Vec<ListedMail>> {
        let found = match state {
            Some(state) => self.ask(LIST_MAILS_IN, values![limit, state.as_str()]).await?,
            None => self.ask(LIST_MAILS, values![limit]).await?,
        };
        Ok(found.list(read_listed)?)
    }

    async fn retry_mails(&self, id: Option<MailId>, now: Timestamp) -> StoreResult<u64> {
        let retried = match id {
            Some(id) => self.tell(RETRY_MAIL, values![id, now]).await?,
            None => self.tell(RETRY_ALL, values![now]).await?,
        };
        Ok(retried.affected)
    }
}

fn read_claimed(row: &Row) -> Fallible<ClaimedMail> {
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

fn read_listed(row: &Row) -> Fallible<ListedMail> {
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
