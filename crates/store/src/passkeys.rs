//! Contract for passkeys: registration, sign-in, change and removal. The rules are in [`latchkey_domain::passkey`].
//! Answers to challenges are in [`crate::Challenges`].

use async_trait::async_trait;
use latchkey_domain::audit::AuditEvent;
use latchkey_domain::factors::FactorName;
use latchkey_domain::ids::{SessionId, UserId};
use latchkey_domain::operator::Protection;
use latchkey_domain::passkey::{
    Aaguid, CredentialId, Passkey, PasskeyId, PasskeyState, Passkeys as OwnPasskeys, RpId, Transports,
    UserHandle,
};
use latchkey_domain::sign_in_offer::SignInOffer;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_domain::user::User;

use crate::email_codes::NewToken;
use crate::entry::{Entered, Entry};
use crate::error::{GuardedResult, StoreResult};
use crate::factors::{ChangeFactors, ChangedFactors, Enroller, TurnedOn};
use crate::outbox::NewMail;
use crate::sessions::{LiveSession, SignInGuard};

/// A WebAuthn ceremony (a registration or a sign-in) that a request completes. It can be completed once, whichever
/// instance gets the request.
#[derive(Debug, Clone, Copy)]
pub struct Ceremony {
    /// Hash of the ceremony's WebAuthn challenge.
    pub hash: TokenHash,
    /// Expiry of the ceremony. Until then, the store remembers that the ceremony was completed.
    pub expires_at: Timestamp,
}

/// Registration of a passkey, to be begun.
#[derive(Debug, Clone)]
pub struct BeginPasskey {
    /// Session or challenge that permits the registration.
    pub enroller: Enroller,
    /// User handle that the account gets if it has none.
    pub user_handle: UserHandle,
    /// Time of the request, used as the current time throughout the operation.
    pub now: Timestamp,
}

/// Outcome of [`Passkeys::begin_passkey`].
#[derive(Debug, Clone, PartialEq)]
pub enum BegunPasskey {
    /// The registration may continue. Only the user handle was written.
    Begun(Box<PasskeyOwner>),
    /// The session or challenge in [`BeginPasskey::enroller`] is not live, or the challenge does not permit the
    /// enrolment.
    NoEnroller,
    /// A challenge permits the registration, and the account's address is not verified, or its password is not known to
    /// come from the mailbox's owner.
    Unverified,
    /// The account has [`latchkey_domain::passkey::MAX_PASSKEYS`].
    TooMany,
}

/// An account that registers a passkey.
#[derive(Debug, Clone, PartialEq)]
pub struct PasskeyOwner {
    /// User of the account.
    pub user: User,
    /// User handle of the account.
    pub user_handle: UserHandle,
    /// All passkeys of the account, oldest first.
    pub passkeys: Vec<Passkey>,
}

/// A passkey to be stored.
#[derive(Debug, Clone)]
pub struct NewPasskey {
    /// Id of the passkey.
    pub id: PasskeyId,
    /// Credential id.
    pub credential_id: CredentialId,
    /// Public key in COSE form.
    pub public_key: Vec<u8>,
    /// Relying party id of the registration.
    pub rp_id: RpId,
    /// Name of the passkey.
    pub name: FactorName,
    /// Model of the authenticator.
    pub aaguid: Aaguid,
    /// Transports of the authenticator.
    pub transports: Transports,
    /// True if the passkey may be synced (flag BE).
    pub is_backup_eligible: bool,
    /// Signature counter and backup state of the registration.
    pub state: PasskeyState,
}

