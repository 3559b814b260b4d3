//! Table `outbox`: mails to send. A worker that claims a mail gets a lease on it. The column of the next attempt is
//! then set to the end of the lease, so that this column alone tells when a mail is due.

use latchkey_domain::email::{Email, EmailKey};
use latchkey_domain::ids::{LeaseId, MailId, UserId};
use latchkey_domain::mail_kind::MailKind;
use latchkey_domain::mail_schedule::DueTerms;
use latchkey_domain::profile::Name;
use latchkey_domain::seen_device::{MAIL_INTERVAL, REMEMBERED, SeenDevice};
use latchkey_domain::session::NewSession;
use latchkey_domain::time::Timestamp;
use latchkey_domain::user::User;
use latchkey_store::{
    ClaimedMail, Lease, ListMails, ListedMail, MailKey, MailPosition, MailState, NewMail, Recipient,
    StoreResult, StoredMail,
};

use super::users;
use crate::bulk::{Table, columns};
use crate::form::{Cells, Script, Slot, statements, stored_id, values};

/// Statement that leases due mails, those written first, to a worker. The parameters are those of
/// [`DueTerms`]. Mails locked by another worker are skipped (`SKIP LOCKED`). The common table expression is
/// materialized: otherwise a plan could evaluate it twice and claim more mails than the limit.
macro_rules! claim {
    ($next_attempt_at:literal) => {
        concat!(
            "
    WITH due AS MATERIALIZED (
        SELECT m.id FROM outbox AS m
        WHERE m.state = 'queued' AND (",
            $next_attempt_at,
            " <= $1 OR ",
            $next_attempt_at,
            " > $5 AND ",
            $next_attempt_at,
            " > CASE
                WHEN m.lease_id IS NOT NULL THEN $6
                WHEN m.attempts = 0 THEN $5
                ELSE $5 + least($7 << CAST(least(m.attempts - 1, 16) AS integer), $8) END)
            AND (m.user_id IS NULL OR EXISTS (SELECT 1 FROM users AS u WHERE u.id = m.user_id))
        ORDER BY m.created_at, m.id LIMIT $2 FOR NO KEY UPDATE SKIP LOCKED
    )
    UPDATE outbox AS m SET lease_id = $3, next_attempt_at = $4, attempts = m.attempts + 1 FROM due WHERE m.id = due.id"
        )
    };
}

/// Columns of a mail without its content, in the order of [`read_listed`].
macro_rules! listed_columns {
    () => {
        "id, kind, user_id, email, state, attempts, created_at, next_attempt_at, ended_at, last_error"
    };
}

/// Condition for mails whose code or link still works: one that was written with the mail, and neither used nor replaced.
macro_rules! has_live_secret {
    () => {
        "(EXISTS (SELECT 1 FROM codes AS c WHERE c.created_at = outbox.created_at
            AND (c.user_id = outbox.user_id OR c.email_key = lower(outbox.email)))
        OR EXISTS (SELECT 1 FROM link_tokens AS t WHERE t.created_at = outbox.created_at
            AND (t.user_id = outbox.user_id OR t.email_key = lower(outbox.email))
            AND t.kind = 'link' AND t.used_at IS NULL AND t.superseded_at IS NULL))"
    };
}

/// Query for a page of the mails in one state: those on one side of the position `$2` and `$3`, to the address `$4` unless
/// it is null.
macro_rules! list_in {
    ($state:literal, $side:literal, $order:literal) => {
        concat!(
            "SELECT ",
            listed_columns!(),
            " FROM outbox WHERE state = ",
            $state,
            " AND (created_at, id) ",
            $side,
            " ($2, $3) AND lower(email) = coalesce($4, lower(email)) ORDER BY ",
            $order,
            " LIMIT $1"
        )
    };
}
/// Query for a page of the mails in any state but that of decoys.
macro_rules! list_all {
    ($side:literal, $order:literal) => {
        concat!(
            "SELECT ",
            listed_columns!(),
            " FROM (",
            list_in!("'queued'", $side, $order),
            ") AS queued UNION ALL
        SELECT ",
            listed_columns!(),
            " FROM (",
            list_in!("'sent'", $side, $order),
            ") AS sent UNION ALL
        SELECT ",
            listed_columns!(),
            " FROM (",
            list_in!("'dead'", $side, $order),
            ") AS dead
        ORDER BY ",
            $order,
            " LIMIT $1"
        )
    };
}

