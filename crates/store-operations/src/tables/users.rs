//! The tables `users` and `credentials`.

mod rows;

use latchkey_domain::email::{Email, EmailKey};
use latchkey_domain::email_verification::AccountFacts;
use latchkey_domain::ids::UserId;
use latchkey_domain::password::PasswordHash;
use latchkey_domain::time::Timestamp;
use latchkey_domain::user::{AppMetadata, User};
use latchkey_store::{NewAccount, SIGN_UP_PURGE_BATCH, StoreError, StoreResult, UserPosition};

pub(crate) use rows::read_account;

use crate::bulk::{Table, columns};
use crate::form::{Results, Script, Slot, object_text, statements, values};

/// Columns read by [`read_account`], in order.
macro_rules! account_columns {
    () => {
        "u.id, u.email, u.email_verified, u.first_verified_at, u.pending, u.contested, u.banned_at, u.metadata,
        u.created_at, u.updated_at, c.data, coalesce(c.proven, FALSE),
        (SELECT string_agg(i.provider, ' ') FROM identities AS i WHERE i.user_id = u.id),
        p.user_id IS NOT NULL, p.name, p.avatar_url"
    };
}
/// Tables of [`account_columns`].
macro_rules! account_tables {
    () => {
        "users AS u
        LEFT JOIN credentials AS c ON c.user_id = u.id AND c.kind = 'password'
        LEFT JOIN profiles AS p ON p.user_id = u.id"
    };
}
/// Id of the user of an address; without such a user, any other id, so that both cases cost the same.
macro_rules! key_or_any {
    () => {
        "coalesce((SELECT id FROM users WHERE email_key = $1), (SELECT id FROM users ORDER BY id DESC LIMIT 1))"
    };
}
pub(crate) use {account_columns, account_tables, key_or_any};

/// Condition of an admin's search: a lower-case text, and the id that it may be. `lower` folds ASCII only; in
/// PostgreSQL because of the columns' collation.
macro_rules! is_found {
    () => {
        "(u.id = $2 OR strpos(lower(u.email), $1) > 0 OR strpos(u.email_key, $1) > 0
            OR strpos(lower(p.name), $1) > 0)"
    };
}
/// Page of users, newest first.
macro_rules! list_users {
    ($condition:expr, $limit:literal) => {
        concat!(
            "SELECT ",
            account_columns!(),
            " FROM ",
            account_tables!(),
            $condition,
            " ORDER BY u.created_at DESC, u.id DESC LIMIT ",
            $limit
        )
    };
}

pub const TABLE: Table = Table::new(
    "users",
    1,
    columns! {
        id id, text email, text email_key, flag email_verified, int first_verified_at, flag pending, flag contested,
        int banned_at, text metadata, text locale, text pending_email, int created_at, int updated_at,
        int signed_up_at
    },
);

pub const CREDENTIALS: Table = Table::new(
    "credentials",
    2,
    columns! {
        id user_id, text kind, text data, int created_at, int updated_at, flag proven
    },
);

