//! Section `console`: operators, and their console.

use std::net::SocketAddr;

use ipnet::IpNet;
use latchkey_domain::identity::ProviderKey;
use latchkey_oauth::providers::built_in;
use latchkey_service::passkeys::is_at_or_below;
use latchkey_service::settings::in_production;
use latchkey_settings::{Entries, Kind, Problems, Reader, Value, settings, text_of};
use url::Url;

use super::oauth::Providers;
use super::server::{Mode, ServerSettings, read_address, read_networks, refuse_http};
use super::{Settings, in_development, only_in_development, origin};

settings! {
    /// Settings of section `console`.
    #[derive(Debug)]
    pub struct ConsoleSettings {
        /// The console of operators, under /console. If this is off, those paths answer 404. It does not need the pages to
        /// be on. Development: true. Production: false.
        "console.enabled" => enabled: bool = only_in_development, false;
        /// IP address and port of a listener of its own, such as "127.0.0.1:8701". That listener answers nothing but the
        /// console, the files that it loads, and /health; server.bind then answers 404 for /console. Not set: the
        /// console is at server.bind.
        "console.bind" => bind: Option<SocketAddr> [Kind::Text] | read_address = "";
        /// URL under which browsers reach the console: scheme, host and port, without a path. Requests with another Host
        /// are refused. Passkeys work there only if its host is passkeys.rp_id or below it. Not set: server.public_url;
        /// in development with console.bind, http://localhost with the port of console.bind.
        "console.public_url" => public_url: Url | read_public_url = public_url, "https://console.example.com";
        /// Addresses or networks that may open the console, for example ["10.0.0.0/8", "::1"]. All other clients get 404.
        /// Behind a proxy the client is the one that server.trusted_proxies determines. Empty: all may.
        "console.allowed_networks" => allowed_networks: Vec<IpNet> [Kind::List] | read_networks = [];
        /// Operators must have two-step sign-in before they can activate their role. Development: false. Production: true,
        /// and cannot be off.
        "console.require_second_factor" => require_second_factor: bool = in_production, true;
        /// Keys of identity providers through which operators may sign in, such as ["google"]: built-in ones, and those of
        /// oauth.providers. The identity must be linked to the operator's account already, and the second factor is
        /// asked for all the same. Empty: none.
        "console.providers" => providers: Vec<String> = [];
        /// Accounts of operators cannot be changed, banned or deleted with an admin key, nor can their factors be removed.
        /// The last owner stays in any case.
        "console.protect_operators" => protect_operators: bool = true;
    }
}

impl ConsoleSettings {
    /// Checks the rules between keys.
    pub(super) fn check(&self, server: &ServerSettings, configured: &Providers, problems: &mut Problems) {
        // A custom provider of the database could be led to another issuer by an admin key, so it opens no console.
        let is_known = |key: &&String| built_in(key).is_some() || configured.contains_key(*key);
        for key in self.providers.iter().filter(|key| !is_known(key)) {
            let sentence = format!(
                "there is no identity provider {key:?}; name a built-in one such as google, or configure it under \
                 oauth.providers.{key}"
            );
            problems.rule(&["console.providers"], sentence);
        }
        if server.mode == Mode::Production && !self.require_second_factor {
            let sentence = "operators need a second factor in production; leave it out, or set it to true";
            problems.rule(&["console.require_second_factor", "server.mode"], sentence);
        }
        if self.bind.is_some_and(|bind| bind == server.bind && bind.port() != 0) {
            let sentence = "it is that of server.bind; take another port, or leave it out";
            problems.rule(&["console.bind", "server.bind"], sentence);
        }
    }

    /// Returns the keys of the providers through which operators sign in.
    #[must_use]
    pub fn provider_keys(&self) -> Vec<ProviderKey> {
        self.providers.iter().filter_map(|key| ProviderKey::parse(key).ok()).collect()
    }

    /// Returns the origin of the console as browsers write it.
    #[must_use]
    pub fn origin(&self) -> String {
        self.public_url.origin().ascii_serialization()
    }
}

impl Settings {
    /// True if passkeys of the service work at the host of the console.
    #[must_use]
    pub fn console_has_passkeys(&self) -> bool {
        let host = self.console.public_url.host_str().unwrap_or_default();
        self.passkeys.rp_id.as_deref().is_some_and(|id| is_at_or_below(host, id))
    }
}

/// Returns warnings about a console that everybody reaches, and about one where passkeys do not work.
pub(super) fn warnings(settings: &Settings) -> Vec<String> {
    let (console, server) = (&settings.console, &settings.server);
    if !console.enabled {
        return Vec::new();
    }
    let mut warnings = Vec::new();
    if !server.is_development() && console.bind.is_none() && console.allowed_networks.is_empty() {
        warnings.push(
            "the console can be reached by everybody who reaches the service: set console.bind to an address of its own, \
             or console.allowed_networks to the networks of your operators"
                .to_owned(),
        );
    }
    let rp_id = settings.passkeys.rp_id.as_deref().filter(|_| !settings.console_has_passkeys());
    if let Some(id) = rp_id.filter(|_| settings.editable.passkeys_enabled) {
        warnings.push(format!(
            "passkeys of {id} (passkeys.rp_id) do not work at {} (console.public_url), so the console offers authenticator \
             apps alone: set passkeys.rp_id to a parent domain of both, before the first passkey is registered",
            console.origin()
        ));
    }
    warnings
}

/// Returns the default of the console's URL: that of the service, or in development that of the console's own listener.
fn public_url(entries: &Entries) -> Option<Value> {
    let bind = text_of(entries, "console.bind").parse::<SocketAddr>().ok();
    let own = bind.filter(|_| in_development(entries));
    let url = own.map_or_else(
        || text_of(entries, "server.public_url").to_owned(),
        |bind| format!("http://localhost:{}", bind.port()),
    );
    (!url.is_empty()).then_some(Value::Text(url))
}

fn read_public_url(reader: &mut Reader<'_>, key: &'static str) -> Url {
    // The URL of the service reports its problems itself.
    if reader.text(key) == reader.text("server.public_url") {
        return origin::parse(reader.text(key)).unwrap_or_else(|_| origin::this_machine());
    }
    let Some(url) = reader.parse(key, origin::parse) else { return origin::this_machine() };
    if reader.is_set("server.public_url") {
        refuse_http(reader, key, &url);
    }
    url
}
