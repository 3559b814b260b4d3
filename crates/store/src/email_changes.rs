//! Contract for changes of an account's email address by its owner. The rules are in
//! [`latchkey_domain::email_change`].

use std::time::Duration;

use async_trait::async_trait;
use latchkey_domain::audit::AuditEvent;
use latchkey_domain::codes::{CodeForm, CodeMac};
use latchkey_domain::email::{Email, EmailKey};
use latchkey_domain::email_change::{EmailChangeId, Side};
use latchkey_domain::ids::{SessionId, UserId};
use latchkey_domain::limits::Take;
use latchkey_domain::time::Timestamp;

use crate::email_codes::{CodeLane, NewCode, NewToken};
use crate::error::{LimitedResult, StoreResult};
use crate::outbox::NewMail;
use crate::sessions::LiveSession;

/// A change of address that its owner begins. It replaces an earlier one of the account, whose codes become invalid.
#[derive(Debug, Clone)]
pub struct BeginEmailChange {
    /// Id of the account.
    pub user_id: UserId,
    /// Session of the caller.
    pub session_id: SessionId,
    /// Id of the change.
    pub id: EmailChangeId,
    /// Canonical form of the account's current address, from which the MACs of the codes and the keys of the
    /// rate limits are computed. The account must still have it.
    pub email: EmailKey,
    /// New address. It differs from the current one.
    pub new_email: Email,
    /// Rate limits of the request. One token is taken from each, or none if one is used up.
    pub takes: Vec<Take>,
    /// Code to mail to the new address. If another account has the address, the mail goes to that account's owner, with
    /// the kind `EmailChangeAttempt`, and no code is valid.
    pub to_new: SideCode,
    /// Code to mail to the current address, if its owner must prove control of it
    /// ([`latchkey_domain::email_change::needs_current_address`]).
    pub to_current: SideCode,
    /// Expiry of the change.
    pub expires_at: Timestamp,
    /// Audit event of kind `EmailChangeStarted`. The store fills in user id and session id.
    pub event: AuditEvent,
    /// Time of the request, used as the current time throughout the operation.
    pub now: Timestamp,
}

/// A code for one of the two addresses of a change, with its mail of kind `EmailChange`. It proves that the user reads
/// that mailbox.
#[derive(Debug, Clone)]
pub struct SideCode {
    /// Code to be stored. It expires with the change.
    pub code: NewCode,
    /// Mail with the six-digit code.
    pub mail: NewMail,
}

/// Outcome of [`EmailChanges::begin_email_change`]. It does not depend on whether the new address is free, taken or
/// reserved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BegunEmailChange {
    /// The change was written. Contains the addresses, new or current, whose codes must be entered.
    Begun(Vec<Side>),
    /// The account no longer has the address [`BeginEmailChange::email`]. Nothing changed.
    Moved,
    /// The session is not live, or belongs to another user. Nothing changed.
    NoSession,
}

/// Codes that the owner entered for a change of address.
#[derive(Debug, Clone)]
pub struct ConfirmEmailChange {
    /// Id of the account.
    pub user_id: UserId,
    /// Session of the caller. It is the only one that stays open.
    pub session_id: SessionId,
    /// Id of the change.
    pub id: EmailChangeId,
    /// Canonical form of the account's current address, from which the MACs and the key of account and client
    /// network are computed. The account must still have it.
    pub email: EmailKey,
    /// Code entered for the new address, if any. Ignored if that address is proven already.
    pub new: Option<ShownCode>,
    /// Code entered for the current address, if any. Ignored if that address is proven already, or needs no proof.
    pub current: Option<ShownCode>,
    /// Whether the client that entered the codes is known to the account, and the limits of wrong attempts that apply
    /// to such clients.
    pub lane: CodeLane,
    /// Duration for which a client stays known to the account after a sign-in; `None` if rate limits are off. The known
    /// clients of the old address become known clients of the new one.
    pub known_for: Option<Duration>,
    /// Rate limits of the request. One token is taken from each, or none if one is used up.
    pub takes: Vec<Take>,
    /// Data to write when the address changes.
    pub writes: EmailChangeWrites,
    /// Time of the request, used as the current time throughout the operation.
    pub now: Timestamp,
}

/// A code that the owner entered.
#[derive(Debug, Clone, Copy)]
pub enum ShownCode {
    /// MAC of the code, and its form: six digits or sixteen characters.
    Code(CodeMac, CodeForm),
    /// The text does not have the form of a code. It is wrong, but not counted.
    Malformed,
}

/// Data to write when an address changes.
#[derive(Debug, Clone)]
pub struct EmailChangeWrites {
    /// Audit event of kind `EmailChanged`. The store fills in user id and session id.
    pub event: AuditEvent,
    /// Audit event of kind `UserDeleted`. It is written if a pending account (never verified) has the new
    /// address: that account is deleted as soon as the new address is proven. The store fills in the user id.
    pub removed: AuditEvent,
    /// Mail of kind `EmailChanged` to the old address, if that was verified; `None` writes no mail.
    pub to_old: Option<NewMail>,
    /// Mail of kind `EmailChangedNew` to the new address; `None` writes no mail.
    pub to_new: Option<NewMail>,
    /// Undo token in the mail to the old address. It is written only with that mail. While it is valid, the old address
    /// is reserved for the account ([`crate::UndoLinks`]).
    pub undo: Option<NewToken>,
}

/// Outcome of [`EmailChanges::confirm_email_change`].
#[derive(Debug, Clone, PartialEq)]
pub enum ConfirmedEmailChange {
    /// The address was changed and is verified. Contains the caller's session with the changed user.
    Changed(Box<LiveSession>),
    /// No code was wrong, but the change needs further codes. Contains the addresses whose codes are missing.
    Needs(Vec<Side>),
    /// A code was wrong, expired, used or out of attempts. If the other code was right, it stays accepted.
    Refused,
    /// All codes are right, but the new address belongs to another account by now, or is reserved. The change is
    /// deleted.
    Taken,
    /// The session began no such change, or the change has expired.
    NotFound,
    /// The account no longer has the address [`ConfirmEmailChange::email`]. Nothing changed.
    Moved,
    /// The session is not live, or belongs to another user. Nothing changed.
    NoSession,
}

/// Changes of an account's email address by its owner.
#[async_trait]
pub trait EmailChanges {
    /// Writes a change of address with its codes, mails and audit event. The same statements are executed whether the
    /// new address is free, taken or reserved.
    async fn begin_email_change(&self, begin: BeginEmailChange) -> LimitedResult<BegunEmailChange>;

    /// Checks codes of a change. When all required addresses ([`BegunEmailChange::Begun`]) are proven:
    /// changes the address and marks it as verified, ends the other sessions, and deletes outstanding codes,
    /// tokens and challenges. A pending account at the new address is deleted as soon as that address is
    /// proven. Wrong codes are counted as in [`crate::EmailCodes::verify_by_code`].
    async fn confirm_email_change(&self, confirm: ConfirmEmailChange) -> LimitedResult<ConfirmedEmailChange>;

    /// Deletes the account's change of address. Returns false, and records no event, if there is none.
    async fn cancel_email_change(
        &self,
        user_id: UserId,
        session_id: SessionId,
        event: AuditEvent,
        now: Timestamp,
    ) -> StoreResult<bool>;
}
