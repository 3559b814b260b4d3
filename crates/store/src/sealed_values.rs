//! Contract for the values that are sealed under the server secret, and for replacing that secret.

use async_trait::async_trait;
use latchkey_domain::audit::AuditEvent;
use latchkey_domain::factors::FactorId;
use latchkey_domain::ids::{HashKeyId, KeyId, MailId, UserId};
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;

use crate::error::StoreResult;

/// Column of values that are sealed under the server secret. The engines' list of all such columns is
/// `latchkey_store_operations::tables::sealed::SEALED`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SealedColumn {
    /// Private keys that sign access tokens.
    SigningKeys,
    /// Secrets of authenticator apps.
    TotpSecrets,
    /// Secrets of identity providers that an admin configured.
    Providers,
    /// Nonces and verifiers of sign-ins that run at a provider.
    OAuthFlows,
    /// Contents of mails that are queued or dead.
    Mails,
    /// Keys that outlive the secret.
    KeptKeys,
    /// Signer keys of imported hashes.
    HashKeys,
}

impl SealedColumn {
    /// All columns, in the order in which they are sealed anew.
    pub const ALL: [Self; 7] = [
        Self::SigningKeys,
        Self::KeptKeys,
        Self::TotpSecrets,
        Self::Providers,
        Self::OAuthFlows,
        Self::Mails,
        Self::HashKeys,
    ];
}

/// Row of a sealed value, to which the value is bound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SealedRow {
    /// Row of [`SealedColumn::SigningKeys`].
    SigningKey(KeyId),
    /// Row of [`SealedColumn::TotpSecrets`]: factor and account.
    Totp(FactorId, UserId),
    /// Row of [`SealedColumn::Providers`], by the key of the provider.
    Provider(String),
    /// Row of [`SealedColumn::OAuthFlows`], by the hash of its state.
    OAuthFlow(TokenHash),
    /// Row of [`SealedColumn::Mails`].
    Mail(MailId),
    /// Row of [`SealedColumn::KeptKeys`], by the label of the key.
    KeptKey(String),
    /// Row of [`SealedColumn::HashKeys`].
    HashKey(HashKeyId),
}

/// A sealed value with its row.
#[derive(Debug, Clone)]
pub struct SealedValue {
    /// Row of the value.
    pub row: SealedRow,
    /// The value, sealed.
    pub sealed: Vec<u8>,
}

/// Replacement of a sealed value by the same value, sealed anew.
#[derive(Debug, Clone)]
pub struct Resealed {
    /// Row of the value.
    pub row: SealedRow,
    /// The value as it is stored.
    pub from: Vec<u8>,
    /// The value as it is stored from now on.
    pub to: Vec<u8>,
}

/// Beginning of the replacement of the server secret.
#[derive(Debug, Clone)]
pub struct BeginSecretRotation {
    /// Fingerprints of both secrets.
    pub secrets: String,
    /// Labels of the keys that outlive the secret, each with its key sealed under the new secret, and a label that tells
    /// both secrets. A key that is stored already stays as it is.
    pub kept: Vec<(String, Vec<u8>)>,
    /// Time of the beginning.
    pub now: Timestamp,
}

/// Values that are sealed under the server secret.
#[async_trait]
pub trait SealedValues {
    /// Returns the fingerprints of both secrets of an unfinished replacement.
    async fn unfinished_secret_rotation(&self) -> StoreResult<Option<String>>;

    /// Begins the replacement of the secret, or goes on with an unfinished one. Increments
    /// [`crate::StoredSettings::version`], by which running instances notice.
    async fn begin_secret_rotation(&self, begin: BeginSecretRotation) -> StoreResult<()>;

    /// Lists values of a column in the order of their rows, after the row `after`.
    async fn list_sealed(
        &self,
        column: SealedColumn,
        after: Option<&SealedRow>,
        limit: u32,
    ) -> StoreResult<Vec<SealedValue>>;

    /// Replaces values. One that is no longer [`Resealed::from`] stays as it is. Returns the number of replaced ones.
    async fn reseal(&self, values: Vec<Resealed>) -> StoreResult<u64>;

    /// Finishes the replacement of the secret.
    async fn finish_secret_rotation(&self, event: Option<AuditEvent>) -> StoreResult<()>;
}
