//! Contract for challenges: beginning and answering them. The rules are in [`latchkey_domain::challenge`] and
//! [`latchkey_domain::guess_limits`].

use async_trait::async_trait;
use latchkey_domain::audit::AuditEvent;
use latchkey_domain::challenge::{ChallengeKind, ChallengePurpose, FactorRules};
use latchkey_domain::client::OpenedFor;
use latchkey_domain::codes::CodeMac;
use latchkey_domain::email::EmailKey;
use latchkey_domain::factors::FactorId;
use latchkey_domain::factors::TotpStep;
use latchkey_domain::guess_limits::SecondFactorGuard;
use latchkey_domain::identity::ProviderKey;
use latchkey_domain::limits::Take;
use latchkey_domain::passkey::Passkey;
use latchkey_domain::password::PasswordHash;
use latchkey_domain::session::SessionId;
use latchkey_domain::session::{AuthMethods, NewSession};
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_domain::user::User;

use crate::email_codes::NewToken;
use crate::entry::{ChallengeTerms, Entered, NewChallenge};
use crate::error::{LimitedResult, StoreResult};
use crate::factors::SealedTotp;
use crate::outbox::NewMail;
use crate::page_sessions::PageSessionStepUp;
use crate::passkeys::{PasskeyRefusal, ShownPasskey, VerifiablePasskey};
use crate::sessions::{LiveSession, SignInGuard};
use crate::undo::UndoWrites;

/// A challenge that is neither answered, expired nor out of attempts, with the data that its answer is
/// compared with.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundChallenge {
    /// Purpose of the challenge.
    pub purpose: ChallengePurpose,
    /// User of the account as it is now. Never a banned user.
    pub user: User,
    /// Session that is reauthenticated; `None` for other purposes.
    pub session_id: Option<SessionId>,
    /// Side that gets the session that the answer opens.
    pub opened_for: OpenedFor,
    /// Authentication methods of the first factor; `None` for purposes other than sign-in.
    pub methods: Option<AuthMethods>,
    /// Identity provider of the first factor; `None` if that was no external identity.
    pub provider: Option<ProviderKey>,
    /// Kinds of answers that the challenge accepts now, strongest first.
    pub kinds: Vec<ChallengeKind>,
    /// Confirmed TOTP factors of the account.
    pub totp: Vec<SealedTotp>,
    /// Passkeys of the account that are registered for the relying party id of the service.
    pub passkeys: Vec<VerifiablePasskey>,
    /// WebAuthn challenge of the request options that were issued last; `None` if there were none.
    pub passkey_options: Option<PasskeyOptions>,
    /// Number of unused recovery codes.
    pub recovery_codes_left: u32,
    /// Address that the mail with the undo link went to; `None` for other purposes than an undo.
    pub undo_email: Option<EmailKey>,
    /// Expiry of the challenge.
    pub expires_at: Timestamp,
}

/// WebAuthn challenge of the request options for an answer by passkey: 32 random bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PasskeyOptions(pub [u8; 32]);

/// Answer of the client, as far as the service could check it without the database. The store checks the
/// rest.
#[derive(Debug, Clone)]
pub enum Shown {
    /// A WebAuthn assertion with a right signature of the passkey. The store accepts it if the request
    /// options are those issued last for the challenge, and [`ShownPasskey::state`] shows no sign of a copied
    /// passkey.
    Passkey(ShownPasskey, PasskeyOptions),
    /// A TOTP code that matched at this time step. The store accepts it only if the step is later than every step that
    /// the factor accepted before.
    Totp(FactorId, TotpStep),
    /// MAC of an entered recovery code. The store accepts the code if it is among the account's unused ones.
    /// The mail in [`AnswerMails::recovery_code_used`] states how many are left: if their number is no longer
    /// [`FoundChallenge::recovery_codes_left`], the outcome is [`Answered::Moved`].
    RecoveryCode(CodeMac),
    /// A password that matched this hash. The store accepts the answer if the account still has the hash.
    Password(PasswordHash),
    /// Consent to restore an account whose deletion its owner scheduled. It is always accepted.
    Restore(Restoral),
    /// A right code, mailed for the purpose [`latchkey_domain::codes::Purpose::Reauthenticate`] and consumed already.
    EmailCode,
    /// A wrong answer.
    Wrong,
}

