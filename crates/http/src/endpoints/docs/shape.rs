//! Schemas on the page: a few words where they are used, a table for each named one.

use serde_json::Value;
use utoipa::openapi::schema::{ArrayItems, SchemaType};
use utoipa::openapi::{Object, OpenApi, RefOr, Schema};

use super::text;
use crate::pages::escape;

/// The section with every named schema.
pub(super) fn section(api: &OpenApi) -> String {
    let schemas = api.components.iter().flat_map(|components| &components.schemas);
    let shapes: String = schemas.map(|(name, schema)| shape(name, schema)).collect();
    format!("<section id=\"shapes\">\n<h2>Shapes</h2>\n{shapes}</section>\n")
}

/// What a value is, in a few words; a named schema is a link.
pub(super) fn kind(schema: &RefOr<Schema>) -> String {
    match schema {
        RefOr::Ref(to) => {
            let name = escape(to.ref_location.rsplit('/').next().unwrap_or_default());
            format!("<a href=\"#shape-{name}\">{name}</a>")
        }
        RefOr::T(Schema::Object(object)) => kind_of_object(object),
        RefOr::T(Schema::Array(array)) => match &array.items {
            ArrayItems::RefOrSchema(items) => format!("array of {}", kind(items)),
            ArrayItems::False => "array".to_owned(),
        },
        RefOr::T(Schema::OneOf(several)) => joined(&several.items, " or "),
        RefOr::T(Schema::AnyOf(several)) => joined(&several.items, " or "),
        RefOr::T(Schema::AllOf(several)) => {
            // The parts without a name only narrow the named ones, or are shown in a table.
            let named = several.items.iter().filter(|part| matches!(part, RefOr::Ref(_)));
            named.map(kind).collect::<Vec<_>>().join(" with ")
        }
        RefOr::T(_) => String::new(),
    }
}

fn joined(schemas: &[RefOr<Schema>], word: &str) -> String {
    schemas.iter().map(kind).collect::<Vec<_>>().join(word)
}

fn shape(name: &str, schema: &RefOr<Schema>) -> String {
    let name = escape(name);
    let head = format!("<article id=\"shape-{name}\">\n<h3>{name}</h3>\n");
    let body = match schema {
        RefOr::T(Schema::Object(object)) => described(object.description.as_deref(), &table(object)),
        RefOr::T(Schema::Array(array)) => described(array.description.as_deref(), &line(&kind(schema))),
        RefOr::T(Schema::OneOf(several)) => {
            described(several.description.as_deref(), &parts(schema, &several.items))
        }
        RefOr::T(Schema::AnyOf(several)) => {
            described(several.description.as_deref(), &parts(schema, &several.items))
        }
        RefOr::T(Schema::AllOf(several)) => {
            described(several.description.as_deref(), &parts(schema, &several.items))
        }
        other => line(&kind(other)),
    };
    format!("{head}{body}</article>\n")
}

/// What a schema is made of, with the tables of the parts that have no name of their own.
fn parts(whole: &RefOr<Schema>, parts: &[RefOr<Schema>]) -> String {
    let table = |part: &RefOr<Schema>| match part {
        RefOr::T(Schema::Object(object)) => described(object.description.as_deref(), &table(object)),
        _ => String::new(),
    };
    let tables: String = parts.iter().map(table).collect();
    format!("{}{tables}", line(&kind(whole)))
}

fn described(description: Option<&str>, rest: &str) -> String {
    format!("{}{rest}", text::paragraphs(description.unwrap_or_default()))
}

fn line(html: &str) -> String {
    format!("<p>{html}</p>\n")
}

fn table(object: &Object) -> String {
    let row = |(name, schema): (&String, &RefOr<Schema>)| {
        let is_required = object.required.contains(name);
        let needed = if is_required { " <b>always</b>" } else { "" };
        let (kind, about) = (kind(schema), about(schema));
        format!("<tr><td><code>{}</code>{needed}</td><td>{kind}</td><td>{about}</td></tr>\n", escape(name))
    };
    let rows: String = object.properties.iter().map(row).collect();
    if rows.is_empty() {
        return String::new();
    }
    format!(
        "<table><thead><tr><th>Field</th><th>Type</th><th>Meaning</th></tr></thead>\n<tbody>\n{rows}</tbody></table>\n"
    )
}

fn about(schema: &RefOr<Schema>) -> String {
    let description = match schema {
        RefOr::T(Schema::Object(object)) => object.description.as_deref(),
        RefOr::T(Schema::Array(array)) => array.description.as_deref(),
        _ => None,
    };
    text::inline(description.unwrap_or_default())
}

/// Type, format and bounds of a simple value.
fn kind_of_object(object: &Object) -> String {
    let mut words = vec![type_name(&object.schema_type)];
    let json = serde_json::to_value(object).unwrap_or_default();
    words.extend(json["format"].as_str().map(escape));
    if let Some(values) = json["enum"].as_array() {
        let values: Vec<_> = values.iter().map(code).collect();
        words = vec![values.join(" or ")];
    }
    let bounds = [
        ("minLength", "at least", " characters"),
        ("maxLength", "at most", " characters"),
        ("minimum", "at least", ""),
        ("maximum", "at most", ""),
        ("minProperties", "at least", " keys"),
    ];
    for (key, word, unit) in bounds {
        words.extend(json[key].as_u64().map(|bound| format!("{word} {bound}{unit}")));
    }
    words.extend(json["pattern"].as_str().map(|pattern| format!("<code>{}</code>", escape(pattern))));
    words.extend(json.get("default").map(|value| format!("default {}", code(value))));
    words.join(", ")
}

fn type_name(kind: &SchemaType) -> String {
    match serde_json::to_value(kind).unwrap_or_default() {
        Value::String(name) => name,
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or "),
        _ => "anything".to_owned(),
    }
}

fn code(value: &Value) -> String {
    match value {
        Value::String(text) => format!("<code>{}</code>", escape(text)),
        other => format!("<code>{}</code>", escape(&other.to_string())),
    }
}
