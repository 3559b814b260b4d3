//! Schemas of single fields (JSON Schema 2020-12), to which the endpoints' structs refer in
//! `#[schema(schema_with = …)]`. A field that only one endpoint shows has its function in that endpoint's file. Bounds
//! come from the domain types ([`Shaped`]). A field without bounds is described by its doc comment in the struct.

mod lists;

use latchkey_domain::audit::{ActorKind, AuditKind};
use latchkey_domain::challenge::{ChallengeId, ChallengeKind};
use latchkey_domain::client::LONGEST_USER_AGENT;
use latchkey_domain::codes::EnteredCode;
use latchkey_domain::email::Email;
use latchkey_domain::ids::{EventId, SessionId, UserId};
use latchkey_domain::locale::Locale;
use latchkey_domain::password::{LONGEST_PASSWORD, Password, SHORTEST_PASSWORD};
use latchkey_domain::profile::Name;
use latchkey_domain::redirect::RedirectUrl;
use latchkey_domain::shape::{Shape, Shaped};
use latchkey_domain::user::AppMetadata;
use serde_json::{Value, json};
use utoipa::openapi::schema::{AdditionalProperties, SchemaType};
use utoipa::openapi::{ObjectBuilder, SchemaFormat, Type};

pub(crate) use lists::*;

/// Builds the schema of a request field.
pub(crate) fn sent<T: Shaped>() -> ObjectBuilder {
    of(T::SENT)
}

/// Builds the schema of a request field that may be `null` or absent.
pub(crate) fn sent_or_null<T: Shaped>() -> ObjectBuilder {
    or_null(T::SENT)
}

/// Builds the schema of a request field whose stored value `null` removes.
pub(crate) fn removable<T: Shaped>() -> ObjectBuilder {
    or_null(T::SENT).description(Some(format!("{} `null` removes it.", T::SENT.about)))
}

/// Builds the schema of a response field.
pub(crate) fn shown<T: Shaped>() -> ObjectBuilder {
    of(T::SHOWN)
}

/// Builds the schema of a response field that may be `null`.
pub(crate) fn shown_or_null<T: Shaped>() -> ObjectBuilder {
    or_null(T::SHOWN)
}

