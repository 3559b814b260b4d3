//! Refusals of a registration or an assertion. All texts are safe for logs: they contain nothing that the client sent.

use latchkey_domain::passkey::InvalidCredentialId;

/// A field of a response with a maximum length, which is checked before the field is parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// `clientDataJSON`, at most 4,096 bytes.
    ClientData,
    /// `attestationObject`, at most 16,384 bytes.
    AttestationObject,
    /// `authenticatorData` of an assertion, at most 1,024 bytes.
    AuthenticatorData,
    /// `signature`, at most 512 bytes, the length of an RSA signature with 4,096 bits.
    Signature,
}

impl Field {
    /// Returns the maximum length in bytes.
    #[must_use]
    pub const fn limit(self) -> usize {
        match self {
            Self::ClientData => 4_096,
            Self::AttestationObject => 16_384,
            Self::AuthenticatorData => 1_024,
            Self::Signature => 512,
        }
    }

    /// Fails if the bytes exceed the maximum length.
    pub(crate) const fn check(self, bytes: &[u8]) -> Result<(), Refusal> {
        if bytes.len() > self.limit() { Err(Refusal::TooLong(self)) } else { Ok(()) }
    }
}

/// Reason why a registration or an assertion is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// A field is longer than its limit.
    #[error("{0:?} is too long")]
    TooLong(Field),
    /// `clientDataJSON` is not JSON, or a member is missing or of the wrong type.
    #[error("the client data is malformed")]
    ClientData,
    /// The member `type` is that of another ceremony.
    #[error("the client data is of another ceremony")]
    Type,
    /// The challenge is not the expected one.
    #[error("the challenge differs")]
    Challenge,
    /// The origin is none of those expected.
    #[error("the origin is not allowed")]
    Origin,
    /// The ceremony ran in a frame of another origin.
    #[error("the ceremony ran in a frame of another origin")]
    CrossOrigin,
    /// The attestation object is not the canonical CBOR of its three members.
    #[error("the attestation object is malformed")]
    AttestationObject,
    /// The authenticator data is malformed, has bytes left over, lacks a credential at registration or has one in an
    /// assertion.
    #[error("the authenticator data is malformed")]
    AuthenticatorData,
    /// The hash is not that of the expected relying party id.
    #[error("the relying party differs")]
    RelyingParty,
    /// The flag UP (user present) is not set.
    #[error("the user was not present")]
    UserNotPresent,
    /// The flag UV (user verified) is not set.
    #[error("the user was not verified")]
    UserNotVerified,
    /// The flag BS (backup state) is set without BE (backup eligibility).
    #[error("a credential that must not be backed up is backed up")]
    BackupState,
    /// The credential id is empty or has more than 1,023 bytes.
    #[error("the credential id has a forbidden length")]
    CredentialId,
    /// The credential id in the response differs from that of the attested or stored credential.
    #[error("the credential id differs")]
    OtherCredential,
    /// The algorithm of the key is none of those offered.
    #[error("the algorithm was not offered")]
    Algorithm,
    /// The key is malformed, not on its curve, of small order, or an RSA key of another size or exponent.
    #[error("the public key is not acceptable")]
    Key,
    /// The user handle is missing, or does not have 16 bytes.
    #[error("the user handle is missing or malformed")]
    UserHandle,
    /// The user handle is not that of the stored credential.
    #[error("the user handle differs")]
    OtherUser,
    /// The signature does not verify.
    #[error("the signature is wrong")]
    Signature,
    /// The flag BE (backup eligibility) differs from that of the registration. Reported only if the signature is
    /// right.
    #[error("the backup eligibility changed")]
    BackupEligibility,
    /// The signature counter did not increase: the credential may have been copied. Reported only if the signature is
    /// right.
    #[error("the signature counter did not grow")]
    Counter,
}

impl From<InvalidCredentialId> for Refusal {
    fn from(_: InvalidCredentialId) -> Self {
        Self::CredentialId
    }
}
