//! The three things that are done with a provider: send somebody there, find out who came back, and believe a token that
//! a native app brought.

use latchkey_domain::time::Timestamp;
use url::Url;

use crate::error::ProviderError;
use crate::identity::{ProviderIdentity, VerifiedIdToken};
use crate::outbound::{InvalidOutbound, OutboundSettings};
use crate::pkce::PkceVerifier;
use crate::provider::Provider;

/// Talks to providers. One for the whole process: it keeps connections, discovery documents and keys.
pub struct ProviderClient {
    _settings: OutboundSettings,
}

/// What goes into the address that somebody is sent to.
#[derive(Clone, Copy)]
pub struct AuthorizationRequest<'a> {
    /// Our callback.
    pub redirect_uri: &'a str,
    /// The state, as it will come back.
    pub state: &'a str,
    /// What the `id_token` must repeat.
    pub nonce: &'a str,
    /// The verifier whose challenge is sent.
    pub pkce: &'a PkceVerifier,
    /// What the app asks for besides; reserved names are left out without a word.
    pub hints: &'a [(String, String)],
}

/// What came back, with what was kept for it.
#[derive(Clone, Copy)]
pub struct Grant<'a> {
    /// `code` of the callback.
    pub code: &'a str,
    /// `iss` of the callback (RFC 9207), if there was one.
    pub issuer: Option<&'a str>,
    /// `user` of Apple's callback, if there was one.
    pub user: Option<&'a str>,
    /// The callback that the code was sent to.
    pub redirect_uri: &'a str,
    /// The nonce of the start.
    pub nonce: &'a str,
    /// The verifier of the start.
    pub pkce: &'a PkceVerifier,
}

/// An `id_token` that a native app brought.
#[derive(Clone, Copy)]
pub struct IdToken<'a> {
    /// The JWT.
    pub token: &'a str,
    /// The nonce that the app made, if it did. A token with one demands it, plain or as SHA-256 in hex (Apple's way).
    pub nonce: Option<&'a str>,
}

impl ProviderClient {
    /// Loads certificates. Does not connect.
    pub fn new(settings: OutboundSettings) -> Result<Self, InvalidOutbound> {
        Ok(Self { _settings: settings })
    }

    /// The address to send somebody to. Asks for the discovery document where it is not known.
    pub async fn authorization_url(
        &self,
        _provider: &Provider,
        _request: &AuthorizationRequest<'_>,
        _now: Timestamp,
    ) -> Result<Url, ProviderError> {
        Err(ProviderError::Misconfigured("not written yet"))
    }

    /// Exchanges the code and finds out who it is about; all of it within the time limit of the settings.
    pub async fn identify(
        &self,
        _provider: &Provider,
        _grant: &Grant<'_>,
        _now: Timestamp,
    ) -> Result<ProviderIdentity, ProviderError> {
        Err(ProviderError::Misconfigured("not written yet"))
    }

    /// Checks an `id_token` for the native clients of the provider.
    pub async fn verify_id_token(
        &self,
        _provider: &Provider,
        _token: &IdToken<'_>,
        _now: Timestamp,
    ) -> Result<VerifiedIdToken, ProviderError> {
        Err(ProviderError::Misconfigured("not written yet"))
    }
}
