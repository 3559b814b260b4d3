//! Contract for second factors: enrolment, change and removal. Every change of factors deletes the account's
//! challenges.

use async_trait::async_trait;
use latchkey_domain::audit::AuditEvent;
use latchkey_domain::codes::CodeMac;
use latchkey_domain::email_change::EmailChange;
use latchkey_domain::factors::{FactorId, FactorName, Factors as OwnFactors, TotpFactor, TotpStep};
use latchkey_domain::ids::{SessionId, UserId};
use latchkey_domain::locale::Locale;
use latchkey_domain::operator::Protection;
use latchkey_domain::passkey::RpId;
use latchkey_domain::session::NewSession;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_domain::user::User;

use crate::email_codes::NewToken;
use crate::entry::ChallengeTerms;
use crate::error::{GuardedResult, StoreResult};
use crate::outbox::NewMail;
use crate::sessions::{LiveSession, SignInGuard};

/// A TOTP factor with its secret, sealed by the service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedTotp {
    /// Id of the factor.
    pub id: FactorId,
    /// Secret of the factor, sealed under the server secret.
    pub secret: Vec<u8>,
}

/// The session or challenge that permits the caller to enrol a second factor.
#[derive(Debug, Clone)]
pub enum Enroller {
    /// A live session of the account.
    Session(UserId, SessionId),
    /// A live challenge of a sign-in that accepts [`latchkey_domain::challenge::ChallengeKind::Enroll`].
    Challenge(TokenHash, ChallengeTerms),
}

/// A TOTP factor to be enrolled. It is pending: its codes are accepted only after the same session or challenge has
/// confirmed it.
#[derive(Debug, Clone)]
pub struct BeginTotp {
    /// Session or challenge that permits the enrolment.
    pub enroller: Enroller,
    /// Id of the factor.
    pub id: FactorId,
    /// Name of the factor.
    pub name: FactorName,
    /// Secret of the factor, sealed under the server secret.
    pub secret: Vec<u8>,
    /// Expiry of the pending factor.
    pub expires_at: Timestamp,
    /// Time of the request, used as the current time throughout the operation.
    pub now: Timestamp,
}

/// Outcome of [`Factors::begin_totp`].
#[derive(Debug, Clone, PartialEq)]
pub enum BegunTotp {
    /// The pending factor is written and replaces an earlier pending one. Contains the account's user.
    Begun(Box<User>),
    /// The session or challenge in [`BeginTotp::enroller`] is not live, or the challenge does not permit the enrolment.
    NoEnroller,
    /// The account's address is not verified, or its password is not known to come from the mailbox's owner. Nothing
    /// changed.
    Unverified,
    /// The account has the maximum number of TOTP factors. Nothing changed.
    TooMany,
}

/// A pending TOTP factor, with the account that enrols it.
#[derive(Debug, Clone, PartialEq)]
pub struct PendingTotp {
    /// Id and sealed secret of the factor.
    pub totp: SealedTotp,
    /// User of the account; in a session, the session's user.
    pub user: User,
}

/// Confirmation of a pending factor. If two-step sign-in is off, the confirmation also turns it on, ends every session
/// of the account, and opens a new one.
#[derive(Debug, Clone)]
pub struct ConfirmTotp {
    /// Session or challenge that permits the enrolment.
    pub enroller: Enroller,
    /// Id of the factor.
    pub id: FactorId,
    /// Time step of the entered code; `None` for a wrong code, which is counted.
    pub step: Option<TotpStep>,
    /// Data to write if two-step sign-in is turned on.
    pub turned_on: TurnedOn,
    /// Audit event of kind `TotpAdded`. The store fills in the user id.
    pub added: AuditEvent,
    /// Mail of kind `TotpAdded`, written if two-step sign-in was on before; `None` writes no mail.
    pub mail: Option<NewMail>,
    /// Time of the request, used as the current time throughout the operation.
    pub now: Timestamp,
}

