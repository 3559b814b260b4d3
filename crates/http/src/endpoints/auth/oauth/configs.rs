//! `/api/auth/oauth/configs`, `/{provider}/config`, and the same under `custom/`: an admin's configuration of identity
//! providers. No response contains a client secret.

mod requests;

pub use requests::{ChangeBuiltInRequest, ChangeCustomRequest, CreateBuiltInRequest, CreateCustomRequest};

use axum::extract::State;
use axum::routing::on;
use latchkey_domain::identity::ProviderKey;
use latchkey_domain::operator::Party;
use latchkey_domain::time::Timestamp;
use latchkey_service::oauth::providers::KnownProvider;
use serde::Serialize;
use serde_json::json;
use utoipa::ToSchema;

use self::requests::{ConfigRequest, CreateRequest};
use super::{BuiltIn, Custom, PathKind};
use crate::admin_input::{AdminBody, NoKeys};
use crate::app::App;
use crate::caller::Admin;
use crate::endpoint::{Access, Endpoint};
use crate::endpoints::MessageBody;
use crate::error::{Result, codes};
use crate::json::Json;
use crate::openapi::fields;
use crate::openapi::parameters;
use crate::path::PathText;

const DELETED: &str = "The identity provider was removed.";
const AS_IT_IS: &str = "The provider as it is configured.";

/// Adds the description, response and errors common to endpoints that remove a configuration.
const fn removal(endpoint: Endpoint) -> Endpoint {
    endpoint
        .about("Identities stay linked and open nothing until the provider is back.")
        .access(Access::Admin)
        .no_body()
        .responds::<MessageBody>("It is removed.")
        .errors(&[&codes::NOT_FOUND, &codes::SETTING_PINNED])
}

/// The configured built-in providers.
#[derive(Serialize, ToSchema)]
#[schema(as = OAuthConfigs)]
pub struct BuiltInConfigsBody {
    data: Vec<BuiltInConfigBody>,
    #[schema(schema_with = fields::count)]
    count: usize,
}

/// The configured custom providers.
#[derive(Serialize, ToSchema)]
#[schema(as = CustomOAuthConfigs)]
pub struct CustomConfigsBody {
    data: Vec<CustomConfigBody>,
    #[schema(schema_with = fields::count)]
    count: usize,
}

/// Configuration of a built-in provider.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = OAuthConfig)]
pub struct BuiltInConfigBody {
    #[schema(schema_with = fields::shown::<ProviderKey>)]
    provider: String,
    #[serde(flatten)]
    client: ClientBody,
    #[schema(schema_with = fields::tenant, required)]
    tenant: Option<String>,
    #[schema(schema_with = fields::team_id, required)]
    team_id: Option<String>,
    #[schema(schema_with = fields::key_id, required)]
    key_id: Option<String>,
}

/// Configuration of a custom provider.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = CustomOAuthConfig)]
pub struct CustomConfigBody {
    #[schema(schema_with = fields::shown::<ProviderKey>)]
    key: String,
    #[serde(flatten)]
    client: ClientBody,
    #[schema(schema_with = fields::discovery_endpoint)]
    discovery_endpoint: String,
}

/// Configuration fields that built-in and custom providers share.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = OAuthClient)]
#[allow(clippy::struct_excessive_bools, reason = "the wire contract's shape")]
pub struct ClientBody {
    /// Display name of the provider.
    name: String,
    #[schema(schema_with = fields::client_id)]
    client_id: String,
    /// True if a client secret is stored. The secret is never returned.
    has_client_secret: bool,
    #[schema(schema_with = fields::scopes, required)]
    scopes: Option<Vec<String>>,
    /// Client ids of native apps, for sign-in with an id token.
    native_client_ids: Vec<String>,
    /// True if a sign-in with an email address verified by the provider leads to the existing account of that address.
    /// The identity is linked to the account, or takes the account over if its address was never verified.
    link_by_email: bool,
    /// True if users can sign in with the provider.
    enabled: bool,
    /// True if the settings file defines the provider. An admin cannot change it then.
    pinned: bool,
    #[schema(schema_with = fields::provider_redirect_uri)]
    redirect_uri: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = fields::moment_created)]
    created_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = fields::moment_updated)]
    updated_at: Option<Timestamp>,
}

pub const LIST_BUILT_IN: Endpoint =
    Endpoint::get("/api/auth/oauth/configs", |method| on(method, list::<BuiltIn>))
        .named("listOAuthConfigs", "List the built-in providers that are configured")
        .access(Access::Admin)
        .responds::<BuiltInConfigsBody>("The providers, by key.")
        .without_storage();

