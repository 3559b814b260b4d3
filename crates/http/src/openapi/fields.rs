//! Schemas of single fields: what the domain types accept and what answers show, in the words of JSON Schema 2020-12.
//! The structs of the endpoints name them in `#[schema(schema_with = …)]`. Every bound here repeats one that a domain
//! type enforces.

mod oauth;
mod request;
mod response;

use latchkey_domain::profile::{LONGEST_AVATAR_URL, LONGEST_BIO, LONGEST_NAME};
use serde_json::Value;
use utoipa::openapi::schema::{AdditionalProperties, SchemaType};
use utoipa::openapi::{KnownFormat, Object, ObjectBuilder, SchemaFormat, Type};

pub(crate) use oauth::*;
pub(crate) use request::*;
pub(crate) use response::*;

/// Text without U+0000, which no text of a request may have.
const NO_NUL: &str = "^[^\\u0000]*$";
/// Text without control characters.
const NO_CONTROL: &str = "^[^\\u0000-\\u001f\\u007f-\\u009f]*$";
/// An absolute http or https URL with a host.
const WEB_URL: &str = "^[Hh][Tt][Tt][Pp][Ss]?://[^\\s/?#\\\\]\\S*$";
/// A username in any case.
const USERNAME: &str = "^[A-Za-z0-9_.-]{3,32}$";

fn text(description: &str, example: &str) -> ObjectBuilder {
    of_type(Type::String, description).examples([example])
}

fn of_type(kind: Type, description: &str) -> ObjectBuilder {
    ObjectBuilder::new().schema_type(kind).description(Some(description))
}

/// A text, or `null` for none.
fn nullable(description: &str, example: &str) -> ObjectBuilder {
    text(description, example).schema_type(SchemaType::from_iter([Type::String, Type::Null]))
}

fn uuid(description: &str) -> ObjectBuilder {
    text(description, "0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b").format(Some(known(KnownFormat::Uuid)))
}

fn moment(description: &str) -> ObjectBuilder {
    text(description, "2026-03-01T12:00:00.000Z").format(Some(known(KnownFormat::DateTime)))
}

/// A free object: any keys, any values.
fn free_object(kind: impl Into<SchemaType>, description: &str, example: Value) -> Object {
    ObjectBuilder::new()
        .schema_type(kind)
        .description(Some(description))
        .additional_properties(Some(AdditionalProperties::FreeForm(true)))
        .examples([example])
        .build()
}

fn known(format: KnownFormat) -> SchemaFormat {
    SchemaFormat::KnownFormat(format)
}

/// A format that JSON Schema knows and the library has no name for.
fn uri() -> SchemaFormat {
    SchemaFormat::Custom("uri".to_owned())
}