/// Statement that inserts a mail.
macro_rules! create {
    ($row:literal) => {
        concat!(
            "
    INSERT INTO outbox (id, kind, state, user_id, email, payload, attempts, created_at, next_attempt_at, lease_id,
        ended_at, last_error)
    ",
            $row
        )
    };
}

stored_id!(MailId);
stored_id!(LeaseId);

pub const TABLE: Table = Table::new(
    "outbox",
    1,
    columns! {
        id id, text kind, text state, id user_id, text email, bytes payload, int attempts, int created_at,
        int next_attempt_at, id lease_id, int ended_at, text last_error
    },
);

statements! {
    CREATE = create!("VALUES ($1, $2, $3, $4, $5, $6, 0, $7, $7, NULL, NULL, NULL)");
    /// Inserts the mail about a sign-in on a new device. `$7` is the session that was just opened, `$8` its
    /// device. The mail is inserted only if the owner may be notified ([`User::may_be_notified`]), the
    /// account had a session before, it got no such mail since `$9`, and the device was not seen since `$11`.
    /// A mail later than `$10` does not count: a clock that ran ahead wrote its time.
    CREATE_ABOUT_NEW_DEVICE = create!("SELECT $1, $2, $3, u.id, u.email, $5, 0, $6, $6, NULL, NULL, NULL FROM users AS u
    WHERE u.id = $4 AND u.email_verified AND u.banned_at IS NULL AND u.deletes_at IS NULL
        AND (u.device_mail_at <= $9 OR u.device_mail_at > $10)
        AND EXISTS (SELECT 1 FROM sessions WHERE id = $7)
        AND NOT EXISTS (SELECT 1 FROM seen_devices AS d WHERE d.user_id = $4 AND d.device = $8 AND d.seen_at > $11)");
    /// Leases due mails, those written first. In SQLite, the unary plus excludes `next_attempt_at` from the
    /// choice of an index, so that rows are read in the order of `outbox_by_age` and need no sorting.
    CLAIM = claim!("m.next_attempt_at"), claim!("+m.next_attempt_at");
    /// Reads the mails of a lease, oldest first. They are found by the end of the lease, which is indexed; the lease
    /// id is not. The unary plus prevents SQLite from scanning the whole queue in order of age.
    LIST_CLAIMED: read list_claimed(lease: Lease) [lease.id, lease.until] = "
    SELECT m.id, m.kind, m.email, m.payload, m.created_at, m.attempts - 1, m.user_id, coalesce(u.contested, FALSE),
        coalesce(NOT u.pending AND u.first_verified_at IS NULL, FALSE),
        EXISTS (SELECT 1 FROM credentials AS c WHERE c.user_id = u.id AND c.kind = 'password' AND NOT c.proven)
            OR u.first_verified_at IS NULL AND (EXISTS (SELECT 1 FROM identities AS i WHERE i.user_id = u.id)
                OR EXISTS (SELECT 1 FROM passkeys AS k WHERE k.user_id = u.id)),
        p.name, u.locale
    FROM outbox AS m LEFT JOIN users AS u ON u.id = m.user_id LEFT JOIN profiles AS p ON p.user_id = m.user_id
    WHERE m.state = 'queued' AND m.next_attempt_at = $2 AND m.lease_id = $1 AND (m.user_id IS NULL OR u.id IS NOT NULL)
    ORDER BY +m.created_at, m.id";
    SETTLE_SENT = "
    UPDATE outbox SET state = 'sent', payload = NULL, ended_at = $3, lease_id = NULL, last_error = NULL
    WHERE id = $1 AND lease_id = $2 AND state = 'queued'";
    SETTLE_RETRY = "
    UPDATE outbox SET next_attempt_at = $3, lease_id = NULL, last_error = $4
    WHERE id = $1 AND lease_id = $2 AND state = 'queued'";
    SETTLE_DEAD = "
    UPDATE outbox SET state = 'dead', ended_at = $3, lease_id = NULL, last_error = $4
    WHERE id = $1 AND lease_id = $2 AND state = 'queued'";
    NEXT_DUE = "
    SELECT next_attempt_at FROM outbox WHERE state = 'queued' ORDER BY next_attempt_at LIMIT 1";
    LIST = list_all!("<", "created_at DESC, id DESC");
    LIST_IN = list_in!("$5", "<", "created_at DESC, id DESC");
    LIST_NEWER = list_all!(">", "created_at, id");
    LIST_NEWER_IN = list_in!("$5", ">", "created_at, id");
    /// Counts mails by state. Each number is read from an index alone.
    COUNT: read count() = "
    SELECT (SELECT count(*) FROM outbox WHERE state = 'queued'), (SELECT count(*) FROM outbox WHERE state = 'sent'),
        (SELECT count(*) FROM outbox WHERE state = 'dead')";
    COUNT_TO: read count_to(email: &str, state: Option<&str>) = "
    SELECT count(*) FROM outbox WHERE lower(email) = $1 AND state = coalesce($2, state) AND state <> 'decoy'";
    LIST_OF_USER = concat!(
        "SELECT ", listed_columns!(), " FROM outbox
        WHERE user_id = $1 AND created_at > $2 AND state <> 'decoy' ORDER BY created_at DESC, id DESC LIMIT $3"
    );
    FIND: read find(id: MailId) = concat!(
        "SELECT ", listed_columns!(), ", payload, ", has_live_secret!(), " FROM outbox
        WHERE id = $1 AND state <> 'decoy'"
    );
    LIST_DEAD = concat!(
        "SELECT ", listed_columns!(), ", payload, ", has_live_secret!(), " FROM outbox
        WHERE state = 'dead' AND (created_at, id) < ($2, $3) ORDER BY created_at DESC, id DESC LIMIT $1"
    );
    /// Locks a mail if it is dead, and reads its user.
    LOCK_DEAD: read lock_dead(id: MailId) = "
    SELECT user_id FROM outbox WHERE id = $1 AND state = 'dead' AND payload IS NOT NULL FOR NO KEY UPDATE";
    RETRY: change retry(id: MailId, now: Timestamp) = "
    UPDATE outbox SET state = 'queued', attempts = 0, next_attempt_at = $2, ended_at = NULL
    WHERE id = $1 AND state = 'dead'";
    /// Gives up the queued mails of a kind.
    BURY_KIND: change bury_kind(kind: MailKind, now: Timestamp) [kind.as_str(), now] = "
    UPDATE outbox SET state = 'dead', ended_at = $2, lease_id = NULL, last_error = 'restored from a backup'
    WHERE state = 'queued' AND kind = $1";
    /// Gives up the queued mails that were written before `$1`.
    BURY: change bury_written_before(before: Timestamp, now: Timestamp) = "
    UPDATE outbox SET state = 'dead', ended_at = $2, lease_id = NULL, last_error = 'restored from a backup'
    WHERE state = 'queued' AND created_at < $1";
    DELETE_ALL_OF: change delete_all_of(user_id: UserId) = "DELETE FROM outbox WHERE user_id = $1";
}

#[derive(Clone, Copy)]
pub(crate) enum Address<'a> {
    /// A user with an email address.
    Of(UserId, &'a Email),
    /// An email address without an account.
    Unknown(&'a Email),
    /// No user. The mail is written so that the cost is that of a real one, but never sent (a decoy).
    Decoy(&'a EmailKey),
}

impl Address<'_> {
    pub(crate) const fn user_id(self) -> Option<UserId> {
        match self {
            Self::Of(user_id, _) => Some(user_id),
            Self::Unknown(_) | Self::Decoy(_) => None,
        }
    }
}

/// Writes the mail about a sign-in on a new device, for a session that was just opened, if the owner is to
/// get it. The transaction must hold the lock on the user's row.
pub(crate) fn notify_of_device(
    writes: &mut Script,
    user_id: UserId,
    session: &NewSession,
    (mail, device): (&NewMail, &SeenDevice),
) {
    let (kind, state, now) = (MailKind::NewDevice, MailState::Queued, session.created_at);
    let values = values![
        mail.id,
        kind.as_str(),
        state.as_str(),
        user_id,
        mail.sealed.as_slice(),
        now,
        session.id,
        device.as_str(),
        now.minus(MAIL_INTERVAL),
        now.plus(MAIL_INTERVAL),
        now.minus(REMEMBERED),
    ];
    writes.change(&CREATE_ABOUT_NEW_DEVICE, values);
}

/// Writes a mail that is due at once.
pub(crate) fn write(
    writes: &mut Script,
    mail: &NewMail,
    kind: MailKind,
    address: Address<'_>,
    now: Timestamp,
) {
    let (state, email) = match address {
        Address::Of(_, email) | Address::Unknown(email) => (MailState::Queued, email.as_typed()),
        Address::Decoy(key) => (MailState::Decoy, key.as_str()),
    };
    let sealed = mail.sealed.as_slice();
    let values = values![mail.id, kind.as_str(), state.as_str(), address.user_id(), email, sealed, now];
    writes.change(&CREATE, values);
}

/// Writes a security notification, if `mail` is given and the user may get one.
pub(crate) fn notify(
    writes: &mut Script,
    user: &User,
    mail: Option<&NewMail>,
    kind: MailKind,
    now: Timestamp,
) {
    if let Some(mail) = mail.filter(|_| user.may_be_notified(kind)) {
        write(writes, mail, kind, Address::Of(user.id, &user.email), now);
    }
}

pub(crate) fn claim(writes: &mut Script, lease: Lease, due: &DueTerms, limit: u32) {
    let values =
        values![due.now, limit, lease.id, lease.until, due.new, due.leased, due.first_ms, due.longest_ms];
    writes.change(&CLAIM, values);
}

pub(crate) fn read_claimed(cells: &mut Cells<'_>) -> StoreResult<ClaimedMail> {
    let id = cells.of("outbox").id("id")?;
    let kind = cells.parsed("kind", MailKind::parse)?;
    let email = cells.email("email")?;
    let sealed = cells.bytes("payload")?;
    let created_at = cells.time("created_at")?;
    let attempts = cells.count("attempts")?;
    let user_id = cells.maybe_id("user_id")?;
    let is_contested = cells.of("users").flag("contested")?;
    let is_entered = cells.flag("pending")?;
    let may_be_hijacked = cells.of("credentials").flag("proven")?;
    let name = cells.of("profiles").maybe_text("name")?.map(Name::from_stored);
    let locale = users::read_locale(cells)?;
    let recipient = Recipient { user_id, email, name, locale, is_contested, is_entered, may_be_hijacked };
    Ok(ClaimedMail { id, kind, recipient, sealed, created_at, attempts })
}

/// Reads a page of mails, and one more; for [`MailPosition::Before`] the oldest first.
pub(crate) fn list(reads: &mut Script, question: &ListMails) -> Slot {
    let (key, all, of_state) = match question.position {
        MailPosition::First => (newest(), &LIST, &LIST_IN),
        MailPosition::After(key) => (key, &LIST, &LIST_IN),
        MailPosition::Before(key) => (key, &LIST_NEWER, &LIST_NEWER_IN),
    };
    let to = question.to.as_ref().map(typed);
    let mut values = values![i64::from(question.limit) + 1, key.created_at, key.id, to];
    match question.state {
        Some(state) => {
            values.extend(values![state.as_str()]);
            reads.read(of_state, values)
        }
        None => reads.read(all, values),
    }
}

pub(crate) fn list_dead(reads: &mut Script, after: Option<MailKey>, limit: u32) -> Slot {
    let key = after.unwrap_or_else(newest);
    reads.read(&LIST_DEAD, values![limit, key.created_at, key.id])
}

/// Returns a place before that of every mail.
fn newest() -> MailKey {
    MailKey { created_at: Timestamp::from_millis(i64::MAX), id: MailId::new(Timestamp::default(), [0; 10]) }
}

/// Returns an address in the form that `lower(email)` has.
pub(crate) fn typed(email: &Email) -> String {
    email.as_typed().to_ascii_lowercase()
}

pub(crate) fn read_listed(cells: &mut Cells<'_>) -> StoreResult<ListedMail> {
    cells.of("outbox");
    Ok(ListedMail {
        id: cells.id("id")?,
        kind: cells.parsed("kind", MailKind::parse)?,
        user_id: cells.maybe_id("user_id")?,
        email: cells.email("email")?,
        state: cells.parsed("state", MailState::parse)?,
        attempts: cells.count("attempts")?,
        created_at: cells.time("created_at")?,
        next_attempt_at: cells.time("next_attempt_at")?,
        ended_at: cells.maybe_time("ended_at")?,
        last_error: cells.maybe_text("last_error")?,
    })
}

pub(crate) fn read_stored(cells: &mut Cells<'_>) -> StoreResult<StoredMail> {
    let mail = read_listed(cells)?;
    let sealed = cells.maybe_bytes("payload")?;
    Ok(StoredMail { mail, sealed, has_live_secret: cells.of("codes").flag("created_at")? })
}
