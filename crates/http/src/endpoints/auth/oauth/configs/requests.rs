//! Requests that configure a provider. In a change, an absent field keeps its stored value; this includes the secret.

use latchkey_domain::identity::ProviderKey;
use latchkey_service::oauth::SecretText;
use latchkey_service::oauth::providers::ProviderInput;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::admin_input::AdminRequest;
use crate::body::Patch;
use crate::openapi::fields;

/// A request that creates or changes the configuration of a provider.
pub(super) trait ConfigRequest: AdminRequest {
    fn into_input(self) -> ProviderInput;
}

/// A request that creates the configuration of a provider, and contains the provider's key.
pub(super) trait CreateRequest: ConfigRequest {
    fn key(&self) -> &str;
}

/// Defines request structs. Each row is a field with type and schema, in the order of the `OpenAPI` document. The field
/// in brackets is the provider's key. `ignored` lists keys that are accepted and not stored.
macro_rules! requests {
    ($(
        $(#[$about:meta])*
        $name:ident {
            $([$key:ident])?
            $($(#[$serde:meta])* $field:ident: $kind:ty = $schema:path,)*
        } ignored $ignored:expr;
    )+) => {$(
        #[derive(Deserialize, ToSchema)]
        #[serde(rename_all = "camelCase")]
        $(#[$about])*
        pub struct $name {
            $(#[schema(schema_with = fields::shown::<ProviderKey>)]
            $key: String,)?
            $($(#[$serde])*
            #[schema(schema_with = $schema)]
            $field: $kind,)*
        }

        impl AdminRequest for $name {
            const IGNORED: &'static [&'static str] = $ignored;
        }

        impl ConfigRequest for $name {
            fn into_input(self) -> ProviderInput {
                ProviderInput { $($field: self.$field.into(),)* ..ProviderInput::default() }
            }
        }

        $(impl CreateRequest for $name {
            fn key(&self) -> &str {
                &self.$key
            }
        })?
    )+};
}

requests! {
    /// Request to configure a built-in provider.
    #[schema(as = CreateOAuthConfigRequest)]
    CreateBuiltInRequest {
        [provider]
        client_id: String = fields::client_id,
        client_secret: Option<SecretText> = fields::client_secret,
        #[serde(default)] scopes: Patch<Vec<String>> = fields::new_scopes,
        native_client_ids: Option<Vec<String>> = fields::new_native_client_ids,
        #[serde(default)] tenant: Patch<String> = fields::tenant,
        team_id: Option<String> = fields::team_id,
        key_id: Option<String> = fields::key_id,
        private_key: Option<SecretText> = fields::private_key,
        link_by_email: Option<bool> = fields::new_link_by_email,
        enabled: Option<bool> = fields::new_enabled,
    } ignored &[];

    /// Request to change the configuration of a built-in provider.
    #[schema(as = UpdateOAuthConfigRequest)]
    ChangeBuiltInRequest {
        client_id: Option<String> = fields::optional_client_id,
        client_secret: Option<SecretText> = fields::client_secret,
        #[serde(default)] scopes: Patch<Vec<String>> = fields::new_scopes,
        native_client_ids: Option<Vec<String>> = fields::new_native_client_ids,
        #[serde(default)] tenant: Patch<String> = fields::tenant,
        team_id: Option<String> = fields::team_id,
        key_id: Option<String> = fields::key_id,
        private_key: Option<SecretText> = fields::private_key,
        link_by_email: Option<bool> = fields::new_link_by_email,
        enabled: Option<bool> = fields::new_enabled,
    } ignored &["provider", "name", "hasClientSecret", "pinned", "redirectUri", "createdAt", "updatedAt"];

    /// Request to configure a custom provider.
    #[schema(as = CreateCustomOAuthConfigRequest)]
    CreateCustomRequest {
        [key]
        name: Option<String> = fields::provider_name,
        discovery_endpoint: String = fields::discovery_endpoint,
        client_id: String = fields::client_id,
        client_secret: Option<SecretText> = fields::client_secret,
        #[serde(default)] scopes: Patch<Vec<String>> = fields::new_scopes,
        native_client_ids: Option<Vec<String>> = fields::new_native_client_ids,
        link_by_email: Option<bool> = fields::new_link_by_email,
        enabled: Option<bool> = fields::new_enabled,
    } ignored &[];

    /// Request to change the configuration of a custom provider.
    #[schema(as = UpdateCustomOAuthConfigRequest)]
    ChangeCustomRequest {
        name: Option<String> = fields::provider_name,
        discovery_endpoint: Option<String> = fields::optional_discovery_endpoint,
        client_id: Option<String> = fields::optional_client_id,
        client_secret: Option<SecretText> = fields::client_secret,
        #[serde(default)] scopes: Patch<Vec<String>> = fields::new_scopes,
        native_client_ids: Option<Vec<String>> = fields::new_native_client_ids,
        link_by_email: Option<bool> = fields::new_link_by_email,
        enabled: Option<bool> = fields::new_enabled,
    } ignored &["key", "hasClientSecret", "pinned", "redirectUri", "createdAt", "updatedAt"];
}
