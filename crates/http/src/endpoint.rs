//! The type of an endpoint: method, path, access, texts, parameters, body, responses and errors as one value, defined
//! above its handler. `api.rs` lists all of them; the router, the `OpenAPI` document and tests are derived from that
//! list.

use std::borrow::Cow;

use axum::routing::{MethodFilter, MethodRouter};
use http::StatusCode;
use latchkey_domain::words;
use serde::de::DeserializeOwned;
use serde_json::Value;
use utoipa::ToSchema;
use utoipa::openapi::example::Example;
use utoipa::openapi::path::Parameter;
use utoipa::openapi::{RefOr, Schema};

use crate::app::App;
use crate::body::fields_of;
use crate::error::ErrorCode;

words! {
    /// Content type of a success.
    pub enum Content {
        /// One JSON value.
        Json = "application/json",
        /// JSON values, one a line.
        JsonLines = "application/x-ndjson",
    }
}

/// A schema of the `OpenAPI` document's components, with its name.
pub(crate) type NamedSchema = (String, RefOr<Schema>);

/// An endpoint: a method of a path, with its handler and its description.
#[derive(Clone, Copy)]
pub struct Endpoint {
    pub method: Method,
    /// The path, with `{name}` for each parameter.
    pub path: &'static str,
    /// The credentials that the endpoint accepts.
    pub access: Access,
    /// The kind of request body that the endpoint reads.
    pub body: Body,
    pub(crate) id: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) about: &'static str,
    pub(crate) parameters: &'static [fn() -> Parameter],
    pub(crate) response: Option<JsonResponse>,
    pub(crate) redirect: Option<&'static str>,
    pub(crate) page: Option<&'static str>,
    pub(crate) bad_request_page: Option<&'static str>,
    pub(crate) errors: &'static [&'static ErrorCode],
    pub(crate) touches_storage: bool,
    route: Route,
}

/// Function that registers a handler for a method: `|method| on(method, handler)`.
pub(crate) type Route = fn(MethodFilter) -> MethodRouter<App>;

words! {
    pub enum Method {
        /// `GET`; axum answers `HEAD` with the same handler.
        Get = "GET",
        Post = "POST",
        Put = "PUT",
        Patch = "PATCH",
        Delete = "DELETE",
    }
}

/// The credentials that an endpoint accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// No credentials; any that are sent are ignored.
    Open,
    /// No credentials, or `auth.anon_key` as bearer token if the setting `auth.require_anon_key` is on.
    Public,
    /// As [`Self::Public`]; the access token of a user is accepted too.
    PublicOrUser,
    /// The access token of a signed-in user.
    User,
    /// An admin key.
    Admin,
    /// As [`Self::Public`]; an admin key selects the admin's operation on the same path.
    PublicOrAdmin,
    /// A refresh token, in the cookie or in the body.
    Refresh,
    /// The refresh cookie.
    Cookie,
    /// Any credential of a session, or none: sign-out without a session is no error.
    SignOut,
    /// No credentials. The endpoint exists in development mode only, and is not in the `OpenAPI` document.
    Development,
}