statements! {
    /// Account by id.
    FIND_BY_ID: read find_by_id(id: UserId) =
        concat!("SELECT ", account_columns!(), " FROM ", account_tables!(), " WHERE u.id = $1");
    /// Account by address.
    FIND_BY_KEY: read find_by_key(email: &EmailKey) =
        concat!("SELECT ", account_columns!(), " FROM ", account_tables!(), " WHERE u.email_key = $1");
    /// Reads the account of an address at constant cost: without such a user another account is read, and
    /// [`account_of_key`] drops it.
    FIND_BY_KEY_OR_ANY: read find_by_key_at_constant_cost(email: &EmailKey) =
        concat!("SELECT ", account_columns!(), " FROM ", account_tables!(), " WHERE u.id = ", key_or_any!());
    /// Looks for another user with the address.
    FIND_OTHER_OWNER: read find_other_owner(email: &EmailKey, id: UserId) =
        "SELECT 1 FROM users WHERE email_key = $1 AND id <> $2";
    /// Locks a user, so that the account cannot change until the end of the transaction.
    LOCK_BY_ID: read lock_by_id(id: UserId) = "SELECT 1 FROM users WHERE id = $1 FOR NO KEY UPDATE";
    LOCK_BY_KEY = "SELECT 1 FROM users WHERE email_key = $1 FOR NO KEY UPDATE";
    /// Locks a shared placeholder row if no user was locked, in a mode compatible with itself.
    LOCK_DECOY = "
    SELECT 1 FROM health WHERE id = 1 AND NOT EXISTS (SELECT 1 FROM users WHERE email_key = $1) FOR KEY SHARE";
    /// Locks a user about to be deleted. Also waits for transactions that insert rows of the user.
    LOCK_TO_DELETE: read lock_to_delete(id: UserId) = "SELECT 1 FROM users WHERE id = $1 FOR UPDATE";
    /// Locks a batch of pending users whose last sign-up is not later than `until`, oldest first, and skips locked
    /// ones.
    LOCK_STALE_SIGN_UPS: read lock_stale_sign_ups(until: Timestamp) [until, SIGN_UP_PURGE_BATCH] = "
    SELECT id FROM users WHERE pending AND banned_at IS NULL AND signed_up_at <= $1 ORDER BY signed_up_at LIMIT $2
    FOR UPDATE SKIP LOCKED";
    COUNT_ALL = "SELECT count(*) FROM users";
    COUNT_FOUND = concat!("SELECT count(*) FROM ", account_tables!(), " WHERE ", is_found!());
    LIST_ALL_FROM = concat!(list_users!("", "$1"), " OFFSET $2");
    LIST_ALL_AFTER = list_users!(" WHERE (u.created_at, u.id) < ($2, $3)", "$1");
    LIST_FOUND_FROM = concat!(list_users!(concat!(" WHERE ", is_found!()), "$3"), " OFFSET $4");
    LIST_FOUND_AFTER =
        list_users!(concat!(" WHERE (u.created_at, u.id) < ($4, $5) AND ", is_found!()), "$3");
    /// Starts the savepoint that [`KEEP`] releases or [`TAKE_BACK`] rolls back.
    SAVE_POINT = "SAVEPOINT account";
    KEEP = "RELEASE account";
    TAKE_BACK = "ROLLBACK TO account";
    CREATE_USER = "
    INSERT INTO users (id, email, email_key, email_verified, first_verified_at, pending, contested, banned_at, metadata,
        locale, pending_email, created_at, updated_at, signed_up_at)
    VALUES ($1, $2, $3, $4, $5, $6, FALSE, NULL, $7, NULL, NULL, $8, $8, $9)";
    /// Upserts a password and whether it is proven.
    SAVE_PASSWORD = "
    INSERT INTO credentials (user_id, kind, data, proven, created_at, updated_at)
    VALUES ($1, 'password', $2, $3, $4, $4)
    ON CONFLICT (user_id, kind)
    DO UPDATE SET data = excluded.data, proven = excluded.proven, updated_at = excluded.updated_at";
    /// Replaces or rehashes the password and keeps whether it is proven.
    CHANGE_PASSWORD: change change_password(id: UserId, password: &PasswordHash, now: Timestamp)
        [id, password.as_str(), now] =
        "UPDATE credentials SET data = $2, updated_at = $3 WHERE user_id = $1 AND kind = 'password'";
    /// Marks the password as proven, if there is one.
    PROVE_PASSWORD: change prove_password(id: UserId) =
        "UPDATE credentials SET proven = TRUE WHERE user_id = $1 AND kind = 'password'";
    DELETE_PASSWORD: change delete_password(id: UserId) =
        "DELETE FROM credentials WHERE user_id = $1 AND kind = 'password'";
    /// Updates the user's time of change.
    TOUCH: change touch(id: UserId, now: Timestamp) =
        "UPDATE users SET updated_at = greatest(updated_at, $2) WHERE id = $1";
    /// Records another sign-up for a pending account.
    RENEW_SIGN_UP: change renew_sign_up(id: UserId, now: Timestamp) =
        "UPDATE users SET signed_up_at = $2 WHERE id = $1";
    /// Marks the account as contested: until its mailbox is proven, nothing in it is known to be its owner's.
    CONTEST: change contest(id: UserId, now: Timestamp) =
        "UPDATE users SET contested = TRUE, updated_at = greatest(updated_at, $2) WHERE id = $1";
    /// Marks the address as verified, and the account as neither pending nor contested.
    PROVE: change prove(id: UserId, now: Timestamp) = "
    UPDATE users SET email_verified = TRUE, first_verified_at = coalesce(first_verified_at, $2), pending = FALSE,
        contested = FALSE, signed_up_at = NULL, updated_at = greatest(updated_at, $2)
    WHERE id = $1";
    /// Ends the pending state. The profile appears in search only after `profiles::show_or_hide`.
    PEND_NO_MORE: change pend_no_more(id: UserId, now: Timestamp) = "
    UPDATE users SET pending = FALSE, signed_up_at = NULL, updated_at = greatest(updated_at, $2)
    WHERE id = $1 AND pending";
    SET_EMAIL: change set_email(id: UserId, email: &Email) [id, email.as_typed(), email.key()] =
        "UPDATE users SET email = $2, email_key = $3 WHERE id = $1";
    SET_UNVERIFIED: change set_unverified(id: UserId) = "UPDATE users SET email_verified = FALSE WHERE id = $1";
    /// Bans, or lifts the ban.
    SET_BANNED: change set_banned(id: UserId, banned_at: Option<Timestamp>) =
        "UPDATE users SET banned_at = $2 WHERE id = $1";
    SET_METADATA = "UPDATE users SET metadata = $2 WHERE id = $1";
    /// Deletes a user and, by cascade, most of its rows.
    DELETE_USER: change delete(id: UserId) = "DELETE FROM users WHERE id = $1";
}

