//! Sign-in of a native app, which gets an `id_token` from the provider's SDK and sends it here.

use std::time::Duration;

use latchkey_domain::audit::{Actor, AuditKind};
use latchkey_domain::client::Client;
use latchkey_domain::profile::Name;
use latchkey_domain::time::Timestamp;
use latchkey_oauth::{IdToken, ProviderError};
use latchkey_store::UsedToken;
use serde_json::Value;

use super::OAuth;
use super::callback::proven;
use crate::error::{Error, Result};
use crate::metrics::Method;
use crate::providers::KnownProvider;
use crate::refusal::{INVALID_ID_TOKEN, PROVIDER_UNAVAILABLE, UNSUPPORTED_PROVIDER};
use crate::sessions::{Entrance, SignInClient};

/// Maximum time for which a token accepted now would be accepted again, whatever its `exp`: its `iat` may be at most
/// one minute in the future and ten minutes in the past.
const ACCEPTED_AT_MOST: Duration = Duration::from_mins(11);
/// Extra time for which a used token is stored against replay after it can no longer be accepted, in case clocks
/// differ.
const REMEMBERED_AFTER_END: Duration = Duration::from_mins(15);

/// The request of a sign-in with an `id_token`.
pub struct IdTokenSignIn {
    /// The provider's key, built-in or custom.
    pub provider: String,
    /// The `id_token` as the provider issued it.
    pub token: String,
    /// The nonce that the app sent to the provider, if any.
    pub nonce: Option<String>,
    /// The user's name, which Apple gives only to the app and not in the token.
    pub name: Option<Name>,
    pub client: SignInClient,
}

impl OAuth {
    /// Opens a session for an `id_token`, by the same rules for accounts as after a callback. Each token is accepted
    /// once.
    pub async fn sign_in_with_id_token(&self, sign_in: IdTokenSignIn) -> Result<Entrance> {
        let now = self.kernel.now();
        let entrance = self.open_with_id_token(sign_in, now).await;
        self.kernel.metrics.sign_in(Method::IdToken, now, entrance)
    }

    async fn open_with_id_token(&self, sign_in: IdTokenSignIn, now: Timestamp) -> Result<Entrance> {
        self.take(&sign_in.client.client, now)?;
        let kind = self.provider_kind(&sign_in.provider);
        let provider = self.usable_provider(kind, &sign_in.provider).await?;
        if !provider.client.entry().has_id_tokens() {
            return Err(Error::Refused(&UNSUPPORTED_PROVIDER));
        }
        let token = IdToken { token: &sign_in.token, nonce: sign_in.nonce.as_deref() };
        let verified = self.shared.providers.client.verify_id_token(&provider.client, &token, now);
        let verified = match self.kernel.metrics.provider(provider.key.as_str(), verified).await {
            Ok(verified) => verified,
            Err(error) => {
                return Err(self.refuse_token(&provider, &error, &sign_in.client.client, now).await?);
            }
        };
        let mut identity = proven(&provider, &verified.identity).ok_or(&INVALID_ID_TOKEN)?;
        if let (Some(name), "") = (sign_in.name, identity.name.as_str()) {
            identity.name = name;
        }
        let expires_at = remembered_until(verified.expires_at, now);
        let token = UsedToken { hash: verified.replay_key, expires_at };
        self.sign_in_with(identity, &provider, Some(token), &sign_in.client, now).await
    }

    /// Turns a verification failure into a refusal. An audit event is written if the token itself is invalid.
    async fn refuse_token(
        &self,
        provider: &KnownProvider,
        error: &ProviderError,
        client: &Client,
        now: Timestamp,
    ) -> Result<Error> {
        tracing::warn!(provider = provider.key.as_str(), %error, "an id_token was refused");
        if !matches!(error, ProviderError::IdTokenRefused(_)) {
            return Ok(Error::Refused(&PROVIDER_UNAVAILABLE));
        }
        let mut event = self.kernel.event(AuditKind::SignInFailed, Actor::User, Some(client), now);
        event.details.insert("provider".to_owned(), Value::from(provider.key.as_str()));
        event.details.insert("reason".to_owned(), Value::from(error.to_string()));
        self.kernel.store.record_event(event).await?;
        Ok(Error::Refused(&INVALID_ID_TOKEN))
    }
}

/// Returns the time until which a used token is stored against replay; `end` is the token's `exp`.
fn remembered_until(end: Timestamp, now: Timestamp) -> Timestamp {
    end.min(now.plus(ACCEPTED_AT_MOST)).max(now).plus(REMEMBERED_AFTER_END)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn used_token_is_forgotten_when_nobody_would_take_it_any_more() {
        let now = Timestamp::from_millis(1_000_000);
        let minutes = |minutes| now.plus(Duration::from_mins(minutes));
        assert_eq!(remembered_until(minutes(5), now), minutes(20));
        assert_eq!(remembered_until(minutes(600_000), now), minutes(26));
        assert_eq!(remembered_until(now.minus(Duration::from_secs(30)), now), minutes(15));
    }
}
