//! A command line that makes the call.

use std::fmt::Write;

use serde_json::Value;
use utoipa::openapi::path::{Parameter, ParameterIn};
use utoipa::openapi::request_body::RequestBody;
use utoipa::openapi::{Content, RefOr, Required, Schema};

use super::Call;

/// An id of the right form.
const AN_ID: &str = "0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b";

/// The command, on several lines.
pub(super) fn command(call: &Call<'_>, origin: &str) -> String {
    let mut text = format!("curl -X {} '{origin}{}{}'", call.method, path(call.path), query(call));
    if let Some(token) = token(call) {
        let _ = write!(text, " \\\n  -H 'Authorization: Bearer {token}'"); // a String takes everything
    }
    if let Some(example) = call.operation.request_body.as_ref().and_then(example) {
        let body = example.to_string().replace('\'', "'\\''");
        let _ = write!(text, " \\\n  -H 'Content-Type: application/json' \\\n  -d '{body}'");
    }
    text
}

/// The path with ids in place of its parameters.
fn path(template: &str) -> String {
    let segment = |segment| if str::starts_with(segment, '{') { AN_ID } else { segment };
    template.split('/').map(segment).collect::<Vec<_>>().join("/")
}

/// The query parameters that must be there. A refresh token in the body is for clients other than `web`.
fn query(call: &Call<'_>) -> String {
    let needed = parameters(call).filter(|parameter| {
        parameter.parameter_in == ParameterIn::Query && matches!(parameter.required, Required::True)
    });
    let mut pairs: Vec<_> =
        needed.map(|parameter| format!("{}={}", parameter.name, sample(parameter))).collect();
    let body = call.operation.request_body.as_ref().and_then(example);
    if body.is_some_and(|body| body.get("refreshToken").is_some()) {
        pairs.push("client_type=server".to_owned());
    }
    if pairs.is_empty() { String::new() } else { format!("?{}", pairs.join("&")) }
}

fn parameters<'a>(call: &Call<'a>) -> impl Iterator<Item = &'a Parameter> {
    call.operation.parameters.iter().flatten().filter_map(|parameter| match parameter {
        RefOr::T(parameter) => Some(parameter),
        RefOr::Ref(_) => None,
    })
}

/// A value that the parameter takes.
fn sample(parameter: &Parameter) -> String {
    let Some(RefOr::T(Schema::Object(schema))) = &parameter.schema else { return "…".to_owned() };
    let value = schema.examples.first().or_else(|| schema.enum_values.as_ref()?.first());
    value.and_then(Value::as_str).unwrap_or("…").to_owned()
}

/// What goes into the bearer, where the call cannot do without.
fn token(call: &Call<'_>) -> Option<&'static str> {
    let requirements = serde_json::to_value(call.operation.security.as_ref()?).ok()?;
    match requirements.as_array()?.first()?.as_object()?.keys().next()?.as_str() {
        "userToken" => Some("ACCESS_TOKEN"),
        "adminKey" => Some("ADMIN_KEY"),
        _ => None,
    }
}

/// The last example of a body: where there are several, the one for everybody.
fn example(body: &RefOr<RequestBody>) -> Option<&Value> {
    let RefOr::T(body) = body else { return None };
    let RefOr::T(Content { example, examples, .. }) = body.content.values().next()? else { return None };
    let named = || match examples.values().last()? {
        RefOr::T(example) => example.value.as_ref(),
        RefOr::Ref(_) => None,
    };
    example.as_ref().or_else(named)
}
