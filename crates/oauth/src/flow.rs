//! The client's three operations: build an authorization URL, identify a user by an authorization code, and
//! verify an `id_token` of a native app.

use std::time::Duration;

use latchkey_domain::time::Timestamp;
use tokio::time::Instant;
use url::Url;

use crate::authorization;
use crate::cache::{Cache, RenewalSource};
use crate::discovery::Metadata;
use crate::error::{IdTokenFault, ProviderError, Stage};
use crate::id_token::{Expected, Jws, Nonce};
use crate::identity::{ProviderIdentity, VerifiedIdToken};
use crate::keys::ProviderKeys;
use crate::outbound::{InvalidOutbound, Outbound, OutboundSettings};
use crate::pkce::PkceVerifier;
use crate::provider::{ClientSecret, Provider};
use crate::providers::Protocol;

use self::exchange::Exchange;

mod exchange;

/// OAuth client for all providers. It caches connections, discovery documents and keys, so a process needs only one.
pub struct ProviderClient {
    outbound: Outbound,
    timeout: Duration,
    documents: Cache<Metadata>,
    keys: Cache<ProviderKeys>,
}

/// Parameters of an authorization request.
#[derive(Clone, Copy)]
pub struct AuthorizationRequest<'a> {
    /// Callback URL of this service.
    pub redirect_uri: &'a str,
    /// `state`, which the provider returns in the callback.
    pub state: &'a str,
    /// `nonce`, which the provider repeats in the `id_token`.
    pub nonce: &'a str,
    /// PKCE verifier, of which the challenge is sent.
    pub pkce: &'a PkceVerifier,
    /// Additional parameters from the app; reserved names are silently dropped.
    pub hints: &'a [(String, String)],
}

/// An authorization response with the stored parameters of its request.
#[derive(Clone, Copy)]
pub struct Grant<'a> {
    /// Authorization code in the callback.
    pub code: &'a str,
    /// `iss` in the callback (RFC 9207), if present.
    pub issuer: Option<&'a str>,
    /// `user` in Apple's callback, if present.
    pub user: Option<&'a str>,
    /// Callback URL that received the code.
    pub redirect_uri: &'a str,
    /// Nonce of the authorization request.
    pub nonce: &'a str,
    /// PKCE verifier of the authorization request.
    pub pkce: &'a PkceVerifier,
}

/// An `id_token` from a native app.
#[derive(Clone, Copy)]
pub struct IdToken<'a> {
    pub token: &'a str,
    /// Nonce that the app generated, if any. Required if the token has the claim `nonce`. The claim is this nonce itself
    /// or its hexadecimal SHA-256 (Apple).
    pub nonce: Option<&'a str>,
}

impl ProviderClient {
    pub fn new(settings: OutboundSettings) -> Result<Self, InvalidOutbound> {
        Ok(Self {
            timeout: settings.timeout,
            outbound: Outbound::new(settings)?,
            documents: Cache::new(Stage::Discovery),
            keys: Cache::new(Stage::Keys),
        })
    }

    /// Builds the authorization URL. The authorization endpoint is from the provider table, or else from the
    /// discovery document.
    pub async fn authorization_url(
        &self,
        provider: &Provider,
        request: &AuthorizationRequest<'_>,
        now: Timestamp,
    ) -> Result<Url, ProviderError> {
        let endpoint = match provider.entry.protocol {
            Protocol::OAuth { authorize, .. } => provider.endpoint(authorize)?,
            Protocol::OpenId { authorize: Some(authorize), .. } => provider.tenant_endpoint(authorize)?,
            Protocol::OpenId { authorize: None, .. } => {
                self.exchange(provider, now).metadata().await?.authorization_endpoint.clone()
            }
        };
        self.outbound.check(Stage::Discovery, &endpoint)?;
        Ok(authorization::url(provider, endpoint, request))
    }