/// Data to write when an account is restored whose deletion its owner scheduled.
#[derive(Debug, Clone)]
pub struct Restoral {
    /// Audit event of kind `DeletionCancelled`. The store fills in the user id.
    pub event: AuditEvent,
    /// Mail of kind `DeletionCancelled`; `None` writes no mail.
    pub mail: Option<NewMail>,
}

/// An answer to a challenge.
#[derive(Debug, Clone)]
pub struct AnswerChallenge {
    /// Hash of the challenge's id.
    pub challenge: TokenHash,
    /// Rules and time by which the challenge is looked up.
    pub terms: ChallengeTerms,
    /// Kind of the answer. The challenge must accept it.
    pub kind: ChallengeKind,
    /// Result of the service's check of the answer.
    pub shown: Shown,
    /// Limits of wrong TOTP and recovery codes; `None` if rate limits are off, or for an answer of another
    /// kind.
    pub guard: Option<SecondFactorGuard>,
    /// Operation that a right answer completes. It must match the challenge's purpose.
    pub completes: Completion,
    /// Audit event of kind `SecondFactorFailed`, recorded for a wrong answer; `None` for an answer of another kind. The
    /// store fills in the user id.
    pub failed: Option<AuditEvent>,
    /// Audit event of kind `RecoveryCodeUsed`. The store fills in the user id.
    pub recovery_code_used: AuditEvent,
    /// Audit event of kind `PasskeyRefused` and its mail, written if a passkey is refused although its signature is
    /// right.
    pub passkey_refusal: PasskeyRefusal,
    /// Mails to the account's owner about the answer.
    pub mails: AnswerMails,
}

/// Mails to the account's owner about an answer; each is `None` if no mail transport is configured.
#[derive(Debug, Clone)]
pub struct AnswerMails {
    /// Mail of kind `SecondFactorFailed`, written when the wrong second factors of the account reach
    /// [`latchkey_domain::guess_limits::FAILURES_TOLD`] within the window of their limit.
    pub failed: Option<NewMail>,
    /// Mail of kind `RecoveryCodeUsed`, written if a recovery code is accepted.
    pub recovery_code_used: Option<NewMail>,
    /// Number of unused recovery codes before this answer. The mail in `recovery_code_used` was made for this number.
    pub recovery_codes_left: u32,
}

/// Operation that a right answer to a challenge completes.
#[derive(Debug, Clone)]
pub enum Completion {
    /// A sign-in. Opens the session, and applies what [`crate::Entry`] postponed until the answer. If a further answer
    /// is needed, the second value is written as its challenge instead.
    SignIn(Box<CompletedSignIn>, Box<NewChallenge>),
    /// Reauthentication of this session (step-up), which must be live. The store writes the audit event, and the step-up
    /// of a page session; for an app session the caller issues the token.
    Reauthenticate(SessionId, AuditEvent, Option<Box<PageSessionStepUp>>),
    /// A password reset. Writes a reset token of level 2 (a second factor was shown) for the account, and
    /// invalidates the token that began the challenge.
    Reset(NewToken),
    /// Use of an undo link, with the effects of [`crate::UndoLinks::undo`].
    Undo(Box<UndoWrites>),
}

/// A sign-in that the answer to a challenge completes.
#[derive(Debug, Clone)]
pub struct CompletedSignIn {
    /// Session to open. The store adds the external identity with which the sign-in began, if there is one,
    /// and the passkey that was used in the sign-in or registered in the answer, if any.
    pub session: NewSession,
    /// Limits of wrong passwords, for a sign-in that began with a password; `None` for other sign-ins. The
    /// failure counter of this account and client network is cleared, and the client network becomes known to
    /// the account.
    pub guard: Option<SignInGuard>,
    /// Audit event of the sign-in. The store fills in user id and session id.
    pub event: AuditEvent,
    /// Audit event of kind `IdentityLinked`, written if the answer links an identity. The store fills in user id and
    /// session id.
    pub linked: AuditEvent,
    /// Mail of kind `IdentityLinked`, written if the answer links an identity; `None` if security notifications are
    /// off.
    pub mail: Option<NewMail>,
}

