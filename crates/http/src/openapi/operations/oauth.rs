//! Identity providers: sign-in through them, one's own identities, and their configuration by an admin.

use http::StatusCode;
use serde_json::{Value, json};
use utoipa::openapi::path::HttpMethod;

use crate::endpoints::auth::SessionBody;
use crate::endpoints::auth::id_token::IdTokenRequest;
use crate::endpoints::auth::identities::{IdentitiesBody, LinkRequest, UnlinkedBody};
use crate::endpoints::auth::oauth::exchange::ExchangeRequest;
use crate::endpoints::auth::oauth::start::StartBody;
use crate::endpoints::auth::oauth::{
    BuiltInConfigBody, BuiltInConfigsBody, ChangeBuiltInRequest, ChangeCustomRequest, CreateBuiltInRequest,
    CreateCustomRequest, CustomConfigBody, CustomConfigsBody,
};
use crate::endpoints::auth::users::MessageBody;
use crate::error::ErrorCode;
use crate::error::codes::{
    EMAIL_EXISTS, EMAIL_NOT_VERIFIED, FORBIDDEN, IDENTITY_TAKEN, INVALID_ID_TOKEN, INVALID_OAUTH_CODE,
    LAST_SIGN_IN_METHOD, NOT_FOUND, PROVIDER_EXISTS, PROVIDER_NOT_CONFIGURED, REDIRECT_NOT_ALLOWED,
    SETTING_PINNED, SIGNUP_DISABLED, TOO_MANY_REQUESTS, UNSUPPORTED_PROVIDER, USER_BANNED, VALIDATION_ERROR,
};
use crate::openapi::access::Access;
use crate::openapi::headers::SET_COOKIE;
use crate::openapi::operation::Operation;
use crate::openapi::parameters as of;
use crate::openapi::tags::Tag;

const DEAD_SIGN_IN: &str =
    "A page: the state is unknown or cannot be read, or there is nowhere to redirect to any more.";
const START: &str = "Begins a sign-in and answers the address to send the browser to; not a redirect. Other parameters, \
    such as `prompt` or `login_hint`, go on to the provider as hints, but for `client_type`, which changes nothing here, \
    and `client_id`, `redirect_uri`, `state`, `nonce`, `scope`, `response_type`, `response_mode`, `code_challenge`, \
    `code_challenge_method`, `request`, `request_uri`, `registration` and `claims`, which are dropped.";
const CALLBACK: &str = "Where the provider sends the browser back to. The browser is sent on to the `redirect_uri` of \
    the start, with `service_code` to exchange, or with `error`, a sentence for people. Nobody is signed in here and \
    nothing is linked. HEAD uses nothing up.";

/// What a sign-in with an identity can be refused with.
const OF_A_SIGN_IN: [&ErrorCode; 5] =
    [&EMAIL_EXISTS, &EMAIL_NOT_VERIFIED, &FORBIDDEN, &SIGNUP_DISABLED, &USER_BANNED];
/// What a start can be refused with.
const OF_A_START: [&ErrorCode; 5] = [
    &VALIDATION_ERROR,
    &REDIRECT_NOT_ALLOWED,
    &UNSUPPORTED_PROVIDER,
    &PROVIDER_NOT_CONFIGURED,
    &TOO_MANY_REQUESTS,
];

pub(super) fn operations() -> Vec<Operation> {
    let mut operations = vec![
        start("/api/auth/oauth/{provider}", "signInWithOAuth", "Begin a sign-in with a built-in provider")
            .parameter(of::provider()),
        start(
            "/api/auth/oauth/custom/{key}",
            "signInWithCustomOAuth",
            "Begin a sign-in with a custom provider",
        )
        .parameter(of::provider_key()),
        callback(HttpMethod::Get, "/api/auth/oauth/{provider}/callback", "returnFromProvider"),
        callback(HttpMethod::Post, "/api/auth/oauth/{provider}/callback", "returnFromProviderByForm"),
        callback(HttpMethod::Get, "/api/auth/oauth/custom/{key}/callback", "returnFromCustomProvider"),
        callback(HttpMethod::Post, "/api/auth/oauth/custom/{key}/callback", "returnFromCustomProviderByForm"),
        exchange(),
        id_token(),
    ];
    operations.extend(identities());
    operations
}

fn operation(method: HttpMethod, path: &'static str, id: &'static str, summary: &'static str) -> Operation {
    Operation::new(method, path, Tag::Identities, id, summary)
}

fn start(path: &'static str, id: &'static str, summary: &'static str) -> Operation {
    operation(HttpMethod::Get, path, id, summary)
        .about(START)
        .access(Access::Public)
        .parameter(of::redirect_uri())
        .parameter(of::code_challenge())
        .answers::<StartBody>(StatusCode::OK, "Where to send the browser.")
        .errors(&OF_A_START)
}

