//! Identity providers that are in use: those of the settings file, and those that an admin configured in the database.
//! A change by an admin takes effect on other instances within a second.

use std::collections::BTreeMap;
use std::sync::Arc;

use arc_swap::{ArcSwap, Guard};
use latchkey_domain::identity::{Issuer, LegacyIdentities, ProviderKey, ProviderKind};
use latchkey_domain::time::Timestamp;
use latchkey_oauth::{OutboundSettings, Provider, ProviderClient, SecretText};
use latchkey_store::{FoundProvider, StoredProvider};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use url::Url;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use super::draft::Draft;
use crate::entropy::Entropy;
use crate::error::{Error, Result};
use crate::refusal::{PROVIDER_NOT_CONFIGURED, UNSUPPORTED_PROVIDER};
use crate::secrets::{CannotDerive, KeyUse, SealingKey, ServerSecret};

/// Configuration of identity providers at the start.
#[derive(Clone, Default)]
pub struct OAuthParts {
    /// Settings of outbound HTTP to providers.
    pub outbound: OutboundSettings,
    /// The providers of the settings file. They cannot be changed at run time.
    pub configured: Vec<ConfiguredProvider>,
    /// Base URL of a server that imitates all providers in tests; `None` outside of tests. Each host of a built-in
    /// provider is a folder below this URL.
    pub stand_in: Option<Url>,
}

/// A provider of the settings file.
#[derive(Clone)]
pub struct ConfiguredProvider {
    pub key: ProviderKey,
    pub input: ProviderInput,
}

impl ConfiguredProvider {
    /// Validates the configuration; [`Error::Validation`] names the invalid field.
    pub fn check(&self) -> Result<()> {
        let mut draft = Draft::default();
        draft.apply(&self.input)?;
        draft.into_known(&self.key, &OAuthParts::default()).map(|_| ())
    }
}

/// A change of a provider; `None` leaves a field as it is.
#[derive(Clone, Default)]
pub struct ProviderInput {
    /// Display name of a custom provider.
    pub name: Option<String>,
    /// URL of a custom provider's discovery document, or its issuer.
    pub discovery_endpoint: Option<String>,
    /// OAuth `client_id` at the provider.
    pub client_id: Option<String>,
    /// OAuth client secret.
    pub client_secret: Option<SecretText>,
    /// Requested scopes. `None` leaves them as they are; `Some(None)` restores the provider's default scopes.
    pub scopes: Option<Option<Vec<String>>>,
    /// Client ids of native apps whose `id_token`s are accepted.
    pub native_client_ids: Option<Vec<String>>,
    /// Microsoft's tenant. `None` leaves it as it is; `Some(None)` sets the tenant `common`.
    pub tenant: Option<Option<String>>,
    /// Developer team id at Apple.
    pub team_id: Option<String>,
    /// Key id of Apple's private key.
    pub key_id: Option<String>,
    /// Apple's private key, which signs client secrets.
    pub private_key: Option<SecretText>,
    /// True if an identity with a verified email address signs in to the existing account of that address.
    pub link_by_email: Option<bool>,
    /// True if sign-ins through the provider are allowed.
    pub enabled: Option<bool>,
}

impl ProviderInput {
    /// Returns the names of the given fields, as in the API.
    pub(crate) fn given_fields(&self) -> Vec<&'static str> {
        let fields = [
            ("name", self.name.is_some()),
            ("discoveryEndpoint", self.discovery_endpoint.is_some()),
            ("clientId", self.client_id.is_some()),
            ("clientSecret", self.client_secret.is_some()),
            ("scopes", self.scopes.is_some()),
            ("nativeClientIds", self.native_client_ids.is_some()),
            ("tenant", self.tenant.is_some()),
            ("teamId", self.team_id.is_some()),
            ("keyId", self.key_id.is_some()),
            ("privateKey", self.private_key.is_some()),
            ("linkByEmail", self.link_by_email.is_some()),
            ("enabled", self.enabled.is_some()),
        ];
        fields.into_iter().filter(|(_, is_given)| *is_given).map(|(name, _)| name).collect()
    }
}