/// Outcome of [`Challenges::answer_challenge`].
#[derive(Debug, Clone, PartialEq)]
pub enum Answered {
    /// The session of the sign-in was opened, or a further challenge was written.
    Entered(Entered),
    /// The session is reauthenticated, so a token of a higher level may be issued for it. Contains it as it was before.
    Reauthenticated(Box<LiveSession>),
    /// A reset token of level 2 (a second factor was shown) was written.
    Reset,
    /// The change that the undo link reverses was reversed.
    Undone,
    /// The number of unused recovery codes changed after the challenge was read. The answer was not checked; the caller
    /// must read the challenge again.
    Moved,
    /// The answer was wrong, or its code was used before. It counts as a wrong answer.
    Wrong,
    /// The challenge is unknown, expired, used or out of attempts, the session, token or identity that began it is no
    /// longer valid, or the challenge does not accept this kind of answer. Nothing changed.
    Invalid,
}

/// A reauthentication (step-up) to begin.
#[derive(Debug, Clone)]
pub struct BeginReauthentication {
    /// Session of the caller, which must be live.
    pub session_id: SessionId,
    /// Challenge to write. It replaces an earlier one of the same session.
    pub challenge: NewChallenge,
    /// Rate limits of the request. One token is taken from each, or none if one is used up.
    pub takes: Vec<Take>,
    /// Operator's current rules for second factors.
    pub rules: FactorRules,
    /// Audit event to record if the operator requires two-step sign-in and the session has level 1 (one
    /// factor), which ends the session. The store fills in user id and session id. `None` if level 1 is
    /// enough.
    pub level_two_required: Option<AuditEvent>,
    /// Time of the request, used as the current time throughout the operation.
    pub now: Timestamp,
}

/// A password reset of an account with two-step sign-in, for which a challenge is begun.
#[derive(Debug, Clone)]
pub struct BeginResetChallenge {
    /// Hash of the reset token, which stays valid.
    pub token: TokenHash,
    /// Challenge to write. It replaces an earlier one of the same token.
    pub challenge: NewChallenge,
    /// Operator's current rules for second factors.
    pub rules: FactorRules,
    /// Time of the request, used as the current time throughout the operation.
    pub now: Timestamp,
}

/// Challenges for second factors and reauthentication.
#[async_trait]
pub trait Challenges {
    /// Finds a live challenge, with the data that its answer is compared with. Changes nothing.
    async fn find_challenge(
        &self,
        challenge: TokenHash,
        terms: ChallengeTerms,
    ) -> StoreResult<Option<Box<FoundChallenge>>>;

    /// Stores the WebAuthn challenge of request options, which replaces an earlier one, and returns the usable passkeys
    /// of the account; `None` unless the challenge is live and accepts a passkey.
    async fn save_passkey_options(
        &self,
        challenge: TokenHash,
        options: PasskeyOptions,
        terms: ChallengeTerms,
    ) -> StoreResult<Option<Vec<Passkey>>>;

    /// Checks an answer and completes the operation of the challenge, in one transaction. Of concurrent right
    /// answers only one succeeds. A wrong answer counts as an attempt at the challenge, and a wrong TOTP or
    /// recovery code also as a failure in [`AnswerChallenge::guard`].
    async fn answer_challenge(&self, answer: AnswerChallenge) -> LimitedResult<Answered>;

    /// Writes a challenge for a live session, and returns the kinds of answers that it accepts. Returns `None` if the
    /// session is not live, or is ended because of its level ([`BeginReauthentication::level_two_required`]). If the
    /// account has no means to answer, nothing is written and the list is empty.
    async fn begin_reauthentication(
        &self,
        begin: BeginReauthentication,
    ) -> LimitedResult<Option<Vec<ChallengeKind>>>;

    /// Writes a challenge for a valid reset token and returns the kinds of answers that it accepts; `None` if the token
    /// is not valid.
    async fn begin_reset_challenge(
        &self,
        begin: BeginResetChallenge,
    ) -> StoreResult<Option<Vec<ChallengeKind>>>;
}
