//! Configuration of identity providers at run time by an admin. Client secrets can be written but not read.

use latchkey_domain::audit::{AuditEvent, AuditKind};
use latchkey_domain::client::Client;
use latchkey_domain::identity::{ProviderKey, ProviderKind};
use latchkey_domain::operator::Party;
use latchkey_domain::reason::Reason;
use latchkey_domain::time::Timestamp;
use latchkey_oauth::{ProviderError, providers};
use serde_json::Value;
use std::time::Duration;

use super::OAuth;
use crate::error::{Error, Result};
use crate::providers::Draft;
use crate::providers::{KnownProvider, ProviderInput, kind_of};
use crate::refusal::{BUSY, PROVIDER_EXISTS, PROVIDER_NOT_FOUND, PROVIDER_PINNED, UNSUPPORTED_PROVIDER};

/// Maximum number of attempts to change a provider, if concurrent changes of the same provider conflict with it.
const CHANGE_ATTEMPTS: usize = 8;

impl OAuth {
    #[must_use]
    pub fn list_providers(&self, kind: ProviderKind) -> Vec<KnownProvider> {
        self.shared.providers.load().all().filter(|one| one.kind == kind).cloned().collect()
    }

    /// Returns the providers of both kinds that users can sign in with, by key.
    #[must_use]
    pub fn offered_providers(&self) -> Vec<KnownProvider> {
        self.shared.providers.load().all().filter(|one| one.description.enabled).cloned().collect()
    }

    /// Returns the providers through which operators sign in to the console, in the order of the settings.
    #[must_use]
    pub fn console_providers(&self) -> Vec<KnownProvider> {
        let offered = self.offered_providers();
        let keys = self.kernel.operators.providers.iter();
        keys.filter_map(|key| offered.iter().find(|provider| provider.key == *key).cloned()).collect()
    }

    /// Finds a configured provider; [`PROVIDER_NOT_FOUND`] if none has this kind and key.
    pub fn find_provider(&self, kind: ProviderKind, key: &str) -> Result<KnownProvider> {
        let not_found = || Error::Refused(&PROVIDER_NOT_FOUND);
        let key = ProviderKey::parse(key).map_err(|_| not_found())?;
        let found = self.shared.providers.load().find(&key).filter(|one| one.kind == kind).cloned();
        found.ok_or_else(not_found)
    }

    /// Returns the kind of a provider by its key, even if it is not configured: built-in if the table of
    /// built-in providers in `latchkey-oauth` has the key, else custom.
    #[must_use]
    pub fn provider_kind(&self, key: &str) -> ProviderKind {
        ProviderKey::parse(key).map_or(ProviderKind::Custom, |key| kind_of(&key))
    }

    /// Asks a provider anew for its discovery document and keys; returns the number of keys, or why there are none. Only the
    /// audit event is stored.
    pub async fn test_provider(
        &self,
        known: &KnownProvider,
        party: Party,
        client: Option<&Client>,
    ) -> Result<Result<usize, ProviderError>> {
        let now = self.kernel.now();
        let outcome = self.shared.providers.client.probe(&known.client, now).await;
        let mut event = self.kernel.event(AuditKind::ProviderTested, party, client, now);
        event.details.insert("provider".to_owned(), Value::from(known.key.as_str()));
        let word = if outcome.is_ok() { "succeeded" } else { "failed" };
        event.details.insert("outcome".to_owned(), Value::from(word));
        self.kernel.store.record_event(event).await?;
        Ok(outcome)
    }

