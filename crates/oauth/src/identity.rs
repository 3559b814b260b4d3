//! Who signed in, as a provider says it.

use std::fmt;

use latchkey_domain::email::Email;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;

/// A proved identity. Name and avatar are the provider's words, not yet cleaned by the domain's types.
#[derive(Clone, PartialEq, Eq)]
pub struct ProviderIdentity {
    /// Key of the provider, as the caller named it.
    pub provider: String,
    /// Whose names the subjects are: the issuer that discovery names, without a slash at its end; empty where the provider
    /// has none.
    pub issuer: String,
    /// The provider's lasting name for the person: 1 to 255 characters, none of them a control character.
    pub subject: String,
    /// The email address; `None` where the provider has none or it is no address.
    pub email: Option<Email>,
    /// True only where the provider says that the person holds the mailbox.
    pub email_verified: bool,
    /// The name to show.
    pub name: Option<String>,
    /// Address of a picture.
    pub avatar_url: Option<String>,
}

/// Without the address and the name: this may get into a log.
impl fmt::Debug for ProviderIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProviderIdentity")
            .field("provider", &self.provider)
            .field("email_verified", &self.email_verified)
            .finish_non_exhaustive()
    }
}

/// What an `id_token` that a native app brought proves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifiedIdToken {
    /// Who it is about.
    pub identity: ProviderIdentity,
    /// `exp`: until then its `replay_key` must be remembered.
    pub expires_at: Timestamp,
    /// Names this token among all others: SHA-256 of its signed part. Not of the whole, because an ECDSA signature can
    /// be changed into another good one by anybody.
    pub replay_key: TokenHash,
}
