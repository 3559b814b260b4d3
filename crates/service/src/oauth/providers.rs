//! Which identity providers there are now: those of the settings file, and those that an admin configured. What an
//! admin changes reaches other instances like a setting.

use std::collections::BTreeMap;

use latchkey_domain::identity::{ProviderKey, ProviderKind};
use latchkey_domain::time::Timestamp;
use latchkey_oauth::{ClientSecret, ClientSettings, InvalidProvider, OutboundSettings, Provider, SecretText};
use latchkey_store::StoredProvider;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use url::Url;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::entropy::Entropy;
use crate::error::{Error, Result};
use crate::secrets::Keys;

/// What the service is told of identity providers at its start.
#[derive(Clone, Default)]
pub struct OAuthParts {
    /// How providers are talked to.
    pub outbound: OutboundSettings,
    /// The providers of the settings file; nobody changes them while the service runs.
    pub configured: Vec<ConfiguredProvider>,
    /// Tests play the built-in providers: all of their hosts are folders of this address.
    pub stand_in: Option<Url>,
}

/// A provider of the settings file.
#[derive(Clone)]
pub struct ConfiguredProvider {
    /// Its key.
    pub key: ProviderKey,
    /// What is said of it.
    pub input: ProviderInput,
}

impl ConfiguredProvider {
    /// Whether it can be used; [`Error::Validation`] names the field that is wrong.
    pub fn check(&self) -> Result<()> {
        let mut draft = Draft::default();
        draft.apply(&self.input)?;
        draft.into_known(&self.key, &OAuthParts::default()).map(|_| ())
    }
}

/// What somebody says of a provider; `None` leaves a field as it is.
#[derive(Clone, Default)]
pub struct ProviderInput {
    /// What people call a custom provider.
    pub name: Option<String>,
    /// Where a custom provider's discovery document is, or its issuer.
    pub discovery_endpoint: Option<String>,
    /// `client_id`.
    pub client_id: Option<String>,
    /// The secret that belongs to it.
    pub client_secret: Option<SecretText>,
    /// Scopes; the inner `None` goes back to the usual ones.
    pub scopes: Option<Option<Vec<String>>>,
    /// Clients of native apps.
    pub native_client_ids: Option<Vec<String>>,
    /// Microsoft's tenant; the inner `None` is `common`.
    pub tenant: Option<Option<String>>,
    /// Apple's team.
    pub team_id: Option<String>,
    /// The name of Apple's key.
    pub key_id: Option<String>,
    /// Apple's key.
    pub private_key: Option<SecretText>,
    /// Whether one can sign in with it.
    pub enabled: Option<bool>,
}

/// A provider's description, all but its secrets: what is stored in the open and shown to admins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ProviderDescription {
    /// See [`ProviderInput`].
    pub name: Option<String>,
    /// See [`ProviderInput`].
    pub discovery_endpoint: Option<String>,
    /// See [`ProviderInput`].
    pub client_id: String,
    /// See [`ProviderInput`].
    pub scopes: Option<Vec<String>>,
    /// See [`ProviderInput`].
    pub native_client_ids: Vec<String>,
    /// See [`ProviderInput`].
    pub tenant: Option<String>,
    /// See [`ProviderInput`].
    pub team_id: Option<String>,
    /// See [`ProviderInput`].
    pub key_id: Option<String>,
    /// See [`ProviderInput`].
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
            enabled: true,
        }
    }
}

/// Longest name of a custom provider, in characters.
const LONGEST_NAME: usize = 100;

/// What is sealed of a provider.
#[derive(Clone, Default, Serialize, Deserialize, Zeroize, ZeroizeOnDrop)]
pub(crate) struct ProviderSecrets {
    client_secret: Option<String>,
    private_key: Option<String>,
}

/// A provider, whoever described it.
#[derive(Clone)]
pub struct KnownProvider {
    /// Its key.
    pub key: ProviderKey,
    /// Which kind it is.
    pub kind: ProviderKind,
    /// Its description.
    pub description: ProviderDescription,
    /// Whether the settings file describes it.
    pub is_pinned: bool,
    /// When an admin configured it.
    pub created_at: Option<Timestamp>,
    /// When an admin changed it last.
    pub updated_at: Option<Timestamp>,
    pub(crate) secrets: ProviderSecrets,
    pub(crate) client: Provider,
}

impl KnownProvider {
    /// What people call it.
    #[must_use]
    pub fn name(&self) -> &str {
        match self.kind {
            ProviderKind::BuiltIn => self.client.entry().name,
            ProviderKind::Custom => self.description.name.as_deref().unwrap_or(self.key.as_str()),
        }
    }

