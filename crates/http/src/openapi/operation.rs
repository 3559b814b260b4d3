//! One operation of the document, put together from a few words: who may call it, what it takes, what it answers.
//! What follows for every operation of a kind (a body can be too large, an admin key can be wrong) is added here, so
//! that no table has to repeat it. The tables are in [`super::operations`].

use http::StatusCode;
use serde_json::Value;
use utoipa::ToSchema;
use utoipa::openapi::path::{HttpMethod, Operation as PathOperation, OperationBuilder, Parameter};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::{
    ContentBuilder, Ref, RefOr, Required, Response, ResponseBuilder, Responses, ResponsesBuilder, Schema,
};

use super::access::Access;
use super::headers::{self, header_ref};
use super::responses::error_response;
use super::tags::Tag;
use crate::error::codes::{
    HEADERS_TOO_LARGE, INTERNAL_ERROR, PAYLOAD_TOO_LARGE, REQUEST_TIMEOUT, SERVICE_BUSY, STORAGE_UNAVAILABLE,
    UNSUPPORTED_MEDIA_TYPE, URI_TOO_LONG, VALIDATION_ERROR,
};
use crate::error::{ErrorCode, status_of};

/// The media type of bodies and answers.
pub(super) const JSON: &str = "application/json";
const HTML: &str = "text/html";
const FORM: &str = "application/x-www-form-urlencoded";

/// What every answer to a request can be, whatever the route.
const ALWAYS: [&ErrorCode; 5] =
    [&VALIDATION_ERROR, &URI_TOO_LONG, &HEADERS_TOO_LARGE, &INTERNAL_ERROR, &SERVICE_BUSY];
/// What a body can cause.
const OF_A_BODY: [&ErrorCode; 4] =
    [&VALIDATION_ERROR, &REQUEST_TIMEOUT, &PAYLOAD_TOO_LARGE, &UNSUPPORTED_MEDIA_TYPE];

/// A named schema of the components.
pub(super) type NamedSchema = (String, RefOr<Schema>);

/// An operation in the making.
pub(super) struct Operation {
    pub(super) method: HttpMethod,
    pub(super) path: &'static str,
    pub(super) schemas: Vec<NamedSchema>,
    id: &'static str,
    summary: &'static str,
    about: &'static str,
    tag: Tag,
    access: Access,
    parameters: Vec<Parameter>,
    body: Option<RequestBodyBuilder>,
    answers: Vec<(StatusCode, Response)>,
    errors: Vec<&'static ErrorCode>,
    /// What a page with status 400 says.
    bad_request_page: Option<&'static str>,
}

impl Operation {
    /// An operation of a path, by its id and a summary of a few words.
    pub(super) fn new(
        method: HttpMethod,
        path: &'static str,
        tag: Tag,
        id: &'static str,
        summary: &'static str,
    ) -> Self {
        let mut errors = ALWAYS.to_vec();
        errors.push(&STORAGE_UNAVAILABLE);
        Self {
            method,
            path,
            schemas: Vec::new(),
            id,
            summary,
            about: "",
            tag,
            access: Access::Open,
            parameters: Vec::new(),
            body: None,
            answers: Vec::new(),
            errors,
            bad_request_page: None,
        }
    }

    /// What it does, in sentences (`CommonMark`).
    pub(super) fn about(mut self, text: &'static str) -> Self {
        self.about = text;
        self
    }

    /// Who may call it, with the errors that this brings.
    pub(super) fn access(mut self, access: Access) -> Self {
        self.errors.extend(access.errors());
        self.access = access;
        self
    }

    /// A parameter of the path, the query string or the headers.
    pub(super) fn parameter(mut self, parameter: Parameter) -> Self {
        self.parameters.push(parameter);
        self
    }

    /// A body that must be there, with an example.
    pub(super) fn body<T: ToSchema>(self, example: Value) -> Self {
        self.body_with::<T>(Required::True, |content| content.example(Some(example)))
    }

    /// A body that can be left out: no field of it is needed.
    pub(super) fn optional_body<T: ToSchema>(self, example: Value) -> Self {
        self.body_with::<T>(Required::False, |content| content.example(Some(example)))
    }

    /// A body with more than one example, or none.
    pub(super) fn body_with<T: ToSchema>(
        mut self,
        required: Required,
        content: impl FnOnce(ContentBuilder) -> ContentBuilder,
    ) -> Self {
        let content = content(ContentBuilder::new().schema(Some(self.refer_to::<T>())));
        self.body = Some(RequestBodyBuilder::new().required(Some(required)).content(JSON, content.build()));
        self.errors.extend(OF_A_BODY);
        self
    }

    /// It takes no body, and refuses one with keys.
    pub(super) fn no_body(mut self) -> Self {
        self.errors.extend(OF_A_BODY);
        self
    }

