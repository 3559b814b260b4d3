//! The three things that are done with a provider: send somebody there, find out who came back, and believe a token that
//! a native app brought.

use std::time::Duration;

use latchkey_domain::time::Timestamp;
use tokio::time::Instant;
use url::Url;

use crate::authorization;
use crate::cache::{Asker, Cache};
use crate::discovery::Metadata;
use crate::error::{IdTokenFault, ProviderError, Stage};
use crate::id_token::{Expected, Jws, Nonce};
use crate::identity::{ProviderIdentity, VerifiedIdToken};
use crate::keys::ProviderKeys;
use crate::outbound::{InvalidOutbound, Outbound, OutboundSettings};
use crate::pkce::PkceVerifier;
use crate::provider::{ClientSecret, Provider};
use crate::providers::Protocol;

use self::talk::Talk;

mod talk;

/// Talks to providers. One for the whole process: it keeps connections, discovery documents and keys.
pub struct ProviderClient {
    outbound: Outbound,
    timeout: Duration,
    documents: Cache<Metadata>,
    keys: Cache<ProviderKeys>,
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
        Ok(Self {
            timeout: settings.timeout,
            outbound: Outbound::new(settings)?,
            documents: Cache::new(Stage::Discovery),
            keys: Cache::new(Stage::Keys),
        })
    }

    /// The address to send somebody to. Asks for the discovery document where the entry does not know the address.
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
                self.talk(provider, now).metadata().await?.authorization_endpoint.clone()
            }
        };
        self.outbound.check(Stage::Discovery, &endpoint)?;
        Ok(authorization::url(provider, endpoint, request))
    }

    /// Exchanges the code and finds out who it is about; all of it within the time limit of the settings.
    pub async fn identify(
        &self,
        provider: &Provider,
        grant: &Grant<'_>,
        now: Timestamp,
    ) -> Result<ProviderIdentity, ProviderError> {
        let talk = self.talk(provider, now);
        let identified = match provider.entry.protocol {
            Protocol::OpenId { userinfo, .. } => talk.identify_by_id_token(grant, userinfo).await,
            Protocol::OAuth { token, .. } => talk.identify_by_profile(grant, token).await,
        };
        identified.map_err(|error| without_secrets(error, provider, grant))
    }

    /// Checks an `id_token` for the native clients of the provider. What is wrong with it whatever the provider's keys
    /// are is told without asking the provider.
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
        // On Android the token is for the service's own client and was given to the app's.
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
        expected.judge(jws.unproven_claims().ok_or(IdTokenFault::Form)?)?;
        let talk = self.talk(provider, now);
        let metadata = talk.metadata().await?;
        let expected = Expected { issuer: provider.issuer_of_tokens(&[&metadata.issuer]), ..expected };
        let proved = talk.prove(&metadata, &jws, &expected, Asker::Stranger).await?;
        // A token that says too little is what the app asked the provider for: nothing that passes.
        let identity = provider.read(&[&proved.claims]);
        let identity = identity.map_err(|_| IdTokenFault::Subject)?;
        Ok(VerifiedIdToken { identity, expires_at: proved.expires_at, replay_key: jws.replay_key() })
    }

    /// Drops what is kept of the provider, its discovery document and its keys: for when an operator changed it.
    pub fn forget(&self, provider: &Provider) {
        let Ok(document) = provider.document() else { return };
        if let Some(metadata) = self.documents.forget(document.as_str()) {
            self.keys.forget(metadata.jwks_uri.as_str());
        }
    }

    fn talk<'a>(&'a self, provider: &'a Provider, now: Timestamp) -> Talk<'a> {
        Talk { client: self, provider, now, deadline: Instant::now() + self.timeout }
    }
}

/// A provider that repeats what it was sent must not bring it into a log.
fn without_secrets(error: ProviderError, provider: &Provider, grant: &Grant<'_>) -> ProviderError {
    let client_secret = match &provider.client.secret {
        ClientSecret::Text(secret) => secret.expose(),
        ClientSecret::AppleKey { .. } => "",
    };
    without(error, &[grant.code, grant.nonce, grant.pkce.expose(), client_secret])
}

/// The refusal without the provider's words where these repeat one of the secrets.
fn without(error: ProviderError, secrets: &[&str]) -> ProviderError {
    let ProviderError::Refused { stage, error, description } = error else { return error };
    let repeats = |text: &str| secrets.iter().any(|secret| secret.len() > 3 && text.contains(secret));
    ProviderError::Refused {
        stage,
        error: if repeats(&error) { "refused".to_owned() } else { error },
        description: description.filter(|text| !repeats(text)),
    }
}