#[derive(Clone, Copy)]
pub enum Body {
    /// The body is ignored.
    None,
    /// No body is expected; a JSON object with keys is refused.
    Empty,
    /// A form (`application/x-www-form-urlencoded`), with a description for the `OpenAPI` document.
    Form(&'static str),
    /// A file of any content type, with a description for the `OpenAPI` document.
    File(&'static str),
    Json(JsonRequest),
}

/// A JSON body that an endpoint reads.
#[derive(Clone, Copy)]
pub struct JsonRequest {
    /// The keys that the request's type reads, in the order of its fields; empty if it accepts any key.
    pub keys: fn() -> Vec<&'static str>,
    pub size: Size,
    pub(crate) schema: SchemaOf,
    pub(crate) is_required: bool,
    pub(crate) examples: Examples,
    /// True if the endpoint reads a form with the same fields too.
    pub or_form: bool,
}

/// The size limit that applies to a JSON body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// A body of at most 64 KiB, the usual limit.
    Usual,
    /// A body of at most 256 KiB, for profiles.
    Profile,
}

/// Examples of a request body in the `OpenAPI` document: one, or several with names.
#[derive(Clone, Copy)]
pub(crate) enum Examples {
    One(fn() -> Value),
    Named(fn() -> Vec<(&'static str, Example)>),
}

/// The JSON response of a success.
#[derive(Clone, Copy)]
pub(crate) struct JsonResponse {
    pub(crate) status: StatusCode,
    pub(crate) content: Content,
    pub(crate) description: &'static str,
    pub(crate) headers: &'static [&'static str],
    pub(crate) schema: SchemaOf,
}

/// The schema of a type and of the types that it refers to.
#[derive(Clone, Copy)]
pub(crate) struct SchemaOf {
    pub(crate) name: fn() -> Cow<'static, str>,
    pub(crate) schema: fn() -> RefOr<Schema>,
    pub(crate) referred: fn(&mut Vec<NamedSchema>),
}

impl SchemaOf {
    const fn of<T: ToSchema>() -> Self {
        Self { name: T::name, schema: T::schema, referred: T::schemas }
    }
}

impl Method {
    const fn filter(self) -> MethodFilter {
        match self {
            Self::Get => MethodFilter::GET,
            Self::Post => MethodFilter::POST,
            Self::Put => MethodFilter::PUT,
            Self::Patch => MethodFilter::PATCH,
            Self::Delete => MethodFilter::DELETE,
        }
    }
}

impl Access {
    /// True if `auth.anon_key` is checked before the handler runs, where the settings require that key.
    pub(crate) const fn wants_anon_key(self) -> bool {
        matches!(self, Self::Public | Self::PublicOrUser)
    }
}

/// Builder methods. They are `const`, because every endpoint is a constant.
impl Endpoint {
    /// Describes a `GET` endpoint; axum answers `HEAD` with the same handler.
    pub(crate) const fn get(path: &'static str, route: Route) -> Self {
        Self::new(Method::Get, path, route)
    }

    pub(crate) const fn post(path: &'static str, route: Route) -> Self {
        Self::new(Method::Post, path, route)
    }

    pub(crate) const fn put(path: &'static str, route: Route) -> Self {
        Self::new(Method::Put, path, route)
    }

    pub(crate) const fn patch(path: &'static str, route: Route) -> Self {
        Self::new(Method::Patch, path, route)
    }

    pub(crate) const fn delete(path: &'static str, route: Route) -> Self {
        Self::new(Method::Delete, path, route)
    }

    const fn new(method: Method, path: &'static str, route: Route) -> Self {
        Self {
            method,
            path,
            route,
            access: Access::Open,
            body: Body::None,
            id: "",
            summary: "",
            about: "",
            parameters: &[],
            response: None,
            redirect: None,
            page: None,
            bad_request_page: None,
            errors: &[],
            touches_storage: true,
        }
    }

    /// Sets the operation id, from which the client's types are generated, and a short summary.
    pub(crate) const fn named(mut self, id: &'static str, summary: &'static str) -> Self {
        (self.id, self.summary) = (id, summary);
        self
    }

    /// Sets the description, in `CommonMark`.
    pub(crate) const fn about(mut self, text: &'static str) -> Self {
        self.about = text;
        self
    }

    /// Sets the credentials. The `OpenAPI` document adds the errors that they can cause.
    pub(crate) const fn access(mut self, access: Access) -> Self {
        self.access = access;
        self
    }

    pub(crate) const fn parameters(mut self, parameters: &'static [fn() -> Parameter]) -> Self {
        self.parameters = parameters;
        self
    }

    /// Sets a required JSON body, with an example.
    pub(crate) const fn body<T: ToSchema + DeserializeOwned>(self, example: fn() -> Value) -> Self {
        self.json(SchemaOf::of::<T>(), keys_of::<T>, Examples::One(example), Size::Usual)
    }

    /// Sets an optional JSON body, with an example.
    pub(crate) const fn optional_body<T: ToSchema + DeserializeOwned>(self, example: fn() -> Value) -> Self {
        let mut this = self.body::<T>(example);
        if let Body::Json(request) = &mut this.body {
            request.is_required = false;
        }
        this
    }

