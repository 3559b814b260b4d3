//! The requests of one operation at a provider (discovery, keys, token, userinfo), with a common deadline.

use std::sync::Arc;

use latchkey_domain::time::Timestamp;
use reqwest::header::{HeaderName, HeaderValue};
use serde_json::Value;
use tokio::time::Instant;
use url::Url;

use super::{Grant, ProviderClient};
use crate::cache::{Fetched, RenewalSource};
use crate::client_auth;
use crate::discovery::{self, Metadata};
use crate::error::{IdTokenFault, ProviderError, Stage};
use crate::id_token::{self, Expected, Jws, Nonce, ValidatedClaims};
use crate::identity::ProviderIdentity;
use crate::keys::ProviderKeys;
use crate::mapping::name_in_callback;
use crate::outbound::JsonResponse;
use crate::provider::{Provider, is_guid};
use crate::providers::{ClientAuth, Pkce, Source, Userinfo, Verified};
use crate::secret::SecretText;
use crate::token::TokenResponse;

/// One operation at a provider, such as the identification of a user: the current time, and the deadline that all
/// requests of the operation share.
pub(super) struct Exchange<'a> {
    pub(super) client: &'a ProviderClient,
    pub(super) provider: &'a Provider,
    pub(super) now: Timestamp,
    pub(super) deadline: Instant,
}

