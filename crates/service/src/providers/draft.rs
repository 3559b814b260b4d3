//! Changes of an identity provider's configuration: new values replace existing ones, then the result is validated.

use latchkey_domain::identity::ProviderKey;
use latchkey_domain::reason::Reason;
use latchkey_oauth::{ClientSecret, ClientSettings, InvalidProvider, Provider, SecretText};

use super::in_force::{
    KnownProvider, OAuthParts, ProviderDescription, ProviderInput, ProviderSecrets, kind_of,
};
use crate::error::{Error, Result};

/// Maximum length of a custom provider's name, in characters.
const LONGEST_NAME: usize = 100;

/// The fields of a provider before validation.
#[derive(Clone, Default)]
pub(crate) struct Draft {
    description: ProviderDescription,
    secrets: ProviderSecrets,
}

impl Draft {
    /// Copies the stored fields of a provider, as the start of a change.
    pub(crate) const fn new(description: ProviderDescription, secrets: ProviderSecrets) -> Self {
        Self { description, secrets }
    }

    /// Copies the fields of a configured provider, as the start of a change.
    pub(crate) fn of(known: &KnownProvider) -> Self {
        Self { description: known.description.clone(), secrets: known.secrets.clone() }
    }

    /// Overwrites the fields that `input` contains.
    pub(crate) fn apply(&mut self, input: &ProviderInput) -> Result<()> {
        let own = &mut self.description;
        if let Some(name) = &input.name {
            own.name = Some(checked_name(name)?);
        }
        set(&mut own.client_id, input.client_id.as_ref());
        set(&mut own.scopes, input.scopes.as_ref());
        set(&mut own.native_client_ids, input.native_client_ids.as_ref());
        set(&mut own.tenant, input.tenant.as_ref());
        set(&mut own.link_by_email, input.link_by_email.as_ref());
        set(&mut own.enabled, input.enabled.as_ref());
        set_some(&mut own.discovery_endpoint, input.discovery_endpoint.as_ref());
        set_some(&mut own.team_id, input.team_id.as_ref());
        set_some(&mut own.key_id, input.key_id.as_ref());
        let text = |secret: &SecretText| secret.expose().to_owned();
        set_some(&mut self.secrets.client_secret, input.client_secret.as_ref().map(text).as_ref());
        set_some(&mut self.secrets.private_key, input.private_key.as_ref().map(text).as_ref());
        Ok(())
    }

    /// Validates the fields and builds a provider from them.
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
            let problem = "is required: where is its discovery document?";
            let missing = || invalid("discoveryEndpoint", Reason::Required, problem);
            let discovery = discovery.ok_or_else(missing)?;
            return Provider::custom(key.as_str(), discovery, client).map_err(refused);
        };
        if discovery.is_some() {
            return Err(invalid(
                "discoveryEndpoint",
                Reason::NotAllowed,
                "belongs to custom providers alone",
            ));
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
            return Err(invalid("clientId", Reason::Required, "is required"));
        }
        let secret_text = |text: &Option<String>| SecretText::new(text.clone().unwrap_or_default());
        let secret = match (&own.team_id, &own.key_id, &self.secrets.private_key) {
            (None, None, None) if self.secrets.client_secret.is_none() => {
                return Err(invalid("clientSecret", Reason::Required, "is required"));
            }
            (None, None, None) => ClientSecret::Text(secret_text(&self.secrets.client_secret)),
            (Some(team_id), Some(key_id), key @ Some(_)) => ClientSecret::AppleKey {
                team_id: team_id.clone(),
                key_id: key_id.clone(),
                private_key: secret_text(key),
            },
            _ => {
                let problem = "goes with teamId and keyId: all three or none";
                return Err(invalid("privateKey", Reason::Conflicting, problem));
            }
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

fn checked_name(name: &str) -> Result<String> {
    let is_name = (1..=LONGEST_NAME).contains(&name.chars().count()) && !name.chars().any(char::is_control);
    if is_name {
        Ok(name.to_owned())
    } else {
        Err(invalid("name", Reason::InvalidFormat, "must have 1 to 100 characters and no control characters"))
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

fn invalid(field: &'static str, reason: Reason, problem: &str) -> Error {
    Error::validation(field, reason, problem)
}

/// Turns an error of the OAuth client into a validation error of the field concerned. The error's text begins with the
/// field's name, which is removed.
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
    invalid(field, Reason::InvalidFormat, problem)
}