pub const CREATE_BUILT_IN: Endpoint =
    Endpoint::post("/api/auth/oauth/configs", |method| on(method, create::<BuiltIn>))
        .named("createOAuthConfig", "Configure a built-in provider")
        .about("Apple takes `teamId`, `keyId` and `privateKey`, or a ready client secret as `clientSecret`.")
        .access(Access::Admin)
        .body::<CreateBuiltInRequest>(|| {
            json!({
                "provider": "google",
                "clientId": "1234.apps.googleusercontent.com",
                "clientSecret": "GOCSPX-…",
            })
        })
        .responds::<BuiltInConfigBody>(AS_IT_IS)
        .errors(&[&codes::UNSUPPORTED_PROVIDER, &codes::PROVIDER_EXISTS]);

pub const GET_BUILT_IN: Endpoint =
    Endpoint::get("/api/auth/oauth/{provider}/config", |method| on(method, get::<BuiltIn>))
        .named("getOAuthConfig", "Read a built-in provider's configuration")
        .access(Access::Admin)
        .parameters(&[parameters::provider])
        .responds::<BuiltInConfigBody>(AS_IT_IS)
        .errors(&[&codes::NOT_FOUND]);

pub const PUT_BUILT_IN: Endpoint =
    Endpoint::put("/api/auth/oauth/{provider}/config", |method| on(method, put::<BuiltIn>))
        .named("updateOAuthConfig", "Change a built-in provider's configuration")
        .about("Partial: what is left out stays, the secret too.")
        .access(Access::Admin)
        .parameters(&[parameters::provider])
        .optional_body::<ChangeBuiltInRequest>(|| json!({ "clientSecret": "GOCSPX-…" }))
        .responds::<BuiltInConfigBody>(AS_IT_IS)
        .errors(&[&codes::NOT_FOUND, &codes::SETTING_PINNED]);

pub const DELETE_BUILT_IN: Endpoint =
    removal(Endpoint::delete("/api/auth/oauth/{provider}/config", |method| on(method, delete::<BuiltIn>)))
        .named("deleteOAuthConfig", "Remove a built-in provider's configuration")
        .parameters(&[parameters::provider]);

pub const LIST_CUSTOM: Endpoint =
    Endpoint::get("/api/auth/oauth/custom/configs", |method| on(method, list::<Custom>))
        .named("listCustomOAuthConfigs", "List the custom providers")
        .access(Access::Admin)
        .responds::<CustomConfigsBody>("The providers, by key.")
        .without_storage();

pub const CREATE_CUSTOM: Endpoint = Endpoint::post("/api/auth/oauth/custom/configs", |method| {
    on(method, create::<Custom>)
})
.named("createCustomOAuthConfig", "Configure a custom provider")
.about(
    "Any provider of OpenID Connect, by its discovery document. Keys of built-in providers are taken, \
         configured or not, and `email`, `custom` and `configs` are no keys.",
)
.access(Access::Admin)
.body::<CreateCustomRequest>(|| {
    json!({
        "key": "acme",
        "name": "Acme",
        "discoveryEndpoint": "https://id.acme.example/.well-known/openid-configuration",
        "clientId": "latchkey",
        "clientSecret": "the secret that the provider gave",
    })
})
.responds::<CustomConfigBody>(AS_IT_IS)
.errors(&[&codes::PROVIDER_EXISTS]);

pub const GET_CUSTOM: Endpoint =
    Endpoint::get("/api/auth/oauth/custom/{key}/config", |method| on(method, get::<Custom>))
        .named("getCustomOAuthConfig", "Read a custom provider's configuration")
        .access(Access::Admin)
        .parameters(&[parameters::provider_key])
        .responds::<CustomConfigBody>(AS_IT_IS)
        .errors(&[&codes::NOT_FOUND]);

pub const PUT_CUSTOM: Endpoint = Endpoint::put("/api/auth/oauth/custom/{key}/config", |method| {
    on(method, put::<Custom>)
})
.named("updateCustomOAuthConfig", "Change a custom provider's configuration")
.about(
    "Partial: what is left out stays, the secret too; a new `discoveryEndpoint` needs it again. Nothing is \
         created.",
)
.access(Access::Admin)
.parameters(&[parameters::provider_key])
.optional_body::<ChangeCustomRequest>(|| json!({ "name": "Acme" }))
.responds::<CustomConfigBody>(AS_IT_IS)
.errors(&[&codes::NOT_FOUND, &codes::SETTING_PINNED]);