/// Data to write if two-step sign-in is turned on.
#[derive(Debug, Clone)]
pub struct TurnedOn {
    /// Session to open. Its level is 2 if a second factor was shown, otherwise 1. If a challenge permits the enrolment,
    /// the session gets the challenge's identity.
    pub session: NewSession,
    /// Limits of wrong passwords, for the sign-in with password that the challenge belongs to, as in
    /// [`crate::CompletedSignIn`]; `None` if a session permits the enrolment, or if rate limits are off.
    pub guard: Option<SignInGuard>,
    /// MACs of the first set of recovery codes.
    pub recovery_codes: Vec<CodeMac>,
    /// Audit events to record. The store fills in user id and session id.
    pub events: TurnedOnEvents,
    /// Mail of kind `TwoStepOn` with the undo link; `None` writes no mail.
    pub mail: Option<NewMail>,
    /// Mail of kind `IdentityLinked`, written if the sign-in links an identity; `None` if security notifications are
    /// off.
    pub linked_mail: Option<NewMail>,
    /// Undo token in the mail. It is written only with the mail, and only if the account may get security
    /// notifications.
    pub undo: Option<NewToken>,
    /// True if the grant of an operator falls asleep: no factor of the account vouches for the change.
    pub sleeps: bool,
}

/// Audit events of [`TurnedOn`].
#[derive(Debug, Clone)]
pub struct TurnedOnEvents {
    /// Audit event of kind `TwoStepOn`, always recorded.
    pub two_step_on: AuditEvent,
    /// Audit event of kind `RecoveryCodesMade`, always recorded.
    pub recovery_codes_made: AuditEvent,
    /// Audit event of kind `SignedIn`, recorded if the factor is enrolled during a sign-in.
    pub signed_in: AuditEvent,
    /// Audit event of kind `IdentityLinked`, recorded if the factor is enrolled during a sign-in that links an identity
    /// to the account.
    pub linked: AuditEvent,
}

/// Outcome of [`Factors::confirm_totp`].
#[derive(Debug, Clone, PartialEq)]
pub enum ConfirmedTotp {
    /// Two-step sign-in was turned on, and the new session was opened. Contains the user and the factor.
    TurnedOn(Box<User>, TotpFactor),
    /// The factor was added. Two-step sign-in was on before.
    Added(TotpFactor),
    /// The code was wrong. The fifth wrong code deletes the pending factor.
    Wrong,
    /// The pending factor is unknown or expired, or another session or challenge began it, or the account has the
    /// maximum number of factors by now.
    NotFound,
    /// The session or challenge in [`ConfirmTotp::enroller`] is not live, or the challenge does not permit the
    /// enrolment.
    NoEnroller,
}

/// A change of factors by the owner, in a live session.
#[derive(Debug, Clone)]
pub struct ChangeFactors<T> {
    /// Id of the account.
    pub user_id: UserId,
    /// Session of the caller.
    pub session_id: SessionId,
    /// Relying party id of the service. Only passkeys registered for it count as second factors.
    pub rp_id: Option<RpId>,
    /// Content of the change, for example the id of the factor to remove.
    pub change: T,
    /// Audit event of the change. The store fills in the user id.
    pub event: AuditEvent,
    /// Mail about the change; `None` writes no mail.
    pub mail: Option<NewMail>,
    /// Time of the request, used as the current time throughout the operation.
    pub now: Timestamp,
}

/// Outcome of a change of factors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangedFactors<T = ()> {
    /// The change was made.
    Changed(T),
    /// The account is in the requested state already. Nothing changed.
    Unchanged,
    /// The account has no such factor.
    NotFound,
    /// Refused, because of two-step sign-in: the change would remove the last second factor (TOTP factor or
    /// usable passkey) while it is on, or would replace recovery codes while it is off.
    LastSecondFactor,
    /// Refused: the owner could no longer sign in ([`latchkey_domain::sign_in_offer::SignInOffer::admits`]).
    LastWayIn,
    /// Refused: the grant of the last owner of the console would fall asleep.
    LastOwner,
    /// The session is not live.
    NoSession,
}

/// Turning two-step sign-in on for an account that has a usable passkey. Ends every session of the account, and opens a
/// new one.
#[derive(Debug, Clone)]
pub struct TurnTwoStepOn {
    /// Id of the account.
    pub user_id: UserId,
    /// Session of the caller.
    pub session_id: SessionId,
    /// Relying party id of the service. Only passkeys registered for it can be used.
    pub rp_id: Option<RpId>,
    /// Data to write. The events of a sign-in and of a linked identity are not used.
    pub turned_on: TurnedOn,
    /// Time of the request, used as the current time throughout the operation.
    pub now: Timestamp,
}