fn callback(method: HttpMethod, path: &'static str, id: &'static str) -> Operation {
    let key = if path.contains("/custom/") { of::provider_key() } else { of::provider() };
    let is_form = method == HttpMethod::Post;
    let callback = operation(method, path, id, "Return from the provider")
        .about(CALLBACK)
        .parameter(key)
        .redirects("To the app, with `service_code` or `error`.")
        .bad_request_page(DEAD_SIGN_IN)
        .errors(&[&VALIDATION_ERROR]);
    if is_form {
        return callback.form(
            "What the provider says, as a form (`response_mode=form_post`): `state`, `code` or `error`, `iss`, and of \
             Apple `user`.",
        );
    }
    callback
        .parameter(of::returned_state())
        .parameter(of::returned_code())
        .parameter(of::returned_error())
        .parameter(of::returned_issuer())
        .parameter(of::returned_user())
}

fn exchange() -> Operation {
    operation(HttpMethod::Post, "/api/auth/oauth/exchange", "exchangeOAuthCode", "Exchange the code of a sign-in")
        .about(
            "Opens a session for the `service_code` that came back. A wrong verifier burns the code. A code of a link \
             links the identity to the account of the bearer, which must be that of the session that began it; the \
             answer then has a new access token of that session, and neither `csrfToken` nor `refreshToken`: they stay.",
        )
        .access(Access::PublicOrUser)
        .parameter(of::client_type())
        .body::<ExchangeRequest>(json!({
            "code": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
            "code_verifier": "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
        }))
        .answers_with::<SessionBody>(StatusCode::OK, "The session is open, or the identity linked.", &[SET_COOKIE])
        .errors(&[&INVALID_OAUTH_CODE, &IDENTITY_TAKEN, &TOO_MANY_REQUESTS])
        .errors(&OF_A_SIGN_IN)
}

fn id_token() -> Operation {
    operation(HttpMethod::Post, "/api/auth/id-token", "signInWithIdToken", "Sign in with an id token")
        .about(
            "For native apps that talk to the provider themselves. The token must be for one of the provider's \
             `nativeClientIds`, is accepted once, and a nonce in it demands the same `nonce`, as a `nonce` \
             demands one in it.",
        )
        .access(Access::Public)
        .parameter(of::client_type())
        .body::<IdTokenRequest>(json!({ "provider": "google", "token": "eyJhbGciOiJSUzI1NiJ9.e30.c2ln" }))
        .answers_with::<SessionBody>(StatusCode::OK, "The session is open.", &[SET_COOKIE])
        .errors(&[&INVALID_ID_TOKEN, &UNSUPPORTED_PROVIDER, &PROVIDER_NOT_CONFIGURED, &TOO_MANY_REQUESTS])
        .errors(&OF_A_SIGN_IN)
}

fn identities() -> Vec<Operation> {
    let operation = |method, path, id, summary| operation(method, path, id, summary).access(Access::User);
    vec![
        operation(HttpMethod::Get, "/api/auth/identities", "listIdentities", "List one's own identities")
            .answers::<IdentitiesBody>(StatusCode::OK, "The identities, oldest first."),
        operation(
            HttpMethod::Post,
            "/api/auth/identities/{provider}/link",
            "linkIdentity",
            "Begin to link an identity",
        )
        .about(
            "Like the start of a sign-in, for a provider of either kind. The link is made at the exchange, with the \
             bearer of this very session.",
        )
        .parameter(of::provider())
        .parameter(of::redirect_uri())
        .parameter(of::link_code_challenge())
        .optional_body::<LinkRequest>(link_example())
        .answers::<StartBody>(StatusCode::OK, "Where to send the browser.")
        .errors(&OF_A_START),
        operation(
            HttpMethod::Delete,
            "/api/auth/identities/{provider}",
            "unlinkIdentity",
            "Unlink identities of a provider",
        )
        .about(
            "All of that provider, or the one with `subject`. Never the last way in. The other sessions that they \
             opened end.",
        )
        .parameter(of::provider())
        .parameter(of::subject())
        .answers::<UnlinkedBody>(StatusCode::OK, "The user without it.")
        .errors(&[&NOT_FOUND, &LAST_SIGN_IN_METHOD]),
    ]
}

fn link_example() -> Value {
    json!({
        "redirect_uri": "https://app.example.org/settings",
        "code_challenge": "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
    })
}

/// The configuration, for an admin.
pub(super) fn configs() -> Vec<Operation> {
    let mut operations = built_in_configs();
    operations.extend(custom_configs());
    operations
}

