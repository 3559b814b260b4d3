//! Section `oauth`: outbound requests to identity providers, and providers configured by the operator.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use std::time::Duration;

use latchkey_domain::identity::ProviderKey;
use latchkey_domain::reason::Reason;
use latchkey_oauth::Proxy;
use latchkey_service::Error;
use latchkey_service::oauth::SecretText;
use latchkey_service::oauth::providers::{ConfiguredProvider, ProviderInput};
use latchkey_settings::{Group, Kind, Problems, Reader, Secret, settings};

use super::keys::PROVIDERS;

settings! {
    /// Settings of section `oauth`.
    #[derive(Debug)]
    pub struct OAuthSettings {
        /// Allow identity providers with private addresses. If off, no request goes to a private, loopback, link-local
        /// or metadata address, whatever a name resolves to. Development allows loopback.
        "oauth.allow_private_networks" => allow_private_networks: bool = false;
        /// HTTP proxy for all requests to identity providers. It may contain a password, such as
        /// "http://user:password@proxy.example.com:3128". Not set: none; the proxy variables of the environment are
        /// ignored.
        "oauth.proxy" => proxy: Option<Secret> = none, "";
        /// PEM file with further certificate authorities, for a private provider. Not set: the public ones only.
        "oauth.ca_file" => ca_file: Option<PathBuf> = "";
        /// Total timeout of the requests to a provider during one sign-in. Shorter than server.request_timeout, so that
        /// the app learns that a provider is down.
        "oauth.timeout" => timeout: Duration = "9s";
    }
}

settings! {
    /// Section `oauth.providers.KEY`: one identity provider. The names of its settings are relative to the section. The
    /// service validates the values.
    #[derive(Debug)]
    pub struct ProviderSettings {
        /// OAuth client id, issued by the provider.
        "client_id" => client_id: String = none, "";
        /// OAuth client secret.
        "client_secret" => client_secret: Option<Secret> = none, "";
        /// Scopes to request, in place of the default scopes.
        "scopes" => scopes: Vec<String> = none, [];
        /// Client ids of native apps, for sign-in with an id token.
        "native_client_ids" => native_client_ids: Vec<String> = none, [];
        /// Link an identity with a verified email address to the account with that address.
        "link_by_email" => link_by_email: bool [Kind::Boolean] | read_on = none, true;
        /// URL of the discovery document of a custom provider.
        "discovery_endpoint" => discovery_endpoint: Option<String> = none, "";
        /// Display name of a custom provider.
        "name" => name: Option<String> = none, "";
        /// Microsoft only: common, organizations, consumers, or the id of a directory.
        "tenant" => tenant: Option<String> = none, "";
        /// Apple only: team id.
        "team_id" => team_id: Option<String> = none, "";
        /// Apple only: id of the private key.
        "key_id" => key_id: Option<String> = none, "";
        /// Apple only: private key in PEM.
        "private_key" => private_key: Option<Secret> = none, "";
    }
}

/// Identity providers configured by the operator, by key.
pub type Providers = BTreeMap<String, ProviderSettings>;

impl OAuthSettings {
    /// Checks the proxy address, that `oauth.timeout` is shorter than `server.request_timeout`, and each provider's
    /// configuration.
    pub(super) fn check(&self, providers: &Providers, request_timeout: Duration, problems: &mut Problems) {
        if self.proxy.as_ref().is_some_and(|proxy| Proxy::parse(proxy.reveal()).is_none()) {
            let sentence = "wanted the address of a proxy, such as http://proxy.example.com:3128";
            problems.rule(&["oauth.proxy"], sentence);
        }
        if request_timeout <= self.timeout {
            let sentence = "it is not shorter than server.request_timeout, so an app would not learn that a provider \
                            is down; shorten it";
            problems.rule(&["oauth.timeout", "server.request_timeout"], sentence);
        }
        for (key, provider) in providers {
            let configured = provider.configured(key);
            if let Err(Error::Validation { field, problem, .. }) = configured.and_then(|one| one.check()) {
                problems.at(&format!("{PROVIDERS}{key}.{}", snake_case(field)), problem);
            }
        }
    }
}

/// Converts `clientId` to `client_id`.
fn snake_case(field: &str) -> String {
    let letters = field.chars().flat_map(|c| {
        let is_start = c.is_ascii_uppercase();
        is_start.then_some('_').into_iter().chain([c.to_ascii_lowercase()])
    });
    letters.collect()
}

pub(super) fn read_providers(reader: &mut Reader<'_>) -> Providers {
    let names = reader.names_under(PROVIDERS).into_iter();
    let keys: BTreeSet<_> =
        names.filter_map(|name| Some(name[PROVIDERS.len()..].split_once('.')?.0)).collect();
    let read =
        |key: &str| (key.to_owned(), reader.below(&format!("{PROVIDERS}{key}."), ProviderSettings::read));
    keys.into_iter().map(read).collect()
}

/// Reads a flag whose default is true.
fn read_on(reader: &mut Reader<'_>, key: &'static str) -> bool {
    !reader.is_set(key) || reader.flag(key)
}

impl ProviderSettings {
    /// Converts this provider's configuration into the form that the service takes.
    pub fn configured(&self, key: &str) -> Result<ConfiguredProvider, Error> {
        let secret =
            |secret: &Option<Secret>| secret.as_ref().map(|text| SecretText::new(text.reveal().to_owned()));
        let key = ProviderKey::parse(key).map_err(|error| {
            let reason = Reason::InvalidFormat;
            Error::Validation { field: "key", reason, problem: error.to_string() }
        })?;
        let input = ProviderInput {
            name: self.name.clone(),
            discovery_endpoint: self.discovery_endpoint.clone(),
            client_id: Some(self.client_id.clone()),
            client_secret: secret(&self.client_secret),
            scopes: Some(Some(self.scopes.clone()).filter(|scopes| !scopes.is_empty())),
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
}