    /// Sets a JSON body of at most 256 KiB. `keys` lists the keys that the endpoint reads.
    pub(crate) const fn profile_body<T: ToSchema>(
        self,
        keys: fn() -> Vec<&'static str>,
        example: fn() -> Value,
    ) -> Self {
        self.json(SchemaOf::of::<T>(), keys, Examples::One(example), Size::Profile)
    }

    /// Sets a JSON body that has several forms, with an example of each.
    pub(crate) const fn body_of_shapes<T: ToSchema>(
        self,
        keys: fn() -> Vec<&'static str>,
        examples: fn() -> Vec<(&'static str, Example)>,
    ) -> Self {
        self.json(SchemaOf::of::<T>(), keys, Examples::Named(examples), Size::Usual)
    }

    const fn json(
        mut self,
        schema: SchemaOf,
        keys: fn() -> Vec<&'static str>,
        examples: Examples,
        size: Size,
    ) -> Self {
        self.body =
            Body::Json(JsonRequest { keys, size, schema, is_required: true, examples, or_form: false });
        self
    }

    /// Declares that no body is expected: a JSON object with keys is refused.
    pub(crate) const fn no_body(mut self) -> Self {
        self.body = Body::Empty;
        self
    }

    /// Sets a form as the request body. A browser sends the form, so the error responses are HTML pages.
    pub(crate) const fn form(mut self, description: &'static str) -> Self {
        self.body = Body::Form(description);
        self
    }

    /// Sets a file as the request body.
    pub(crate) const fn file(mut self, description: &'static str) -> Self {
        self.body = Body::File(description);
        self
    }

    /// Declares that the endpoint accepts its body as a form too, which a page of this service sends. The responses to
    /// the form are HTML pages.
    pub(crate) const fn or_form(mut self) -> Self {
        if let Body::Json(request) = &mut self.body {
            request.or_form = true;
        }
        self
    }

    /// Sets the success response: 200 with a JSON body.
    pub(crate) const fn responds<T: ToSchema>(self, description: &'static str) -> Self {
        self.responds_with::<T>(StatusCode::OK, description, &[])
    }

    /// Sets the success response. `headers` are names of response headers in `openapi::headers`.
    pub(crate) const fn responds_with<T: ToSchema>(
        mut self,
        status: StatusCode,
        description: &'static str,
        headers: &'static [&'static str],
    ) -> Self {
        let (content, schema) = (Content::Json, SchemaOf::of::<T>());
        self.response = Some(JsonResponse { status, content, description, headers, schema });
        self
    }

    /// Sets the success response: 200 with JSON lines, each a `T`.
    pub(crate) const fn responds_with_lines<T: ToSchema>(
        mut self,
        description: &'static str,
        headers: &'static [&'static str],
    ) -> Self {
        let (status, content, schema) = (StatusCode::OK, Content::JsonLines, SchemaOf::of::<T>());
        self.response = Some(JsonResponse { status, content, description, headers, schema });
        self
    }

    /// Declares that the endpoint can redirect the browser (302).
    pub(crate) const fn redirects(mut self, description: &'static str) -> Self {
        self.redirect = Some(description);
        self
    }

    /// Declares that the endpoint can respond with an HTML page, status 200.
    pub(crate) const fn page(mut self, description: &'static str) -> Self {
        self.page = Some(description);
        self
    }

    /// Declares that the endpoint can respond with an HTML page, status 400.
    pub(crate) const fn bad_request_page(mut self, description: &'static str) -> Self {
        self.bad_request_page = Some(description);
        self
    }

    /// Sets the error codes that are specific to this endpoint. The `OpenAPI` document adds the codes that all
    /// endpoints share and those that follow from the endpoint's [`Access`] and body.
    pub(crate) const fn errors(mut self, errors: &'static [&'static ErrorCode]) -> Self {
        self.errors = errors;
        self
    }

    /// Declares that the endpoint does not use the database, so it has no storage errors.
    pub(crate) const fn without_storage(mut self) -> Self {
        self.touches_storage = false;
        self
    }

    /// Builds the route: the handler, registered for the endpoint's method.
    pub(crate) fn route(&self) -> MethodRouter<App> {
        (self.route)(self.method.filter())
    }
}

pub(crate) fn keys_of<T: DeserializeOwned>() -> Vec<&'static str> {
    fields_of::<T>().to_vec()
}
