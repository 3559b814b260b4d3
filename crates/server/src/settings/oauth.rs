//! Section `oauth`: how providers are talked to, and the providers that the operator writes down.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::keys::PROVIDERS;
use super::reader::Reader;
use super::secret::Secret;

/// Section `oauth`.
#[derive(Debug)]
pub struct OAuthSettings {
    /// Providers may live at private addresses.
    pub allow_private_networks: bool,
    /// A proxy that every request to a provider goes through. It may hold a password.
    pub proxy: Option<Secret>,
    /// Further certificate authorities, PEM.
    pub ca_file: Option<PathBuf>,
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
}

impl OAuthSettings {
    pub(super) fn read(reader: &mut Reader<'_>) -> Self {
        Self {
            allow_private_networks: reader.flag("oauth.allow_private_networks"),
            proxy: reader.take_secret("oauth.proxy"),
            ca_file: reader.optional_text("oauth.ca_file").map(PathBuf::from),
            providers: read_providers(reader),
        }
    }
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
        };
        settings.client_secret = name_of("client_secret").and_then(|name| reader.take_secret(name));
        settings.private_key = name_of("private_key").and_then(|name| reader.take_secret(name));
        settings
    }
}