/// The configuration of a provider without its secrets. It is stored unencrypted and shown to admins. [`ProviderInput`]
/// describes the fields.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ProviderDescription {
    pub name: Option<String>,
    pub discovery_endpoint: Option<String>,
    pub client_id: String,
    pub scopes: Option<Vec<String>>,
    pub native_client_ids: Vec<String>,
    pub tenant: Option<String>,
    pub team_id: Option<String>,
    pub key_id: Option<String>,
    pub link_by_email: bool,
    pub enabled: bool,
}

impl Default for ProviderDescription {
    fn default() -> Self {
        Self {
            name: None,
            discovery_endpoint: None,
            client_id: String::new(),
            scopes: None,
            native_client_ids: Vec::new(),
            tenant: None,
            team_id: None,
            key_id: None,
            link_by_email: true,
            enabled: true,
        }
    }
}

/// The secrets of a provider, which are sealed in the database.
#[derive(Clone, Default, Serialize, Deserialize, Zeroize, ZeroizeOnDrop)]
pub(crate) struct ProviderSecrets {
    pub(super) client_secret: Option<String>,
    pub(super) private_key: Option<String>,
}

/// A configured provider, from the settings file or the database.
#[derive(Clone)]
pub struct KnownProvider {
    pub key: ProviderKey,
    pub kind: ProviderKind,
    pub description: ProviderDescription,
    /// True if the settings file configures the provider, so that an admin cannot change it.
    pub is_pinned: bool,
    /// Time at which an admin configured the provider; `None` if the settings file does.
    pub created_at: Option<Timestamp>,
    /// Time of the last change by an admin; `None` if the settings file configures the provider.
    pub updated_at: Option<Timestamp>,
    pub(crate) secrets: ProviderSecrets,
    pub(crate) client: Provider,
}

impl KnownProvider {
    /// Returns the display name: from the table of built-in providers, or from the configuration of a custom
    /// provider.
    #[must_use]
    pub fn name(&self) -> &str {
        match self.kind {
            ProviderKind::BuiltIn => self.client.entry().name,
            ProviderKind::Custom => self.description.name.as_deref().unwrap_or(self.key.as_str()),
        }
    }

    /// Returns whether a sign-in may use linked identities that earlier releases stored without an issuer.
    pub(crate) fn earlier_identities(&self) -> LegacyIdentities {
        match self.client.issuer() {
            Some(_) => LegacyIdentities::Apart,
            None => LegacyIdentities::OfAnyIssuer,
        }
    }

    /// True if the provider has a discovery document and keys, which can be tried.
    #[must_use]
    pub const fn has_discovery(&self) -> bool {
        self.client.entry().has_id_tokens()
    }

    /// Returns true if a client secret or private key is stored. Secrets themselves cannot be read back.
    #[must_use]
    pub fn has_secret(&self) -> bool {
        self.secrets.client_secret.is_some() || self.secrets.private_key.is_some()
    }
}

/// The registry of identity providers: those in use, and the OAuth client.
pub(crate) struct ProviderRegistry {
    pub(crate) parts: OAuthParts,
    pub(crate) client: ProviderClient,
    sealing: SealingKey,
    in_force: ArcSwap<Providers>,
}

impl ProviderRegistry {
    /// Creates a registry without providers.
    pub(crate) fn new(
        parts: OAuthParts,
        client: ProviderClient,
        secret: &ServerSecret,
    ) -> Result<Self, CannotDerive> {
        Ok(Self { parts, client, sealing: sealing_key(secret)?, in_force: ArcSwap::default() })
    }

    pub(crate) fn load(&self) -> Guard<Arc<Providers>> {
        self.in_force.load()
    }

