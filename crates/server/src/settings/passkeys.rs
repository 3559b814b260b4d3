//! Section `passkeys`: the relying party id, and the origins that may use its passkeys.

use std::collections::BTreeSet;

use latchkey_domain::passkey::RpId;
use latchkey_domain::redirect::RedirectPolicy;
use latchkey_service::passkeys::{RelyingParty, has_webauthn, is_at_or_below};
use latchkey_settings::{Entries, Kind, Reader, Value, settings, text_of};
use public_suffix::{DEFAULT_PROVIDER, EffectiveTLDProvider};
use url::{Host, Url};

use super::{Settings, origin, suffixes};

/// Number of registrable names from which every browser accepts related origins (WebAuthn section 5.11.1). Browsers
/// may ignore further names.
const MOST_NAMES: usize = 5;

settings! {
    /// Settings of section `passkeys` that are read once at the start. `passkeys.enabled` can be changed by an admin.
    #[derive(Debug)]
    pub struct PasskeySettings {
        /// The domain that passkeys belong to (WebAuthn relying party id): the host of server.public_url, or a parent
        /// domain of it that is not a public suffix. Apps on sibling hosts, such as app.example.com beside
        /// accounts.example.com, need the parent, example.com; without it only browsers with related origins use
        /// passkeys there. Set it before the first passkey is registered: a change makes all passkeys unusable. If the
        /// host is an IP address, there are no passkeys. Not set: the host of server.public_url.
        "passkeys.rp_id" => rp_id: Option<String> | read_rp_id = public_host, "accounts.example.com";
        /// The origins whose pages and apps may register and use passkeys, compared exactly: https, http on localhost
        /// only, or "android:apk-key-hash:" with the SHA-256 of the signing certificate in base64url. Empty: those of
        /// server.public_url, of console.public_url, of server.cors_origins and of the entries of
        /// auth.allowed_redirect_urls without a wildcard; development adds every port of http://localhost. GET
        /// /.well-known/webauthn lists the https ones outside of passkeys.rp_id; browsers take five registrable names
        /// from it.
        "passkeys.origins" => origins: Vec<String> [Kind::List] | read_origins = [];
    }
}

impl Settings {
    /// Returns the relying party of passkeys.
    #[must_use]
    pub fn relying_party(&self) -> RelyingParty {
        let own = self.server.public_url.origin().ascii_serialization();
        let console = (self.console.enabled && self.console_has_passkeys()).then(|| self.console.origin());
        let listed = self.server.cors_origins.iter().cloned();
        RelyingParty {
            id: self.passkeys.rp_id.as_deref().map(RpId::new),
            origins: self.passkeys.origins.clone(),
            cors_origins: std::iter::once(own).chain(console).chain(listed).collect(),
            any_localhost: self.server.is_development(),
        }
    }
}

/// Returns warnings about passkeys: that they are off and why, origins where few browsers use them, and origins with
/// too many names.
pub(super) fn warnings(settings: &Settings) -> Vec<String> {
    if !settings.editable.passkeys_enabled {
        return Vec::new();
    }
    let party = settings.relying_party();
    let Some(id) = &party.id else {
        return vec![
            "passkeys are off, because the host of server.public_url is an IP address and passkeys belong to a domain: \
             set server.public_url to a URL with a domain"
                .to_owned(),
        ];
    };
    let redirects = &settings.editable.allowed_redirect_urls;
    let Ok(redirects) = RedirectPolicy::parse(redirects, settings.server.mode.loopback()) else {
        return Vec::new();
    };
    passkey_origin_warnings(id.as_str(), &party.related_origins(&redirects))
}