/// Defines one function per row. The function returns the schema of a field, with the description in the row.
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
    locale: or_null(Locale::SENT.about(
        "The language of the mail, and of later mails if an account is made: a language tag (BCP 47). Without it \
         `Accept-Language` decides. The language of an account has precedence.",
    ));
    own_locale: or_null(Locale::SENT.about("The language of the account's mails; `null` if none is known."));
    default_locale: of(Locale::SENT.about("The language of mails to people who asked for none; one of `locales`."));
    new_default_locale: or_null(Locale::SENT.about("The language of mails to people who asked for none; one of `locales`."));
    optional_app_metadata: or_null(AppMetadata::SENT.about("Application data, at most 16 KiB as JSON."));
    optional_user_id: or_null(UserId::SHOWN.about("The user that it is about."));
    acting_operator: of(UserId::SHOWN.about("The operator who caused it; only for the actor `operator`."));
    optional_session_id: or_null(SessionId::SHOWN.about("The session that it happened in."));
    next_event_id: of(EventId::SHOWN.about("Pass it as `before` for the next page; left out on the last one."));
    event_details: of(Shape::object(
        "What else is worth knowing, such as names of changed settings; never a secret.",
        r#"{"reason":"wrong password"}"#,
    ));

    moment_created: moment("When it was made, in UTC.");
    moment_updated: moment("When it last changed, in UTC.");
    moment_seen: moment("When the session was last used to refresh, in UTC.");
    next_attempt: or_null(moment_shape("When it is sent next, in UTC; `null` unless it waits."));
    mail_end: or_null(moment_shape("When it was sent or given up, in UTC; `null` while it waits."));
    moment_counted: moment("When everything was counted, in UTC.");
    day: text("The day, in UTC.", "2026-03-02");
    database_engine: text("`sqlite` or `postgresql`.", "sqlite");
    moment_of_event: moment("When it happened, in UTC.");
    moment_signed_in: moment("When the user signed in, in UTC.");
    moment_of_last_sign_in: moment("When the user last completed a sign-in, in UTC; absent if never.");
    moment_linked: moment("When it was linked, in UTC.");
    token_expiry: moment("When the token stops being good, in UTC.");

    challenge_expiry: moment("When the challenge expires, in UTC.");
    enrolment_expiry: moment("When the app is forgotten unless it is confirmed, in UTC.");
    moment_enrolled: moment("When it was enrolled, in UTC.");
    moment_used: or_null(moment_shape("When one of its codes was last accepted, in UTC; `null` if never."));
    moment_authenticated: moment("When the user last signed in or reauthenticated for this access token, in UTC.");
    fresh_until: or_null(moment_shape(
        "Until when calls that need a recent sign-in accept this access token, in UTC; `null` if it lacks the second \
         factor.",
    ));
    level: of_type(Type::Integer, "Level of the access token: 2 after a first and a second factor.")
        .minimum(Some(1))
        .maximum(Some(2));
    moment_of_deletion: moment("When the account is deleted for good, in UTC.");
    email_change_expiry: moment("When the change and its codes expire, in UTC.");
    new_email_code: or_null(EnteredCode::SENT.about("The code of the mail to the new address."));
    current_email_code: or_null(EnteredCode::SENT.about("The code of the mail to the current address."));
    totp_code: of(Shape { pattern: Some("^[0-9]{6}$"), ..Shape::new("The code that the app shows.", "123456") });
    totp_secret: text("The secret in Base32, to type into the app.", "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP");
    totp_uri: text(
        "The secret as URI, to show as QR code.",
        "otpauth://totp/Latchkey:ada%40example.org?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=Latchkey\
         &algorithm=SHA1&digits=6&period=30",
    );
    enrolling_challenge: or_null(ChallengeId::SENT.about("A challenge of kind `enroll`, in place of a bearer."));
    challenge_kind: of_type(Type::String, "One of the `kinds` of the challenge.")
        .enum_values(Some(ChallengeKind::ALL.iter().map(|kind| kind.as_str())));
    challenge_code: or_null(Shape::new(
        "For `totp` and `email_code`: six digits. For `recovery_code`: sixteen letters and digits; case, spaces and \
         hyphens do not count.",
        "123456",
    ));
    current_password: of(Password::SENT.about("The current password. Left out only by an account without one."));
    challenge_password: or_null(Password::SENT.about("For `password`: the password of the account."));
    challenge_passkey: or_null(Shape::object(
        "For `passkey`: the browser's response to the options of `getChallengePasskeyOptions`, as `toJSON()` gives it.",
        "{}",
    ));

    ceremony_id: text("The id of the ceremony: opaque, good for ten minutes and one success.", CEREMONY_EXAMPLE);
    ceremony_expiry: moment("When the options stop being good, in UTC.");
    webauthn_challenge: text(
        "32 random bytes, in base64url without padding.",
        "mXpUwJ2c0bS8Jm3nQwRsUdEfGhIjKlMnOpQrStUvWxY",
    );
    webauthn_timeout: of_type(Type::Integer, "How long the browser waits for the user, in milliseconds.")
        .minimum(Some(1));
    mediation: nullable(Type::String, "`conditional`: the browser registers without a prompt, or not at all.")
        .enum_values(Some([json!("conditional"), Value::Null]));
    passkey_email: or_null(Email::SENT.about(
        "If given, only a passkey of the account with this address is accepted. It changes nothing in the response.",
    ));
    user_handle: text(USER_HANDLE, "AQIDBAUGBwgJCgsMDQ4PEA");
    own_user_handle: or_null(Shape::new(USER_HANDLE, "AQIDBAUGBwgJCgsMDQ4PEA"));
    credential_id: text("The id by which browsers know the passkey, in base64url without padding.", "AQIDBA");
    rp_id: or_null(Shape::new(
        "The domain that passkeys belong to; `null` if the service has none.",
        "accounts.example.org",
    ));
    aaguid: text(
        "The model of the authenticator, by its own account.",
        "fbfc3007-154e-4ecc-8c0b-6e020557d7bd",
    );
    moment_registered: moment("When it was registered, in UTC.");
    moment_passkey_used: or_null(moment_shape("When it was last used, in UTC; `null` if never."));
    undo_code: or_null(Shape::new("A TOTP code or recovery code, where a second factor is needed.", "123456"));

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
    ip_of_session: text("IP address of the client at the sign-in or the last refresh.", "192.0.2.7");
    ip_of_event: or_null(Shape::new(
        "IP address of the client whose request caused it; `null` without a request.",
        "192.0.2.7",
    ));
    device: text("Browser or app, and operating system; `Unknown device` if neither is known.", "Firefox on Linux");
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
    restore: of_type(Type::Boolean, "`true` restores an account in deletion.");
    message: of_type(Type::String, "A sentence for people.");
    health_status: of_type(Type::String, "What is so.").enum_values(Some(["live", "ready"]));
    method_password: nullable(Type::String, "How one signs in; by password if left out.")
        .enum_values(Some([json!("password"), Value::Null]));
    method_link: of_type(Type::String, "How one signs in: by a mailed link.").enum_values(Some(["link"]));
    method_otp: of_type(Type::String, "How one signs in: by a mailed code.").enum_values(Some(["otp"]));
    email_method: of_type(Type::String, EMAIL_METHOD).enum_values(Some(["code", "link"]));
    new_email_method: nullable(Type::String, EMAIL_METHOD)
        .enum_values(Some([json!("code"), json!("link"), Value::Null]));
    email_sign_in: of_type(Type::String, EMAIL_SIGN_IN).enum_values(Some(["off", "code", "code_and_link"]));
    new_email_sign_in: nullable(Type::String, EMAIL_SIGN_IN)
        .enum_values(Some([json!("off"), json!("code"), json!("code_and_link"), Value::Null]));
    second_factor: of_type(Type::String, SECOND_FACTOR).enum_values(Some(["off", "optional", "required"]));
    new_second_factor: nullable(Type::String, SECOND_FACTOR)
        .enum_values(Some([json!("off"), json!("optional"), json!("required"), Value::Null]));
    event_name: of_type(Type::String, "What happened.")
        .enum_values(Some(AuditKind::ALL.iter().map(|kind| kind.as_str())));
    actor: of_type(Type::String, "Who caused it.")
        .enum_values(Some(ActorKind::ALL.iter().map(|actor| actor.as_str())));

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
    sign_in_challenge: or_null(Shape::new(
        "The PKCE challenge by S256 (RFC 7636), whose verifier the link will need; without it the mail has no link.",
        "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
    ));
    sign_in_token: text("The token of the link: 64 hex digits.", "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08");
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

