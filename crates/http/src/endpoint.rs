//! The form of an endpoint: method, path, access, words, parameters, body, responses and errors as one value, which
//! stands above its handler. `api.rs` lists all of them; router, document and tests are made of that list.

use std::borrow::Cow;

use axum::routing::{MethodFilter, MethodRouter};
use http::StatusCode;
use serde::de::DeserializeOwned;
use serde_json::Value;
use utoipa::ToSchema;
use utoipa::openapi::example::Example;
use utoipa::openapi::path::Parameter;
use utoipa::openapi::{RefOr, Schema};

use crate::app::App;
use crate::body::fields_of;
use crate::error::ErrorCode;

/// A named schema of the document's components.
pub(crate) type NamedSchema = (String, RefOr<Schema>);

/// An endpoint: a method of a path, with its handler and its description.
#[derive(Clone, Copy)]
pub struct Endpoint {
    /// The HTTP method.
    pub method: Method,
    /// The path, with `{…}` for parameters.
    pub path: &'static str,
    /// The credentials that it takes.
    pub access: Access,
    /// The body that it reads.
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

/// Puts a handler under a method: `|method| on(method, handler)`.
pub(crate) type Route = fn(MethodFilter) -> MethodRouter<App>;

/// A method of HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// `GET`, and `HEAD` with it.
    Get,
    /// `POST`.
    Post,
    /// `PUT`.
    Put,
    /// `PATCH`.
    Patch,
    /// `DELETE`.
    Delete,
}

/// The credentials that an endpoint takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// None; those that are sent are not read.
    Open,
    /// None, or the anonymous key where the operator demands it.
    Public,
    /// As [`Self::Public`]; a signed-in user does more with it.
    PublicOrUser,
    /// The access token of a signed-in user.
    User,
    /// An admin key.
    Admin,
    /// As [`Self::Public`], and with an admin key the operation of an admin.
    PublicOrAdmin,
    /// A refresh token: the cookie, or the token in the body.
    Refresh,
    /// The refresh cookie.
    Cookie,
    /// Any credential of a session, or none.
    SignOut,
    /// None, in development mode; elsewhere the path does not exist. Not in the document.
    Development,
}

/// The body of a request.
#[derive(Clone, Copy)]
pub enum Body {
    /// None is read.
    None,
    /// None is expected; one with keys is refused.
    Empty,
    /// A form of texts, with its description.
    Form(&'static str),
    /// A JSON object.
    Json(JsonRequest),
}

/// A JSON object that an endpoint reads.
#[derive(Clone, Copy)]
pub struct JsonRequest {
    /// The keys that the request's type reads, in the order of its fields; empty where it reads any key.
    pub keys: fn() -> Vec<&'static str>,
    /// The limit of its size.
    pub size: Size,
    pub(crate) schema: SchemaOf,
    pub(crate) is_required: bool,
    pub(crate) examples: Examples,
}

/// The size of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// At most 64 KiB.
    Usual,
    /// At most 256 KiB.
    Profile,
}

/// The examples of a body.
#[derive(Clone, Copy)]
pub(crate) enum Examples {
    One(fn() -> Value),
    Named(fn() -> Vec<(&'static str, Example)>),
}

/// The response of a success, as JSON.
#[derive(Clone, Copy)]
pub(crate) struct JsonResponse {
    pub(crate) status: StatusCode,
    pub(crate) description: &'static str,
    pub(crate) headers: &'static [&'static str],
    pub(crate) schema: SchemaOf,
}

/// The schema of a type, and those that it refers to.
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
    /// The name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }

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
    /// Is true where the anonymous key is checked before the handler.
    pub(crate) const fn wants_anon_key(self) -> bool {
        matches!(self, Self::Public | Self::PublicOrUser)
    }
}

/// Builds the value of an endpoint.
impl Endpoint {
    /// `GET`, and `HEAD` with it.
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

