//! Uses of keys that are derived from the server secret: the label of each, and what a replacement of the secret does
//! with it. A key cannot be derived for a use that is not listed here.

use latchkey_domain::words;
use latchkey_store::SealedColumn;

words! {
    /// Use of a key. The string is the label from which the key is derived. A label never changes, or stored data would
    /// become unreadable.
    pub enum KeyUse {
        /// Seals the private keys that sign access tokens.
        SigningKeys = "signing-keys",
        /// Seals the secrets of authenticator apps.
        TotpSecrets = "totp-secrets",
        /// Seals the secrets of identity providers that an admin configured.
        Providers = "oauth-providers",
        /// Seals nonces and verifiers of sign-ins at a provider.
        OAuthFlows = "oauth-flows",
        /// Seals the contents of mails.
        Mails = "mails",
        /// Seals the keys that outlive the secret.
        KeptKeys = "kept-keys",
        /// Key of the MACs of recovery codes.
        RecoveryCodes = "recovery-codes",
        /// Key of the MACs of email codes.
        Codes = "codes",
        /// Key of the CSRF tokens of sessions.
        Csrf = "csrf",
        /// Key of the keys that seal successors of refresh tokens.
        RefreshSuccessors = "refresh-successors",
        /// Key of the choice of decoys at a sign-in.
        PasswordDecoys = "password-decoys",
        /// Seals the signer keys of imported hashes.
        HashKeys = "hash-keys",
        /// Key of the ids of those signer keys.
        HashKeyIds = "hash-key-ids",
        /// Seals WebAuthn ceremonies into their ids.
        PasskeyCeremonies = "passkey-ceremonies",
        /// Seals flows and values that browsers carry between pages.
        PageValues = "pages/sealing",
        /// Key of the form tokens of pages.
        PageForms = "pages/form-tokens",
        /// Tells two secrets apart.
        Fingerprint = "fingerprint",
    }
}

/// What a replacement of the server secret does with a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtRotation {
    /// Values in this column are sealed anew.
    Reseals(SealedColumn),
    /// The key is stored, sealed under the new secret, because what was made with it cannot be made anew: MACs of codes
    /// whose plain text is not stored, and tokens of live sessions.
    Keeps,
    /// The key is another one from then on. Open forms, flows and ceremonies, of some minutes, begin again.
    Renews,
}

impl KeyUse {
    #[must_use]
    pub const fn at_rotation(self) -> AtRotation {
        match self {
            Self::SigningKeys => AtRotation::Reseals(SealedColumn::SigningKeys),
            Self::TotpSecrets => AtRotation::Reseals(SealedColumn::TotpSecrets),
            Self::Providers => AtRotation::Reseals(SealedColumn::Providers),
            Self::OAuthFlows => AtRotation::Reseals(SealedColumn::OAuthFlows),
            Self::Mails => AtRotation::Reseals(SealedColumn::Mails),
            Self::KeptKeys => AtRotation::Reseals(SealedColumn::KeptKeys),
            Self::HashKeys => AtRotation::Reseals(SealedColumn::HashKeys),
            Self::RecoveryCodes | Self::Codes | Self::Csrf | Self::RefreshSuccessors | Self::HashKeyIds => {
                AtRotation::Keeps
            }
            Self::PasswordDecoys
            | Self::PasskeyCeremonies
            | Self::PageValues
            | Self::PageForms
            | Self::Fingerprint => AtRotation::Renews,
        }
    }

    /// Returns the use of the key that seals a column.
    #[must_use]
    pub const fn of_column(column: SealedColumn) -> Self {
        match column {
            SealedColumn::SigningKeys => Self::SigningKeys,
            SealedColumn::TotpSecrets => Self::TotpSecrets,
            SealedColumn::Providers => Self::Providers,
            SealedColumn::OAuthFlows => Self::OAuthFlows,
            SealedColumn::Mails => Self::Mails,
            SealedColumn::KeptKeys => Self::KeptKeys,
            SealedColumn::HashKeys => Self::HashKeys,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sealed_column_has_a_key_that_seals_it_anew() {
        for column in SealedColumn::ALL {
            assert_eq!(KeyUse::of_column(column).at_rotation(), AtRotation::Reseals(column));
        }
        let resealing = KeyUse::ALL.iter().filter(|key| matches!(key.at_rotation(), AtRotation::Reseals(_)));
        assert_eq!(resealing.count(), SealedColumn::ALL.len());
    }
}
