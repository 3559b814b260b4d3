//! Section `oauth`: how providers are talked to, and the providers that the operator writes down.

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
    /// Section `oauth`: requests to identity providers.
    #[derive(Debug)]
    pub struct OAuthSettings {
        /// Identity providers may have private addresses. Off, no request goes to a private,
        /// loopback, link-local or metadata address, whatever a name resolves to. Development allows loopback.
        "oauth.allow_private_networks" => allow_private_networks: bool = false;
        /// The proxy for every request to a provider; it may hold a password, such as
        /// "http://user:password@proxy.example.com:3128". Not set: none; those of the environment are ignored.
        "oauth.proxy" => proxy: Option<Secret> = none, "";
        /// A PEM file with further certificate authorities, for a private provider. Not set: the public ones alone.
        "oauth.ca_file" => ca_file: Option<PathBuf> = "";
        /// The longest time for all requests to a provider in one sign-in. Shorter than
        /// server.request_timeout, so that the app learns that a provider is down.
        "oauth.timeout" => timeout: Duration = "9s";
    }
}

settings! {
    /// Section `oauth.providers.KEY`, by names below it; the service validates it.
    #[derive(Debug)]
    pub struct ProviderSettings {
        /// The client's id at the provider.
        "client_id" => client_id: String = none, "";
        /// The client's secret.
        "client_secret" => client_secret: Option<Secret> = none, "";
        /// Scopes in place of the usual ones.
        "scopes" => scopes: Vec<String> = none, [];
        /// Ids of native apps, for sign-in by id token.
        "native_client_ids" => native_client_ids: Vec<String> = none, [];
        /// A verified address links to the account of that address.
        "link_by_email" => link_by_email: bool [Kind::Boolean] | read_on = none, true;
        /// The discovery document of a custom provider.
        "discovery_endpoint" => discovery_endpoint: Option<String> = none, "";
        /// The display name of a custom provider.
        "name" => name: Option<String> = none, "";
        /// The tenant, Microsoft only.
        "tenant" => tenant: Option<String> = none, "";
        /// The team, Apple only.
        "team_id" => team_id: Option<String> = none, "";
        /// The id of the private key, Apple only.
        "key_id" => key_id: Option<String> = none, "";
        /// The private key in PEM, Apple only.
        "private_key" => private_key: Option<Secret> = none, "";
    }
}

/// Identity providers of the settings, by key.
pub type Providers = BTreeMap<String, ProviderSettings>;

impl OAuthSettings {
    /// The rules between keys, and whether the providers can be used.
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

/// `client_id` of `clientId`.
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

/// On unless it is switched off.
fn read_on(reader: &mut Reader<'_>, key: &'static str) -> bool {
    !reader.is_set(key) || reader.flag(key)
}

impl ProviderSettings {
    /// The provider of this key, as the service takes it.
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