/// A user, and account data that never leaves the store.
pub(crate) struct Account {
    pub(crate) user: User,
    pub(crate) password: Option<PasswordHash>,
    /// True if the password is known to come from the mailbox's owner.
    pub(crate) has_proven_password: bool,
    /// Time of the first proof of the mailbox.
    pub(crate) first_verified_at: Option<Timestamp>,
}

impl Account {
    /// Facts that decide the effects of a proof.
    pub(crate) fn standing(&self) -> AccountFacts {
        AccountFacts {
            was_ever_verified: self.first_verified_at.is_some(),
            is_pending: self.user.is_pending,
            is_contested: self.user.is_contested,
            has_credentials: self.user.has_password || !self.user.identities.is_empty(),
            has_unproven_password: self.password.is_some() && !self.has_proven_password,
        }
    }
}

/// State of a new account.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pending {
    Yes,
    No,
}

/// Inserts a new account under an address key: user, password, profile.
pub(crate) fn insert(
    script: &mut Script,
    account: &NewAccount,
    key: &str,
    pending: Pending,
) -> StoreResult<()> {
    let values = values![
        account.id,
        account.email.as_typed(),
        key,
        account.email_verified,
        account.email_verified.then_some(account.now),
        pending == Pending::Yes,
        object_text(account.metadata.as_map())?,
        account.now,
        (pending == Pending::Yes).then_some(account.now),
    ];
    script.change(&CREATE_USER, values);
    if let Some(password) = &account.password {
        let values = values![account.id, password.as_str(), account.email_verified, account.now];
        script.change(&SAVE_PASSWORD, values);
    }
    if let Some(profile) = &account.profile {
        script.create_profile(profile.clone().into_profile(account.id, account.now));
    }
    Ok(())
}

/// Sets a password that is known to come from the mailbox's owner.
pub(crate) fn save_proven_password(script: &mut Script, id: UserId, password: &PasswordHash, now: Timestamp) {
    script.change(&SAVE_PASSWORD, values![id, password.as_str(), true, now]);
}

pub(crate) fn set_metadata(script: &mut Script, id: UserId, metadata: &AppMetadata) -> StoreResult<()> {
    script.change(&SET_METADATA, values![id, object_text(metadata.as_map())?]);
    Ok(())
}

/// Locks the user of an address at constant cost: without such a user another row is locked.
pub(crate) fn lock_by_key_at_constant_cost(script: &mut Script, email: &EmailKey) {
    script.read(&LOCK_BY_KEY, values![email]);
    script.read(&LOCK_DECOY, values![email]);
}
/// Counts the users that match an admin's search, all of them without one. The text is in lower case.
pub(crate) fn count(script: &mut Script, search: Option<&str>, id: Option<UserId>) -> Slot {
    match search {
        None => script.read(&COUNT_ALL, Vec::new()),
        Some(search) => script.read(&COUNT_FOUND, values![search, id]),
    }
}

/// Reads a page of the same users.
pub(crate) fn list(
    script: &mut Script,
    search: Option<&str>,
    id: Option<UserId>,
    position: UserPosition,
    limit: i64,
) -> Slot {
    let mut values = search.map_or_else(Vec::new, |search| values![search, id]);
    values.push(limit.into());
    let is_search = search.is_some();
    let sql = match position {
        UserPosition::Offset(offset) => {
            values.push(i64::try_from(offset).unwrap_or(i64::MAX).into());
            if is_search { &LIST_FOUND_FROM } else { &LIST_ALL_FROM }
        }
        UserPosition::After { created_at, id } => {
            values.extend(values![created_at, id]);
            if is_search { &LIST_FOUND_AFTER } else { &LIST_ALL_AFTER }
        }
    };
    script.read(sql, values)
}

/// Account of an address found by [`find_by_key_at_constant_cost`].
pub(crate) fn account_of_key(
    results: &Results<'_>,
    slot: Slot,
    email: &EmailKey,
) -> StoreResult<Option<Account>> {
    Ok(account(results, slot)?.filter(|account| account.user.email.key() == email))
}

pub(crate) fn account(results: &Results<'_>, slot: Slot) -> StoreResult<Option<Account>> {
    results.find(slot, read_account)
}

/// User after a change in the same transaction.
pub(crate) fn user_that_is(results: &Results<'_>, slot: Slot) -> StoreResult<User> {
    Ok(account(results, slot)?.ok_or(StoreError::Corrupt { table: "users", column: "id" })?.user)
}