    /// Returns the names of the built-in providers that are not configured.
    #[must_use]
    pub fn unconfigured_providers(&self) -> Vec<&'static str> {
        let registry = self.shared.providers.load();
        let is_free = |key| ProviderKey::parse(key).is_ok_and(|key| registry.find(&key).is_none());
        providers::names().filter(|(key, _)| is_free(key)).map(|(_, name)| name).collect()
    }

    /// Configures a provider. The key of a built-in one must be in the table of built-in providers
    /// ([`UNSUPPORTED_PROVIDER`]); a custom one must not use a key of that table ([`PROVIDER_EXISTS`]).
    pub async fn create_provider(
        &self,
        kind: ProviderKind,
        key: &str,
        input: &ProviderInput,
        party: Party,
        client: Option<&Client>,
    ) -> Result<KnownProvider> {
        let field = if kind == ProviderKind::Custom { "key" } else { "provider" };
        let key = ProviderKey::parse(key)
            .map_err(|error| Error::validation(field, Reason::InvalidFormat, error.to_string()))?;
        match (kind, kind_of(&key)) {
            (ProviderKind::BuiltIn, ProviderKind::Custom) => {
                return Err(Error::Refused(&UNSUPPORTED_PROVIDER));
            }
            (ProviderKind::Custom, ProviderKind::BuiltIn) => return Err(Error::Refused(&PROVIDER_EXISTS)),
            _ => {}
        }
        self.shared.sync().await?;
        if self.shared.providers.load().find(&key).is_some() {
            return Err(Error::Refused(&PROVIDER_EXISTS));
        }
        let mut draft = Draft::default();
        draft.apply(input)?;
        let known = draft.into_known(&key, &self.shared.providers.parts)?;
        self.check_place(&known)?;

        let now = self.kernel.now();
        let stored = self.shared.providers.to_stored(&known, &*self.kernel.entropy, now)?;
        let mut event = self.provider_event(&key, "created", party, client, now);
        event.details.insert("fields".to_owned(), Value::from(input.given_fields()));
        if !self.kernel.store.create_oauth_provider(stored, event).await? {
            return Err(Error::Refused(&PROVIDER_EXISTS));
        }
        self.shared.reload().await?;
        self.find_provider(kind, key.as_str())
    }

    /// Changes a provider. Absent fields keep their values; the secret must be sent again if the discovery URL changes.
    /// If another change of the provider happens at the same time, this change is applied on top of it.
    pub async fn update_provider(
        &self,
        kind: ProviderKind,
        key: &str,
        input: &ProviderInput,
        party: Party,
        client: Option<&Client>,
    ) -> Result<KnownProvider> {
        self.shared.sync().await?;
        for _ in 0..CHANGE_ATTEMPTS {
            let known = self.find_changeable(kind, key)?;
            let replaces = known.updated_at.unwrap_or_default();
            let mut draft = Draft::of(&known);
            draft.apply(input)?;
            let changed = draft.into_known(&known.key, &self.shared.providers.parts)?;
            self.check_change(&known, &changed, input)?;

            // `updated_at` serves as the version of the row, so every change must increase it.
            let now = self.kernel.now().max(replaces.plus(Duration::from_millis(1)));
            let stored = self.shared.providers.to_stored(&changed, &*self.kernel.entropy, now)?;
            let mut event = self.provider_event(&known.key, "updated", party, client, self.kernel.now());
            event.details.insert("fields".to_owned(), Value::from(input.given_fields()));
            let is_changed = self.kernel.store.update_oauth_provider(stored, replaces, event).await?;
            self.shared.reload().await?;
            if is_changed {
                return self.find_provider(kind, key);
            }
        }
        Err(Error::Refused(&BUSY))
    }

    /// Requires a new secret if the discovery URL changes, because the stored secret must not be sent to another
    /// server.
    fn check_change(
        &self,
        known: &KnownProvider,
        changed: &KnownProvider,
        input: &ProviderInput,
    ) -> Result<()> {
        if known.client.has_same_location(&changed.client) {
            return Ok(());
        }
        self.check_place(changed)?;
        if input.client_secret.is_some() {
            return Ok(());
        }
        let problem = "must be given again where discoveryEndpoint changes";
        Err(Error::validation("clientSecret", Reason::Required, problem))
    }

    fn check_place(&self, known: &KnownProvider) -> Result<()> {
        known.client.check_place(self.shared.providers.parts.outbound.networks).map_err(|reason| {
            Error::validation(
                "discoveryEndpoint",
                Reason::NotAllowed,
                format!("will never be asked: {reason}"),
            )
        })
    }

    /// Removes a provider. Its linked identities remain, and cannot sign in until it is configured again.
    pub async fn delete_provider(
        &self,
        kind: ProviderKind,
        key: &str,
        party: Party,
        client: Option<&Client>,
    ) -> Result<()> {
        self.shared.sync().await?;
        let known = self.find_changeable(kind, key)?;
        let event = self.provider_event(&known.key, "deleted", party, client, self.kernel.now());
        if !self.kernel.store.delete_oauth_provider(&known.key, kind, event).await? {
            return Err(Error::Refused(&PROVIDER_NOT_FOUND));
        }
        self.shared.reload().await
    }

    fn find_changeable(&self, kind: ProviderKind, key: &str) -> Result<KnownProvider> {
        let known = self.find_provider(kind, key)?;
        if known.is_pinned { Err(Error::Refused(&PROVIDER_PINNED)) } else { Ok(known) }
    }

    fn provider_event(
        &self,
        key: &ProviderKey,
        change: &str,
        party: Party,
        client: Option<&Client>,
        now: Timestamp,
    ) -> AuditEvent {
        let mut event = self.kernel.event(AuditKind::SettingsChanged, party, client, now);
        event.details.insert("provider".to_owned(), Value::from(key.as_str()));
        event.details.insert("change".to_owned(), Value::from(change));
        event
    }
}
