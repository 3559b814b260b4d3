//! Identities as asserted by a provider.

use std::fmt;

use latchkey_domain::email::Email;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;

/// The identity of a user at a provider, verified. Name and avatar are not yet validated by the domain's types.
#[derive(Clone, PartialEq, Eq)]
pub struct ProviderIdentity {
    pub provider: String,
    /// Issuer, the namespace of the subject, without a trailing slash; empty for a provider without an issuer.
    pub issuer: String,
    /// Stable subject identifier: 1 to 255 characters, no control characters.
    pub subject: String,
    /// Email address, if present and valid.
    pub email: Option<Email>,
    /// True only if the provider asserts that the user controls the mailbox.
    pub email_verified: bool,
    pub name: Option<String>,
    /// URL of the user's picture, if the provider gives one.
    pub avatar_url: Option<String>,
}

/// Omits email address and name, because the value may be logged.
impl fmt::Debug for ProviderIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProviderIdentity")
            .field("provider", &self.provider)
            .field("email_verified", &self.email_verified)
            .finish_non_exhaustive()
    }
}

/// The outcome of verifying an `id_token` of a native app.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifiedIdToken {
    pub identity: ProviderIdentity,
    /// The claim `exp`. The `replay_key` must be stored until then.
    pub expires_at: Timestamp,
    /// Identifier for replay detection: SHA-256 of the signed part. The signature is excluded, because ECDSA
    /// signatures are malleable.
    pub replay_key: TokenHash,
}
