//! The `OpenAPI` 3.1 document, derived from the list of endpoints and the error catalogue, and the Markdown table of
//! errors.

mod access;
pub(crate) mod fields;
pub(crate) mod headers;
mod markdown;
mod operation;
pub(crate) mod parameters;
mod responses;
pub(crate) mod shapes;

use utoipa::openapi::info::{InfoBuilder, License};
use utoipa::openapi::path::{PathItem, PathsBuilder};
use utoipa::openapi::tag::TagBuilder;
use utoipa::openapi::{Components, ComponentsBuilder, Info, OpenApi, OpenApiBuilder, Server};

use crate::api::{GROUPS, Group};
use crate::endpoint::NamedSchema;

pub use markdown::errors_markdown;

/// Version of the HTTP interface. The program has a version of its own.
const VERSION: &str = "1.0.0";

const ABOUT: &str = "Accounts, sessions and profiles.\n\n\
    Bodies and answers are JSON objects in UTF-8. Unknown keys of a body are ignored, except by calls of an admin, which refuse them; duplicate keys, U+0000 in any text \
    and a nesting deeper than 32 levels are refused. Bodies are at most 64 KiB, those of profile changes 256 KiB, \
    files to import 10 MiB, unless the operator changed these limits. \
    Timestamps are RFC 3339 in UTC with milliseconds. A query parameter given twice is refused.\n\n\
    Every refusal, whatever the route, is an `ErrorResponse`; its `error` says what to do in a program, its `message` \
    and `nextAction` in words; `field` and `reasons` say which value is wrong and why. Unknown paths are 404 `NOT_FOUND`, unknown methods 405 `METHOD_NOT_ALLOWED` with `Allow`. \
    HEAD answers wherever GET does. Every answer carries `X-Request-Id`.";

/// Returns the document as indented JSON with a newline at the end. The order of keys is fixed.
#[must_use]
pub fn document() -> String {
    let mut text = api().to_pretty_json().unwrap_or_default(); // strings, numbers, maps of strings: cannot fail
    text.push('\n');
    text
}

fn api() -> OpenApi {
    let mut schemas = vec![responses::error_schema()];
    let mut paths = PathsBuilder::new();
    for group in &GROUPS {
        for endpoint in group.endpoints {
            schemas.extend(operation::schemas(endpoint));
            let operation = operation::operation(endpoint, group.name);
            paths = paths.path(endpoint.path, PathItem::new(operation::method(endpoint.method), operation));
        }
    }
    let tag = |group: &Group| TagBuilder::new().name(group.name).description(Some(group.about)).build();
    OpenApiBuilder::new()
        .info(info())
        .servers(Some([Server::new("/")]))
        .paths(paths)
        .components(Some(components(schemas)))
        .tags(Some(GROUPS.iter().map(tag)))
        .build()
}

fn components(schemas: Vec<NamedSchema>) -> Components {
    let mut schemas = schemas;
    schemas.sort_by(|a, b| a.0.cmp(&b.0));
    schemas.dedup_by(|a, b| a.0 == b.0);
    let mut components = ComponentsBuilder::new().schemas_from_iter(schemas);
    for (name, response) in responses::of_every_code() {
        components = components.response(name, response);
    }
    for (name, example) in responses::examples() {
        components = components.example(name, example);
    }
    for (name, header) in headers::all() {
        components = components.header(name, header);
    }
    for (name, scheme) in access::schemes() {
        components = components.security_scheme(name, scheme);
    }
    components.build()
}

fn info() -> Info {
    let mut license = License::new("Apache-2.0");
    license.identifier = Some("Apache-2.0".to_owned());
    InfoBuilder::new()
        .title("Latchkey")
        .version(VERSION)
        .description(Some(ABOUT))
        .license(Some(license))
        .build()
}

#[cfg(test)]
mod tests;