    /// Decrypts and validates stored providers; see [`Providers::open`].
    pub(crate) fn open(&self, found: Vec<FoundProvider>) -> Result<Providers> {
        Providers::open(&self.parts, found, &self.sealing)
    }

    /// Replaces the providers in use, and removes cached discovery documents and keys of changed ones, which may be
    /// stale.
    pub(crate) fn replace(&self, providers: Providers) {
        let before = self.in_force.swap(Arc::new(providers));
        before.changed_until(&self.load()).for_each(|one| self.client.evict(&one.client));
    }

    /// Converts a provider into a database row, with sealed secrets.
    pub(crate) fn to_stored(
        &self,
        known: &KnownProvider,
        entropy: &dyn Entropy,
        now: Timestamp,
    ) -> Result<StoredProvider> {
        known.to_stored(&self.sealing, entropy, now)
    }
}

/// Derives the key that seals the client secrets of providers.
fn sealing_key(secret: &ServerSecret) -> Result<SealingKey, CannotDerive> {
    secret.sealing_key(KeyUse::Providers)
}

/// The providers in use, by key.
#[derive(Default)]
pub(crate) struct Providers(BTreeMap<ProviderKey, KnownProvider>);

/// Returns the kind of a provider by its key: built-in if the table of built-in providers has the key, else
/// custom.
pub(crate) fn kind_of(key: &ProviderKey) -> ProviderKind {
    match latchkey_oauth::providers::built_in(key.as_str()) {
        Some(_) => ProviderKind::BuiltIn,
        None => ProviderKind::Custom,
    }
}

impl Providers {
    /// Decrypts stored providers and adds those of the settings file, which replace stored ones of the same key. A
    /// stored provider that is invalid is left out and logged. An invalid one of the settings file is an error.
    pub(crate) fn open(parts: &OAuthParts, found: Vec<FoundProvider>, key: &SealingKey) -> Result<Self> {
        let mut all = BTreeMap::new();
        for row in found {
            let name = row.key.clone();
            let Some(row) = row.read() else {
                tracing::error!(provider = name, "a stored provider of an unknown key or kind is left out");
                continue;
            };
            match open_stored(&row, key).and_then(|draft| draft.into_known(&row.key, parts)) {
                Ok(known) => {
                    let dates = (Some(row.created_at), Some(row.updated_at));
                    let (created_at, updated_at) = dates;
                    all.insert(row.key.clone(), KnownProvider { created_at, updated_at, ..known });
                }
                Err(error) => {
                    tracing::error!(provider = row.key.as_str(), %error, "a stored provider is left out");
                }
            }
        }
        for configured in &parts.configured {
            let mut draft = Draft::default();
            draft.apply(&configured.input)?;
            let known = draft.into_known(&configured.key, parts)?;
            all.insert(configured.key.clone(), KnownProvider { is_pinned: true, ..known });
        }
        Ok(Self(all))
    }

