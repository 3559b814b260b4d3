//! OAuth flows: the `state` that travels through a provider, and the authorization code that the app exchanges.
//! Any instance can continue a flow that another one began.

use async_trait::async_trait;
use latchkey_domain::identity::{IdentityRefusal, IdentityRules, ProviderKey, VerifiedIdentity};
use latchkey_domain::ids::{SessionId, UserId};
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;

use crate::error::StoreResult;

/// Session that began a flow in order to link an identity to its account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Linker {
    /// Id of the account.
    pub user_id: UserId,
    /// Id of the session.
    pub session_id: SessionId,
}

/// A flow about to begin.
#[derive(Debug, Clone)]
pub struct NewFlow {
    /// Hash of the `state` parameter.
    pub state: TokenHash,
    /// Provider that authenticates the user.
    pub provider: ProviderKey,
    /// The app's PKCE code challenge (S256, decoded; RFC 7636).
    pub code_challenge: TokenHash,
    /// Redirect target at the end of the flow, already checked against the allowed list.
    pub redirect_to: String,
    /// Nonce and PKCE verifier for the provider, sealed.
    pub sealed: Vec<u8>,
    /// Session to link an identity to; `None` for a sign-in.
    pub linker: Option<Linker>,
    /// Start of the flow.
    pub created_at: Timestamp,
    /// Expiry of the `state`.
    pub expires_at: Timestamp,
}

/// A flow whose `state` came back for the first time. It cannot be taken again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakenFlow {
    /// See [`NewFlow`]; as stored.
    pub provider: String,
    /// See [`NewFlow`].
    pub code_challenge: TokenHash,
    /// See [`NewFlow`].
    pub redirect_to: String,
    /// See [`NewFlow`].
    pub sealed: Vec<u8>,
    /// See [`NewFlow`].
    pub linker: Option<Linker>,
    /// See [`NewFlow`]. It may have passed.
    pub expires_at: Timestamp,
}

/// Outcome of looking up a `state`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StateOutcome {
    /// First use: the flow.
    Taken(Box<TakenFlow>),
    /// Replay: the `state` was used before.
    Replayed {
        /// Redirect target of that flow.
        redirect_to: String,
    },
    /// Unknown or purged.
    Unknown,
}

/// An authorization code for the app, exchanged for a session or a link.
#[derive(Debug, Clone)]
pub struct NewOAuthCode {
    /// Hash of the code.
    pub code: TokenHash,
    /// The app's PKCE code challenge.
    pub code_challenge: TokenHash,
    /// Identity that the provider asserted.
    pub identity: VerifiedIdentity,
    /// Session to link the identity to; `None` for a sign-in.
    pub linker: Option<Linker>,
    /// The operator's rules, for a check before the exchange.
    pub rules: IdentityRules,
    /// Time of issue.
    pub created_at: Timestamp,
    /// Expiry.
    pub expires_at: Timestamp,
}

/// Outcome of issuing a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NewCodeOutcome {
    /// The code is stored.
    Saved,
    /// A sign-in would be refused at present; no code was issued.
    Refused(IdentityRefusal),
    /// The identity is linked to another account than the flow's; no code was issued.
    Taken,
}

/// A code presented for exchange.
#[derive(Debug, Clone, Copy)]
pub struct PresentedCode {
    /// Hash of the code.
    pub code: TokenHash,
    /// Code challenge computed from the presented PKCE verifier.
    pub code_challenge: TokenHash,
    /// Session of the bearer token sent along.
    pub caller: Option<Linker>,
    /// Time of the request.
    pub now: Timestamp,
}

/// Columns of a stored code that decide its exchange.
#[derive(Debug, Clone, Copy)]
pub struct StoredCode {
    /// The app's PKCE code challenge.
    pub code_challenge: TokenHash,
    /// Session to link the identity to; `None` for a sign-in.
    pub linker: Option<Linker>,
    /// Expiry.
    pub expires_at: Timestamp,
}

/// Verdict on a presented code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodeVerdict {
    /// Valid; consumed.
    Good,
    /// Invalid; consumed.
    Burnt,
    /// Not consumed: the exchange needs the session that began the flow.
    NeedsSession,
}

impl StoredCode {
    /// Judges a presented code, for all engines alike.
    #[must_use]
    pub fn judge(&self, presented: &PresentedCode) -> CodeVerdict {
        let is_good = presented.now < self.expires_at && presented.code_challenge == self.code_challenge;
        let Some(linker) = self.linker.filter(|_| is_good) else {
            return if is_good { CodeVerdict::Good } else { CodeVerdict::Burnt };
        };
        match presented.caller {
            // The client refreshes its stale bearer token and retries.
            None => CodeVerdict::NeedsSession,
            Some(caller) if caller == linker => CodeVerdict::Good,
            Some(_) => CodeVerdict::Burnt,
        }
    }
}

/// Outcome of exchanging a code.
#[derive(Debug, Clone, PartialEq)]
pub enum TakenCode {
    /// Valid; consumed.
    Good {
        /// Identity that the provider asserted.
        identity: Box<VerifiedIdentity>,
        /// Session to link the identity to; `None` for a sign-in.
        linker: Option<Linker>,
    },
    /// Invalid; consumed. Carries the asserted identity.
    Burnt(Box<VerifiedIdentity>),
    /// Unknown code.
    Unknown,
    /// Not consumed: a code for linking was presented without a session.
    NeedsSession,
}

/// OAuth flows.
#[async_trait]
pub trait OAuthFlows {
    /// Stores a new flow.
    async fn begin_flow(&self, flow: NewFlow) -> StoreResult<()>;

    /// Takes the flow of a returned `state`, expired or not; of concurrent callers one gets it. Deletes the
    /// sealed part.
    async fn take_flow(&self, state: TokenHash, now: Timestamp) -> StoreResult<StateOutcome>;

    /// Issues a code, unless its exchange would be refused at present; a sign-in is judged by
    /// [`latchkey_domain::identity::judge_sign_in`].
    async fn save_oauth_code(&self, code: NewOAuthCode) -> StoreResult<NewCodeOutcome>;

    /// Consumes a code by [`StoredCode::judge`]; of concurrent callers one gets it.
    async fn take_oauth_code(&self, presented: PresentedCode) -> StoreResult<TakenCode>;
}
