//! Tables `users` and `credentials`: accounts and their passwords.

pub(crate) mod list;
mod rows;

use latchkey_domain::email::{Email, EmailKey};
use latchkey_domain::email_verification::AccountFacts;
use latchkey_domain::ids::{MailId, SessionId, UserId};
use latchkey_domain::locale::Locale;
use latchkey_domain::passkey::RpId;
use latchkey_domain::password::PasswordHash;
use latchkey_domain::time::Timestamp;
use latchkey_domain::user::{AppMetadata, User};
use latchkey_store::{ACCOUNT_PURGE_BATCH, NewAccount, StoreError, StoreResult};

pub(crate) use rows::{read_account, read_passkeys};

use crate::bulk::{Table, columns};
use crate::form::{Cells, Results, Script, Slot, object_text, statements, stored_id, values};

/// Columns of an account, in the order in which [`read_account`] decodes them.
macro_rules! account_columns {
    () => {
        "u.id, u.email, u.email_verified, u.first_verified_at, u.pending, u.contested, u.banned_at, u.two_step_at,
        u.deletes_at, u.metadata, u.created_at, u.updated_at,
        u.last_sign_in_at, c.data, coalesce(c.proven, FALSE),
        (SELECT string_agg(i.provider, ' ') FROM identities AS i WHERE i.user_id = u.id),
        (SELECT string_agg(k.rp_id, ' ') FROM passkeys AS k WHERE k.user_id = u.id),
        p.user_id IS NOT NULL, p.name, p.avatar_url"
    };
}
/// Joined tables that `account_columns!` refers to.
macro_rules! account_tables {
    () => {
        "users AS u
        LEFT JOIN credentials AS c ON c.user_id = u.id AND c.kind = 'password'
        LEFT JOIN profiles AS p ON p.user_id = u.id"
    };
}
/// Expression for the id of the user with the email address `$1`. Without such a user, the value is another user's id,
/// so that both cases cost the same.
macro_rules! key_or_any {
    () => {
        "coalesce((SELECT id FROM users WHERE email_key = $1), (SELECT id FROM users ORDER BY id DESC LIMIT 1))"
    };
}
pub(crate) use {account_columns, account_tables, key_or_any};

stored_id!(UserId);

