//! Why a sign-in through a provider failed. Every text here may go to a log: it holds no code, token or secret.

use std::fmt;

/// Which part of the conversation with a provider is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// The discovery document (OpenID Connect Discovery 1.0).
    Discovery,
    /// The provider's public keys (RFC 7517).
    Keys,
    /// The token endpoint (RFC 6749 section 3.2).
    Token,
    /// The userinfo endpoint, or what a provider has in its place.
    Profile,
    /// The list of email addresses of providers that have one.
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

/// Why a provider could not be asked, or its answer not be believed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProviderError {
    /// No answer in time, no connection, or a status of 5xx or 429: later it may work.
    #[error("{stage}: the provider does not answer ({reason})")]
    Down {
        /// What was asked for.
        stage: Stage,
        /// What happened, in our words.
        reason: String,
    },
    /// The address of an endpoint is one that is never talked to: not https, or inside a private network.
    #[error("{stage}: {reason}")]
    Forbidden {
        /// What was to be asked for.
        stage: Stage,
        /// Which rule, in our words.
        reason: &'static str,
    },
    /// The provider said no (RFC 6749 section 5.2), for example `invalid_grant` or `invalid_client`.
    #[error("{stage}: the provider refused with {error}")]
    Refused {
        /// What was asked for.
        stage: Stage,
        /// The provider's error code: letters, digits and `_.:-`, at most 64. Where it gave none, `http_NNN` or `other`.
        error: String,
        /// The provider's own words, cut and cleaned, without what we sent; `None` where it gave none.
        description: Option<String>,
    },
    /// An answer that is not what the standard or the provider's documentation says.
    #[error("{stage}: {reason}")]
    BadAnswer {
        /// What was asked for.
        stage: Stage,
        /// What is wrong with it, in our words.
        reason: String,
    },
    /// The `id_token` is not one that proves anything to us.
    #[error("id_token refused: {0}")]
    IdTokenRefused(#[from] IdTokenFault),
    /// The answer came from another issuer than was asked (RFC 9207): a mix-up.
    #[error("the answer names another issuer than was asked")]
    IssuerMixUp,
    /// The provider as configured cannot do this.
    #[error("{0}")]
    Misconfigured(&'static str),
}

/// Why an `id_token` was refused (OpenID Connect Core 1.0 section 3.1.3.7; RFC 8725).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum IdTokenFault {
    /// None came.
    #[error("there is none")]
    Missing,
    /// Not three parts of base64url with JSON objects in them, or too long.
    #[error("it is no JWT")]
    Form,
    /// `alg` is `none`, symmetric, unknown, or not one that the provider announces.
    #[error("its algorithm is not one of the provider's")]
    Algorithm,
    /// `typ` says that it is another kind of token, or `crit` demands what is not known here.
    #[error("it is another kind of token")]
    Type,
    /// No key of the provider fits.
    #[error("it is signed with an unknown key")]
    UnknownKey,
    /// The signature is wrong.
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
    /// `exp`, `nbf` or `iat` is missing where it must be there, or no number.
    #[error("a date in it is missing or no number")]
    Date,
    /// `exp` is past.
    #[error("it has expired")]
    Expired,
    /// `nbf` is to come.
    #[error("it is not valid yet")]
    NotYetValid,
    /// `iat` is more than 60 seconds to come.
    #[error("it was issued in the future")]
    IssuedInFuture,
    /// `iat` is more than 10 minutes ago.
    #[error("it was issued too long ago")]
    TooOld,
    /// `nonce` is missing or another one.
    #[error("its nonce is another one")]
    Nonce,
    /// Userinfo is about somebody else.
    #[error("userinfo has another sub")]
    OtherSubject,
}