    /// Sets the operation id, which clients are generated from, and a summary of a few words.
    pub(crate) const fn named(mut self, id: &'static str, summary: &'static str) -> Self {
        (self.id, self.summary) = (id, summary);
        self
    }

    /// Sets the description, in `CommonMark`.
    pub(crate) const fn about(mut self, text: &'static str) -> Self {
        self.about = text;
        self
    }

    /// Sets the credentials; the errors that they bring are added by the document.
    pub(crate) const fn access(mut self, access: Access) -> Self {
        self.access = access;
        self
    }

    /// Sets the parameters of path, query string and headers.
    pub(crate) const fn parameters(mut self, parameters: &'static [fn() -> Parameter]) -> Self {
        self.parameters = parameters;
        self
    }

    /// Sets a JSON body that has to be sent, with an example.
    pub(crate) const fn body<T: ToSchema + DeserializeOwned>(self, example: fn() -> Value) -> Self {
        self.json(SchemaOf::of::<T>(), keys_of::<T>, Examples::One(example), Size::Usual)
    }

    /// Sets a JSON body that can be left out.
    pub(crate) const fn optional_body<T: ToSchema + DeserializeOwned>(self, example: fn() -> Value) -> Self {
        let mut this = self.body::<T>(example);
        if let Body::Json(request) = &mut this.body {
            request.is_required = false;
        }
        this
    }

    /// Sets a JSON body of at most 256 KiB; `keys` says what it reads.
    pub(crate) const fn profile_body<T: ToSchema>(
        self,
        keys: fn() -> Vec<&'static str>,
        example: fn() -> Value,
    ) -> Self {
        self.json(SchemaOf::of::<T>(), keys, Examples::One(example), Size::Profile)
    }

    /// Sets a JSON body of several shapes, with an example of each.
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
        self.body = Body::Json(JsonRequest { keys, size, schema, is_required: true, examples });
        self
    }

    /// Sets that a body with keys is refused.
    pub(crate) const fn no_body(mut self) -> Self {
        self.body = Body::Empty;
        self
    }

    /// Sets a body that is a form. Its errors are the endpoint's own: people see them.
    pub(crate) const fn form(mut self, description: &'static str) -> Self {
        self.body = Body::Form(description);
        self
    }

    /// Sets the response of a success: 200 with a JSON body.
    pub(crate) const fn responds<T: ToSchema>(self, description: &'static str) -> Self {
        self.responds_with::<T>(StatusCode::OK, description, &[])
    }

    /// Sets the response of a success, with headers by their names in the document.
    pub(crate) const fn responds_with<T: ToSchema>(
        mut self,
        status: StatusCode,
        description: &'static str,
        headers: &'static [&'static str],
    ) -> Self {
        self.response = Some(JsonResponse { status, description, headers, schema: SchemaOf::of::<T>() });
        self
    }

    /// Sets a redirect of the browser (302).
    pub(crate) const fn redirects(mut self, description: &'static str) -> Self {
        self.redirect = Some(description);
        self
    }

    /// Sets a page for people, with status 200.
    pub(crate) const fn page(mut self, description: &'static str) -> Self {
        self.page = Some(description);
        self
    }

    /// Sets a page for people, with status 400.
    pub(crate) const fn bad_request_page(mut self, description: &'static str) -> Self {
        self.bad_request_page = Some(description);
        self
    }

    /// Sets the error codes besides those of every endpoint, of the access and of the body.
    pub(crate) const fn errors(mut self, errors: &'static [&'static ErrorCode]) -> Self {
        self.errors = errors;
        self
    }

    /// Sets that the storage is not touched.
    pub(crate) const fn without_storage(mut self) -> Self {
        self.touches_storage = false;
        self
    }

    /// The handler under its method.
    pub(crate) fn route(&self) -> MethodRouter<App> {
        (self.route)(self.method.filter())
    }
}

/// The keys that a request reads.
pub(crate) fn keys_of<T: DeserializeOwned>() -> Vec<&'static str> {
    fields_of::<T>().to_vec()
}
