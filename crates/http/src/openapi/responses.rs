//! Error responses in the `OpenAPI` document: one schema, and one response component per error code. If an operation
//! has several codes with the same status, its response lists them.

use latchkey_domain::challenge::ChallengeId;
use latchkey_domain::reason::Reason;
use latchkey_domain::shape::Shaped;
use serde_json::{Value, json};
use utoipa::ToSchema;
use utoipa::openapi::example::{Example, ExampleBuilder};
use utoipa::openapi::schema::{AllOfBuilder, SchemaType};
use utoipa::openapi::{
    ArrayBuilder, ContentBuilder, ObjectBuilder, Ref, RefOr, Response, ResponseBuilder, Schema, Type,
};

use super::headers::{self, header_ref};
use super::operation::JSON;
use crate::endpoints::auth::ChallengeBody;
use crate::error::{ErrorCode, catalogue, codes, status_of};
use http::StatusCode;

/// Name of the schema component that describes all error bodies.
const ERROR_RESPONSE: &str = "ErrorResponse";

/// Builds the schema of all error bodies. Its `error` is one of the codes in the catalogue.
pub(super) fn error_schema() -> (String, RefOr<Schema>) {
    let text = |description: &str| {
        ObjectBuilder::new().schema_type(SchemaType::new(Type::String)).description(Some(description))
    };
    let schema = ObjectBuilder::new()
        .description(Some("What every refusal looks like, whatever the route and the status."))
        .property(
            "error",
            text("The code, for programs. Stable.")
                .enum_values(Some(catalogue().iter().map(|code| code.name))),
        )
        .property("message", text("What went wrong, for people. May change."))
        .property(
            "statusCode",
            ObjectBuilder::new()
                .schema_type(Type::Integer)
                .description(Some("The HTTP status of the answer."))
                .minimum(Some(400))
                .maximum(Some(599)),
        )
        .property("nextAction", text("What the caller can do, for people."))
        .property("nextActions", text("The same text, for clients that read the plural."))
        .property(
            "field",
            text("The key of the body that is wrong, dotted where it is nested (`options.emailRedirectTo`), or the parameter."),
        )
        .property("reasons", reasons())
        .property("challenge", Ref::from_schema_name(ChallengeBody::name()))
        .property("requestId", text("The id of this request, as in `X-Request-Id`: the service's log knows more under it."))
        .required("error")
        .required("message")
        .required("statusCode")
        .build();
    (ERROR_RESPONSE.to_owned(), schema.into())
}

/// Builds the schema of `reasons`: an array of the known reasons.
fn reasons() -> ArrayBuilder {
    let words = Reason::ALL.iter().map(|reason| reason.as_str());
    ArrayBuilder::new()
        .description(Some(
            "Why a value is refused, for programs. Stable. `docs/errors.md` says when each is given.",
        ))
        .items(ObjectBuilder::new().schema_type(Type::String).enum_values(Some(words)))
}

/// Builds one response component per error code, with the code's name.
pub(super) fn of_every_code() -> impl Iterator<Item = (&'static str, Response)> {
    catalogue().iter().map(|code| (code.name, error_response(&[*code])))
}

/// Builds one example per error code, with the code's name.
pub(super) fn examples() -> impl Iterator<Item = (&'static str, Example)> {
    catalogue().iter().map(|code| (code.name, example(code)))
}

/// Builds the response for error codes that share a status.
pub(super) fn error_response(codes: &[&'static ErrorCode]) -> Response {
    let status = codes.first().map_or(StatusCode::INTERNAL_SERVER_ERROR, |code| status_of(code));
    let description: Vec<_> = codes.iter().map(|code| format!("`{}`: {}.", code.name, code.when)).collect();
    let example = |code: &ErrorCode| RefOr::Ref(Ref::new(format!("#/components/examples/{}", code.name)));
    let examples = codes.iter().map(|code| (code.name, example(code)));
    let content =
        ContentBuilder::new().schema(Some(schema_of(codes, status))).examples_from_iter(examples).build();
    let response = ResponseBuilder::new()
        .description(description.join("\n\n"))
        .content(JSON, content)
        .header_ref(headers::X_REQUEST_ID, header_ref(headers::X_REQUEST_ID));
    match status {
        StatusCode::UNAUTHORIZED => {
            response.header_ref(headers::WWW_AUTHENTICATE, header_ref(headers::WWW_AUTHENTICATE))
        }
        StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
            response.header_ref(headers::RETRY_AFTER, header_ref(headers::RETRY_AFTER))
        }
        _ => response,
    }
    .build()
}

/// Builds the schema of error bodies, restricted to these codes and their status.
fn schema_of(codes: &[&'static ErrorCode], status: StatusCode) -> AllOfBuilder {
    let error =
        ObjectBuilder::new().schema_type(Type::String).enum_values(Some(codes.iter().map(|code| code.name)));
    let status_code = ObjectBuilder::new().schema_type(Type::Integer).enum_values(Some([status.as_u16()]));
    let narrowed = ObjectBuilder::new().property("error", error).property("statusCode", status_code);
    AllOfBuilder::new().item(Ref::from_schema_name(ERROR_RESPONSE)).item(narrowed)
}

fn example(code: &ErrorCode) -> Example {
    let mut body = json!({
        "error": code.name,
        "message": sentence(code.when),
        "statusCode": code.status,
        "nextAction": code.next_action,
        "nextActions": code.next_action,
    });
    if code.name == codes::SECOND_FACTOR_REQUIRED.name {
        body["challenge"] = json!({
            "id": ChallengeId::SHOWN.example,
            "kinds": ["totp", "recovery_code"],
            "expiresAt": "2026-03-01T12:10:00.000Z",
        });
    }
    if let Some((field, reason)) = example_of_a_field(code) {
        body["field"] = Value::from(field);
        body["reasons"] = json!([reason.as_str()]);
    }
    body["requestId"] = Value::from("01a1fe77-b16f-7f14-9c44-541c7486022d");
    ExampleBuilder::new().value(Some(body)).build()
}

/// Returns a field and reason for the example of this code; `None` if the code is never about a field.
fn example_of_a_field(code: &ErrorCode) -> Option<(&'static str, Reason)> {
    match code.name {
        "VALIDATION_ERROR" => Some(("email", Reason::InvalidFormat)),
        "WEAK_PASSWORD" => Some(("password", Reason::TooShort)),
        "REDIRECT_NOT_ALLOWED" => Some(("redirectTo", Reason::NotAllowed)),
        _ => None,
    }
}

/// Makes a sentence of a phrase: capital first letter, full stop.
fn sentence(text: &str) -> String {
    let mut rest = text.chars();
    let capital: String = rest.next().into_iter().flat_map(char::to_uppercase).collect();
    format!("{capital}{}.", rest.as_str())
}