/// Returns warnings about origins outside of the relying party id.
#[must_use]
pub fn passkey_origin_warnings(id: &str, related: &[String]) -> Vec<String> {
    let mut warnings = Vec::new();
    if !related.is_empty() {
        warnings.push(format!(
            "passkeys of {id} (passkeys.rp_id) work at {} only in browsers that know related origins: set passkeys.rp_id \
             to a parent domain of all origins, before the first passkey is registered",
            related.join(", ")
        ));
    }
    let names: BTreeSet<_> = related.iter().filter_map(|origin| registrable_label(origin)).collect();
    if names.len() > MOST_NAMES {
        warnings.push(format!(
            "passkeys.origins: the origins outside of {id} have {} registrable names ({}), and browsers stop after \
             {MOST_NAMES}: shorten the list",
            names.len(),
            names.into_iter().collect::<Vec<_>>().join(", ")
        ));
    }
    warnings
}

/// Returns the label that browsers count for an origin: the first label of its registrable domain (`example` of
/// `https://app.example.co.uk`).
fn registrable_label(origin: &str) -> Option<String> {
    let url = Url::parse(origin).ok()?;
    let host = url.host_str()?;
    let domain = DEFAULT_PROVIDER.effective_tld_plus_one(host).unwrap_or(host);
    domain.split('.').next().map(str::to_owned)
}

/// Returns the default of the relying party id: the host of the public URL, unless it is an IP address.
fn public_host(entries: &Entries) -> Option<Value> {
    let url = Url::parse(text_of(entries, "server.public_url")).ok()?;
    domain_of(&url).map(|domain| Value::Text(domain.to_owned()))
}

fn domain_of(url: &Url) -> Option<&str> {
    match url.host() {
        Some(Host::Domain(domain)) => Some(domain),
        _ => None,
    }
}

fn read_rp_id(reader: &mut Reader<'_>, key: &'static str) -> Option<String> {
    let public_url = "server.public_url";
    let id = reader.parse(key, parse_rp_id)?;
    let Ok(url) = Url::parse(reader.text(public_url)) else { return None };
    let Some(host) = domain_of(&url) else {
        let sentence = "the host of server.public_url is an IP address, and passkeys belong to a domain; set \
                        server.public_url to a URL with a domain, or unset it";
        reader.rule(&[key, public_url], sentence);
        return None;
    };
    if !is_at_or_below(host, &id) {
        let sentence = format!(
            "{id} is neither the host of server.public_url nor a parent domain of it; set it to {host} or a parent \
             domain, or unset it"
        );
        reader.rule(&[key, public_url], &sentence);
        return None;
    }
    if id != host && (!id.contains('.') || suffixes::is_public_suffix(&id)) {
        let sentence = format!(
            "{id} is a public suffix, which browsers refuse because anyone can register a name below it; set it to \
             {host} or a parent domain of your own"
        );
        reader.rule(&[key, public_url], &sentence);
        return None;
    }
    Some(id)
}

/// Parses a domain. The result is in lower case, and in Punycode if it has other letters than ASCII.
fn parse_rp_id(text: &str) -> Result<String, &'static str> {
    match Host::parse(text) {
        Ok(Host::Domain(domain)) => Ok(domain),
        Ok(_) => Err("an IP address has no passkeys; wanted a domain, or unset it"),
        Err(_) => Err("wanted a domain without scheme and port, such as example.com"),
    }
}

fn read_origins(reader: &mut Reader<'_>, key: &'static str) -> Vec<String> {
    reader.parse_list(key, parse_origin)
}

fn parse_origin(text: &str) -> Result<String, String> {
    let wanted = "wanted an https origin such as https://app.example.com, http on localhost only, or \
                  android:apk-key-hash: with 43 characters of base64url";
    if let Some(hash) = text.strip_prefix("android:apk-key-hash:") {
        let is_digit = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'-' | b'_');
        let is_sha256 = hash.len() == 43 && hash.bytes().all(is_digit);
        return if is_sha256 { Ok(text.to_owned()) } else { Err(wanted.to_owned()) };
    }
    let origin = origin::parse(text).map(|url| url.origin().ascii_serialization());
    origin.ok().filter(|origin| has_webauthn(origin)).ok_or_else(|| wanted.to_owned())
}