pub const TABLE: Table = Table::new(
    "users",
    1,
    columns! {
        id id, text email, text email_key, flag email_verified, int first_verified_at, flag pending, flag contested,
        int banned_at, text metadata, text locale, text pending_email, int created_at, int updated_at,
        int signed_up_at, int two_step_at, bytes user_handle, int deletes_at,
        int device_mail_at, int last_sign_in_at, flag has_profile
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
    FIND_BY_ID: read find_by_id(id: UserId) =
        concat!("SELECT ", account_columns!(), " FROM ", account_tables!(), " WHERE u.id = $1");
    FIND_BY_KEY: read find_by_key(email: &EmailKey) =
        concat!("SELECT ", account_columns!(), " FROM ", account_tables!(), " WHERE u.email_key = $1");
    /// Reads the account of an email address. Without such an account, another account is read, so that both cases cost
    /// the same; [`account_of_key`] drops the other account.
    FIND_BY_KEY_OR_ANY: read find_by_key_at_constant_cost(email: &EmailKey) =
        concat!("SELECT ", account_columns!(), " FROM ", account_tables!(), " WHERE u.id = ", key_or_any!());
    /// Reads a row if another user has the email address.
    FIND_OTHER_OWNER: read find_other_owner(email: &EmailKey, id: UserId) =
        "SELECT 1 FROM users WHERE email_key = $1 AND id <> $2";
    /// Locks the row of a user, so that the account cannot change until the end of the transaction.
    LOCK_BY_ID: read lock_by_id(id: UserId) = "SELECT 1 FROM users WHERE id = $1 FOR NO KEY UPDATE";
    LOCK_BY_KEY: read lock_by_key(email: &EmailKey) = "SELECT 1 FROM users WHERE email_key = $1 FOR NO KEY UPDATE";
    /// Locks the row of `health` if no user has the email address, so that both cases cost the same. Several
    /// transactions can hold this lock at once, so no request waits for another.
    LOCK_DECOY = "
    SELECT 1 FROM health WHERE id = 1 AND NOT EXISTS (SELECT 1 FROM users WHERE email_key = $1) FOR KEY SHARE";
    /// Locks the row of a user who is about to be deleted. This lock also waits for transactions that insert
    /// rows with a foreign key to the user.
    LOCK_TO_DELETE: read lock_to_delete(id: UserId) = "SELECT 1 FROM users WHERE id = $1 FOR UPDATE";
    /// Locks the rows of a batch of pending users whose last sign-up was at `until` or earlier, oldest first.
    /// Rows locked by other transactions are skipped.
    LOCK_STALE_SIGN_UPS: read lock_stale_sign_ups(until: Timestamp) [until, ACCOUNT_PURGE_BATCH] = "
    SELECT id FROM users WHERE pending AND banned_at IS NULL AND signed_up_at <= $1 ORDER BY signed_up_at LIMIT $2
    FOR UPDATE SKIP LOCKED";
    /// Starts a savepoint, which [`KEEP`] releases or [`TAKE_BACK`] rolls back.
    SAVE_POINT = "SAVEPOINT account";
    KEEP = "RELEASE account";
    TAKE_BACK = "ROLLBACK TO account";
    /// Inserts a user, unless the email address is reserved. If it is, the next insert of the account violates its
    /// foreign key. The operation then starts again and finds the reservation.
    CREATE_USER = "
    INSERT INTO users (id, email, email_key, email_verified, first_verified_at, pending, contested, banned_at, metadata,
        locale, pending_email, created_at, updated_at, signed_up_at)
    SELECT $1, $2, $3, $4, $5, $6, FALSE, NULL, $7, $10, NULL, $8, $8, $9
    WHERE NOT EXISTS (SELECT 1 FROM undo_tokens WHERE email = $3 AND expires_at > $8)";
    /// Stores, when a session is opened, that the account has had one, and the time of the mail about a new
    /// device, if one was written.
    NOTE_DEVICE_MAIL: change note_device_mail(
        id: UserId,
        session: SessionId,
        mail: Option<MailId>,
        now: Timestamp
    ) = "
    UPDATE users SET device_mail_at = CASE WHEN device_mail_at IS NULL THEN 0 ELSE $4 END
    WHERE id = $1 AND EXISTS (SELECT 1 FROM sessions WHERE id = $2)
        AND (device_mail_at IS NULL OR EXISTS (SELECT 1 FROM outbox WHERE id = $3))";
    /// Stores the time of a completed sign-in: if the session exists, or without a condition.
    NOTE_SIGN_IN: change note_sign_in(id: UserId, session: Option<SessionId>, at: Timestamp) = "
    UPDATE users SET last_sign_in_at = greatest(coalesce(last_sign_in_at, $3), $3)
    WHERE id = $1 AND (EXISTS (SELECT 1 FROM sessions WHERE id = $2) OR $2 IS NULL)";
    FORGET_DEVICE_MAIL: change forget_device_mail(id: UserId) = "UPDATE users SET device_mail_at = NULL WHERE id = $1";
    /// Saves a password. `proven` states whether it is known to come from the mailbox's owner.
    SAVE_PASSWORD: change save_password(id: UserId, password: &PasswordHash, proven: bool, now: Timestamp)
        [id, password.as_str(), proven, now] = "
    INSERT INTO credentials (user_id, kind, data, proven, created_at, updated_at)
    VALUES ($1, 'password', $2, $3, $4, $4)
    ON CONFLICT (user_id, kind)
    DO UPDATE SET data = excluded.data, proven = excluded.proven, updated_at = excluded.updated_at";
    /// Replaces the password, or its hash by one with newer parameters. The column `proven` does not change.
    CHANGE_PASSWORD: change change_password(id: UserId, password: &PasswordHash, now: Timestamp)
        [id, password.as_str(), now] =
        "UPDATE credentials SET data = $2, updated_at = $3 WHERE user_id = $1 AND kind = 'password'";
    /// Marks the password, if there is one, as known to come from the mailbox's owner.
    PROVE_PASSWORD: change prove_password(id: UserId) =
        "UPDATE credentials SET proven = TRUE WHERE user_id = $1 AND kind = 'password'";
    DELETE_PASSWORD: change delete_password(id: UserId) =
        "DELETE FROM credentials WHERE user_id = $1 AND kind = 'password'";
    TOUCH: change touch(id: UserId, now: Timestamp) =
        "UPDATE users SET updated_at = greatest(updated_at, $2) WHERE id = $1";
    /// Notes a change of an account if it has a profile.
    TOUCH_WITH_PROFILE: change touch_with_profile(id: UserId, now: Timestamp) =
        "UPDATE users SET updated_at = greatest(updated_at, $2) WHERE id = $1 AND has_profile";
    RENEW_SIGN_UP: change renew_sign_up(id: UserId, now: Timestamp) =
        "UPDATE users SET signed_up_at = $2 WHERE id = $1";
    /// Marks an account as contested: several sign-ups used its address with different passwords. Until the address is
    /// verified, no data in the account is known to be the mailbox owner's.
    CONTEST: change contest(id: UserId, now: Timestamp) =
        "UPDATE users SET contested = TRUE, updated_at = greatest(updated_at, $2) WHERE id = $1";
    /// Marks the email address as verified, and the account as neither pending nor contested.
    PROVE: change prove(id: UserId, now: Timestamp) = "
    UPDATE users SET email_verified = TRUE, first_verified_at = coalesce(first_verified_at, $2), pending = FALSE,
        contested = FALSE, signed_up_at = NULL, updated_at = greatest(updated_at, $2)
    WHERE id = $1";
    /// Ends the pending state of an account. The caller must also update the profile's visibility in search
    /// (`profiles::show_or_hide`).
    PEND_NO_MORE: change pend_no_more(id: UserId, now: Timestamp) = "
    UPDATE users SET pending = FALSE, signed_up_at = NULL, updated_at = greatest(updated_at, $2)
    WHERE id = $1 AND pending";
    SET_EMAIL: change set_email(id: UserId, email: &Email) [id, email.as_typed(), email.key()] =
        "UPDATE users SET email = $2, email_key = $3 WHERE id = $1";
    SET_UNVERIFIED: change set_unverified(id: UserId) = "UPDATE users SET email_verified = FALSE WHERE id = $1";
    /// Bans a user, or lifts the ban if the time is null.
    SET_BANNED: change set_banned(id: UserId, banned_at: Option<Timestamp>) =
        "UPDATE users SET banned_at = $2 WHERE id = $1";
    /// Stores the time at which two-step sign-in is turned on, or null to turn it off.
    SET_TWO_STEP: change set_two_step(id: UserId, on_since: Option<Timestamp>) =
        "UPDATE users SET two_step_at = $2 WHERE id = $1";
    /// Turns two-step sign-in off if the account has neither a confirmed TOTP factor, nor a passkey of this relying party
    /// id, nor a recovery code.
    END_BARE_TWO_STEP: change end_bare_two_step(id: UserId, rp_id: Option<&RpId>) [id, rp_id.map(RpId::as_str)] = "
        UPDATE users SET two_step_at = NULL WHERE id = $1
            AND NOT EXISTS (SELECT 1 FROM totp_factors WHERE user_id = $1 AND confirmed_at IS NOT NULL)
            AND NOT EXISTS (SELECT 1 FROM recovery_codes WHERE user_id = $1)
            AND NOT EXISTS (SELECT 1 FROM passkeys WHERE user_id = $1 AND rp_id = $2)";
    /// Sets the time from which the account is deleted for good, or restores the account if the time is null. The caller
    /// must also update the profile's visibility in search (`profiles::show_or_hide`).
    SET_DELETION: change set_deletion(id: UserId, deletes_at: Option<Timestamp>) =
        "UPDATE users SET deletes_at = $2 WHERE id = $1";
    /// Reads accounts whose grace period before deletion is over, the earliest end first.
    LIST_DUE_DELETIONS: read list_due_deletions(now: Timestamp) [now, ACCOUNT_PURGE_BATCH] =
        "SELECT id, locale FROM users WHERE deletes_at <= $1 ORDER BY deletes_at, id LIMIT $2";
    FIND_LOCALE_OF_SESSION: read find_locale_of_session(session_id: SessionId) =
        "SELECT u.locale FROM sessions AS s JOIN users AS u ON u.id = s.user_id WHERE s.id = $1";
    SET_LOCALE: change set_locale(id: UserId, locale: Option<&Locale>) [id, locale.map(Locale::as_str)] =
        "UPDATE users SET locale = $2 WHERE id = $1";
    SET_METADATA = "UPDATE users SET metadata = $2 WHERE id = $1";
    /// Deletes a user and, by cascading foreign keys, most rows that belong to the user.
    DELETE_USER: change delete(id: UserId) = "DELETE FROM users WHERE id = $1";
}

/// A user with account data that never leaves the store, such as the password hash.
pub(crate) struct Account {
    pub(crate) user: User,
    pub(crate) password: Option<PasswordHash>,
    /// True if the password is known to come from the mailbox's owner.
    pub(crate) has_proven_password: bool,
    /// Time at which the email address was verified for the first time; `None` if it never was.
    pub(crate) first_verified_at: Option<Timestamp>,
}

impl Account {
    /// Returns the properties of the account that decide what a verification of its email address changes.
    pub(crate) fn standing(&self) -> AccountFacts {
        AccountFacts {
            was_ever_verified: self.first_verified_at.is_some(),
            is_pending: self.user.is_pending,
            is_contested: self.user.is_contested,
            has_credentials: self.user.has_password
                || !self.user.identities.is_empty()
                || !self.user.passkeys.is_empty(),
            has_unproven_password: self.password.is_some() && !self.has_proven_password,
        }
    }
}

/// State of a new account: pending (signed up while verification is required; not verified, and no session
/// yet), or not.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pending {
    Yes,
    No,
}

