//! Fields of answers. A field that is always there says so in the struct that has it.

use latchkey_domain::audit::{Actor, AuditKind};
use serde_json::json;
use utoipa::openapi::schema::SchemaType;
use utoipa::openapi::{KnownFormat, Object, ObjectBuilder, Type};

use super::{
    LONGEST_AVATAR_URL, LONGEST_BIO, LONGEST_NAME, WEB_URL, free_object, known, moment, nullable, of_type,
    text, uuid,
};

pub(crate) fn user_id() -> Object {
    uuid("The id of the user: `sub` of access tokens, `auth_id` of profiles.").build()
}

pub(crate) fn optional_user_id() -> Object {
    or_null(uuid("The user that it is about."))
}

pub(crate) fn profile_id() -> Object {
    uuid("The id of the profile; not that of its user.").build()
}

pub(crate) fn session_id() -> Object {
    uuid("The id of the session: `sid` of access tokens.").build()
}

pub(crate) fn optional_session_id() -> Object {
    or_null(uuid("The session that it happened in."))
}

pub(crate) fn event_id() -> Object {
    uuid("The id of the event; later events have greater ids.").build()
}

pub(crate) fn next_event_id() -> Object {
    uuid("Pass it as `before` for the next page; left out on the last one.").build()
}

pub(crate) fn moment_created() -> Object {
    moment("When it was made, in UTC.").build()
}

pub(crate) fn moment_updated() -> Object {
    moment("When it last changed, in UTC.").build()
}

pub(crate) fn moment_seen() -> Object {
    moment("When the session was last used to refresh, in UTC.").build()
}

pub(crate) fn moment_of_event() -> Object {
    moment("When it happened, in UTC.").build()
}

pub(crate) fn token_expiry() -> Object {
    moment("When the token stops being good, in UTC.").build()
}

pub(crate) fn shown_email() -> Object {
    text("The address as its owner typed it.", "ada@example.org")
        .format(Some(known(KnownFormat::IdnEmail)))
        .max_length(Some(254))
        .build()
}

pub(crate) fn shown_name() -> Object {
    text("Display name; empty where nobody gave one.", "Ada Lovelace").max_length(Some(LONGEST_NAME)).build()
}

pub(crate) fn shown_username() -> Object {
    text("Unique handle; the key is left out while it is not set.", "ada")
        .pattern(Some("^[a-z0-9_.-]{3,32}$"))
        .build()
}

pub(crate) fn shown_avatar_url() -> Object {
    // No `format: uri`: it is kept as sent, by the rules of the URL standard, which are wider than RFC 3986.
    nullable("Picture: an http or https URL.", "https://example.org/ada.png")
        .max_length(Some(LONGEST_AVATAR_URL))
        .pattern(Some(WEB_URL))
        .build()
}

pub(crate) fn shown_bio() -> Object {
    nullable("Text about oneself.", "First programmer.").max_length(Some(LONGEST_BIO)).build()
}

pub(crate) fn shown_metadata() -> Object {
    free_object(Type::Object, "Free-form JSON, private to the owner; never null.", json!({"theme": "dark"}))
}

pub(crate) fn shown_app_metadata() -> Object {
    free_object(
        Type::Object,
        "Application data that only an admin writes; never null.",
        json!({"plan": "pro"}),
    )
}

pub(crate) fn event_details() -> Object {
    free_object(
        Type::Object,
        "What else is worth knowing, such as names of changed settings; never a secret.",
        json!({"reason": "wrong password"}),
    )
}

pub(crate) fn access_token() -> Object {
    text(
        "A signed JWT (RFC 7519, RFC 9068): goes into `Authorization: Bearer`.",
        "eyJhbGciOiJFUzI1NiIsInR5cCI6ImF0K2p3dCJ9.eyJzdWIiOiIuLi4ifQ.c2lnbmF0dXJl",
    )
    .build()
}