pub const DELETE_CUSTOM: Endpoint =
    removal(Endpoint::delete("/api/auth/oauth/custom/{key}/config", |method| on(method, delete::<Custom>)))
        .named("deleteCustomOAuthConfig", "Remove a custom provider")
        .parameters(&[parameters::provider_key]);

async fn list<K: ConfiguredKind>(State(app): State<App>, _: Admin) -> Json<K::List> {
    let known = app.service.oauth.list_providers(K::KIND);
    Json(K::list(known.into_iter().map(|provider| K::shown(&app, provider)).collect()))
}

async fn create<K: ConfiguredKind>(
    State(app): State<App>,
    Admin(client): Admin,
    AdminBody(body): AdminBody<K::Create>,
) -> Result<Json<K::Shown>> {
    let (key, input, client) = (body.key().to_owned(), body.into_input(), client.to_domain());
    let known = app.service.oauth.create_provider(K::KIND, &key, &input, Party::Admin, Some(&client)).await?;
    Ok(Json(K::shown(&app, known)))
}

async fn get<K: ConfiguredKind>(
    State(app): State<App>,
    _: Admin,
    PathText(key): PathText,
) -> Result<Json<K::Shown>> {
    Ok(Json(K::shown(&app, app.service.oauth.find_provider(K::KIND, &key)?)))
}

async fn put<K: ConfiguredKind>(
    State(app): State<App>,
    Admin(client): Admin,
    PathText(key): PathText,
    AdminBody(body): AdminBody<K::Change>,
) -> Result<Json<K::Shown>> {
    let (input, client) = (body.into_input(), client.to_domain());
    let known = app.service.oauth.update_provider(K::KIND, &key, &input, Party::Admin, Some(&client)).await?;
    Ok(Json(K::shown(&app, known)))
}

async fn delete<K: ConfiguredKind>(
    State(app): State<App>,
    Admin(client): Admin,
    PathText(key): PathText,
    _: AdminBody<NoKeys>,
) -> Result<Json<MessageBody>> {
    app.service.oauth.delete_provider(K::KIND, &key, Party::Admin, Some(&client.to_domain())).await?;
    Ok(Json(MessageBody { message: DELETED }))
}

/// Request and response types for one kind of provider.
trait ConfiguredKind: PathKind {
    type Create: CreateRequest + Send;
    type Change: ConfigRequest + Send;
    type Shown: Serialize;
    type List: Serialize;

    fn shown(app: &App, known: KnownProvider) -> Self::Shown;

    fn list(data: Vec<Self::Shown>) -> Self::List;
}

impl ConfiguredKind for BuiltIn {
    type Create = CreateBuiltInRequest;
    type Change = ChangeBuiltInRequest;
    type Shown = BuiltInConfigBody;
    type List = BuiltInConfigsBody;

    fn shown(app: &App, known: KnownProvider) -> BuiltInConfigBody {
        let client = client_body(app, &known);
        let (provider, description) = (known.key.as_str().to_owned(), known.description);
        let (tenant, team_id, key_id) = (description.tenant, description.team_id, description.key_id);
        BuiltInConfigBody { provider, client, tenant, team_id, key_id }
    }

    fn list(data: Vec<BuiltInConfigBody>) -> BuiltInConfigsBody {
        BuiltInConfigsBody { count: data.len(), data }
    }
}

impl ConfiguredKind for Custom {
    type Create = CreateCustomRequest;
    type Change = ChangeCustomRequest;
    type Shown = CustomConfigBody;
    type List = CustomConfigsBody;

    fn shown(app: &App, known: KnownProvider) -> CustomConfigBody {
        let client = client_body(app, &known);
        let discovery_endpoint = known.description.discovery_endpoint.unwrap_or_default();
        CustomConfigBody { key: known.key.as_str().to_owned(), client, discovery_endpoint }
    }

    fn list(data: Vec<CustomConfigBody>) -> CustomConfigsBody {
        CustomConfigsBody { count: data.len(), data }
    }
}

fn client_body(app: &App, known: &KnownProvider) -> ClientBody {
    let description = known.description.clone();
    ClientBody {
        name: known.name().to_owned(),
        client_id: description.client_id,
        has_client_secret: known.has_secret(),
        scopes: description.scopes,
        native_client_ids: description.native_client_ids,
        link_by_email: description.link_by_email,
        enabled: description.enabled,
        pinned: known.is_pinned,
        redirect_uri: app.service.oauth.callback_url(known),
        created_at: known.created_at,
        updated_at: known.updated_at,
    }
}