/// Inserts a new account with its password and profile. `key` is the unique value of `users.email_key`.
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
        account.locale.as_ref().map(Locale::as_str),
    ];
    script.change(&CREATE_USER, values);
    if let Some(password) = &account.password {
        save_password(script, account.id, password, account.email_verified, account.now);
    }
    if let Some(profile) = &account.profile {
        script.create_profile(profile.clone().into_profile(account.id, account.now));
    }
    Ok(())
}

pub(crate) fn set_metadata(script: &mut Script, id: UserId, metadata: &AppMetadata) -> StoreResult<()> {
    script.change(&SET_METADATA, values![id, object_text(metadata.as_map())?]);
    Ok(())
}

/// Locks the row of the user with an email address. Without such a user, the row of table `health` is locked,
/// so that both cases cost the same.
pub(crate) fn lock_by_key_at_constant_cost(script: &mut Script, email: &EmailKey) {
    script.read(&LOCK_BY_KEY, values![email]);
    script.read(&LOCK_DECOY, values![email]);
}
/// Decodes the account read by [`find_by_key_at_constant_cost`], if it has this email address.
pub(crate) fn account_of_key(
    results: &Results<'_>,
    slot: Slot,
    email: &EmailKey,
) -> StoreResult<Option<Account>> {
    Ok(account(results, slot)?.filter(|account| account.user.email.key() == email))
}

/// Decodes the language of an account's mails.
pub(crate) fn read_locale(cells: &mut Cells<'_>) -> StoreResult<Option<Locale>> {
    Ok(cells.of("users").maybe_text("locale")?.map(Locale::from_stored))
}

pub(crate) fn account(results: &Results<'_>, slot: Slot) -> StoreResult<Option<Account>> {
    results.find(slot, read_account)
}

/// Decodes a user that must exist, because the same transaction wrote or locked it.
pub(crate) fn user_that_is(results: &Results<'_>, slot: Slot) -> StoreResult<User> {
    Ok(account(results, slot)?.ok_or(StoreError::Corrupt { table: "users", column: "id" })?.user)
}
