//! OAuth flows: the state that travels through a provider, and the code that comes back to the app. Any instance can go
//! on with what another one began.

use async_trait::async_trait;
use latchkey_domain::identity::{IdentityRefusal, IdentityRules, ProvenIdentity, ProviderKey};
use latchkey_domain::ids::{SessionId, UserId};
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;

use crate::error::StoreResult;

/// The session that began a flow in order to link an identity to its account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Linker {
    /// The account.
    pub user_id: UserId,
    /// The session.
    pub session_id: SessionId,
}

/// A flow that begins.
#[derive(Debug, Clone)]
pub struct NewFlow {
    /// Hash of its state.
    pub state: TokenHash,
    /// The provider that the browser is sent to.
    pub provider: ProviderKey,
    /// The app's PKCE challenge (S256, decoded).
    pub code_challenge: TokenHash,
    /// Where the browser goes in the end; checked against the list already.
    pub redirect_to: String,
    /// What the way back needs (nonce, the provider's PKCE verifier), sealed.
    pub sealed: Vec<u8>,
    /// Who wants to link; `None` is a sign-in.
    pub linker: Option<Linker>,
    /// When it begins.
    pub created_at: Timestamp,
    /// When its state stops being good.
    pub expires_at: Timestamp,
}

/// A flow whose state came back for the first time. It cannot come back again.
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

/// What came of a state that came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StateOutcome {
    /// Its flow.
    Taken(Box<TakenFlow>),
    /// It came back before.
    Replayed {
        /// Where that flow's browser was to go.
        redirect_to: String,
    },
    /// No such state, or it was purged.
    Unknown,
}

/// A code for the app, in exchange for which it gets a session or a link.
#[derive(Debug, Clone)]
pub struct NewOAuthCode {
    /// Its hash.
    pub code: TokenHash,
    /// The app's PKCE challenge.
    pub code_challenge: TokenHash,
    /// Who came back.
    pub identity: ProvenIdentity,
    /// Who wants to link.
    pub linker: Option<Linker>,
    /// What the operator allows, for a first look.
    pub rules: IdentityRules,
    /// When it is made.
    pub created_at: Timestamp,
    /// When it stops being good.
    pub expires_at: Timestamp,
}

/// What came of making a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NewCodeOutcome {
    /// It is good.
    Saved,
    /// A sign-in would be refused as things stand; no code was made.
    Refused(IdentityRefusal),
    /// The identity is linked to another account than the one that it was to be linked to; no code was made.
    Taken,
}

/// A code is presented.
#[derive(Debug, Clone, Copy)]
pub struct PresentedCode {
    /// Its hash.
    pub code: TokenHash,
    /// What the challenge must be, by the verifier that came with it.
    pub code_challenge: TokenHash,
    /// The session of the bearer that came with it.
    pub caller: Option<Linker>,
    /// When.
    pub now: Timestamp,
}

/// A code as it is stored, as far as its use is concerned.
#[derive(Debug, Clone, Copy)]
pub struct StoredCode {
    /// The app's PKCE challenge.
    pub code_challenge: TokenHash,
    /// Who wants to link.
    pub linker: Option<Linker>,
    /// When it stops being good.
    pub expires_at: Timestamp,
}

/// What a presented code is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodeVerdict {
    /// It is used up and good.
    Good,
    /// It is used up and worth nothing.
    Burnt,
    /// It waits for the session that began it.
    NeedsSession,
}

impl StoredCode {
    /// Judges a code: every engine by this.
    #[must_use]
    pub fn judge(&self, presented: &PresentedCode) -> CodeVerdict {
        let is_good = presented.now < self.expires_at && presented.code_challenge == self.code_challenge;
        let Some(linker) = self.linker.filter(|_| is_good) else {
            return if is_good { CodeVerdict::Good } else { CodeVerdict::Burnt };
        };
        match presented.caller {
            // A stale bearer is refreshed and comes again.
            None => CodeVerdict::NeedsSession,
            Some(caller) if caller == linker => CodeVerdict::Good,
            Some(_) => CodeVerdict::Burnt,
        }
    }
}

/// What came of presenting a code.
#[derive(Debug, Clone, PartialEq)]
pub enum TakenCode {
    /// It is used up: this is who came back, and who wanted to link.
    Good {
        /// Who came back.
        identity: Box<ProvenIdentity>,
        /// Who wants to link; `None` is a sign-in.
        linker: Option<Linker>,
    },
    /// It is used up and worth nothing: this is who came back.
    Burnt(Box<ProvenIdentity>),
    /// No such code.
    Unknown,
    /// It is to link, and no session came with it; it is still there.
    NeedsSession,
}

/// OAuth flows.
#[async_trait]
pub trait OAuthFlows {
    /// Keeps a flow that begins.
    async fn begin_flow(&self, flow: NewFlow) -> StoreResult<()>;

    /// Takes the flow of a state that came back, expired or not; of many who bring the same state, one. What was sealed
    /// is forgotten.
    async fn take_flow(&self, state: TokenHash, now: Timestamp) -> StoreResult<StateOutcome>;

    /// Makes a code, unless what it is for would be refused as things stand: by
    /// [`latchkey_domain::identity::judge_sign_in`] for a sign-in.
    async fn save_oauth_code(&self, code: NewOAuthCode) -> StoreResult<NewCodeOutcome>;

    /// Uses a code up, by [`StoredCode::judge`]; of many who bring the same code, one.
    async fn take_oauth_code(&self, presented: PresentedCode) -> StoreResult<TakenCode>;
}
