//! Contract for OAuth flows: the `state` parameter sent through the provider, and the authorization code that the app
//! exchanges afterwards. Flows are stored in the database, so any instance can continue a flow of another.

use async_trait::async_trait;
use latchkey_domain::identity::{IdentityRefusal, IdentityRules, ProviderKey, VerifiedIdentity};
use latchkey_domain::ids::{SessionId, UserId};
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;

use crate::error::StoreResult;

/// Session that began a flow in order to link an identity to its account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Linker {
    /// Id of the session's user.
    pub user_id: UserId,
    /// Id of the session.
    pub session_id: SessionId,
}

/// An OAuth flow to be started.
#[derive(Debug, Clone)]
pub struct NewFlow {
    /// Hash of the `state` parameter, by which the flow is found again.
    pub state: TokenHash,
    /// Key of the provider that authenticates the user.
    pub provider: ProviderKey,
    /// PKCE code challenge of the app (method S256, base64url-decoded; RFC 7636).
    pub code_challenge: TokenHash,
    /// Redirect target at the end of the flow, already checked against the allow-list.
    pub redirect_to: String,
    /// Nonce and PKCE verifier for the requests to the provider, sealed.
    pub sealed: Vec<u8>,
    /// Session to whose account the identity is linked; `None` for a sign-in.
    pub linker: Option<Linker>,
    /// Start time of the flow.
    pub created_at: Timestamp,
    /// Expiry of the `state` parameter.
    pub expires_at: Timestamp,
}

/// A stored flow whose `state` came back for the first time. Its `state` is consumed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakenFlow {
    /// Provider key as stored, see [`NewFlow::provider`]. It may be unknown to this version.
    pub provider: String,
    /// PKCE code challenge of the app, see [`NewFlow::code_challenge`].
    pub code_challenge: TokenHash,
    /// Redirect target at the end of the flow, see [`NewFlow::redirect_to`].
    pub redirect_to: String,
    /// Sealed nonce and PKCE verifier, see [`NewFlow::sealed`].
    pub sealed: Vec<u8>,
    /// Session to whose account the identity is linked, if any; see [`NewFlow::linker`].
    pub linker: Option<Linker>,
    /// Expiry of the `state` parameter, which may be in the past.
    pub expires_at: Timestamp,
}

/// Outcome of [`OAuthFlows::take_flow`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StateOutcome {
    /// First use of the `state`, with its flow.
    Taken(Box<TakenFlow>),
    /// The `state` was used before (replay).
    Replayed {
        /// Redirect target of the flow.
        redirect_to: String,
    },
    /// No flow with this `state` is stored: it never existed, or was purged.
    Unknown,
}

/// An authorization code to be issued to the app, which exchanges it for a session or a linked identity.
#[derive(Debug, Clone)]
pub struct NewOAuthCode {
    /// Hash of the authorization code.
    pub code: TokenHash,
    /// PKCE code challenge of the app (RFC 7636).
    pub code_challenge: TokenHash,
    /// Identity that the provider asserted, validated.
    pub identity: VerifiedIdentity,
    /// Session to whose account the identity is linked; `None` for a sign-in.
    pub linker: Option<Linker>,
    /// Operator's rules for sign-in with identities. They are checked before the code is issued.
    pub rules: IdentityRules,
    /// Time at which the code is issued.
    pub created_at: Timestamp,
    /// Expiry of the code.
    pub expires_at: Timestamp,
}

/// Outcome of [`OAuthFlows::save_oauth_code`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NewCodeOutcome {
    /// The authorization code was stored and can be exchanged.
    Saved,
    /// A sign-in with the identity would be refused now. No code is stored.
    Refused(IdentityRefusal),
    /// The identity is linked to an account other than the one that began the flow. No code is stored.
    Taken,
}

/// An authorization code that the app presents for exchange.
#[derive(Debug, Clone, Copy)]
pub struct PresentedCode {
    /// Hash of the presented code.
    pub code: TokenHash,
    /// PKCE code challenge computed from the presented verifier.
    pub code_challenge: TokenHash,
    /// User and session of the bearer token in the request; `None` without a valid one.
    pub caller: Option<Linker>,
    /// Time of the request, used as the current time throughout the operation.
    pub now: Timestamp,
}

/// Columns of a stored authorization code that determine whether an exchange succeeds.
#[derive(Debug, Clone, Copy)]
pub struct StoredCode {
    /// PKCE code challenge of the app (RFC 7636).
    pub code_challenge: TokenHash,
    /// Session to whose account the identity is linked; `None` for a sign-in.
    pub linker: Option<Linker>,
    /// Expiry of the code, exclusive.
    pub expires_at: Timestamp,
}

/// Decision on a presented authorization code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodeVerdict {
    /// The code is valid, and is consumed.
    Good,
    /// The code has expired, or verifier or session is wrong. A failed attempt consumes the code as well.
    Burnt,
    /// The code links an identity, and the request has no session. The code is not consumed, so that the app can
    /// retry with the session that began the flow.
    NeedsSession,
}

impl StoredCode {
    /// Decides whether an exchange with a presented code succeeds. All engines share this rule.
    #[must_use]
    pub fn judge(&self, presented: &PresentedCode) -> CodeVerdict {
        let is_good = presented.now < self.expires_at && presented.code_challenge == self.code_challenge;
        let Some(linker) = self.linker.filter(|_| is_good) else {
            return if is_good { CodeVerdict::Good } else { CodeVerdict::Burnt };
        };
        match presented.caller {
            // The code stays valid: the app refreshes an expired bearer token and retries.
            None => CodeVerdict::NeedsSession,
            Some(caller) if caller == linker => CodeVerdict::Good,
            Some(_) => CodeVerdict::Burnt,
        }
    }
}

/// Outcome of [`OAuthFlows::take_oauth_code`].
#[derive(Debug, Clone, PartialEq)]
pub enum TakenCode {
    /// The code was valid, and was consumed.
    Good {
        /// Identity that the provider asserted, validated.
        identity: Box<VerifiedIdentity>,
        /// Session to whose account the identity is linked; `None` for a sign-in.
        linker: Option<Linker>,
    },
    /// The code was invalid ([`CodeVerdict::Burnt`]), and was consumed. Contains the asserted identity.
    Burnt(Box<VerifiedIdentity>),
    /// No such code is stored.
    Unknown,
    /// The code links an identity, and the request has no session. The code is not consumed.
    NeedsSession,
}

/// OAuth flows and the authorization codes issued at their end.
#[async_trait]
pub trait OAuthFlows {
    /// Stores a new flow under the hash of its `state`.
    async fn begin_flow(&self, flow: NewFlow) -> StoreResult<()>;

    /// Consumes a returned `state` and returns its flow, even if expired. Of concurrent callers only one gets the
    /// flow. Deletes the sealed nonce and PKCE verifier.
    async fn take_flow(&self, state: TokenHash, now: Timestamp) -> StoreResult<StateOutcome>;

    /// Stores an authorization code unless its exchange would be refused now. A sign-in is checked by
    /// [`latchkey_domain::identity::judge_sign_in`].
    async fn save_oauth_code(&self, code: NewOAuthCode) -> StoreResult<NewCodeOutcome>;

    /// Exchanges an authorization code. [`StoredCode::judge`] decides whether the code is consumed. Of concurrent
    /// callers only one gets the identity.
    async fn take_oauth_code(&self, presented: PresentedCode) -> StoreResult<TakenCode>;
}