fn admin(method: HttpMethod, path: &'static str, id: &'static str, summary: &'static str) -> Operation {
    Operation::new(method, path, Tag::Admin, id, summary).access(Access::Admin)
}

fn built_in_configs() -> Vec<Operation> {
    let (all, one) = ("/api/auth/oauth/configs", "/api/auth/oauth/{provider}/config");
    vec![
        admin(HttpMethod::Get, all, "listOAuthConfigs", "List the built-in providers that are configured")
            .answers::<BuiltInConfigsBody>(StatusCode::OK, "The providers, by key.")
            .without_storage(),
        admin(HttpMethod::Post, all, "createOAuthConfig", "Configure a built-in provider")
            .about(
                "Apple takes `teamId`, `keyId` and `privateKey`, or a ready client secret as `clientSecret`.",
            )
            .body::<CreateBuiltInRequest>(json!({
                "provider": "google",
                "clientId": "1234.apps.googleusercontent.com",
                "clientSecret": "GOCSPX-…",
            }))
            .answers::<BuiltInConfigBody>(StatusCode::OK, "The provider as it is configured.")
            .errors(&[&UNSUPPORTED_PROVIDER, &PROVIDER_EXISTS]),
        admin(HttpMethod::Get, one, "getOAuthConfig", "Read a built-in provider's configuration")
            .parameter(of::provider())
            .answers::<BuiltInConfigBody>(StatusCode::OK, "The provider as it is configured.")
            .errors(&[&NOT_FOUND]),
        admin(HttpMethod::Put, one, "updateOAuthConfig", "Change a built-in provider's configuration")
            .about("Partial: what is left out stays, the secret too.")
            .parameter(of::provider())
            .optional_body::<ChangeBuiltInRequest>(json!({ "clientSecret": "GOCSPX-…" }))
            .answers::<BuiltInConfigBody>(StatusCode::OK, "The provider as it is configured.")
            .errors(&[&NOT_FOUND, &SETTING_PINNED]),
        admin(HttpMethod::Delete, one, "deleteOAuthConfig", "Remove a built-in provider's configuration")
            .about("Identities stay linked and open nothing until the provider is back.")
            .parameter(of::provider())
            .no_body()
            .answers::<MessageBody>(StatusCode::OK, "It is removed.")
            .errors(&[&NOT_FOUND, &SETTING_PINNED]),
    ]
}

fn custom_configs() -> Vec<Operation> {
    let (all, one) = ("/api/auth/oauth/custom/configs", "/api/auth/oauth/custom/{key}/config");
    vec![
        admin(HttpMethod::Get, all, "listCustomOAuthConfigs", "List the custom providers")
            .answers::<CustomConfigsBody>(StatusCode::OK, "The providers, by key.")
            .without_storage(),
        admin(HttpMethod::Post, all, "createCustomOAuthConfig", "Configure a custom provider")
            .about(
                "Any provider of OpenID Connect, by its discovery document. Keys of built-in providers are taken, \
                 configured or not, and `email`, `custom` and `configs` are no keys.",
            )
            .body::<CreateCustomRequest>(json!({
                "key": "acme",
                "name": "Acme",
                "discoveryEndpoint": "https://id.acme.example/.well-known/openid-configuration",
                "clientId": "latchkey",
                "clientSecret": "the secret that the provider gave",
            }))
            .answers::<CustomConfigBody>(StatusCode::OK, "The provider as it is configured.")
            .errors(&[&PROVIDER_EXISTS]),
        admin(HttpMethod::Get, one, "getCustomOAuthConfig", "Read a custom provider's configuration")
            .parameter(of::provider_key())
            .answers::<CustomConfigBody>(StatusCode::OK, "The provider as it is configured.")
            .errors(&[&NOT_FOUND]),
        admin(HttpMethod::Put, one, "updateCustomOAuthConfig", "Change a custom provider's configuration")
            .about(
                "Partial: what is left out stays, the secret too; a new `discoveryEndpoint` needs it again. Nothing is \
                 created.",
            )
            .parameter(of::provider_key())
            .optional_body::<ChangeCustomRequest>(json!({ "name": "Acme" }))
            .answers::<CustomConfigBody>(StatusCode::OK, "The provider as it is configured.")
            .errors(&[&NOT_FOUND, &SETTING_PINNED]),
        admin(HttpMethod::Delete, one, "deleteCustomOAuthConfig", "Remove a custom provider")
            .about("Identities stay linked and open nothing until the provider is back.")
            .parameter(of::provider_key())
            .no_body()
            .answers::<MessageBody>(StatusCode::OK, "It is removed.")
            .errors(&[&NOT_FOUND, &SETTING_PINNED]),
    ]
}