impl Exchange<'_> {
    /// Identifies the user of an OpenID Connect provider by the `id_token`, completed by userinfo.
    pub(super) async fn identify_by_id_token(
        &self,
        grant: &Grant<'_>,
        userinfo: Userinfo,
    ) -> Result<ProviderIdentity, ProviderError> {
        let metadata = self.metadata().await?;
        check_response_issuer(&metadata, grant)?;
        let auth = match self.provider.entry.client_auth {
            ClientAuth::Discovered => metadata
                .client_auth
                .ok_or(ProviderError::Misconfigured("the provider takes no client secret"))?,
            known => known,
        };
        let response = self.exchange(&metadata.token_endpoint, auth, grant).await?;
        let validated = self.verify_response(&metadata, &response, grant).await?;

        let mapping = &self.provider.entry.mapping;
        let endpoint = metadata.userinfo_endpoint.as_ref().filter(|_| userinfo == Userinfo::WhereLacking);
        let more = match endpoint {
            Some(endpoint) if mapping.is_incomplete(&validated.claims) => {
                let more = self.profile(endpoint, &[], response.access_token()?).await?;
                if id_token::subject(&more) != Ok(validated.subject.as_str()) {
                    return Err(IdTokenFault::OtherSubject.into());
                }
                Some(more)
            }
            _ => None,
        };
        let documents: Vec<&Value> = [Some(&validated.claims), more.as_ref()].into_iter().flatten().collect();
        let mut identity = self.provider.read(&documents)?;
        if mapping.source == Source::IdTokenAndCallback {
            identity.name = grant.user.and_then(name_in_callback);
        }
        Ok(identity)
    }

    /// Identifies the user of an OAuth 2.0 provider without OpenID Connect by the user's profile. The profile needs no
    /// signature, because it comes directly from the provider over TLS.
    pub(super) async fn identify_by_profile(
        &self,
        grant: &Grant<'_>,
        token_endpoint: &str,
    ) -> Result<ProviderIdentity, ProviderError> {
        let endpoint = self.provider.endpoint(token_endpoint)?;
        let response = self.exchange(&endpoint, self.provider.entry.client_auth, grant).await?;
        let mapping = &self.provider.entry.mapping;
        let profile = match mapping.source {
            Source::Profile { url, headers } => {
                self.profile(&self.provider.endpoint(url)?, headers, response.access_token()?).await?
            }
            _ => response.body.clone(),
        };
        let mut identity = self.provider.read(&[&profile])?;
        if let Verified::Listed(list) = &mapping.verified {
            let url = self.provider.endpoint(list.url)?;
            let headers = match mapping.source {
                Source::Profile { headers, .. } => headers,
                _ => &[],
            };
            let mailbox = match self.get_json(Stage::Emails, &url, headers, response.access_token()?).await {
                // If the app lacks permission to read addresses, the identity has no address.
                Err(ProviderError::Refused { .. }) => None,
                listed => list.read(&listed?)?,
            };
            if let Some(mailbox) = mailbox {
                identity.email_verified = mailbox.is_verified;
                identity.email = Some(mailbox.email);
            }
        }
        Ok(identity)
    }

    /// Returns the provider's discovery document, cached or fetched.
    pub(super) async fn metadata(&self) -> Result<Arc<Metadata>, ProviderError> {
        let url = self.provider.document()?;
        let fetch = async || {
            let JsonResponse { body, max_age } = self.fetch(Stage::Discovery, &url).await?;
            Ok((discovery::read(body, self.provider)?, max_age))
        };
        let documents = &self.client.documents;
        let metadata = documents.get(url.as_str(), self.now, self.deadline, fetch).await?;
        // The cached document may belong to another provider with the same URL.
        if self.provider.is_issuer_of_document(&metadata.issuer) {
            Ok(metadata)
        } else {
            Err(bad(Stage::Discovery, "it names another issuer"))
        }
    }

    /// Returns the number of the provider's keys, cached or fetched.
    pub(super) async fn count_keys(&self) -> Result<usize, ProviderError> {
        let metadata = self.metadata().await?;
        Ok(self.keys_of(&metadata).await?.count())
    }

    /// Returns the provider's keys, cached or fetched.
    async fn keys_of(&self, metadata: &Metadata) -> Result<Arc<ProviderKeys>, ProviderError> {
        let fetch = async || self.fetch_keys(metadata).await;
        self.client.keys.get(metadata.jwks_uri.as_str(), self.now, self.deadline, fetch).await
    }

    async fn fetch_keys(&self, metadata: &Metadata) -> Fetched<ProviderKeys> {
        let JsonResponse { body, max_age } = self.fetch(Stage::Keys, &metadata.jwks_uri).await?;
        Ok((ProviderKeys::read(body)?, max_age))
    }

    /// Verifies algorithm, key, signature and claims of a token.
    pub(super) async fn verify_token(
        &self,
        metadata: &Metadata,
        jws: &Jws<'_>,
        expected: &Expected<'_>,
        source: RenewalSource,
    ) -> Result<ValidatedClaims, ProviderError> {
        if !metadata.algorithms.contains(&jws.algorithm) {
            return Err(IdTokenFault::Algorithm.into());
        }
        let fetch = async || self.fetch_keys(metadata).await;
        let (cache, address) = (&self.client.keys, metadata.jwks_uri.as_str());
        let verified = |keys: &ProviderKeys| jws.verify(keys.find(jws.key_id.as_deref(), jws.algorithm)?);
        let keys = self.keys_of(metadata).await?;
        let claims = match verified(&keys) {
            // The cached keys may be outdated, because providers replace keys, even under the same id. Keys are
            // fetched again only for a token that has no other fault.
            Err(fault @ (IdTokenFault::UnknownKey | IdTokenFault::Signature)) => {
                let claims = jws.unverified_claims().ok_or(fault)?;
                expected.validate(claims).map_err(|_| fault)?;
                verified(&*cache.renew(address, &keys, source, self.now, self.deadline, fetch).await?)?
            }
            other => other?,
        };
        Ok(expected.validate(claims)?)
    }

    async fn verify_response(
        &self,
        metadata: &Metadata,
        response: &TokenResponse,
        grant: &Grant<'_>,
    ) -> Result<ValidatedClaims, ProviderError> {
        let token = response.id_token.as_ref().ok_or(IdTokenFault::Missing)?;
        let jws = Jws::parse(token.expose())?;
        let client_id = self.provider.client.client_id.as_str();
        let expected = Expected {
            issuer: self.provider.issuer_of_tokens(&[&metadata.issuer]),
            audiences: vec![client_id],
            parties: vec![client_id],
            nonce: Nonce::Required(grant.nonce),
            now: self.now,
        };
        self.verify_token(metadata, &jws, &expected, RenewalSource::Provider).await
    }

    async fn exchange(
        &self,
        endpoint: &Url,
        auth: ClientAuth,
        grant: &Grant<'_>,
    ) -> Result<TokenResponse, ProviderError> {
        let mut fields = vec![
            ("grant_type", "authorization_code"),
            ("code", grant.code),
            ("redirect_uri", grant.redirect_uri),
        ];
        if self.provider.entry.pkce == Pkce::S256 {
            fields.push(("code_verifier", grant.pkce.expose()));
        }
        let outbound = &self.client.outbound;
        let request = outbound.post(Stage::Token, endpoint)?;
        let request = client_auth::signed(request, self.provider, auth, &fields, self.now)?;
        let response = outbound.send(Stage::Token, request, self.deadline).await?;
        TokenResponse::read(response.body)
    }

    async fn profile(
        &self,
        url: &Url,
        headers: &[(&'static str, &'static str)],
        token: &SecretText,
    ) -> Result<Value, ProviderError> {
        let profile = self.get_json(Stage::Profile, url, headers, token).await?;
        if profile.is_object() { Ok(profile) } else { Err(bad(Stage::Profile, "it is no object")) }
    }

    /// Sends a GET request with the access token; returns the JSON of the response.
    async fn get_json(
        &self,
        stage: Stage,
        url: &Url,
        headers: &[(&'static str, &'static str)],
        token: &SecretText,
    ) -> Result<Value, ProviderError> {
        let headers = headers
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
        let outbound = &self.client.outbound;
        let request = outbound.get(stage, url)?;
        let request = request.headers(headers.collect()).bearer_auth(token.expose());
        let response = outbound.send(stage, request, self.deadline).await;
        response.map(|response| response.body).map_err(|error| super::redact(error, &[token.expose()]))
    }

    async fn fetch(&self, stage: Stage, url: &Url) -> Result<JsonResponse, ProviderError> {
        let outbound = &self.client.outbound;
        outbound.send(stage, outbound.get(stage, url)?, self.deadline).await
    }
}

/// Checks `iss` of the authorization response (RFC 9207) against mix-up attacks.
fn check_response_issuer(metadata: &Metadata, grant: &Grant<'_>) -> Result<(), ProviderError> {
    let is_right = match grant.issuer {
        Some(named) => named == metadata.issuer || is_of_a_tenant(&metadata.issuer, named),
        None => !metadata.names_issuer,
    };
    if is_right { Ok(()) } else { Err(ProviderError::IssuerMixUp) }
}

/// Returns `true` if the issuer `named` fits the issuer pattern of Microsoft's multi-tenant documents.
fn is_of_a_tenant(pattern: &str, named: &str) -> bool {
    pattern.split_once("{tenantid}").is_some_and(|(before, after)| {
        let tenant = named.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
        tenant.is_some_and(is_guid)
    })
}

fn bad(stage: Stage, reason: &str) -> ProviderError {
    ProviderError::BadAnswer { stage, reason: reason.to_owned() }
}
