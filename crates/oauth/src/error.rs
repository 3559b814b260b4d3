//! Errors of sign-in through a provider. All texts are safe for logs: no code, token or secret.

use std::fmt;

/// Request to a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// The discovery document (OpenID Connect Discovery 1.0).
    Discovery,
    /// The provider's public keys (RFC 7517).
    Keys,
    /// The token endpoint (RFC 6749 section 3.2).
    Token,
    /// The userinfo endpoint or its proprietary equivalent.
    Profile,
    /// The proprietary list of email addresses.
    Emails,
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Discovery => "discovery document",
            Self::Keys => "keys",
            Self::Token => "token endpoint",
            Self::Profile => "userinfo",
            Self::Emails => "email addresses",
        })
    }
}

/// Failure of a provider or of its response.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProviderError {
    /// Timeout, no connection, or status 5xx or 429: a retry may succeed.
    #[error("{stage}: the provider does not answer ({reason})")]
    Down {
        /// Request that failed.
        stage: Stage,
        /// Reason, in our words.
        reason: String,
    },
    /// The network policy forbids the endpoint: not https, or in a private network.
    #[error("{stage}: {reason}")]
    Forbidden {
        /// Intended request.
        stage: Stage,
        /// Violated rule, in our words.
        reason: &'static str,
    },
    /// Error response of the provider (RFC 6749 section 5.2), for example `invalid_grant` or
    /// `invalid_client`.
    #[error("{stage}: the provider refused with {error}")]
    Refused {
        /// Request that failed.
        stage: Stage,
        /// Error code of the provider: letters, digits and `_.:-`, at most 64; without one `http_NNN` or
        /// `other`.
        error: String,
        /// Description of the provider, sanitised, truncated and free of our secrets, if any.
        description: Option<String>,
    },
    /// A response that violates the standard or the provider's documentation.
    #[error("{stage}: {reason}")]
    BadAnswer {
        /// Request that failed.
        stage: Stage,
        /// Violation, in our words.
        reason: String,
    },
    /// Invalid `id_token`.
    #[error("id_token refused: {0}")]
    IdTokenRefused(#[from] IdTokenFault),
    /// The response names another issuer than the request's (RFC 9207): a mix-up attack.
    #[error("the answer names another issuer than was asked")]
    IssuerMixUp,
    /// Not supported by the provider as configured.
    #[error("{0}")]
    Misconfigured(&'static str),
}

/// Fault of an `id_token` (OpenID Connect Core 1.0 section 3.1.3.7; RFC 8725).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum IdTokenFault {
    /// Missing.
    #[error("there is none")]
    Missing,
    /// Not three base64url parts with JSON objects, or too long.
    #[error("it is no JWT")]
    Form,
    /// `alg` is `none`, symmetric, unknown, or not one that the provider announces.
    #[error("its algorithm is not one of the provider's")]
    Algorithm,
    /// `typ` names another kind of token, or `crit` is present.
    #[error("it is another kind of token")]
    Type,
    /// No matching key of the provider.
    #[error("it is signed with an unknown key")]
    UnknownKey,
    /// Invalid signature.
    #[error("its signature is wrong")]
    Signature,
    /// `iss` is not the provider.
    #[error("its iss is another issuer")]
    Issuer,
    /// `aud` does not name this client, or names others without an `azp`.
    #[error("its aud is not this client")]
    Audience,
    /// `azp` is another client.
    #[error("its azp is another client")]
    AuthorizedParty,
    /// `sub` is missing, empty or too long.
    #[error("its sub is missing or no text")]
    Subject,
    /// `exp` or `iat` is missing, or a date is not a number.
    #[error("a date in it is missing or no number")]
    Date,
    /// `exp` is past.
    #[error("it has expired")]
    Expired,
    /// `nbf` is in the future.
    #[error("it is not valid yet")]
    NotYetValid,
    /// `iat` is more than 60 seconds in the future.
    #[error("it was issued in the future")]
    IssuedInFuture,
    /// `iat` is more than 10 minutes ago.
    #[error("it was issued too long ago")]
    TooOld,
    /// `nonce` is missing or another one.
    #[error("its nonce is another one")]
    Nonce,
    /// Userinfo has another subject.
    #[error("userinfo has another sub")]
    OtherSubject,
}
