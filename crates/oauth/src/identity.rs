//! Identities as asserted by a provider.

use std::fmt;

use latchkey_domain::email::Email;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;

/// A verified identity. Name and avatar are the provider's values, not yet validated by the domain's types.
#[derive(Clone, PartialEq, Eq)]
pub struct ProviderIdentity {
    /// Key of the provider.
    pub provider: String,
    /// Issuer from discovery, without a trailing slash, the namespace of the subject; empty for a provider
    /// without one.
    pub issuer: String,
    /// Stable subject identifier: 1 to 255 characters, no control characters.
    pub subject: String,
    /// Email address, if present and valid.
    pub email: Option<Email>,
    /// True only if the provider asserts that the user controls the mailbox.
    pub email_verified: bool,
    /// Display name.
    pub name: Option<String>,
    /// URL of a picture.
    pub avatar_url: Option<String>,
}

/// Omits email address and name, because it may be logged.
impl fmt::Debug for ProviderIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProviderIdentity")
            .field("provider", &self.provider)
            .field("email_verified", &self.email_verified)
            .finish_non_exhaustive()
    }
}

/// Result of verifying an `id_token` of a native app.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifiedIdToken {
    /// Identity of the user.
    pub identity: ProviderIdentity,
    /// `exp`: its `replay_key` must be remembered until then.
    pub expires_at: Timestamp,
    /// Identifier for replay detection: SHA-256 of the signed part. The signature is excluded, because ECDSA
    /// signatures are malleable.
    pub replay_key: TokenHash,
}
