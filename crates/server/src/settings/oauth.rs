//! Section `oauth`: how providers are talked to, and the providers that the operator writes down.

use std::collections::BTreeMap;
use std::path::PathBuf;

use std::time::Duration;

use latchkey_domain::identity::ProviderKey;
use latchkey_domain::reason::Reason;
use latchkey_oauth::Proxy;
use latchkey_service::Error;
use latchkey_service::oauth::SecretText;
use latchkey_service::oauth::providers::{ConfiguredProvider, ProviderInput};

use super::keys::PROVIDERS;
use super::problem::Problems;
use super::reader::Reader;
use super::secret::Secret;
use super::server::ServerSettings;

/// Section `oauth`.
#[derive(Debug)]
pub struct OAuthSettings {
    /// Providers may live at private addresses.
    pub allow_private_networks: bool,
    /// A proxy that every request to a provider goes through. It may hold a password.
    pub proxy: Option<Secret>,
    /// Further certificate authorities, PEM.
    pub ca_file: Option<PathBuf>,
    /// Longest wait for all that a provider is asked in one sign-in.
    pub timeout: Duration,
    /// Life of a state.
    pub state_ttl: Duration,
    /// Life of an exchange code.
    pub code_ttl: Duration,
    /// Sections `oauth.providers.NAME`, by name.
    pub providers: Vec<ProviderSettings>,
}

/// Section `oauth.providers.NAME`. Whether it says enough, and not too much, the service decides.
#[derive(Debug)]
pub struct ProviderSettings {
    /// The key: that of a built-in provider, or a new one.
    pub key: String,
    /// Name for people, of a custom provider.
    pub name: Option<String>,
    /// Discovery document of a custom provider.
    pub discovery_endpoint: Option<String>,
    /// The client's id at the provider.
    pub client_id: String,
    /// Its secret.
    pub client_secret: Option<Secret>,
    /// Scopes in place of the usual ones.
    pub scopes: Option<Vec<String>>,
    /// Ids of native apps, for sign-in by id token.
    pub native_client_ids: Vec<String>,
    /// Microsoft alone: the tenant.
    pub tenant: Option<String>,
    /// Apple alone: the team.
    pub team_id: Option<String>,
    /// Apple alone: the key's id.
    pub key_id: Option<String>,
    /// Apple alone: the private key, PEM.
    pub private_key: Option<Secret>,
    /// An address that it verified opens the account of that address.
    pub link_by_email: bool,
}

impl OAuthSettings {
    pub(super) fn read(reader: &mut Reader<'_>) -> Self {
        Self {
            allow_private_networks: reader.flag("oauth.allow_private_networks"),
            proxy: reader.take_secret("oauth.proxy"),
            ca_file: reader.optional_text("oauth.ca_file").map(PathBuf::from),
            timeout: reader.duration("oauth.timeout"),
            state_ttl: reader.duration("oauth.state_ttl"),
            code_ttl: reader.duration("oauth.code_ttl"),
            providers: read_providers(reader),
        }
    }
}

impl OAuthSettings {
    /// The rules between keys, and whether the providers can be used.
    pub(super) fn check(&self, server: Option<&ServerSettings>, problems: &mut Problems) {
        if self.proxy.as_ref().is_some_and(|proxy| Proxy::parse(proxy.reveal()).is_none()) {
            let sentence = "wanted the address of a proxy, such as http://proxy.example.com:3128";
            problems.rule(&["oauth.proxy"], sentence);
        }
        if server.is_some_and(|server| server.request_timeout <= self.timeout) {
            let sentence = "it is not shorter than server.request_timeout, so nobody would hear of a provider that is \
                            down; shorten it";
            problems.rule(&["oauth.timeout", "server.request_timeout"], sentence);
        }
        for provider in &self.providers {
            let configured = provider.configured();
            if let Err(Error::Validation { field, problem, .. }) = configured.and_then(|one| one.check()) {
                problems.at(&format!("{PROVIDERS}{}.{}", provider.key, snake_case(field)), problem);
            }
        }
    }
}

/// `client_id` of `clientId`.
fn snake_case(field: &str) -> String {
    let letters = field.chars().flat_map(|c| {
        let is_start = c.is_ascii_uppercase();
        is_start.then_some('_').into_iter().chain([c.to_ascii_lowercase()])
    });
    letters.collect()
}

/// The names of the fields that a provider's section has, by field.
type Fields = BTreeMap<&'static str, &'static str>;

fn read_providers(reader: &mut Reader<'_>) -> Vec<ProviderSettings> {
    let mut sections: BTreeMap<&'static str, Fields> = BTreeMap::new();
    for name in reader.names_under(PROVIDERS) {
        if let Some((key, field)) = name[PROVIDERS.len()..].split_once('.') {
            sections.entry(key).or_default().insert(field, name);
        }
    }
    sections.into_iter().map(|(key, fields)| ProviderSettings::read(reader, key, &fields)).collect()
}

impl ProviderSettings {
    /// The provider as the service takes it.
    pub fn configured(&self) -> Result<ConfiguredProvider, Error> {
        let secret =
            |secret: &Option<Secret>| secret.as_ref().map(|text| SecretText::new(text.reveal().to_owned()));
        let key = ProviderKey::parse(&self.key).map_err(|error| {
            let reason = Reason::InvalidFormat;
            Error::Validation { field: "key", reason, problem: error.to_string() }
        })?;
        let input = ProviderInput {
            name: self.name.clone(),
            discovery_endpoint: self.discovery_endpoint.clone(),
            client_id: Some(self.client_id.clone()),
            client_secret: secret(&self.client_secret),
            scopes: Some(self.scopes.clone()),
            native_client_ids: Some(self.native_client_ids.clone()),
            tenant: Some(self.tenant.clone()),
            team_id: self.team_id.clone(),
            key_id: self.key_id.clone(),
            private_key: secret(&self.private_key),
            link_by_email: Some(self.link_by_email),
            enabled: None,
        };
        Ok(ConfiguredProvider { key, input })
    }

    fn read(reader: &mut Reader<'_>, key: &str, fields: &Fields) -> Self {
        let name_of = |field: &str| fields.get(field).copied();
        let text = |field| name_of(field).and_then(|name| reader.optional_text(name));
        let list = |field| name_of(field).map(|name| reader.list(name));
        let mut settings = Self {
            key: key.to_owned(),
            name: text("name"),
            discovery_endpoint: text("discovery_endpoint"),
            client_id: text("client_id").unwrap_or_default(),
            client_secret: None,
            scopes: list("scopes").filter(|scopes| !scopes.is_empty()),
            native_client_ids: list("native_client_ids").unwrap_or_default(),
            tenant: text("tenant"),
            team_id: text("team_id"),
            key_id: text("key_id"),
            private_key: None,
            link_by_email: name_of("link_by_email").is_none_or(|name| reader.flag(name)),
        };
        settings.client_secret = name_of("client_secret").and_then(|name| reader.take_secret(name));
        settings.private_key = name_of("private_key").and_then(|name| reader.take_secret(name));
        settings
    }
}
