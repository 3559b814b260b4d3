//! Fields of requests: exactly what is accepted. `null` is listed where it is taken.

use latchkey_domain::password::LONGEST_PASSWORD;
use serde_json::{Value, json};
use utoipa::openapi::schema::SchemaType;
use utoipa::openapi::{Array, ArrayBuilder, KnownFormat, Object, ObjectBuilder, Type};

use super::{
    LONGEST_AVATAR_URL, LONGEST_BIO, LONGEST_NAME, NO_CONTROL, NO_NUL, USERNAME, WEB_URL, free_object, known,
    nullable, of_type, text, uri, uuid,
};

/// Least number of characters that any operator demands of a password.
const SHORTEST_PASSWORD: usize = 8;

pub(crate) fn email() -> Object {
    address("An email address: an ASCII local part of at most 64 characters and a domain with a dot. Compared without case.")
        .build()
}

pub(crate) fn optional_email() -> Object {
    address("An email address. Left out only together with the token of a link.")
        .schema_type(SchemaType::from_iter([Type::String, Type::Null]))
        .build()
}

fn address(description: &str) -> ObjectBuilder {
    text(description, "ada@example.org").format(Some(known(KnownFormat::Email))).max_length(Some(254))
}

pub(crate) fn password() -> Object {
    text("The password, taken as it is: never trimmed, never cut.", "correct horse battery")
        .format(Some(known(KnownFormat::Password)))
        .pattern(Some(NO_NUL))
        .build()
}

pub(crate) fn new_password() -> Object {
    text(
        "The new password. `passwordMinLength` and the `require…` settings may ask for more; common passwords and \
         those that contain the address are refused.",
        "correct horse battery",
    )
    .format(Some(known(KnownFormat::Password)))
    .min_length(Some(SHORTEST_PASSWORD))
    .max_length(Some(LONGEST_PASSWORD))
    .pattern(Some(NO_NUL))
    .build()
}

pub(crate) fn sign_in_method() -> Object {
    ObjectBuilder::new()
        .schema_type(SchemaType::from_iter([Type::String, Type::Null]))
        .description(Some("How one signs in; there is one way so far."))
        .enum_values(Some([json!("password"), Value::Null]))
        .build()
}

pub(crate) fn new_name() -> Object {
    text("Display name, without control characters.", "Ada Lovelace")
        .max_length(Some(LONGEST_NAME))
        .pattern(Some(NO_CONTROL))
        .build()
}

pub(crate) fn optional_name() -> Object {
    nullable("Display name of the profile, without control characters; empty without one.", "Ada Lovelace")
        .max_length(Some(LONGEST_NAME))
        .pattern(Some(NO_CONTROL))
        .build()
}

pub(crate) fn new_username() -> Object {
    nullable(
        "Unique handle, compared without case and kept in lower case; reserved words are refused. `null` removes it.",
        "ada",
    )
    .pattern(Some(USERNAME))
    .build()
}

pub(crate) fn new_avatar_url() -> Object {
    nullable(
        "Picture: an absolute http or https URL with a host, without white space. `null` removes it.",
        "https://example.org/ada.png",
    )
    .max_length(Some(LONGEST_AVATAR_URL))
    .pattern(Some(WEB_URL))
    .build()
}

pub(crate) fn new_bio() -> Object {
    nullable("Text about oneself. `null` removes it.", "First programmer.")
        .max_length(Some(LONGEST_BIO))
        .pattern(Some(NO_NUL))
        .build()
}

pub(crate) fn new_metadata() -> Object {
    let description =
        "Free-form JSON, private to the owner, at most 16 KiB as text. Replaces the whole object.";
    free_object(Type::Object, description, json!({"theme": "dark"}))
}

pub(crate) fn new_app_metadata() -> Object {
    let description = "Application data, at most 16 KiB as JSON. Replaces the whole object.";
    free_object(Type::Object, description, json!({"plan": "pro"}))
}

pub(crate) fn optional_app_metadata() -> Object {
    let description = "Application data, at most 16 KiB as JSON.";
    free_object(SchemaType::from_iter([Type::Object, Type::Null]), description, json!({"plan": "pro"}))
}

pub(crate) fn redirect_to() -> Object {
    nullable(
        "Where the browser goes after the mailed link; must be on the list of allowed redirect URLs. Required where \
         the method is `link` and no default redirect URL is set.",
        "https://app.example.org/welcome",
    )
    .format(Some(uri()))
    .build()
}

pub(crate) fn older_redirect_to() -> Object {
    nullable(
        "Redirect target of the older variant: used where neither `redirectTo` nor a default is there.",
        "https://app.example.org/welcome",
    )
    .format(Some(uri()))
    .build()
}

pub(crate) fn code() -> Object {
    text("The code of the mail: six digits, or sixteen letters and digits in groups.", "123456").build()
}

pub(crate) fn code_or_link_token() -> Object {
    text(
        "The code of the mail: six digits, or sixteen letters and digits in groups; or, in the older variant, the 64 hex \
         digits of a link's token.",
        "123456",
    )
    .build()
}

pub(crate) fn reset_otp() -> Object {
    text(
        "The reset token: 64 hex digits, of the exchange or of the mailed link.",
        "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    )
    .pattern(Some("^[0-9A-Fa-f]{64}$"))
    .build()
}

pub(crate) fn presented_refresh_token() -> Object {
    nullable(
        "The refresh token of clients other than `web`: 86 characters of base64url. Ignored for `web`, which sends the cookie.",
        "c2Vzc2lvbiBmYW1pbHkgb2YgMzIgcmFuZG9tIGJ5dGVzLi5zZWNyZXQgb2YgMzIgcmFuZG9tIGJ5dGVzLi4uLg",
    )
    .build()
}

pub(crate) fn user_ids() -> Array {
    ArrayBuilder::new()
        .description(Some("Ids of users; unknown ones are skipped."))
        .items(uuid("The id of a user."))
        .build()
}

pub(crate) fn new_flag() -> Object {
    of_type(Type::Boolean, "Left out, it stays as it is.").build()
}

pub(crate) fn new_password_min_length() -> Object {
    ObjectBuilder::new()
        .schema_type(SchemaType::from_iter([Type::Integer, Type::Null]))
        .description(Some("Least number of characters of a new password."))
        .minimum(Some(SHORTEST_PASSWORD))
        .maximum(Some(LONGEST_PASSWORD))
        .build()
}

pub(crate) fn new_email_method() -> Object {
    ObjectBuilder::new()
        .schema_type(SchemaType::from_iter([Type::String, Type::Null]))
        .description(Some("How a mailbox is proven: six digits to type in, or a link to open."))
        .enum_values(Some([json!("code"), json!("link"), Value::Null]))
        .build()
}

pub(crate) fn new_default_redirect_url() -> Object {
    nullable(
        "The redirect target where none is given; must be on the list. `null` removes it.",
        "https://app.example.org/",
    )
    .format(Some(uri()))
    .build()
}
