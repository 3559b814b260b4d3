//! Contract for the step after a right first factor: a session is opened, or a challenge for a second factor is
//! written.

use latchkey_domain::audit::AuditEvent;
use latchkey_domain::challenge::{ChallengeKind, FactorRules};
use latchkey_domain::client::OpenedFor;
use latchkey_domain::session::NewSession;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_domain::user::User;

/// A sign-in whose first factor is right. Every method of sign-in leads to it. The store opens the session,
/// or writes the challenge instead. It writes the challenge if [`latchkey_domain::challenge::is_challenged`]
/// is true of the account's current state, or if the account's owner scheduled its deletion.
///
/// With a challenge, only the effects of the first factor itself are written (a used code, a verified
/// address). The effects of a completed sign-in wait for [`crate::Challenges::answer_challenge`]: the audit
/// event is written, failure counters are cleared, the client becomes known to the account, the account stops
/// being pending, and an identity is linked to an existing account.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Session to open.
    pub session: NewSession,
    /// Challenge to write instead of opening the session.
    pub challenge: NewChallenge,
    /// Operator's current rules for second factors.
    pub rules: FactorRules,
}

/// A challenge to be written. It is live until it is answered, expires, or has [`crate::ChallengeTerms::attempts`]
/// wrong answers. Every change of the account that invalidates its codes also deletes its challenges.
#[derive(Debug, Clone)]
pub struct NewChallenge {
    /// Hash of the challenge's id.
    pub hash: TokenHash,
    /// Side that gets the session that the answer opens.
    pub opened_for: OpenedFor,
    /// Expiry of the challenge.
    pub expires_at: Timestamp,
    /// Audit event of kind `SignInChallenged`, written for sign-ins only. The store fills in the user id.
    pub event: AuditEvent,
}

/// Rules and time by which a challenge is looked up and its answer is checked.
#[derive(Debug, Clone)]
pub struct ChallengeTerms {
    /// Number of wrong answers that ends a challenge.
    pub attempts: u32,
    /// Operator's current rules for second factors.
    pub rules: FactorRules,
    /// True if only accounts with a verified email address may sign in.
    pub must_verify: bool,
    /// Time of the request, used as the current time throughout the operation.
    pub now: Timestamp,
}

/// Outcome of an [`Entry`].
#[derive(Debug, Clone, PartialEq)]
pub enum Entered {
    /// The session was opened. Contains its user.
    Session(Box<User>),
    /// The challenge was written. Contains the kinds of answers that it accepts, strongest first.
    Challenge(Vec<ChallengeKind>),
}