/// A registration whose attestation is verified. If it answers the challenge of a sign-in, two-step sign-in
/// is turned on: every session of the account ends, and a new one is opened.
#[derive(Debug, Clone)]
pub struct RegisterPasskey {
    /// Session or challenge that permits the registration.
    pub enroller: Enroller,
    /// Ceremony of the registration.
    pub ceremony: Ceremony,
    /// Passkey to store.
    pub passkey: NewPasskey,
    /// Data to write if a challenge permits the registration; not used with a session. The store adds the passkey to
    /// the session that is opened.
    pub turned_on: Option<Box<TurnedOn>>,
    /// Audit event of kind `PasskeyAdded`. The store fills in user id and session id.
    pub event: AuditEvent,
    /// Mail of kind `PasskeyAdded` without an undo link, to a verified address only; `None` writes no mail. It is not
    /// written if a challenge permits the registration, because the mail `TwoStepOn` reports the passkey then.
    pub mail: Option<NewMail>,
    /// Mail of kind `PasskeyAdded` with an undo link, and its token. It replaces `mail` while two-step sign-in is off;
    /// `None` if undo links are off.
    pub undoable: Option<(NewMail, NewToken)>,
    /// True if the grant of an operator falls asleep, as in [`TurnedOn::sleeps`]; not used with a challenge.
    pub sleeps: bool,
    /// Time of the request, used as the current time throughout the operation.
    pub now: Timestamp,
}

/// Outcome of [`Passkeys::register_passkey`].
#[derive(Debug, Clone, PartialEq)]
pub enum RegisteredPasskey {
    /// The passkey was stored.
    Added(Box<Passkey>),
    /// The passkey was stored, two-step sign-in was turned on, and the new session was opened. Contains the user and
    /// the passkey.
    TurnedOn(Box<User>, Box<Passkey>),
    /// The ceremony was completed before.
    CeremonyUsed,
    /// Some account, this one or another, has a passkey with the credential id already.
    Exists,
    /// The account has the maximum number of passkeys.
    TooMany,
    /// The session or challenge in [`RegisterPasskey::enroller`] is not live, the challenge does not permit the
    /// enrolment, or the account began no registration.
    NoEnroller,
}

/// A stored passkey with the data that verifying an assertion needs.
#[derive(Debug, Clone, PartialEq)]
pub struct VerifiablePasskey {
    /// Passkey.
    pub passkey: Passkey,
    /// Public key in COSE form.
    pub public_key: Vec<u8>,
    /// Signature counter of the registration or the last accepted assertion.
    pub counter: u32,
    /// User handle of the account.
    pub user_handle: UserHandle,
}

/// A passkey whose signature in an assertion is right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShownPasskey {
    /// Id of the passkey.
    pub id: PasskeyId,
    /// Counter and backup state in the assertion. `None` if the service refused the passkey although the signature is
    /// right, because the counter did not increase or the backup eligibility changed. The store checks the counter
    /// again, by [`latchkey_domain::passkey::may_follow`].
    pub state: Option<PasskeyState>,
}

/// Audit event and mail about a passkey that was refused although its signature is right: it may have been copied.
#[derive(Debug, Clone)]
pub struct PasskeyRefusal {
    /// Audit event of kind `PasskeyRefused`. The store fills in the user id.
    pub event: AuditEvent,
    /// Mail of kind `PasskeyRefused`; `None` writes no mail.
    pub mail: Option<NewMail>,
}

/// A sign-in with a passkey whose signature is right.
#[derive(Debug, Clone)]
pub struct SignInWithPasskey {
    /// Ceremony of the assertion. A refused passkey uses it up too, so that one assertion, sent repeatedly, causes one
    /// mail.
    pub ceremony: Ceremony,
    /// Passkey, with the state that the assertion contains.
    pub shown: ShownPasskey,
    /// Relying party id that the service uses now.
    pub rp_id: RpId,
    /// Session of level 2 (two factors) to open; the store fills in the passkey. The challenge of the entry
    /// is written instead only if the account's owner scheduled its deletion.
    pub entry: Entry,
    /// Limits of wrong passwords, if they are on. The sign-in clears the failure counter of this account and
    /// client network.
    pub guard: Option<SignInGuard>,
    /// True if only accounts with a verified email address may sign in.
    pub must_verify: bool,
    /// Audit event of kind `SignedIn`. The store fills in user id and session id.
    pub event: AuditEvent,
    /// Data to write if the passkey is refused.
    pub refusal: PasskeyRefusal,
}

/// Outcome of [`Passkeys::find_passkey`].
#[derive(Debug, Clone, PartialEq)]
pub enum FoundPasskey {
    /// The passkey and its user.
    Usable(Box<(VerifiablePasskey, User)>),
    /// No account has such a passkey.
    Unknown,
    /// No account has such a passkey, and the ceremony was completed before.
    CeremonyUsed,
}