pub(crate) fn csrf_token() -> Object {
    text(
        "Goes into `X-CSRF-Token` beside the cookie; the same for the life of the session. Clients of type `web` alone.",
        "cx1Zy0m2V4k8T6bJ3nQwRsUdEfGhIjKlMnOpQrStUvW",
    )
    .build()
}

pub(crate) fn refresh_token() -> Object {
    text(
        "Opaque, good for one refresh. Clients of other types than `web` alone.",
        "c2Vzc2lvbiBmYW1pbHkgb2YgMzIgcmFuZG9tIGJ5dGVzLi5zZWNyZXQgb2YgMzIgcmFuZG9tIGJ5dGVzLi4uLg",
    )
    .build()
}

pub(crate) fn reset_token() -> Object {
    text(
        "Goes into `otp` of resetPassword.",
        "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    )
    .pattern(Some("^[0-9a-f]{64}$"))
    .build()
}

pub(crate) fn no_token() -> Object {
    of_type(Type::Null, "There is no session yet.").build()
}

pub(crate) fn verification_required() -> Object {
    of_type(Type::Boolean, "The address has to be verified first.").enum_values(Some([true])).build()
}

pub(crate) fn no_verification_required() -> Object {
    of_type(Type::Boolean, "Given at sign-up alone: the session is open.").enum_values(Some([false])).build()
}

pub(crate) fn success() -> Object {
    of_type(Type::Boolean, "It was done.").enum_values(Some([true])).build()
}

pub(crate) fn message() -> Object {
    of_type(Type::String, "A sentence for people.").build()
}

pub(crate) fn health_status() -> Object {
    of_type(Type::String, "What is so.").enum_values(Some(["live", "ready"])).build()
}

pub(crate) fn email_method() -> Object {
    of_type(Type::String, "How a mailbox is proven: six digits to type in, or a link to open.")
        .enum_values(Some(["code", "link"]))
        .build()
}

pub(crate) fn default_redirect_url() -> Object {
    nullable("The redirect target where none is given.", "https://app.example.org/").build()
}

pub(crate) fn ip() -> Object {
    text("The address it came from, IPv4 or IPv6.", "192.0.2.7").build()
}

pub(crate) fn optional_ip() -> Object {
    or_null(text("The address it came from, IPv4 or IPv6.", "192.0.2.7"))
}

pub(crate) fn user_agent() -> Object {
    nullable("What the client called itself.", "Mozilla/5.0").max_length(Some(256)).build()
}

pub(crate) fn event_name() -> Object {
    of_type(Type::String, "What happened.")
        .enum_values(Some(AuditKind::ALL.iter().map(|kind| kind.as_str())))
        .build()
}

pub(crate) fn actor() -> Object {
    let actors = [Actor::User, Actor::Admin, Actor::System].map(Actor::as_str);
    of_type(Type::String, "Who caused it.").enum_values(Some(actors)).build()
}

pub(crate) fn next_cursor() -> Object {
    text(
        "Pass it as `cursor` for the next page; left out on the last one. Opaque.",
        "MTc3MjM2NjQwMDAwMC4wMTk5YTFi",
    )
    .build()
}

pub(crate) fn page_limit() -> Object {
    of_type(Type::Integer, "Most items of the page.").minimum(Some(1)).maximum(Some(100)).build()
}

pub(crate) fn count() -> Object {
    of_type(Type::Integer, "How many.").minimum(Some(0)).build()
}

pub(crate) fn offset() -> Object {
    of_type(Type::Integer, "How many items were skipped.").minimum(Some(0)).build()
}

pub(crate) fn password_min_length() -> Object {
    of_type(Type::Integer, "Least number of characters of a new password.")
        .minimum(Some(8))
        .maximum(Some(128))
        .build()
}

fn or_null(builder: ObjectBuilder) -> Object {
    builder.schema_type(SchemaType::from_iter([Type::String, Type::Null])).build()
}