    /// Exchanges the code and identifies the user, within one timeout.
    pub async fn identify(
        &self,
        provider: &Provider,
        grant: &Grant<'_>,
        now: Timestamp,
    ) -> Result<ProviderIdentity, ProviderError> {
        let exchange = self.exchange(provider, now);
        let identified = match provider.entry.protocol {
            Protocol::OpenId { userinfo, .. } => exchange.identify_by_id_token(grant, userinfo).await,
            Protocol::OAuth { token, .. } => exchange.identify_by_profile(grant, token).await,
        };
        identified.map_err(|error| redact_grant(error, provider, grant))
    }

    /// Verifies an `id_token` that a native app sends. Faults in the header or the claims are found before any
    /// request to the provider.
    pub async fn verify_id_token(
        &self,
        provider: &Provider,
        token: &IdToken<'_>,
        now: Timestamp,
    ) -> Result<VerifiedIdToken, ProviderError> {
        let Protocol::OpenId { .. } = provider.entry.protocol else {
            return Err(ProviderError::Misconfigured("the provider has no id_tokens"));
        };
        let jws = Jws::parse(token.token)?;
        let audiences: Vec<_> = provider.client.native_client_ids.iter().map(String::as_str).collect();
        // On Android, `aud` is the client id of the service, and `azp` is that of the app.
        let parties = audiences.iter().copied().chain([provider.client.client_id.as_str()]).collect();
        let issuers = provider.issuers_of_document();
        let issuers: Vec<_> = issuers.iter().map(String::as_str).collect();
        let expected = Expected {
            issuer: provider.issuer_of_tokens(&issuers),
            audiences,
            parties,
            nonce: if provider.entry.hashes_nonces {
                Nonce::IfPresentHashed(token.nonce)
            } else {
                Nonce::IfPresent(token.nonce)
            },
            now,
        };
        expected.validate(jws.unverified_claims().ok_or(IdTokenFault::Form)?)?;
        let exchange = self.exchange(provider, now);
        let metadata = exchange.metadata().await?;
        let expected = Expected { issuer: provider.issuer_of_tokens(&[&metadata.issuer]), ..expected };
        let validated = exchange.verify_token(&metadata, &jws, &expected, RenewalSource::Untrusted).await?;
        // A token with too few claims is the app's fault, not the provider's.
        let identity = provider.read(&[&validated.claims]);
        let identity = identity.map_err(|_| IdTokenFault::Subject)?;
        Ok(VerifiedIdToken { identity, expires_at: validated.expires_at, replay_key: jws.replay_key() })
    }

    /// Asks a provider anew for its discovery document and keys; returns the number of keys that can verify signatures.
    pub async fn probe(&self, provider: &Provider, now: Timestamp) -> Result<usize, ProviderError> {
        self.evict(provider);
        self.exchange(provider, now).count_keys().await
    }

    /// Evicts the provider's cached discovery document and keys, after an operator changed the provider.
    pub fn evict(&self, provider: &Provider) {
        let Ok(document) = provider.document() else { return };
        if let Some(metadata) = self.documents.evict(document.as_str()) {
            self.keys.evict(metadata.jwks_uri.as_str());
        }
    }

    fn exchange<'a>(&'a self, provider: &'a Provider, now: Timestamp) -> Exchange<'a> {
        Exchange { client: self, provider, now, deadline: Instant::now() + self.timeout }
    }
}

/// Removes codes and secrets that the provider repeats in an error, because errors are logged.
fn redact_grant(error: ProviderError, provider: &Provider, grant: &Grant<'_>) -> ProviderError {
    let client_secret = match &provider.client.secret {
        ClientSecret::Text(secret) => secret.expose(),
        ClientSecret::AppleKey { .. } => "",
    };
    redact(error, &[grant.code, grant.nonce, grant.pkce.expose(), client_secret])
}

/// Removes the provider's error code and description if they contain one of `secrets`.
fn redact(error: ProviderError, secrets: &[&str]) -> ProviderError {
    let ProviderError::Refused { stage, error, description } = error else { return error };
    let repeats = |text: &str| secrets.iter().any(|secret| secret.len() > 3 && text.contains(secret));
    ProviderError::Refused {
        stage,
        error: if repeats(&error) { "refused".to_owned() } else { error },
        description: description.filter(|text| !repeats(text)),
    }
}
