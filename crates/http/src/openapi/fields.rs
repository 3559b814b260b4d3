//! Schemas of single fields, in the words of JSON Schema 2020-12. The structs of the endpoints name them in
//! `#[schema(schema_with = …)]`. Bounds are those of the domain types ([`Shaped`]); a field that has nothing but words is
//! described by the doc comment of its struct instead.

use latchkey_domain::audit::{Actor, AuditKind};
use latchkey_domain::client::LONGEST_USER_AGENT;
use latchkey_domain::email::Email;
use latchkey_domain::ids::{EventId, SessionId, UserId};
use latchkey_domain::password::{LONGEST_PASSWORD, SHORTEST_PASSWORD};
use latchkey_domain::profile::Name;
use latchkey_domain::redirect::RedirectUrl;
use latchkey_domain::shape::{Shape, Shaped};
use latchkey_domain::user::AppMetadata;
use serde_json::{Value, json};
use utoipa::openapi::schema::{AdditionalProperties, SchemaType};
use utoipa::openapi::{ArrayBuilder, ObjectBuilder, SchemaFormat, Type};

/// The field of a request.
pub(crate) fn sent<T: Shaped>() -> ObjectBuilder {
    of(T::SENT)
}

/// The field of a request that may be `null` or left out.
pub(crate) fn sent_or_null<T: Shaped>() -> ObjectBuilder {
    or_null(T::SENT)
}

/// The field of a change that `null` removes.
pub(crate) fn removable<T: Shaped>() -> ObjectBuilder {
    or_null(T::SENT).description(Some(format!("{} `null` removes it.", T::SENT.about)))
}

/// The field of a response.
pub(crate) fn shown<T: Shaped>() -> ObjectBuilder {
    of(T::SHOWN)
}

/// The field of a response that may be `null`.
pub(crate) fn shown_or_null<T: Shaped>() -> ObjectBuilder {
    or_null(T::SHOWN)
}

/// A function per row: the schema of a field whose words are its own.
macro_rules! fields {
    ($($name:ident: $schema:expr;)+) => {
        $(pub(crate) fn $name() -> ObjectBuilder { $schema })+
    };
}

