//! A configured provider: an entry of the table, or a discovery URL, with client credentials. Endpoints are
//! in `place`, validation in `check`.

use url::Url;

use crate::providers::{self, Entry, Scopes};
use crate::secret::SecretText;

mod location;
mod validation;

pub(crate) use location::Location;
pub(crate) use validation::is_guid;

/// Client credential at a provider.
#[derive(Clone)]
pub enum ClientSecret {
    /// Client secret issued by the provider, or at Apple a JWT that the operator signs and renews.
    Text(SecretText),
    /// Apple's private key, with which a short-lived secret is signed for each request.
    AppleKey {
        /// Developer team id, ten characters.
        team_id: String,
        /// Key id, ten characters.
        key_id: String,
        /// Private key: PKCS#8 in PEM, the `.p8` file.
        private_key: SecretText,
    },
}

/// Operator's settings of a provider.
#[derive(Clone)]
pub struct ClientSettings {
    /// `client_id`.
    pub client_id: String,
    /// Credential of the client.
    pub secret: ClientSecret,
    /// Replacement of the default scopes; scopes that sign-in requires are added.
    pub scopes: Option<Vec<String>>,
    /// Client ids of native apps whose `id_token` is accepted, in `aud` and, if present, `azp`.
    pub native_client_ids: Vec<String>,
    /// Microsoft's tenant: `common` (the default), `organizations`, `consumers`, or a directory's GUID.
    pub tenant: Option<String>,
}

/// Error: invalid provider settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidProvider {
    /// Invalid client id.
    #[error("clientId must be 1 to 512 visible characters")]
    ClientId,
    /// Invalid client secret.
    #[error("clientSecret must be 1 to 2048 visible characters")]
    ClientSecret,
    /// An Apple key at another provider.
    #[error("clientSecret is required: teamId, keyId and privateKey are Apple's alone")]
    SecretKind,
    /// Unusable Apple key.
    #[error("privateKey must be the PEM text of Apple's .p8 file, an EC key on P-256")]
    AppleKey,
    /// Invalid scopes.
    #[error("scopes must be at most 50 texts without spaces")]
    Scopes,
    /// Invalid native client ids.
    #[error("nativeClientIds must be at most 50 texts of 1 to 512 visible characters")]
    NativeClientIds,
    /// Invalid tenant, or a provider without tenants.
    #[error("tenant is Microsoft's alone: common, organizations, consumers or a directory's GUID")]
    Tenant,
    /// Invalid discovery URL.
    #[error("discoveryEndpoint must be an https URL without user, query and fragment")]
    Discovery,
}

/// A configured provider.
#[derive(Clone)]
pub struct Provider {
    pub(crate) key: String,
    pub(crate) entry: &'static Entry,
    pub(crate) client: ClientSettings,
    pub(crate) location: Location,
}

impl Provider {
    /// Configures a built-in provider.
    pub fn built_in(entry: &'static Entry, client: ClientSettings) -> Result<Self, InvalidProvider> {
        validation::client(entry, &client)?;
        Ok(Self { key: entry.key.to_owned(), entry, client, location: Location::AsInEntry })
    }

    /// Configures a custom provider. `key` identifies it in stored identities, `discovery` is the URL of its
    /// discovery document, or its issuer.
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

    /// Key of the provider in stored identities.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Entry of the table.
    #[must_use]
    pub const fn entry(&self) -> &'static Entry {
        self.entry
    }

    /// Scopes of the authorization request: the operator's or the default ones, and the required ones.
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
