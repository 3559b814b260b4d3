//! An endpoint as an operation of the `OpenAPI` document. Errors that all endpoints of a kind share (such as a body
//! that is too large, or a wrong admin key) are added here.

use http::StatusCode;
use utoipa::openapi::path::{HttpMethod, Operation, OperationBuilder, Parameter};
use utoipa::openapi::request_body::{RequestBody, RequestBodyBuilder};
use utoipa::openapi::{
    Content, ContentBuilder, ObjectBuilder, Ref, RefOr, Required, Response, ResponseBuilder, Responses,
    ResponsesBuilder, Type,
};

use super::headers::{self, header_ref};
use super::responses::error_response;
use super::{access, shapes};
use crate::endpoint::{self, Body, Endpoint, Examples, JsonRequest, Method, NamedSchema, SchemaOf};
use crate::error::{ErrorCode, codes, status_of};

pub(super) const JSON: &str = endpoint::Content::Json.as_str();
const HTML: &str = "text/html";
const FORM: &str = "application/x-www-form-urlencoded";

/// Errors that every endpoint can return.
const ALWAYS: [&ErrorCode; 5] = [
    &codes::VALIDATION_ERROR,
    &codes::URI_TOO_LONG,
    &codes::HEADERS_TOO_LARGE,
    &codes::INTERNAL_ERROR,
    &codes::SERVICE_BUSY,
];
/// Errors that every endpoint with a JSON body can return.
const OF_A_BODY: [&ErrorCode; 4] = [
    &codes::VALIDATION_ERROR,
    &codes::REQUEST_TIMEOUT,
    &codes::PAYLOAD_TOO_LARGE,
    &codes::UNSUPPORTED_MEDIA_TYPE,
];

/// Builds the operation of an endpoint; `tag` is the name of its group.
pub(super) fn operation(endpoint: &Endpoint, tag: &str) -> Operation {
    let parameters: Vec<Parameter> = endpoint.parameters.iter().map(|parameter| parameter()).collect();
    OperationBuilder::new()
        .operation_id(Some(endpoint.id))
        .tag(tag)
        .summary(Some(endpoint.summary))
        .description((!endpoint.about.is_empty()).then_some(endpoint.about))
        .securities(Some(access::requirements(endpoint.access)))
        .parameters((!parameters.is_empty()).then_some(parameters))
        .request_body(request_body(endpoint.body))
        .responses(responses(endpoint))
        .build()
}

pub(super) const fn method(method: Method) -> HttpMethod {
    match method {
        Method::Get => HttpMethod::Get,
        Method::Post => HttpMethod::Post,
        Method::Put => HttpMethod::Put,
        Method::Patch => HttpMethod::Patch,
        Method::Delete => HttpMethod::Delete,
    }
}

/// Returns the schemas that an endpoint uses, and the schemas to which these refer.
pub(super) fn schemas(endpoint: &Endpoint) -> Vec<NamedSchema> {
    let body = if let Body::Json(JsonRequest { schema, .. }) = endpoint.body { Some(schema) } else { None };
    let mut schemas = Vec::new();
    for schema in body.into_iter().chain(endpoint.response.map(|response| response.schema)) {
        (schema.referred)(&mut schemas);
        schemas.push(((schema.name)().into_owned(), (schema.schema)()));
    }
    schemas
}

fn request_body(body: Body) -> Option<RequestBody> {
    let request = RequestBodyBuilder::new();
    match body {
        Body::None | Body::Empty => None,
        Body::Form(description) => {
            let request = request.description(Some(description)).required(Some(Required::False));
            Some(request.content(FORM, form()).build())
        }
        Body::File(description) => {
            let schema = ObjectBuilder::new().schema_type(Type::String);
            let content = ContentBuilder::new().schema(Some(schema.build())).build();
            let request = request.description(Some(description)).required(Some(Required::True));
            Some(request.content("application/octet-stream", content).build())
        }
        Body::Json(json) => {
            let content = ContentBuilder::new().schema(Some(reference(json.schema)));
            let content = match json.examples {
                Examples::One(example) => content.example(Some(example())),
                Examples::Named(examples) => content.examples_from_iter(examples()),
            };
            let required = if json.is_required { Required::True } else { Required::False };
            let request = request.required(Some(required)).content(JSON, content.build());
            let request = if json.or_form { request.content(FORM, form()) } else { request };
            Some(request.build())
        }
    }
}

