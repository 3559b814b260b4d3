//! Fields of identity providers, in requests and answers.

use serde_json::json;
use utoipa::openapi::schema::{AdditionalProperties, SchemaType};
use utoipa::openapi::{Array, ArrayBuilder, Object, ObjectBuilder, Type};

use super::{moment, nullable, of_type, text, uri};

/// Most characters of a client id.
const LONGEST_CLIENT_ID: usize = 512;
/// Visible ASCII without spaces.
const VISIBLE: &str = "^[!-~]+$";

pub(crate) fn provider_key() -> Object {
    text("The key of an identity provider.", "google").pattern(Some("^[a-z0-9_-]{1,64}$")).build()
}

pub(crate) fn auth_url() -> Object {
    text(
        "Where to send the browser: the provider's page.",
        "https://accounts.google.com/o/oauth2/v2/auth?client_id=…",
    )
    .build()
}

pub(crate) fn oauth_code() -> Object {
    text(
        "The `service_code` that came back with the browser: good once, for 60 seconds.",
        "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    )
    .build()
}

pub(crate) fn code_verifier() -> Object {
    text(
        "The PKCE verifier (RFC 7636) whose challenge the flow was begun with.",
        "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
    )
    .build()
}

pub(crate) fn optional_code_challenge() -> Object {
    nullable(
        "The PKCE challenge by S256 (RFC 7636); here or in the query string.",
        "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
    )
    .build()
}

pub(crate) fn redirect_uri() -> Object {
    nullable(
        "Where the browser goes in the end; must be on the list. Here or in the query string; without it the default \
         redirect URL.",
        "https://app.example.org/settings",
    )
    .format(Some(uri()))
    .build()
}

pub(crate) fn provider_hints() -> Object {
    ObjectBuilder::new()
        .schema_type(SchemaType::from_iter([Type::Object, Type::Null]))
        .description(Some("What else the provider is told; reserved fields are left out."))
        .additional_properties(Some(AdditionalProperties::from(
            ObjectBuilder::new().schema_type(Type::String),
        )))
        .examples([json!({ "prompt": "select_account" })])
        .build()
}

pub(crate) fn id_token() -> Object {
    text(
        "The id token (OpenID Connect) that the provider gave to the app: good once.",
        "eyJhbGciOiJSUzI1NiIsImtpZCI6IjEifQ.eyJzdWIiOiIuLi4ifQ.c2lnbmF0dXJl",
    )
    .build()
}

pub(crate) fn id_token_nonce() -> Object {
    nullable(
        "The nonce that the app made. Required where the token has one, which may be this text or its SHA-256 in hex. At \
         `apple`, 64 hex digits in the token are always taken for the SHA-256.",
        "n-0S6_WzA2Mj",
    )
    .build()
}

pub(crate) fn subject() -> Object {
    text("Who it is at the provider.", "110248495921238986420").max_length(Some(255)).build()
}

pub(crate) fn identity_email() -> Object {
    nullable("The address that the provider gave last.", "ada@example.org").build()
}

pub(crate) fn moment_linked() -> Object {
    moment("When it was linked, in UTC.").build()
}

pub(crate) fn client_id() -> Object {
    of_client_id(text("The client's id at the provider.", "1234.apps.googleusercontent.com"))
}

pub(crate) fn optional_client_id() -> Object {
    of_client_id(nullable("The client's id at the provider.", "1234.apps.googleusercontent.com"))
}

fn of_client_id(builder: ObjectBuilder) -> Object {
    builder.min_length(Some(1)).max_length(Some(LONGEST_CLIENT_ID)).pattern(Some(VISIBLE)).build()
}

pub(crate) fn client_secret() -> Object {
    nullable("The client's secret at the provider: written, never read back.", "GOCSPX-…").build()
}

pub(crate) fn private_key() -> Object {
    nullable(
        "Apple alone: the private key as PEM, the text of the .p8 file. Written, never read back.",
        "-----BEGIN PRIVATE KEY-----\n…\n-----END PRIVATE KEY-----",
    )
    .build()
}

pub(crate) fn tenant() -> Object {
    nullable(
        "Microsoft alone: `common` (the default), `organizations`, `consumers` or a directory's id.",
        "organizations",
    )
    .build()
}

pub(crate) fn team_id() -> Object {
    nullable("Apple alone: the team's id.", "A1B2C3D4E5").build()
}

pub(crate) fn key_id() -> Object {
    nullable("Apple alone: the id of the private key.", "F6G7H8I9J0").build()
}

pub(crate) fn discovery_endpoint() -> Object {
    discovery(text(DISCOVERY, DISCOVERY_EXAMPLE))
}

pub(crate) fn optional_discovery_endpoint() -> Object {
    discovery(nullable(DISCOVERY, DISCOVERY_EXAMPLE))
}

const DISCOVERY: &str = "The provider's discovery document (OpenID Connect Discovery 1.0), or its issuer.";
const DISCOVERY_EXAMPLE: &str = "https://id.acme.example/.well-known/openid-configuration";

fn discovery(builder: ObjectBuilder) -> Object {
    builder.format(Some(uri())).build()
}

pub(crate) fn provider_name() -> Object {
    nullable("What people call the provider; its key without it.", "Acme").max_length(Some(100)).build()
}

pub(crate) fn scopes() -> Array {
    texts("The scopes that are asked for; `null` for the usual ones.", "openid")
}

pub(crate) fn new_scopes() -> Array {
    texts("The scopes to ask for; `null` for the usual ones.", "openid")
}

pub(crate) fn new_native_client_ids() -> Array {
    texts("Client ids of native apps, for sign-in by id token.", "1234-ios.apps.googleusercontent.com")
}

fn texts(description: &str, example: &str) -> Array {
    ArrayBuilder::new()
        .schema_type(SchemaType::from_iter([Type::Array, Type::Null]))
        .description(Some(description))
        .items(ObjectBuilder::new().schema_type(Type::String).examples([example]))
        .build()
}

pub(crate) fn new_enabled() -> Object {
    flag("Whether one can sign in with it; `true` without it at the creation.")
}

pub(crate) fn new_link_by_email() -> Object {
    flag(
        "Whether an address that the provider verified opens the account of that address; `true` without it at the \
         creation. With `false` a taken address is refused: its owner signs in and links.",
    )
}

fn flag(description: &str) -> Object {
    ObjectBuilder::new()
        .schema_type(SchemaType::from_iter([Type::Boolean, Type::Null]))
        .description(Some(description))
        .build()
}

pub(crate) fn provider_redirect_uri() -> Object {
    of_type(Type::String, "The redirect URI to register at the provider.")
        .examples(["https://accounts.example.org/api/auth/oauth/google/callback"])
        .build()
}
