//! A provider as an operator set it up: a row of the table, or a discovery address, with client credentials. Where it is
//! stands in `place`, what an operator may say in `check`.

use url::Url;

use crate::providers::{self, Entry, Scopes};
use crate::secret::SecretText;

mod check;
mod place;

pub(crate) use check::is_guid;
pub(crate) use place::Place;

/// How this service proves itself to a provider.
#[derive(Clone)]
pub enum ClientSecret {
    /// The text that the provider gave out, or at Apple a JWT that the operator signed and renews.
    Text(SecretText),
    /// Apple's: a key with which a short-lived secret is signed for each request.
    AppleKey {
        /// The developer team, ten characters.
        team_id: String,
        /// The key's name, ten characters.
        key_id: String,
        /// The private key: PKCS#8 in PEM, as the `.p8` file has it.
        private_key: SecretText,
    },
}

/// What an operator says about a provider.
#[derive(Clone)]
pub struct ClientSettings {
    /// `client_id`.
    pub client_id: String,
    /// The secret that belongs to it.
    pub secret: ClientSecret,
    /// Scopes instead of the usual ones; those that sign-in cannot do without are added.
    pub scopes: Option<Vec<String>>,
    /// Clients of native apps whose `id_token` is taken: `aud`, and `azp` where there is one.
    pub native_client_ids: Vec<String>,
    /// Microsoft's tenant: `common` (where `None`), `organizations`, `consumers`, or a directory's GUID.
    pub tenant: Option<String>,
}

/// Why a provider cannot be set up so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidProvider {
    /// The client's name.
    #[error("clientId must be 1 to 512 visible characters")]
    ClientId,
    /// The secret.
    #[error("clientSecret must be 1 to 2048 visible characters")]
    ClientSecret,
    /// Another provider than Apple with a key.
    #[error("clientSecret is required: teamId, keyId and privateKey are Apple's alone")]
    SecretKind,
    /// Apple's key cannot be read.
    #[error("privateKey must be the PEM text of Apple's .p8 file, an EC key on P-256")]
    AppleKey,
    /// A scope.
    #[error("scopes must be at most 50 texts without spaces")]
    Scopes,
    /// A native client's name.
    #[error("nativeClientIds must be at most 50 texts of 1 to 512 visible characters")]
    NativeClientIds,
    /// The tenant, or one at a provider that has none.
    #[error("tenant is Microsoft's alone: common, organizations, consumers or a directory's GUID")]
    Tenant,
    /// The discovery address.
    #[error("discoveryEndpoint must be an https URL without user, query and fragment")]
    Discovery,
}

/// A provider that can be signed in through.
#[derive(Clone)]
pub struct Provider {
    pub(crate) key: String,
    pub(crate) entry: &'static Entry,
    pub(crate) client: ClientSettings,
    pub(crate) place: Place,
}

impl Provider {
    /// A provider of the table.
    pub fn built_in(entry: &'static Entry, client: ClientSettings) -> Result<Self, InvalidProvider> {
        check::client(entry, &client)?;
        Ok(Self { key: entry.key.to_owned(), entry, client, place: Place::AsInEntry })
    }

    /// A provider of the operator's own: `key` is what its identities are kept under, `discovery` the address of its
    /// discovery document, or its issuer.
    pub fn custom(key: &str, discovery: &str, client: ClientSettings) -> Result<Self, InvalidProvider> {
        check::client(&providers::CUSTOM, &client)?;
        let place = Place::discovered(discovery).ok_or(InvalidProvider::Discovery)?;
        Ok(Self { key: key.to_owned(), entry: &providers::CUSTOM, client, place })
    }

    /// The same provider with all its hosts as folders of `base`: `https://api.github.com/user` becomes
    /// `{base}/api.github.com/user`. For tests that play the provider.
    #[must_use]
    pub fn under(mut self, base: Url) -> Self {
        self.place = Place::Under(base);
        self
    }

    /// What its identities are kept under.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }

    /// What is known of it beforehand.
    #[must_use]
    pub const fn entry(&self) -> &'static Entry {
        self.entry
    }

    /// What is asked for: the operator's scopes or the usual ones, and those that sign-in cannot do without.
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