    /// A body that is a form of texts. Its refusals are the operation's: people see them.
    pub(super) fn form(mut self, description: &str) -> Self {
        let schema = super::shapes::form_of_texts();
        let content = ContentBuilder::new().schema(Some(schema)).build();
        let body = RequestBodyBuilder::new().description(Some(description)).content(FORM, content);
        self.body = Some(body.required(Some(Required::False)));
        self
    }

    /// A good answer with a JSON body.
    pub(super) fn answers<T: ToSchema>(self, status: StatusCode, description: &str) -> Self {
        self.answers_with::<T>(status, description, &[])
    }

    /// The same with headers, each by its name in [`headers::ALL`].
    pub(super) fn answers_with<T: ToSchema>(
        mut self,
        status: StatusCode,
        description: &str,
        headers: &[&str],
    ) -> Self {
        let content = ContentBuilder::new().schema(Some(self.refer_to::<T>())).build();
        self.answers.push((status, answer(description, headers).content(JSON, content).build()));
        self
    }

    /// A redirect of the browser (302).
    pub(super) fn redirects(mut self, description: &str) -> Self {
        self.answers.push((StatusCode::FOUND, answer(description, &[headers::LOCATION]).build()));
        self
    }

    /// A page for people, with status 200.
    pub(super) fn page(mut self, description: &str) -> Self {
        let html = ContentBuilder::new().schema(Some(super::shapes::html_page())).build();
        self.answers.push((StatusCode::OK, answer(description, &[]).content(HTML, html).build()));
        self
    }

    /// A page for people, with status 400.
    pub(super) fn bad_request_page(mut self, text: &'static str) -> Self {
        self.bad_request_page = Some(text);
        self
    }

    /// What else it can refuse.
    pub(super) fn errors(mut self, errors: &[&'static ErrorCode]) -> Self {
        self.errors.extend_from_slice(errors);
        self
    }

    /// It does not touch the storage.
    pub(super) fn without_storage(mut self) -> Self {
        self.errors.retain(|code| code.name != STORAGE_UNAVAILABLE.name);
        self
    }

    /// The operation as the document has it.
    pub(super) fn build(self) -> PathOperation {
        let responses = self.responses();
        OperationBuilder::new()
            .operation_id(Some(self.id))
            .tag(self.tag.name())
            .summary(Some(self.summary))
            .description((!self.about.is_empty()).then_some(self.about))
            .securities(Some(self.access.requirements()))
            .parameters((!self.parameters.is_empty()).then_some(self.parameters))
            .request_body(self.body.map(RequestBodyBuilder::build))
            .responses(responses)
            .build()
    }

    fn responses(&self) -> Responses {
        let good = self.answers.iter().map(|(status, answer)| (status.as_str(), RefOr::T(answer.clone())));
        let mut responses = ResponsesBuilder::new().responses_from_iter(good);
        let mut statuses: Vec<_> = self.errors.iter().map(|code| status_of(code)).collect();
        statuses.sort();
        statuses.dedup();
        for status in statuses {
            let page = self.bad_request_page.filter(|_| status == StatusCode::BAD_REQUEST);
            responses = responses.response(status.as_str(), self.refusal(status, page));
        }
        responses.build()
    }

    fn refusal(&self, status: StatusCode, page: Option<&str>) -> RefOr<Response> {
        let mut codes: Vec<_> =
            self.errors.iter().copied().filter(|code| status_of(code) == status).collect();
        codes.sort_by_key(|code| code.name);
        codes.dedup_by_key(|code| code.name);
        match (codes.as_slice(), page) {
            ([only], None) => RefOr::Ref(Ref::from_response_name(only.name)),
            (several, None) => RefOr::T(error_response(several)),
            (several, Some(page)) => {
                let mut response = error_response(several);
                response.description = format!("{page}\n\nAs JSON: {}", response.description);
                let html = ContentBuilder::new().schema(Some(super::shapes::html_page())).build();
                response.content.insert(HTML.to_owned(), RefOr::T(html));
                RefOr::T(response)
            }
        }
    }

    /// A reference to the schema of a type, which goes to the components with all that it refers to.
    fn refer_to<T: ToSchema>(&mut self) -> Ref {
        let name = T::name().into_owned();
        T::schemas(&mut self.schemas);
        self.schemas.push((name.clone(), T::schema()));
        Ref::from_schema_name(name)
    }
}

/// An answer with the header that every answer has, and these.
fn answer(description: &str, headers: &[&str]) -> ResponseBuilder {
    let every = ResponseBuilder::new()
        .description(description)
        .header_ref(headers::X_REQUEST_ID, header_ref(headers::X_REQUEST_ID));
    headers.iter().fold(every, |answer, name| answer.header_ref(*name, header_ref(name)))
}
