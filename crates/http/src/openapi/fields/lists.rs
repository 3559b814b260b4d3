//! Schemas of fields that are lists.

use latchkey_domain::challenge::ChallengeKind;
use latchkey_domain::ids::UserId;
use serde_json::json;
use utoipa::openapi::schema::SchemaType;
use utoipa::openapi::{ArrayBuilder, ObjectBuilder, Type};

use latchkey_domain::shape::Shaped;

use super::{of, text};

/// Builds the schema of the ids in a request that deletes users.
pub(crate) fn user_ids() -> ArrayBuilder {
    ArrayBuilder::new()
        .description(Some("Ids of users; unknown ones are skipped."))
        .items(of(UserId::SENT.about("The id of a user.")))
}

pub(crate) fn challenge_kinds() -> ArrayBuilder {
    kinds("The kinds of answers that it accepts, strongest first.")
}

pub(crate) fn reauthenticate_with() -> ArrayBuilder {
    kinds(
        "The kinds of answers that a reauthentication accepts, strongest first; empty if one has to sign in again.",
    )
}

fn kinds(description: &str) -> ArrayBuilder {
    let words: Vec<_> = ChallengeKind::ALL.iter().map(|kind| kind.as_str()).collect();
    ArrayBuilder::new()
        .items(ObjectBuilder::new().schema_type(Type::String).enum_values(Some(words)))
        .description(Some(description))
        .examples([json!(["totp", "recovery_code"])])
}

pub(crate) fn recovery_codes() -> ArrayBuilder {
    ArrayBuilder::new()
        .description(Some("Codes for the day that the app is lost, each good once. Shown this once."))
        .items(text("A recovery code.", "8kz4-1m0q-ye7w-v2ah"))
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