fn responses(endpoint: &Endpoint) -> Responses {
    let json = endpoint.response.map(|response| {
        let content = ContentBuilder::new().schema(Some(reference(response.schema))).build();
        (
            response.status,
            success(response.description, response.headers).content(response.content.as_str(), content),
        )
    });
    let redirect = endpoint.redirect.map(|text| (StatusCode::FOUND, success(text, &[headers::LOCATION])));
    let page = endpoint.page.map(|text| (StatusCode::OK, success(text, &[]).content(HTML, html())));
    let good = json.into_iter().chain(redirect).chain(page);
    let good = good.map(|(status, response)| (status.as_str().to_owned(), RefOr::T(response.build())));

    let codes = errors(endpoint);
    let mut statuses: Vec<_> = codes.iter().map(|code| status_of(code)).collect();
    statuses.sort();
    statuses.dedup();
    let refused = statuses.into_iter().map(|status| {
        let page = endpoint.bad_request_page.filter(|_| status == StatusCode::BAD_REQUEST);
        let codes: Vec<_> = codes.iter().copied().filter(|code| status_of(code) == status).collect();
        (status.as_str().to_owned(), refusal(&codes, page))
    });
    ResponsesBuilder::new().responses_from_iter(good.chain(refused)).build()
}

/// Returns the error codes of an endpoint, sorted by name.
fn errors(endpoint: &Endpoint) -> Vec<&'static ErrorCode> {
    let mut codes = [ALWAYS.as_slice(), access::errors(endpoint.access), endpoint.errors].concat();
    if endpoint.touches_storage {
        codes.push(&codes::STORAGE_UNAVAILABLE);
    }
    if matches!(endpoint.body, Body::File(_)) {
        codes.push(&codes::PAYLOAD_TOO_LARGE);
        codes.push(&codes::REQUEST_TIMEOUT);
    }
    if matches!(endpoint.body, Body::Json(_) | Body::Empty) {
        codes.extend(OF_A_BODY);
    }
    codes.sort_by_key(|code| code.name);
    codes.dedup_by_key(|code| code.name);
    codes
}

fn refusal(codes: &[&'static ErrorCode], page: Option<&str>) -> RefOr<Response> {
    match (codes, page) {
        ([only], None) => RefOr::Ref(Ref::from_response_name(only.name)),
        (several, None) => RefOr::T(error_response(several)),
        (several, Some(page)) => {
            let mut response = error_response(several);
            response.description = format!("{page}\n\nAs JSON: {}", response.description);
            response.content.insert(HTML.to_owned(), RefOr::T(html()));
            RefOr::T(response)
        }
    }
}

fn form() -> Content {
    ContentBuilder::new().schema(Some(shapes::form_of_texts())).build()
}

fn html() -> Content {
    ContentBuilder::new().schema(Some(shapes::html_page())).build()
}

fn reference(schema: SchemaOf) -> Ref {
    Ref::from_schema_name((schema.name)().into_owned())
}

/// Builds a success response with these headers and `X-Request-Id`, which every response has.
fn success(description: &str, headers: &[&str]) -> ResponseBuilder {
    let every = ResponseBuilder::new()
        .description(description)
        .header_ref(headers::X_REQUEST_ID, header_ref(headers::X_REQUEST_ID));
    headers.iter().fold(every, |response, name| response.header_ref(*name, header_ref(name)))
}
