//! The requests that configure a provider. A field that a change leaves out stays as it is, the secret too.

use latchkey_domain::identity::ProviderKey;
use latchkey_service::oauth::SecretText;
use latchkey_service::oauth::providers::ProviderInput;
use serde::{Deserialize, Deserializer};
use utoipa::ToSchema;

use crate::admin_input::AdminRequest;
use crate::body::Patch;
use crate::openapi::fields;

/// A secret of a body. It has no Debug.
pub(super) struct SecretField(SecretText);

impl<'de> Deserialize<'de> for SecretField {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(SecretText::new(String::deserialize(deserializer)?)))
    }
}

/// The body that configures a built-in provider.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = CreateOAuthConfigRequest)]
pub struct CreateBuiltInRequest {
    #[schema(schema_with = fields::shown::<ProviderKey>)]
    provider: String,
    #[schema(schema_with = fields::client_id)]
    client_id: String,
    #[schema(schema_with = fields::client_secret)]
    client_secret: Option<SecretField>,
    #[schema(schema_with = fields::new_scopes)]
    scopes: Option<Vec<String>>,
    #[schema(schema_with = fields::new_native_client_ids)]
    native_client_ids: Option<Vec<String>>,
    #[schema(schema_with = fields::tenant)]
    tenant: Option<String>,
    #[schema(schema_with = fields::team_id)]
    team_id: Option<String>,
    #[schema(schema_with = fields::key_id)]
    key_id: Option<String>,
    #[schema(schema_with = fields::private_key)]
    private_key: Option<SecretField>,
    #[schema(schema_with = fields::new_link_by_email)]
    link_by_email: Option<bool>,
    #[schema(schema_with = fields::new_enabled)]
    enabled: Option<bool>,
}

/// A change of a built-in provider.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = UpdateOAuthConfigRequest)]
pub struct ChangeBuiltInRequest {
    #[schema(schema_with = fields::optional_client_id)]
    client_id: Option<String>,
    #[schema(schema_with = fields::client_secret)]
    client_secret: Option<SecretField>,
    #[serde(default)]
    #[schema(schema_with = fields::new_scopes)]
    scopes: Patch<Vec<String>>,
    #[schema(schema_with = fields::new_native_client_ids)]
    native_client_ids: Option<Vec<String>>,
    #[serde(default)]
    #[schema(schema_with = fields::tenant)]
    tenant: Patch<String>,
    #[schema(schema_with = fields::team_id)]
    team_id: Option<String>,
    #[schema(schema_with = fields::key_id)]
    key_id: Option<String>,
    #[schema(schema_with = fields::private_key)]
    private_key: Option<SecretField>,
    #[schema(schema_with = fields::new_link_by_email)]
    link_by_email: Option<bool>,
    #[schema(schema_with = fields::new_enabled)]
    enabled: Option<bool>,
}

/// The body that configures a custom provider.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = CreateCustomOAuthConfigRequest)]
pub struct CreateCustomRequest {
    #[schema(schema_with = fields::shown::<ProviderKey>)]
    key: String,
    #[schema(schema_with = fields::provider_name)]
    name: Option<String>,
    #[schema(schema_with = fields::discovery_endpoint)]
    discovery_endpoint: String,
    #[schema(schema_with = fields::client_id)]
    client_id: String,
    #[schema(schema_with = fields::client_secret)]
    client_secret: Option<SecretField>,
    #[schema(schema_with = fields::new_scopes)]
    scopes: Option<Vec<String>>,
    #[schema(schema_with = fields::new_native_client_ids)]
    native_client_ids: Option<Vec<String>>,
    #[schema(schema_with = fields::new_link_by_email)]
    link_by_email: Option<bool>,
    #[schema(schema_with = fields::new_enabled)]
    enabled: Option<bool>,
}

/// A change of a custom provider.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = UpdateCustomOAuthConfigRequest)]
pub struct ChangeCustomRequest {
    #[schema(schema_with = fields::provider_name)]
    name: Option<String>,
    #[schema(schema_with = fields::optional_discovery_endpoint)]
    discovery_endpoint: Option<String>,
    #[schema(schema_with = fields::optional_client_id)]
    client_id: Option<String>,
    #[schema(schema_with = fields::client_secret)]
    client_secret: Option<SecretField>,
    #[serde(default)]
    #[schema(schema_with = fields::new_scopes)]
    scopes: Patch<Vec<String>>,
    #[schema(schema_with = fields::new_native_client_ids)]
    native_client_ids: Option<Vec<String>>,
    #[schema(schema_with = fields::new_link_by_email)]
    link_by_email: Option<bool>,
    #[schema(schema_with = fields::new_enabled)]
    enabled: Option<bool>,
}

impl AdminRequest for CreateBuiltInRequest {}

impl AdminRequest for ChangeBuiltInRequest {
    const IGNORED: &'static [&'static str] =
        &["provider", "name", "hasClientSecret", "pinned", "redirectUri", "createdAt", "updatedAt"];
}

impl AdminRequest for CreateCustomRequest {}

impl AdminRequest for ChangeCustomRequest {
    const IGNORED: &'static [&'static str] =
        &["key", "hasClientSecret", "pinned", "redirectUri", "createdAt", "updatedAt"];
}

impl CreateBuiltInRequest {
    pub(super) fn into_parts(self) -> (String, ProviderInput) {
        let input = ProviderInput {
            client_id: Some(self.client_id),
            client_secret: revealed(self.client_secret),
            scopes: self.scopes.map(Some),
            native_client_ids: self.native_client_ids,
            tenant: self.tenant.map(Some),
            team_id: self.team_id,
            key_id: self.key_id,
            private_key: revealed(self.private_key),
            link_by_email: self.link_by_email,
            enabled: self.enabled,
            ..ProviderInput::default()
        };
        (self.provider, input)
    }
}

impl ChangeBuiltInRequest {
    pub(super) fn into_input(self) -> ProviderInput {
        ProviderInput {
            client_id: self.client_id,
            client_secret: revealed(self.client_secret),
            scopes: self.scopes.into_option(),
            native_client_ids: self.native_client_ids,
            tenant: self.tenant.into_option(),
            team_id: self.team_id,
            key_id: self.key_id,
            private_key: revealed(self.private_key),
            link_by_email: self.link_by_email,
            enabled: self.enabled,
            ..ProviderInput::default()
        }
    }
}

impl CreateCustomRequest {
    pub(super) fn into_parts(self) -> (String, ProviderInput) {
        let input = ProviderInput {
            name: self.name,
            discovery_endpoint: Some(self.discovery_endpoint),
            client_id: Some(self.client_id),
            client_secret: revealed(self.client_secret),
            scopes: self.scopes.map(Some),
            native_client_ids: self.native_client_ids,
            link_by_email: self.link_by_email,
            enabled: self.enabled,
            ..ProviderInput::default()
        };
        (self.key, input)
    }
}

impl ChangeCustomRequest {
    pub(super) fn into_input(self) -> ProviderInput {
        ProviderInput {
            name: self.name,
            discovery_endpoint: self.discovery_endpoint,
            client_id: self.client_id,
            client_secret: revealed(self.client_secret),
            scopes: self.scopes.into_option(),
            native_client_ids: self.native_client_ids,
            link_by_email: self.link_by_email,
            enabled: self.enabled,
            ..ProviderInput::default()
        }
    }
}

fn revealed(field: Option<SecretField>) -> Option<SecretText> {
    field.map(|field| field.0)
}