/// Outcome of [`Factors::turn_two_step_on`].
#[derive(Debug, Clone, PartialEq)]
pub enum TurnedTwoStepOn {
    /// Two-step sign-in was turned on, and the new session was opened. Contains the user.
    TurnedOn(Box<User>),
    /// Two-step sign-in was on already. Nothing changed.
    Unchanged,
    /// The account has neither a TOTP factor nor a usable passkey. Nothing changed.
    NoFactor,
    /// The account's address is not verified, or its password is not known to come from the mailbox's owner. Nothing
    /// changed.
    Unverified,
    /// The session is not live.
    NoSession,
}

/// A live session with the data that its owner sees about the account.
#[derive(Debug, Clone, PartialEq)]
pub struct OwnAccount {
    /// Session and user of the account.
    pub live: LiveSession,
    /// Second factors of the account.
    pub factors: OwnFactors,
    /// Change of address that is not completed; `None` if there is none.
    pub email_change: Option<EmailChange>,
    /// Language of the account's mails; `None` uses the language of the request that causes a mail.
    pub locale: Option<Locale>,
}

/// Second factors of an account as an admin or the operator sees them.
#[derive(Debug, Clone, PartialEq)]
pub struct AccountFactors {
    /// User of the account.
    pub user: User,
    /// Second factors of the account.
    pub factors: OwnFactors,
}

/// Removal of all second factors by an admin or the operator: TOTP, recovery codes and two-step sign-in, passkeys on
/// request. Ends all sessions.
#[derive(Debug, Clone)]
pub struct ResetFactors {
    /// Id of the account.
    pub user_id: UserId,
    /// True if passkeys are removed too.
    pub with_passkeys: bool,
    /// Audit event of kind `FactorsReset`. The store fills in the user id.
    pub event: AuditEvent,
    /// Mail of kind `FactorsReset`; `None` writes no mail.
    pub mail: Option<NewMail>,
    /// What is spared if the account is an operator's.
    pub protection: Protection,
    /// True if even the grant of the last owner may fall asleep.
    pub even_last_owner: bool,
    /// Time of the request, used as the current time throughout the operation.
    pub now: Timestamp,
}

/// Second factors of accounts: enrolment, change and removal.
#[async_trait]
pub trait Factors {
    /// Finds a live session with the data that its owner sees about the account; `None` if the session is not live.
    async fn find_own_account(
        &self,
        session_id: SessionId,
        now: Timestamp,
    ) -> StoreResult<Option<OwnAccount>>;

    /// Finds the second factors of an account; `None` if there is no such account.
    async fn find_factors(&self, user_id: UserId) -> StoreResult<Option<AccountFactors>>;

    /// Writes a pending TOTP factor. The conditions of [`BegunTotp`] are checked in the same transaction.
    async fn begin_totp(&self, begin: BeginTotp) -> StoreResult<BegunTotp>;

    /// Finds a pending factor that this session or challenge began; `None` if there is none.
    async fn find_pending_totp(
        &self,
        enroller: Enroller,
        id: FactorId,
        now: Timestamp,
    ) -> StoreResult<Option<Box<PendingTotp>>>;

    /// Confirms a pending factor or counts a wrong code.
    async fn confirm_totp(&self, confirm: ConfirmTotp) -> StoreResult<ConfirmedTotp>;

    /// Renames a confirmed TOTP factor. No audit event and no mail are written.
    async fn rename_totp(
        &self,
        rename: ChangeFactors<(FactorId, FactorName)>,
    ) -> StoreResult<ChangedFactors<TotpFactor>>;

    /// Removes a confirmed TOTP factor.
    async fn remove_totp(&self, remove: ChangeFactors<FactorId>) -> StoreResult<ChangedFactors>;

    /// Turns two-step sign-in on for an account that has a usable passkey. (With TOTP, the confirmation of the first
    /// factor turns it on.)
    async fn turn_two_step_on(&self, on: TurnTwoStepOn) -> StoreResult<TurnedTwoStepOn>;

    /// Turns two-step sign-in off, and deletes TOTP factors and recovery codes. Passkeys stay, and sessions stay open.
    async fn turn_two_step_off(&self, off: ChangeFactors<()>) -> StoreResult<ChangedFactors>;

    /// Replaces all recovery codes of an account by new ones.
    async fn replace_recovery_codes(
        &self,
        replace: ChangeFactors<Vec<CodeMac>>,
    ) -> StoreResult<ChangedFactors>;

    /// Removes all second factors of an account. Returns `false` if there is no such account.
    async fn reset_factors(&self, reset: ResetFactors) -> GuardedResult<bool>;
}
