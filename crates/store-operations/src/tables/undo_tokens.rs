//! Table `undo_tokens`: tokens of mailed links that reverse a change of an account. A used token is deleted.
//! As long as a token is valid, the address that it was mailed to is reserved for its account.

use latchkey_domain::email::{Email, EmailKey};
use latchkey_domain::ids::UserId;
use latchkey_domain::password::PasswordHash;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_domain::undo::{UndoFacts, UndoableEvent};
use latchkey_domain::user::User;
use latchkey_store::{NewToken, StoreResult, UndoLink};

use crate::bulk::{Table, columns};
use crate::form::{Results, Script, Slot, statements, values};
use crate::tables::users::{self, Account, account_columns, account_tables};

/// Query for an undo token with its account. `$2` is the current time; `$hash` is an SQL expression for the
/// token's hash.
macro_rules! found {
    ($hash:literal) => {
        concat!(
            "SELECT ",
            account_columns!(),
            ", t.event, t.email, t.email_as_typed, t.had_two_step, t.happened_at, t.expires_at,
            EXISTS (SELECT 1 FROM users AS o WHERE o.email_key = t.email AND o.id <> t.user_id)
            OR EXISTS (SELECT 1 FROM undo_tokens AS r
                WHERE r.email = t.email AND r.expires_at > $2 AND r.user_id <> t.user_id)
            FROM undo_tokens AS t CROSS JOIN ",
            account_tables!(),
            " WHERE t.hash = ",
            $hash,
            " AND u.id = t.user_id"
        )
    };
}

pub const TABLE: Table = Table::new(
    "undo_tokens",
    1,
    columns! {
        bytes hash, id user_id, text event, text email, flag had_two_step, int happened_at, int expires_at,
        text email_as_typed, text sign_up_hash
    },
);

statements! {
    INSERT = "
        INSERT INTO undo_tokens (hash, user_id, event, email, had_two_step, happened_at, expires_at, email_as_typed)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
    LOCK_USER: read lock_user(hash: TokenHash) [&hash] =
        "SELECT 1 FROM users WHERE id = (SELECT user_id FROM undo_tokens WHERE hash = $1) FOR NO KEY UPDATE";
    FIND: read find(hash: TokenHash, now: Timestamp) [&hash, now] = found!("$1");
    /// Reads the undo token that began a challenge.
    FIND_OF_CHALLENGE: read find_of_challenge(challenge: TokenHash, now: Timestamp) [&challenge, now] =
        found!("(SELECT token_hash FROM challenges WHERE hash = $1)");
    /// Deletes the undo tokens of changes made at or after `happened_at`.
    DELETE_SINCE: change delete_since(user_id: UserId, happened_at: Timestamp) =
        "DELETE FROM undo_tokens WHERE user_id = $1 AND happened_at >= $2";
    DELETE_ALL_OF: change delete_all_of(user_id: UserId) = "DELETE FROM undo_tokens WHERE user_id = $1";
    /// Reads whether an email address is reserved for an account other than `user_id`.
    FIND_RESERVATION: read find_reservation(email: &EmailKey, user_id: Option<UserId>, now: Timestamp)
        [email, now, user_id] = "
        SELECT EXISTS (SELECT 1 FROM undo_tokens WHERE email = $1 AND expires_at > $2
            AND user_id IS DISTINCT FROM $3)";
    /// Reads the addresses that are reserved for an account.
    LIST_RESERVED: read list_reserved(user_id: UserId, now: Timestamp) = "
        SELECT coalesce(email_as_typed, email), expires_at FROM undo_tokens
        WHERE user_id = $1 AND event = 'email_changed' AND expires_at > $2
        ORDER BY happened_at DESC, hash LIMIT 100";
    /// Stores the password hash of the last sign-up with a reserved address.
    SAVE_SIGN_UP: change save_sign_up(email: &EmailKey, password: Option<&PasswordHash>, now: Timestamp)
        [email, password.map(PasswordHash::as_str), now] = "
        UPDATE undo_tokens SET sign_up_hash = $2
        WHERE email = $1 AND expires_at > $3";
    /// Reads the password hash of the last sign-up with a reserved address.
    FIND_SIGN_UP: read find_sign_up(email: &EmailKey, now: Timestamp) = "
        SELECT sign_up_hash FROM undo_tokens WHERE email = $1 AND expires_at > $2
        ORDER BY expires_at DESC, hash LIMIT 1";
}

