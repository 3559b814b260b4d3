//! The requests that configure a provider. A field that a change leaves out stays as it is, the secret too.

use latchkey_domain::identity::ProviderKey;
use latchkey_service::oauth::SecretText;
use latchkey_service::oauth::providers::ProviderInput;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::admin_input::AdminRequest;
use crate::body::Patch;
use crate::openapi::fields;

/// A body that configures a provider or changes one.
pub(super) trait ConfigRequest: AdminRequest {
    fn into_input(self) -> ProviderInput;
}

/// A body that configures a provider, and names it.
pub(super) trait CreateRequest: ConfigRequest {
    fn key(&self) -> &str;
}

/// Requests with their fields, each with its type and its schema, in the order of the document; the one in
/// brackets names the provider, `ignored` lists the keys that are accepted and not written.
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
    /// The body that configures a built-in provider.
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

    /// A change of a built-in provider.
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

    /// The body that configures a custom provider.
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

    /// A change of a custom provider.
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
