//! Contract for undo links. A mail reports a change of the account, and its undo link lets the owner of the mailbox
//! reverse the change. The rules are in [`latchkey_domain::undo`].

use async_trait::async_trait;
use latchkey_domain::audit::AuditEvent;
use latchkey_domain::challenge::{ChallengeKind, FactorRules};
use latchkey_domain::email::{Email, EmailKey};
use latchkey_domain::ids::UserId;
use latchkey_domain::limits::Take;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_domain::undo::UndoableEvent;

use crate::email_codes::NewEmailCode;
use crate::entry::NewChallenge;
use crate::error::{LimitedResult, StoreResult};
use crate::outbox::NewMail;

/// Use of an undo link by the reader of its mail.
#[derive(Debug, Clone)]
pub struct UseUndoLink {
    /// Hash of the undo token.
    pub token: TokenHash,
    /// Rate limits of the request. One token is taken from each, or none if one is used up.
    pub takes: Vec<Take>,
    /// Challenge to write if a second factor is needed. It replaces an earlier one of the same token.
    pub challenge: NewChallenge,
    /// Operator's current rules for second factors.
    pub rules: FactorRules,
    /// Data to write with the undo.
    pub writes: UndoWrites,
}

/// Data to write with an undo, besides its effects on the account.
#[derive(Debug, Clone)]
pub struct UndoWrites {
    /// Address that the reader typed. It must be the one that the mail was sent to. The reset code is made for it.
    pub email: EmailKey,
    /// Audit event of kind `Undone`. The store fills in the user id.
    pub event: AuditEvent,
    /// Code or link for a password reset, written as by [`crate::EmailCodes::request_email_code`].
    pub reset: NewEmailCode,
    /// Mail of kind `Reset` with the code or link.
    pub reset_mail: NewMail,
    /// Mail of kind `Undone`; `None` writes no mail.
    pub mail: Option<NewMail>,
    /// Mail of kind `Undone` to the address that the account had until the undo, if the undo restores an earlier one;
    /// `None` writes no mail.
    pub left_mail: Option<NewMail>,
    /// Time of the request, used as the current time throughout the operation.
    pub now: Timestamp,
}

/// Outcome of [`UndoLinks::undo`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UndoOutcome {
    /// The change was reversed.
    Undone,
    /// A second factor is needed, and the challenge was written. Contains the kinds of answers that it accepts. If the
    /// account can give no answer, nothing was written and the list is empty.
    Challenged(Vec<ChallengeKind>),
    /// The token is unknown, used or expired, the typed address is not the one that the mail was sent to, the account
    /// is banned, or another account has the address by now. Nothing changed.
    Refused,
}

/// Change that a live undo token reverses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UndoLink {
    /// Kind of the change.
    pub event: UndoableEvent,
    /// Time of the change.
    pub happened_at: Timestamp,
}

/// Undo links: lookup and use.
///
/// **Reserved addresses.** While an undo token is valid, the address that it was mailed to is reserved for the account:
/// no other account can get it. [`crate::Accounts`], [`crate::AdminUsers`], [`crate::Identities`] and
/// [`crate::EmailChanges`] treat it as taken. Only mails about the undo are sent there.
#[async_trait]
pub trait UndoLinks {
    /// Takes tokens from the rate limits, and finds the change that a live undo token reverses; `None` if the token is
    /// not live.
    async fn find_undo(
        &self,
        token: TokenHash,
        takes: &[Take],
        now: Timestamp,
    ) -> LimitedResult<Option<UndoLink>>;

    /// Lists the former addresses that are reserved for an account, each with the end of its reservation.
    async fn list_reserved_emails(
        &self,
        user_id: UserId,
        now: Timestamp,
    ) -> StoreResult<Vec<(Email, Timestamp)>>;

    /// Reverses a change, once. The account gets the address back that the mail was sent to, as a verified
    /// one. Removes the password, ends all sessions, and deletes outstanding codes, tokens and challenges.
    /// Removes factors and identities added since the day before the change. Turns two-step sign-in off if it
    /// was turned on since then, or if the account has neither a second factor nor a recovery code left.
    /// Cancels a scheduled deletion of the account. Deletes the undo tokens of this change and of later ones.
    async fn undo(&self, link: UseUndoLink) -> LimitedResult<UndoOutcome>;
}