    /// Returns the providers that differ between `self` and `later`, in both versions, because cached data of either
    /// may be stale.
    pub(crate) fn changed_until<'a>(&'a self, later: &'a Self) -> impl Iterator<Item = &'a KnownProvider> {
        let is_kept = |one: &KnownProvider, there: &Self| {
            there.find(&one.key).is_some_and(|other| {
                (other.updated_at, &other.description) == (one.updated_at, &one.description)
            })
        };
        let before = self.all().filter(move |one| !is_kept(one, later));
        before.chain(later.all().filter(move |one| !is_kept(one, self)))
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &KnownProvider> {
        self.0.values()
    }

    pub(crate) fn find(&self, key: &ProviderKey) -> Option<&KnownProvider> {
        self.0.get(key)
    }

    /// Returns the issuers of all providers that have one issuer for all users. An issuer in the
    /// configuration has precedence over the one in the table of built-in providers.
    pub(crate) fn issuers(&self) -> Vec<(ProviderKey, Issuer)> {
        let configured = self.all().map(|one| (one.key.as_str(), one.client.issuer()));
        let is_configured = |key: &str| self.0.keys().any(|one| one.as_str() == key);
        let table = latchkey_oauth::providers::BUILT_IN.iter().filter(|entry| !is_configured(entry.key));
        let known = configured.chain(table.map(|entry| (entry.key, entry.issuer().map(str::to_owned))));
        known
            .filter_map(|(key, issuer)| Some((ProviderKey::parse(key).ok()?, Issuer::parse(&issuer?)?)))
            .collect()
    }

    /// Returns the enabled provider with this kind and key, or the refusal. The request's path determines the kind.
    pub(crate) fn usable(&self, kind: ProviderKind, key: &str) -> Result<&KnownProvider> {
        let key = ProviderKey::parse(key).map_err(|_| Error::Refused(&UNSUPPORTED_PROVIDER))?;
        let of_path = |found: &&KnownProvider| found.kind == kind;
        match self.0.get(&key).filter(of_path) {
            Some(found) if found.description.enabled => Ok(found),
            Some(_) => Err(Error::Refused(&PROVIDER_NOT_CONFIGURED)),
            None if kind == ProviderKind::BuiltIn && kind_of(&key) == ProviderKind::BuiltIn => {
                Err(Error::Refused(&PROVIDER_NOT_CONFIGURED))
            }
            None => Err(Error::Refused(&UNSUPPORTED_PROVIDER)),
        }
    }

    /// Returns the keys of enabled providers.
    pub(crate) fn offered(&self) -> Vec<ProviderKey> {
        self.all().filter(|one| one.description.enabled).map(|one| one.key.clone()).collect()
    }

    /// Returns the keys of enabled providers of one kind.
    pub(crate) fn offered_of(&self, kind: ProviderKind) -> Vec<String> {
        let of_kind = |one: &&KnownProvider| one.description.enabled && one.kind == kind;
        self.all().filter(of_kind).map(|one| one.key.as_str().to_owned()).collect()
    }
}

impl KnownProvider {
    pub(crate) fn to_stored(
        &self,
        key: &SealingKey,
        entropy: &dyn Entropy,
        now: Timestamp,
    ) -> Result<StoredProvider> {
        let Value::Object(config) = serde_json::to_value(&self.description).map_err(Error::internal)? else {
            return Err(Error::internal("a provider's description is no object"));
        };
        let plain = Zeroizing::new(serde_json::to_vec(&self.secrets).map_err(Error::internal)?);
        let sealed = key.seal(entropy, self.key.as_str().as_bytes(), &plain).map_err(Error::internal)?;
        Ok(StoredProvider {
            key: self.key.clone(),
            kind: self.kind,
            config,
            sealed,
            created_at: now,
            updated_at: now,
        })
    }
}

fn open_stored(row: &StoredProvider, key: &SealingKey) -> Result<Draft> {
    let plain = key.open(row.key.as_str().as_bytes(), &row.sealed).map_err(Error::internal)?;
    let plain = Zeroizing::new(plain);
    let secrets = serde_json::from_slice(&plain).map_err(Error::internal)?;
    let config: Map<String, Value> = row.config.clone();
    let description = serde_json::from_value(Value::Object(config)).map_err(Error::internal)?;
    Ok(Draft::new(description, secrets))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_that_this_version_cannot_read_hides_no_other() {
        let keys = sealing_key(&ServerSecret::new(vec![1; 32]).unwrap()).unwrap();
        let unknown = |key: &str, kind: &str| FoundProvider {
            key: key.to_owned(),
            kind: kind.to_owned(),
            config: Map::new(),
            sealed: vec![1],
            created_at: Timestamp::default(),
            updated_at: Timestamp::default(),
        };
        let rows = vec![unknown("configs", "custom"), unknown("acme", "of a later version")];

        let providers = Providers::open(&OAuthParts::default(), rows, &keys).unwrap();

        assert_eq!(providers.all().count(), 0);
    }
}
