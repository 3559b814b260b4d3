//! Validator for the subset of JSON Schema 2020-12 that the OpenAPI document uses, without formats and patterns.

use latchkey_testkit::Value;

/// Violations of `schema` by `value`, with their locations. References are resolved within `document`.
pub(crate) fn misfits(document: &Value, schema: &Value, value: &Value) -> Vec<String> {
    let check = Check { document };
    let mut found = Vec::new();
    check.against(schema, value, "$", &mut found);
    found
}

struct Check<'a> {
    document: &'a Value,
}

impl Check<'_> {
    fn against(&self, schema: &Value, value: &Value, place: &str, found: &mut Vec<String>) {
        let schema = resolve(self.document, schema);
        types(schema, value, place, found);
        self.combinations(schema, value, place, found);
        if let Some(object) = value.as_object() {
            self.object(schema, object, place, found);
        }
        for (at, item) in value.as_array().into_iter().flatten().enumerate() {
            if let Some(items) = schema.get("items") {
                self.against(items, item, &format!("{place}[{at}]"), found);
            }
        }
    }

    fn combinations(&self, schema: &Value, value: &Value, place: &str, found: &mut Vec<String>) {
        for part in schema["allOf"].as_array().into_iter().flatten() {
            self.against(part, value, place, found);
        }
        for (word, least, most) in [("anyOf", 1, usize::MAX), ("oneOf", 1, 1)] {
            let Some(parts) = schema[word].as_array() else { continue };
            let fits = |part: &&Value| misfits(self.document, part, value).is_empty();
            let count = parts.iter().filter(fits).count();
            if count < least || count > most {
                found.push(format!("{place} fits {count} parts of {word}: {value}"));
            }
        }
    }

    fn object(
        &self,
        schema: &Value,
        object: &serde_json::Map<String, Value>,
        place: &str,
        found: &mut Vec<String>,
    ) {
        for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if !object.contains_key(name) {
                found.push(format!("{place} has no {name}"));
            }
        }
        for (name, value) in object {
            let place = format!("{place}.{name}");
            match (schema["properties"].get(name), schema.get("additionalProperties")) {
                (Some(property), _) => self.against(property, value, &place, found),
                (None, Some(Value::Bool(false))) => found.push(format!("{place} is not described")),
                (None, Some(other)) if other.is_object() => self.against(other, value, &place, found),
                (None, _) => {}
            }
        }
    }
}

fn types(schema: &Value, value: &Value, place: &str, found: &mut Vec<String>) {
    let types = match &schema["type"] {
        Value::String(one) => vec![one.as_str()],
        Value::Array(many) => many.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    if !types.is_empty() && !types.iter().any(|name| is_of_type(value, name)) {
        found.push(format!("{place} is {value}, wanted {types:?}"));
    }
    if schema["enum"].as_array().is_some_and(|values| !values.contains(value)) {
        found.push(format!("{place} is {value}, wanted one of {}", schema["enum"]));
    }
    let (minimum, maximum) = (schema["minimum"].as_f64(), schema["maximum"].as_f64());
    let is_out = |number: f64| {
        minimum.is_some_and(|least| number < least) || maximum.is_some_and(|most| number > most)
    };
    if value.as_f64().is_some_and(is_out) {
        found.push(format!("{place} is {value}, out of bounds"));
    }
    let length = value.as_str().map(|text| text.chars().count() as u64);
    let (least, most) = (schema["minLength"].as_u64(), schema["maxLength"].as_u64());
    if length.is_some_and(|length| {
        least.is_some_and(|least| length < least) || most.is_some_and(|most| length > most)
    }) {
        found.push(format!("{place} is {value}, of another length"));
    }
}

/// Schema after resolving a reference.
pub(crate) fn resolve<'a>(document: &'a Value, value: &'a Value) -> &'a Value {
    match value["$ref"].as_str().and_then(|reference| reference.strip_prefix('#')) {
        Some(pointer) => document.pointer(pointer).unwrap_or_else(|| panic!("{pointer} leads nowhere")),
        None => value,
    }
}

fn is_of_type(value: &Value, name: &str) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => false,
    }
}
