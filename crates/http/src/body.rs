//! Extractors of request bodies: they read bytes within a limit, parse strict JSON, and convert it to the request's
//! type. Errors name the field in the client's spelling. The domain types validate the values.

mod describe;
mod fields;
mod patch;
mod read;
mod upload;

use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use latchkey_domain::reason::Reason;
use latchkey_domain::strict_json::{JsonProblem, parse_object};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::error::{ApiError, Result, codes};
use crate::query::{MOST_PARAMETERS, Query};
use crate::settings::{HttpSettings, RouterState, UPLOAD_TIME};

pub(crate) use fields::fields_of;
pub use patch::Patch;
pub use upload::{UploadForm, UploadedFile};

/// A JSON body of at most `body_limit` bytes, read into `T`. An empty body reads as `{}`.
///
/// Errors: 400 `VALIDATION_ERROR`, 408 `REQUEST_TIMEOUT`, 413 `PAYLOAD_TOO_LARGE`, 415 `UNSUPPORTED_MEDIA_TYPE`.
/// Unknown keys are ignored unless `T` reads them.
pub struct JsonBody<T>(pub T);

/// A JSON body of at most `profile_body_limit` bytes, for the profile endpoints. An empty body is 400.
pub struct ProfileBody<T>(pub T);

/// A form (`application/x-www-form-urlencoded`) of at most `body_limit` bytes. Each field occurs once, also one that the
/// handler does not read. What is in the query string is no field.
pub struct FormBody(pub Query);

/// A form of at most `body_limit` bytes, parsed together with the query string. A name that occurs in both counts as given
/// twice.
pub struct FormAndQuery(pub Query);

/// A request body in JSON or as a form. Programs send JSON, a page of this service sends the form; `Content-Type` says
/// which it is.
pub enum JsonOrForm<T> {
    Json(T),
    Form(Query),
}

/// A file to import, of at most `upload_limit` bytes, whatever its content type is.
pub struct FileBody(pub Bytes);

impl<S: RouterState> FromRequest<S> for FileBody {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self> {
        let (parts, body) = request.into_parts();
        read::read(&parts.headers, body, state.http_settings().upload_limit, UPLOAD_TIME).await.map(Self)
    }
}

impl<S: RouterState, T: DeserializeOwned> FromRequest<S> for JsonOrForm<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self> {
        if read::check_form_type(request.headers()).is_ok() {
            let form = FormAndQuery::from_request(request, state).await;
            return form.map(|FormAndQuery(said)| Self::Form(said));
        }
        JsonBody::from_request(request, state).await.map(|JsonBody(body)| Self::Json(body))
    }
}

impl<S: RouterState> FromRequest<S> for FormBody {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self> {
        Self::up_to(MOST_PARAMETERS, request, state).await
    }
}

impl FormBody {
    /// Reads a form that has at most `most` fields.
    pub async fn up_to<S: RouterState>(most: usize, request: Request, state: &S) -> Result<Self> {
        let (_, form) = form_of(request, state.http_settings()).await?;
        Query::parse_up_to(most, &form)?.each_once().map(Self)
    }
}

impl<S: RouterState> FromRequest<S> for FormAndQuery {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self> {
        let (query, form) = form_of(request, state.http_settings()).await?;
        Query::parse(&format!("{query}&{form}")).map(Self)
    }
}

/// Reads the query string of a request and the form in its body, which may be empty.
async fn form_of(request: Request, settings: &HttpSettings) -> Result<(String, String)> {
    let (parts, body) = request.into_parts();
    let bytes = read::read(&parts.headers, body, settings.body_limit, settings.body_timeout).await?;
    if !bytes.is_empty() {
        read::check_form_type(&parts.headers)?;
    }
    let form = std::str::from_utf8(&bytes).map_err(|_| {
        ApiError::new(&codes::VALIDATION_ERROR, "The body is not a form in UTF-8.").reason(Reason::Malformed)
    })?;
    Ok((parts.uri.query().unwrap_or_default().to_owned(), form.to_owned()))
}

impl<S: RouterState, T: DeserializeOwned> FromRequest<S> for JsonBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self> {
        let settings = state.http_settings();
        let object = object_of(request, settings.body_limit, settings).await?;
        from_object(object.unwrap_or_default()).map(Self)
    }
}

impl<S: RouterState, T: DeserializeOwned> FromRequest<S> for ProfileBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self> {
        let settings = state.http_settings();
        let object = object_of(request, settings.profile_body_limit, settings).await?;
        let missing =
            || ApiError::new(&codes::VALIDATION_ERROR, "The body is required.").reason(Reason::Required);
        from_object(object.ok_or_else(missing)?).map(Self)
    }
}

impl From<JsonProblem> for ApiError {
    fn from(problem: JsonProblem) -> Self {
        let error = Self::new(&codes::VALIDATION_ERROR, problem.sentence)
            .next_action("Send one well-formed JSON object in UTF-8.")
            .reason(problem.reason);
        match problem.field {
            Some(field) => error.field(&field),
            None => error,
        }
    }
}

/// Reads a parsed JSON object into `T`. A failure is 400 `VALIDATION_ERROR` that names the field.
pub fn from_object<T: DeserializeOwned>(object: Map<String, Value>) -> Result<T> {
    serde_path_to_error::deserialize(Value::Object(object))
        .map_err(|error| describe::describe(error.path(), &error.inner().to_string()))
}

/// Reads the JSON object in a request body; `None` for an empty body.
async fn object_of(
    request: Request,
    limit: usize,
    settings: &HttpSettings,
) -> Result<Option<Map<String, Value>>> {
    let (parts, body) = request.into_parts();
    let bytes = read::read(&parts.headers, body, limit, settings.body_timeout).await?;
    if bytes.is_empty() {
        return Ok(None);
    }
    read::check_content_type(&parts.headers)?;
    Ok(Some(parse_object("body", &bytes)?))
}

#[cfg(test)]
mod tests;