const EMAIL_SIGN_IN: &str = "Sign-in by mail: not at all, by a mailed code, or by code and link.";
/// Example of the id of a ceremony.
pub(crate) const CEREMONY_EXAMPLE: &str = "Y2VyZW1vbnkgaWRzIGFyZSBvcGFxdWU";
const USER_HANDLE: &str =
    "Random id of the account for authenticators, 16 bytes in base64url without padding.";
const SECOND_FACTOR: &str = "Two-step sign-in: users may turn it on, must set it up, or cannot.";
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

/// Builds the schema of a time.
pub(crate) fn moment(about: &'static str) -> ObjectBuilder {
    of(moment_shape(about))
}

pub(crate) const fn moment_shape(about: &'static str) -> Shape {
    Shape { format: Some("date-time"), ..Shape::new(about, "2026-03-01T12:00:00.000Z") }
}

/// Builds the schema of a text without bounds.
pub(crate) fn text(about: &'static str, example: &'static str) -> ObjectBuilder {
    of(Shape::new(about, example))
}

/// Builds the schema of a value of one JSON type.
pub(crate) fn of_type(kind: Type, about: &str) -> ObjectBuilder {
    ObjectBuilder::new().schema_type(kind).description(Some(about))
}

/// Builds the schema of a value of one JSON type, or `null`.
pub(crate) fn nullable(kind: Type, about: &str) -> ObjectBuilder {
    of_type(Type::Null, about).schema_type(SchemaType::from_iter([kind, Type::Null]))
}

/// Builds the schema of a text or free-form object with the bounds of a domain type, or `null`.
pub(crate) fn or_null(shape: Shape) -> ObjectBuilder {
    let kind = if shape.is_object { Type::Object } else { Type::String };
    of(shape).schema_type(SchemaType::from_iter([kind, Type::Null]))
}

/// Builds the schema of a text or free-form object with the bounds of a domain type.
pub(crate) fn of(shape: Shape) -> ObjectBuilder {
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
