//! Sign-in of native apps: the app talked to the provider itself and brings the `id_token`.

use std::time::Duration;

use latchkey_domain::audit::{Actor, AuditKind};
use latchkey_domain::client::Client;
use latchkey_domain::identity::ProviderKind;
use latchkey_domain::profile::Name;
use latchkey_domain::time::Timestamp;
use latchkey_oauth::{IdToken, ProviderError};
use latchkey_store::UsedToken;
use serde_json::Value;

use super::callback::proven;
use super::providers::KnownProvider;
use crate::error::{Error, Result};
use crate::service::{Service, SignedIn};

/// A token is remembered for so long after its end, for clocks that differ.
const REMEMBERED_AFTER_END: Duration = Duration::from_mins(15);

/// What a native app brings.
pub struct IdTokenSignIn {
    /// The provider's key, built-in or custom.
    pub provider: String,
    /// The token.
    pub token: String,
    /// The nonce that the app made, if it did.
    pub nonce: Option<String>,
    /// The name, where the provider told it to the app alone (Apple).
    pub name: Option<Name>,
    /// Who asks.
    pub client: Client,
}

impl Service {
    /// Opens a session for an `id_token`. The same linking rules as after a callback; each token is accepted once.
    pub async fn sign_in_with_id_token(&self, sign_in: IdTokenSignIn) -> Result<SignedIn> {
        let now = self.clock.now();
        self.limits.take_oauth(&sign_in.client, now)?;
        let provider = match self.usable_provider(ProviderKind::BuiltIn, &sign_in.provider).await {
            Err(Error::UnsupportedProvider) => {
                self.usable_provider(ProviderKind::Custom, &sign_in.provider).await?
            }
            other => other?,
        };
        if !provider.client.entry().has_id_tokens() {
            return Err(Error::UnsupportedProvider);
        }
        let token = IdToken { token: &sign_in.token, nonce: sign_in.nonce.as_deref() };
        let verified = match self.provider_client.verify_id_token(&provider.client, &token, now).await {
            Ok(verified) => verified,
            Err(error) => return Err(self.refuse_token(&provider, &error, &sign_in.client, now).await?),
        };
        let mut identity = proven(&provider, &verified.identity).ok_or(Error::InvalidIdToken)?;
        if let (Some(name), "") = (sign_in.name, identity.name.as_str()) {
            identity.name = name;
        }
        let expires_at = verified.expires_at.max(now).plus(REMEMBERED_AFTER_END);
        let token = UsedToken { hash: verified.replay_key, expires_at };
        self.sign_in_with(identity, Some(token), &sign_in.client, now).await
    }

    /// What the app is told of a token that was not believed, written to the audit where it is the token's fault.
    async fn refuse_token(
        &self,
        provider: &KnownProvider,
        error: &ProviderError,
        client: &Client,
        now: Timestamp,
    ) -> Result<Error> {
        tracing::warn!(provider = provider.key.as_str(), %error, "an id_token was refused");
        if !matches!(error, ProviderError::IdTokenRefused(_)) {
            return Ok(Error::ProviderUnavailable);
        }
        let mut event = self.event(AuditKind::SignInFailed, Actor::User, Some(client), now);
        event.details.insert("provider".to_owned(), Value::from(provider.key.as_str()));
        event.details.insert("reason".to_owned(), Value::from(error.to_string()));
        self.store.record_event(event).await?;
        Ok(Error::InvalidIdToken)
    }
}
