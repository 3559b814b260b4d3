//! A configured provider: an entry of the provider table, or a discovery URL, with client credentials. Endpoints are in
//! `location`, validation is in `validation`.

use url::Url;

use crate::providers::{self, Entry, Scopes};
use crate::secret::SecretText;

mod location;
mod validation;

pub(crate) use location::Location;
pub(crate) use validation::is_guid;

/// The credential with which this service authenticates at a provider.
#[derive(Clone)]
pub enum ClientSecret {
    /// A client secret that the provider issued. For Apple: a JWT that the operator signs and renews.
    Text(SecretText),
    /// Apple's private key, with which a short-lived client secret is signed for each request.
    AppleKey {
        /// Developer team id, ten characters.
        team_id: String,
        /// Key id, ten characters.
        key_id: String,
        /// Private key: PKCS#8 in PEM, the `.p8` file.
        private_key: SecretText,
    },
}

/// The operator's settings of a provider.
#[derive(Clone)]
pub struct ClientSettings {
    pub client_id: String,
    pub secret: ClientSecret,
    /// Scopes in place of the default ones; `None` selects the default ones. Scopes that sign-in requires are added.
    pub scopes: Option<Vec<String>>,
    /// Client ids of native apps whose `id_token`s are accepted, in `aud` and, if present, `azp`.
    pub native_client_ids: Vec<String>,
    /// Microsoft's tenant: `common` (the default), `organizations`, `consumers`, or a directory's GUID.
    pub tenant: Option<String>,
}

/// An invalid setting of a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidProvider {
    #[error("clientId must be 1 to 512 visible characters")]
    ClientId,
    #[error("clientSecret must be 1 to 2048 visible characters")]
    ClientSecret,
    /// Apple's key fields are set for another provider.
    #[error("clientSecret is required: teamId, keyId and privateKey are Apple's alone")]
    SecretKind,
    /// Apple's key cannot be parsed or cannot sign.
    #[error("privateKey must be the PEM text of Apple's .p8 file, an EC key on P-256")]
    AppleKey,
    #[error("scopes must be at most 50 texts without spaces")]
    Scopes,
    #[error("nativeClientIds must be at most 50 texts of 1 to 512 visible characters")]
    NativeClientIds,
    /// The tenant is invalid, or the provider has no tenants.
    #[error("tenant is Microsoft's alone: common, organizations, consumers or a directory's GUID")]
    Tenant,
    #[error("discoveryEndpoint must be an https URL without user, query and fragment")]
    Discovery,
}

/// A configured provider: its entry in the provider table, its settings and its endpoints.
#[derive(Clone)]
pub struct Provider {
    pub(crate) key: String,
    pub(crate) entry: &'static Entry,
    pub(crate) client: ClientSettings,
    pub(crate) location: Location,
}

impl Provider {
    /// Validates the settings of a built-in provider.
    pub fn built_in(entry: &'static Entry, client: ClientSettings) -> Result<Self, InvalidProvider> {
        validation::client(entry, &client)?;
        Ok(Self { key: entry.key.to_owned(), entry, client, location: Location::AsInEntry })
    }

    /// Validates the settings of a custom provider. `key` identifies it in stored identities. `discovery` is the URL of
    /// its discovery document, or its issuer.
    pub fn custom(key: &str, discovery: &str, client: ClientSettings) -> Result<Self, InvalidProvider> {
        validation::client(&providers::CUSTOM, &client)?;
        let location = Location::discovered(discovery).ok_or(InvalidProvider::Discovery)?;
        Ok(Self { key: key.to_owned(), entry: &providers::CUSTOM, client, location })
    }

    /// Maps all hosts of the provider to folders of `base`: `https://api.github.com/user` becomes
    /// `{base}/api.github.com/user`. For tests with a mock provider.
    #[must_use]
    pub fn under(mut self, base: Url) -> Self {
        self.location = Location::Under(base);
        self
    }

    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }

    #[must_use]
    pub const fn entry(&self) -> &'static Entry {
        self.entry
    }

    /// Joins the scopes of the authorization request: the operator's or the default ones, and the required ones.
    pub(crate) fn scopes(&self) -> String {
        let Scopes { usual, needed, separator } = &self.entry.scopes;
        let chosen: Vec<&str> = match &self.client.scopes {
            Some(scopes) => scopes.iter().map(String::as_str).collect(),
            None => usual.to_vec(),
        };
        let missing = needed.iter().copied().filter(|scope| !chosen.contains(scope));
        missing.chain(chosen.iter().copied()).collect::<Vec<_>>().join(separator)
    }
}

#[cfg(test)]
pub(crate) mod tests;