fields! {
    optional_email: or_null(Email::SENT.about("An email address. Left out only together with the token of a link."));
    optional_name: or_null(
        Name::SENT.about("Display name of the profile, without control characters; empty without one."),
    );
    optional_app_metadata: or_null(AppMetadata::SENT.about("Application data, at most 16 KiB as JSON."));
    optional_user_id: or_null(UserId::SHOWN.about("The user that it is about."));
    optional_session_id: or_null(SessionId::SHOWN.about("The session that it happened in."));
    next_event_id: of(EventId::SHOWN.about("Pass it as `before` for the next page; left out on the last one."));
    event_details: of(Shape::object(
        "What else is worth knowing, such as names of changed settings; never a secret.",
        r#"{"reason":"wrong password"}"#,
    ));

    moment_created: moment("When it was made, in UTC.");
    moment_updated: moment("When it last changed, in UTC.");
    moment_seen: moment("When the session was last used to refresh, in UTC.");
    moment_of_event: moment("When it happened, in UTC.");
    moment_linked: moment("When it was linked, in UTC.");
    token_expiry: moment("When the token stops being good, in UTC.");

    access_token: text(
        "A signed JWT (RFC 7519, RFC 9068): goes into `Authorization: Bearer`.",
        "eyJhbGciOiJFUzI1NiIsInR5cCI6ImF0K2p3dCJ9.eyJzdWIiOiIuLi4ifQ.c2lnbmF0dXJl",
    );
    csrf_token: text(
        "Goes into `X-CSRF-Token` beside the cookie; the same for the life of the session. Clients of type `web` alone.",
        "cx1Zy0m2V4k8T6bJ3nQwRsUdEfGhIjKlMnOpQrStUvW",
    );
    code_or_link_token: text(
        "The code of the mail: six digits, or sixteen letters and digits in groups; or, in the older variant, the 64 hex \
         digits of a link's token.",
        "123456",
    );
    older_redirect_to: or_null(RedirectUrl::SENT.about(
        "Redirect target of the older variant: used where neither `redirectTo` nor a default is there.",
    ));
    new_default_redirect_url: or_null(Shape { format: Some("uri"), ..Shape::new(
        "The redirect target where none is given; must be on the list. `null` removes it.",
        "https://app.example.org/",
    ) });
    default_redirect_url: or_null(Shape::new("The redirect target where none is given.", "https://app.example.org/"));
    next_cursor: text(
        "Pass it as `cursor` for the next page; left out on the last one. Opaque.",
        "MTc3MjM2NjQwMDAwMC4wMTk5YTFi",
    );
    ip: text(IP, "192.0.2.7");
    optional_ip: or_null(Shape::new(IP, "192.0.2.7"));
    user_agent: or_null(Shape {
        max_length: Some(LONGEST_USER_AGENT),
        ..Shape::new("What the client called itself.", "Mozilla/5.0")
    });

    success: of_type(Type::Boolean, "It was done.").enum_values(Some([true]));
    verification_required: of_type(Type::Boolean, "The address has to be verified first.").enum_values(Some([true]));
    no_verification_required: of_type(Type::Boolean, "Given at sign-up alone: the session is open.")
        .enum_values(Some([false]));
    no_token: of_type(Type::Null, "There is no session yet.");
    new_flag: of_type(Type::Boolean, "Left out, it stays as it is.");
    message: of_type(Type::String, "A sentence for people.");
    health_status: of_type(Type::String, "What is so.").enum_values(Some(["live", "ready"]));
    sign_in_method: nullable(Type::String, "How one signs in; there is one way so far.")
        .enum_values(Some([json!("password"), Value::Null]));
    email_method: of_type(Type::String, EMAIL_METHOD).enum_values(Some(["code", "link"]));
    new_email_method: nullable(Type::String, EMAIL_METHOD)
        .enum_values(Some([json!("code"), json!("link"), Value::Null]));
    event_name: of_type(Type::String, "What happened.")
        .enum_values(Some(AuditKind::ALL.iter().map(|kind| kind.as_str())));
    actor: of_type(Type::String, "Who caused it.")
        .enum_values(Some([Actor::User, Actor::Admin, Actor::System].map(Actor::as_str)));

    page_limit: of_type(Type::Integer, "Most items of the page.").minimum(Some(1)).maximum(Some(100));
    count: of_type(Type::Integer, "How many.").minimum(Some(0));
    offset: of_type(Type::Integer, "How many items were skipped.").minimum(Some(0));
    password_min_length: of_type(Type::Integer, PASSWORD_LENGTH)
        .minimum(Some(SHORTEST_PASSWORD))
        .maximum(Some(LONGEST_PASSWORD));
    new_password_min_length: nullable(Type::Integer, PASSWORD_LENGTH)
        .minimum(Some(SHORTEST_PASSWORD))
        .maximum(Some(LONGEST_PASSWORD));

    auth_url: text(
        "Where to send the browser: the provider's page.",
        "https://accounts.google.com/o/oauth2/v2/auth?client_id=…",
    );
    oauth_code: text(
        "The `service_code` that came back with the browser: good once, for 60 seconds.",
        "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    );
    code_verifier: text(
        "The PKCE verifier (RFC 7636) whose challenge the flow was begun with.",
        "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
    );
    optional_code_challenge: or_null(Shape::new(
        "The PKCE challenge by S256 (RFC 7636); here or in the query string.",
        "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
    ));
    redirect_uri: or_null(Shape { format: Some("uri"), ..Shape::new(
        "Where the browser goes in the end; must be on the list. Here or in the query string; without it the default \
         redirect URL.",
        "https://app.example.org/settings",
    ) });
    provider_hints: nullable(Type::Object, "Further parameters of the authorization request; reserved ones are left out.")
        .additional_properties(Some(AdditionalProperties::from(ObjectBuilder::new().schema_type(Type::String))))
        .examples([json!({ "prompt": "select_account" })]);
    id_token: text(
        "The id token (OpenID Connect) that the provider gave to the app: good once.",
        "eyJhbGciOiJSUzI1NiIsImtpZCI6IjEifQ.eyJzdWIiOiIuLi4ifQ.c2lnbmF0dXJl",
    );
    id_token_nonce: or_null(Shape::new(
        "The nonce that the app made. Required where the token has one, which may be this text or its SHA-256 in hex. At \
         `apple`, 64 hex digits in the token are always taken for the SHA-256.",
        "n-0S6_WzA2Mj",
    ));
    identity_email: or_null(Shape::new("The address that the provider gave last.", "ada@example.org"));
    client_id: of(CLIENT_ID);
    optional_client_id: or_null(CLIENT_ID);
    client_secret: or_null(Shape::new("The client's secret at the provider: written, never read back.", "GOCSPX-…"));
    private_key: or_null(Shape::new(
        "Apple alone: the private key as PEM, the text of the .p8 file. Written, never read back.",
        "-----BEGIN PRIVATE KEY-----\n…\n-----END PRIVATE KEY-----",
    ));
    tenant: or_null(Shape::new(
        "Microsoft alone: `common` (the default), `organizations`, `consumers` or a directory's id.",
        "organizations",
    ));
    team_id: or_null(Shape::new("Apple alone: the team's id.", "A1B2C3D4E5"));
    key_id: or_null(Shape::new("Apple alone: the id of the private key.", "F6G7H8I9J0"));
    discovery_endpoint: of(DISCOVERY);
    optional_discovery_endpoint: or_null(DISCOVERY);
    provider_name: or_null(Shape {
        max_length: Some(100),
        ..Shape::new("What people call the provider; its key without it.", "Acme")
    });
    new_enabled: nullable(Type::Boolean, "Whether one can sign in with it; `true` without it at the creation.");
    new_link_by_email: nullable(
        Type::Boolean,
        "Whether an address that the provider verified opens the account of that address; `true` without it at the \
         creation. With `false` a taken address is refused: its owner signs in and links.",
    );
    provider_redirect_uri: text(
        "The redirect URI to register at the provider.",
        "https://accounts.example.org/api/auth/oauth/google/callback",
    );
}

const IP: &str = "The address it came from, IPv4 or IPv6.";
const EMAIL_METHOD: &str = "How a mailbox is proven: six digits to type in, or a link to open.";
const PASSWORD_LENGTH: &str = "Least number of characters of a new password.";
const CLIENT_ID: Shape = Shape {
    min_length: Some(1),
    max_length: Some(512),
    pattern: Some("^[!-~]+$"),
    ..Shape::new("The client's id at the provider.", "1234.apps.googleusercontent.com")
};
const DISCOVERY: Shape = Shape {
    format: Some("uri"),
    ..Shape::new(
        "The provider's discovery document (OpenID Connect Discovery 1.0), or its issuer.",
        "https://id.acme.example/.well-known/openid-configuration",
    )
};

/// The users of a deletion.
pub(crate) fn user_ids() -> ArrayBuilder {
    ArrayBuilder::new()
        .description(Some("Ids of users; unknown ones are skipped."))
        .items(of(UserId::SENT.about("The id of a user.")))
}

pub(crate) fn scopes() -> ArrayBuilder {
    texts("The scopes that are asked for; `null` for the usual ones.", "openid")
}

pub(crate) fn new_scopes() -> ArrayBuilder {
    texts("The scopes to ask for; `null` for the usual ones.", "openid")
}

pub(crate) fn new_native_client_ids() -> ArrayBuilder {
    texts("Client ids of native apps, for sign-in by id token.", "1234-ios.apps.googleusercontent.com")
}

fn texts(description: &str, example: &str) -> ArrayBuilder {
    ArrayBuilder::new()
        .schema_type(SchemaType::from_iter([Type::Array, Type::Null]))
        .description(Some(description))
        .items(ObjectBuilder::new().schema_type(Type::String).examples([example]))
}

fn moment(about: &'static str) -> ObjectBuilder {
    of(Shape { format: Some("date-time"), ..Shape::new(about, "2026-03-01T12:00:00.000Z") })
}

fn text(about: &'static str, example: &'static str) -> ObjectBuilder {
    of(Shape::new(about, example))
}

fn of_type(kind: Type, about: &str) -> ObjectBuilder {
    ObjectBuilder::new().schema_type(kind).description(Some(about))
}

fn nullable(kind: Type, about: &str) -> ObjectBuilder {
    of_type(Type::Null, about).schema_type(SchemaType::from_iter([kind, Type::Null]))
}

fn or_null(shape: Shape) -> ObjectBuilder {
    let kind = if shape.is_object { Type::Object } else { Type::String };
    of(shape).schema_type(SchemaType::from_iter([kind, Type::Null]))
}

fn of(shape: Shape) -> ObjectBuilder {
    let schema = if shape.is_object {
        let example: Value = serde_json::from_str(shape.example).unwrap_or_default();
        of_type(Type::Object, shape.about)
            .additional_properties(Some(AdditionalProperties::FreeForm(true)))
            .examples([example])
    } else {
        of_type(Type::String, shape.about).examples([shape.example])
    };
    schema
        .min_length(shape.min_length)
        .max_length(shape.max_length)
        .pattern(shape.pattern)
        .format(shape.format.map(|format| SchemaFormat::Custom(format.to_owned())))
}