/// Outcome of [`Passkeys::sign_in_with_passkey`].
#[derive(Debug, Clone, PartialEq)]
pub enum PasskeySignIn {
    /// The session was opened. Contains its user.
    Entered(Entered),
    /// The ceremony was completed before. Nothing changed.
    CeremonyUsed,
    /// The passkey was removed, or is of another relying party id. Nothing changed.
    Gone,
    /// The signature counter did not increase, or the service refused the assertion. Audit event and mail were written.
    Refused,
    /// The account is banned. Nothing changed.
    Banned,
    /// The account's address must be verified first. Nothing changed.
    Unverified,
}

/// Removal of a passkey by an admin. Neither the last second factor nor the last method of sign-in is protected. Two-step
/// sign-in that is left without a factor and without recovery codes is turned off.
#[derive(Debug, Clone)]
pub struct RemovePasskeyOf {
    /// Id of the account.
    pub user_id: UserId,
    /// Id of the passkey.
    pub passkey: PasskeyId,
    /// Audit event of kind `PasskeyRemoved`. The store fills in the user id.
    pub event: AuditEvent,
    /// Mail of kind `PasskeyRemoved`; `None` writes no mail.
    pub mail: Option<NewMail>,
    /// The relying party id of passkeys that count as second factors.
    pub rp_id: Option<RpId>,
    /// What is spared if the account is an operator's.
    pub protection: Protection,
    /// True if even the grant of the last owner may fall asleep.
    pub even_last_owner: bool,
    /// Time of the request, used as the current time throughout the operation.
    pub now: Timestamp,
}

/// Passkeys of accounts: registration, sign-in, change and removal.
#[async_trait]
pub trait Passkeys {
    /// Stores a user handle for the account, if it has none, and returns the data that creation options contain.
    async fn begin_passkey(&self, begin: BeginPasskey) -> StoreResult<BegunPasskey>;

    /// Stores a verified passkey. Of concurrent registrations with the same ceremony or credential id only
    /// one succeeds, and the account never exceeds [`latchkey_domain::passkey::MAX_PASSKEYS`]. Deletes the
    /// account's challenges.
    async fn register_passkey(&self, register: RegisterPasskey) -> StoreResult<RegisteredPasskey>;

    /// Finds the passkey with a credential id, if it was registered for this relying party id. `ceremony` is the hash
    /// of the ceremony that the assertion belongs to.
    async fn find_passkey(
        &self,
        credential_id: &CredentialId,
        rp_id: &RpId,
        ceremony: TokenHash,
    ) -> StoreResult<FoundPasskey>;

    /// Opens a session, and stores the counter and backup state of the assertion in the same transaction.
    async fn sign_in_with_passkey(&self, sign_in: SignInWithPasskey) -> StoreResult<PasskeySignIn>;

    /// Finds a live session and the passkeys of its account; `None` if the session is not live.
    async fn find_own_passkeys(
        &self,
        session_id: SessionId,
        now: Timestamp,
    ) -> StoreResult<Option<(LiveSession, OwnPasskeys)>>;

    /// Renames a passkey and records the audit event. No mail is written.
    async fn rename_passkey(
        &self,
        rename: ChangeFactors<(PasskeyId, FactorName)>,
    ) -> StoreResult<ChangedFactors<Passkey>>;

    /// Removes a passkey of the caller, and ends the other sessions whose sign-in used it. Returns the remaining
    /// passkeys.
    async fn remove_passkey(
        &self,
        remove: ChangeFactors<PasskeyId>,
        offer: SignInOffer,
    ) -> StoreResult<ChangedFactors<OwnPasskeys>>;

    /// Removes a passkey for an admin, and ends the sessions whose sign-in used it. Returns `false` if the account has
    /// no such passkey.
    async fn remove_passkey_of(&self, remove: RemovePasskeyOf) -> GuardedResult<bool>;

    /// Counts the passkeys of all accounts that were registered for another relying party id; for `None`, all
    /// passkeys.
    async fn count_unusable_passkeys(&self, rp_id: Option<&RpId>) -> StoreResult<u64>;
}
