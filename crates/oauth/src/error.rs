//! Errors of sign-in through a provider. All texts are safe for logs: no code, token or secret.

use latchkey_domain::words;

words! {
    /// The request to a provider in which an error occurred.
    pub enum Stage {
        /// The discovery document (OpenID Connect Discovery 1.0).
        Discovery = "discovery document",
        /// The provider's public keys (RFC 7517).
        Keys = "keys",
        /// The token endpoint (RFC 6749 section 3.2).
        Token = "token endpoint",
        /// The userinfo endpoint or its proprietary equivalent.
        Profile = "userinfo",
        /// The provider's own endpoint for the user's email addresses.
        Emails = "email addresses",
    }
}

/// Error of a request to a provider, or of its response.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProviderError {
    /// Timeout, no connection, or status 5xx or 429: a retry may succeed.
    #[error("{stage}: the provider does not answer ({reason})")]
    Down { stage: Stage, reason: String },
    /// The network policy forbids the endpoint: not https, or in a private network.
    #[error("{stage}: {reason}")]
    Forbidden {
        stage: Stage,
        /// The violated rule of the network policy.
        reason: &'static str,
    },
    /// Error response of the provider (RFC 6749 section 5.2), for example `invalid_grant` or
    /// `invalid_client`.
    #[error("{stage}: the provider refused with {error}")]
    Refused {
        stage: Stage,
        /// The provider's error code: at most 64 letters, digits and `_.:-`. A missing or malformed one is replaced by
        /// `http_NNN` (the status) or `other`.
        error: String,
        /// The provider's `error_description`, if any: sanitised, truncated, and without codes and secrets.
        description: Option<String>,
    },
    /// A response that violates the standard or the provider's documentation.
    #[error("{stage}: {reason}")]
    BadAnswer {
        stage: Stage,
        /// The violation, without texts of the response.
        reason: String,
    },
    /// The `id_token` failed validation.
    #[error("id_token refused: {0}")]
    IdTokenRefused(#[from] IdTokenFault),
    /// The response names another issuer than the one to which the request went (RFC 9207), which indicates a mix-up
    /// attack.
    #[error("the answer names another issuer than was asked")]
    IssuerMixUp,
    /// The provider or its configuration does not support the operation.
    #[error("{0}")]
    Misconfigured(&'static str),
}

/// The reason to refuse an `id_token` (OpenID Connect Core 1.0 section 3.1.3.7; RFC 8725).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum IdTokenFault {
    /// The token response has no `id_token`.
    #[error("there is none")]
    Missing,
    /// The token is too long, does not have three base64url parts, or its header or payload is not a JSON object.
    #[error("it is no JWT")]
    Form,
    /// `alg` is `none`, symmetric, unknown, or not one that the provider announces.
    #[error("its algorithm is not one of the provider's")]
    Algorithm,
    /// `typ` names another kind of token, or `crit` is present.
    #[error("it is another kind of token")]
    Type,
    /// No key of the provider, or more than one, matches `kid` and `alg`.
    #[error("it is signed with an unknown key")]
    UnknownKey,
    #[error("its signature is wrong")]
    Signature,
    /// `iss` is not the provider's issuer.
    #[error("its iss is another issuer")]
    Issuer,
    /// `aud` does not name this client, or names further clients without an `azp`.
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
    /// `nonce` is missing or differs from the expected one.
    #[error("its nonce is another one")]
    Nonce,
    /// The `sub` of userinfo differs from that of the `id_token`.
    #[error("userinfo has another sub")]
    OtherSubject,
}