/// An undo token with its account.
pub(crate) struct Undo {
    pub(crate) account: Account,
    pub(crate) link: UndoLink,
    /// Address that the mail went to. The undo makes it the account's address again.
    pub(crate) email: Email,
    had_two_step: bool,
    expires_at: Timestamp,
    /// True if another account has `email`, or `email` is reserved for another account.
    is_taken: bool,
}

impl Undo {
    /// True if the token can reverse its change at `now`: it has not expired, the account accepts mailed tokens, and
    /// `email` is the account's address or can become it again.
    pub(crate) fn is_live(&self, now: Timestamp) -> bool {
        now < self.expires_at && self.account.user.accepts_mailed_tokens() && !self.is_taken
    }

    pub(crate) fn was_mailed_to(&self, email: &EmailKey) -> bool {
        self.email.key() == email
    }

    /// True if the undo changes the address of the account.
    pub(crate) fn moves(&self) -> bool {
        !self.was_mailed_to(self.account.user.email.key())
    }

    /// Returns the user as before the undo, with the address that the undo removes, but without a scheduled
    /// deletion.
    pub(crate) fn left(&self) -> User {
        User { deletes_at: None, ..self.account.user.clone() }
    }

    /// Returns the user as after the undo, with the address that the undo restores, and without a scheduled
    /// deletion.
    pub(crate) fn restored(&self) -> User {
        let user = self.left();
        if self.moves() { User { email: self.email.clone(), email_verified: true, ..user } } else { user }
    }

    pub(crate) fn facts(&self) -> UndoFacts {
        UndoFacts {
            happened_at: self.link.happened_at,
            had_two_step: self.had_two_step,
            two_step_since: self.account.user.two_step_at,
        }
    }
}

/// Inserts an undo token for a change. `email` is the address that the token is mailed to.
pub(crate) fn insert(
    writes: &mut Script,
    user_id: UserId,
    token: &NewToken,
    link: UndoLink,
    email: &Email,
    had_two_step: bool,
) {
    let values = values![
        &token.hash,
        user_id,
        link.event.as_str(),
        email.key(),
        had_two_step,
        link.happened_at,
        token.expires_at,
        email.as_typed(),
    ];
    writes.change(&INSERT, values);
}

pub(crate) fn undo(results: &Results<'_>, slot: Slot) -> StoreResult<Option<Undo>> {
    results.find(slot, |cells| {
        let account = users::read_account(cells)?;
        let event = cells.of("undo_tokens").parsed("event", UndoableEvent::parse)?;
        let key = cells.email("email")?;
        let email = cells.maybe_email("email_as_typed")?.unwrap_or(key);
        let had_two_step = cells.flag("had_two_step")?;
        let link = UndoLink { event, happened_at: cells.time("happened_at")? };
        let expires_at = cells.time("expires_at")?;
        Ok(Undo { account, link, email, had_two_step, expires_at, is_taken: cells.flag("email")? })
    })
}

/// Decodes whether an address is reserved.
pub(crate) fn is_reserved(results: &Results<'_>, slot: Slot) -> StoreResult<bool> {
    let found = results.find(slot, |cells| cells.of("undo_tokens").flag("email"))?;
    Ok(found.unwrap_or_default())
}

/// Decodes the password hash of the last sign-up with a reserved address. The outer `None` means that the address is
/// not reserved, the inner one that no sign-up stored a password.
#[expect(clippy::option_option, reason = "a missing row is not a row without a password")]
pub(crate) fn sign_up(results: &Results<'_>, slot: Slot) -> StoreResult<Option<Option<PasswordHash>>> {
    results.find(slot, |cells| {
        Ok(cells.of("undo_tokens").maybe_text("sign_up_hash")?.map(PasswordHash::from_phc))
    })
}