    /// Whether it has a secret; what it is nobody reads again.
    #[must_use]
    pub fn has_secret(&self) -> bool {
        self.secrets.client_secret.is_some() || self.secrets.private_key.is_some()
    }
}

/// The providers in force, by key.
#[derive(Default)]
pub(crate) struct Providers(BTreeMap<ProviderKey, KnownProvider>);

/// Which kind a key is of: the built-in keys are taken.
pub(crate) fn kind_of(key: &ProviderKey) -> ProviderKind {
    match latchkey_oauth::providers::built_in(key.as_str()) {
        Some(_) => ProviderKind::BuiltIn,
        None => ProviderKind::Custom,
    }
}

impl Providers {
    /// Reads what is stored and puts what is pinned over it. A stored one that cannot be used is left out and logged;
    /// a pinned one must fit.
    pub(crate) fn open(parts: &OAuthParts, stored: &[StoredProvider], keys: &Keys) -> Result<Self> {
        let mut all = BTreeMap::new();
        for row in stored {
            match open_stored(row, keys).and_then(|draft| draft.into_known(&row.key, parts)) {
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

    pub(crate) fn all(&self) -> impl Iterator<Item = &KnownProvider> {
        self.0.values()
    }

    pub(crate) fn find(&self, key: &ProviderKey) -> Option<&KnownProvider> {
        self.0.get(key)
    }

    /// A provider of this key with which one can sign in. `kind` is that of the path.
    pub(crate) fn usable(&self, kind: ProviderKind, key: &str) -> Result<&KnownProvider> {
        let key = ProviderKey::parse(key).map_err(|_| Error::UnsupportedProvider)?;
        let of_path = |found: &&KnownProvider| found.kind == kind;
        match self.0.get(&key).filter(of_path) {
            Some(found) if found.description.enabled => Ok(found),
            Some(_) => Err(Error::ProviderNotConfigured),
            None if kind == ProviderKind::BuiltIn && kind_of(&key) == ProviderKind::BuiltIn => {
                Err(Error::ProviderNotConfigured)
            }
            None => Err(Error::UnsupportedProvider),
        }
    }

    /// The keys with which one can sign in.
    pub(crate) fn offered(&self) -> Vec<ProviderKey> {
        self.all().filter(|one| one.description.enabled).map(|one| one.key.clone()).collect()
    }

    /// The same of one kind, as texts.
    pub(crate) fn offered_of(&self, kind: ProviderKind) -> Vec<String> {
        let of_kind = |one: &&KnownProvider| one.description.enabled && one.kind == kind;
        self.all().filter(of_kind).map(|one| one.key.as_str().to_owned()).collect()
    }
}

/// A provider that is being described.
#[derive(Clone, Default)]
pub(crate) struct Draft {
    description: ProviderDescription,
    secrets: ProviderSecrets,
}

impl Draft {
    /// Begins with a provider as it is.
    pub(crate) fn of(known: &KnownProvider) -> Self {
        Self { description: known.description.clone(), secrets: known.secrets.clone() }
    }

    /// Puts what was said over it.
    pub(crate) fn apply(&mut self, input: &ProviderInput) -> Result<()> {
        let own = &mut self.description;
        if let Some(name) = &input.name {
            own.name = Some(checked_name(name)?);
        }
        set(&mut own.client_id, input.client_id.as_ref());
        set(&mut own.scopes, input.scopes.as_ref());
        set(&mut own.native_client_ids, input.native_client_ids.as_ref());
        set(&mut own.tenant, input.tenant.as_ref());
        set(&mut own.enabled, input.enabled.as_ref());
        set_some(&mut own.discovery_endpoint, input.discovery_endpoint.as_ref());
        set_some(&mut own.team_id, input.team_id.as_ref());
        set_some(&mut own.key_id, input.key_id.as_ref());
        let text = |secret: &SecretText| secret.expose().to_owned();
        set_some(&mut self.secrets.client_secret, input.client_secret.as_ref().map(text).as_ref());
        set_some(&mut self.secrets.private_key, input.private_key.as_ref().map(text).as_ref());
        Ok(())
    }

    /// Checks that it can be used.
    pub(crate) fn into_known(self, key: &ProviderKey, parts: &OAuthParts) -> Result<KnownProvider> {
        let kind = kind_of(key);
        let client = self.client_settings()?;
        let client = self.provider(key, client, parts)?;
        let Self { description, secrets } = self;
        let key = key.clone();
        let (created_at, updated_at) = (None, None);
        Ok(KnownProvider {
            key,
            kind,
            description,
            is_pinned: false,
            created_at,
            updated_at,
            secrets,
            client,
        })
    }

    fn provider(&self, key: &ProviderKey, client: ClientSettings, parts: &OAuthParts) -> Result<Provider> {
        let discovery = self.description.discovery_endpoint.as_deref();
        let Some(entry) = latchkey_oauth::providers::built_in(key.as_str()) else {
            let missing = || invalid("discoveryEndpoint", "is required: where is its discovery document?");
            let discovery = discovery.ok_or_else(missing)?;
            return Provider::custom(key.as_str(), discovery, client).map_err(refused);
        };
        if discovery.is_some() {
            return Err(invalid("discoveryEndpoint", "belongs to custom providers alone"));
        }
        let provider = Provider::built_in(entry, client).map_err(refused)?;
        Ok(match &parts.stand_in {
            Some(base) => provider.under(base.clone()),
            None => provider,
        })
    }

    fn client_settings(&self) -> Result<ClientSettings> {
        let own = &self.description;
        if own.client_id.is_empty() {
            return Err(invalid("clientId", "is required"));
        }
        let secret_text = |text: &Option<String>| SecretText::new(text.clone().unwrap_or_default());
        let secret = match (&own.team_id, &own.key_id, &self.secrets.private_key) {
            (None, None, None) if self.secrets.client_secret.is_none() => {
                return Err(invalid("clientSecret", "is required"));
            }
            (None, None, None) => ClientSecret::Text(secret_text(&self.secrets.client_secret)),
            (Some(team_id), Some(key_id), key @ Some(_)) => ClientSecret::AppleKey {
                team_id: team_id.clone(),
                key_id: key_id.clone(),
                private_key: secret_text(key),
            },
            _ => return Err(invalid("privateKey", "goes with teamId and keyId: all three or none")),
        };
        Ok(ClientSettings {
            client_id: own.client_id.clone(),
            secret,
            scopes: own.scopes.clone(),
            native_client_ids: own.native_client_ids.clone(),
            tenant: own.tenant.clone(),
        })
    }
}

impl KnownProvider {
    /// What the store keeps of it.
    pub(crate) fn to_stored(
        &self,
        keys: &Keys,
        entropy: &dyn Entropy,
        now: Timestamp,
    ) -> Result<StoredProvider> {
        let Value::Object(config) = serde_json::to_value(&self.description).map_err(Error::internal)? else {
            return Err(Error::internal("a provider's description is no object"));
        };
        let plain = Zeroizing::new(serde_json::to_vec(&self.secrets).map_err(Error::internal)?);
        let sealed = keys.seal_provider(entropy, self.key.as_str(), &plain).map_err(Error::internal)?;
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

fn open_stored(row: &StoredProvider, keys: &Keys) -> Result<Draft> {
    let plain = keys.open_provider(row.key.as_str(), &row.sealed).map_err(Error::internal)?;
    let plain = Zeroizing::new(plain);
    let secrets = serde_json::from_slice(&plain).map_err(Error::internal)?;
    let config: Map<String, Value> = row.config.clone();
    let description = serde_json::from_value(Value::Object(config)).map_err(Error::internal)?;
    Ok(Draft { description, secrets })
}

fn checked_name(name: &str) -> Result<String> {
    let is_name = (1..=LONGEST_NAME).contains(&name.chars().count()) && !name.chars().any(char::is_control);
    if is_name {
        Ok(name.to_owned())
    } else {
        Err(invalid("name", "must have 1 to 100 characters and no control characters"))
    }
}

fn set<T: Clone>(field: &mut T, said: Option<&T>) {
    if let Some(value) = said {
        field.clone_from(value);
    }
}

fn set_some<T: Clone>(field: &mut Option<T>, said: Option<&T>) {
    if said.is_some() {
        *field = said.cloned();
    }
}

fn invalid(field: &'static str, problem: &str) -> Error {
    Error::Validation { field, problem: problem.to_owned() }
}

/// The field that a refusal is about; its text begins with the field's name.
fn refused(error: InvalidProvider) -> Error {
    let field = match error {
        InvalidProvider::ClientId => "clientId",
        InvalidProvider::ClientSecret | InvalidProvider::SecretKind => "clientSecret",
        InvalidProvider::AppleKey => "privateKey",
        InvalidProvider::Scopes => "scopes",
        InvalidProvider::NativeClientIds => "nativeClientIds",
        InvalidProvider::Tenant => "tenant",
        InvalidProvider::Discovery => "discoveryEndpoint",
    };
    let text = error.to_string();
    let problem = text.strip_prefix(field).map_or(text.as_str(), str::trim_start);
    invalid(field, problem)
}
