//! JSON answers. What is in them is the endpoint's matter.

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use http::header::CONTENT_TYPE;
use serde::Serialize;

use crate::error::{ApiError, JSON_CONTENT_TYPE};

/// Room for what most answers are, so that they are not copied while they grow: bytes of the body, and headers with
/// those that the middleware adds.
const USUAL_BODY: usize = 512;
const USUAL_HEADERS: usize = 12;

/// A value as JSON in UTF-8 with a line feed behind it, status 200 unless paired with another: `(StatusCode::ACCEPTED, Json(value))`.
pub struct Json<T>(pub T);

impl<T: Serialize> IntoResponse for Json<T> {
    fn into_response(self) -> Response {
        let mut bytes = Vec::with_capacity(USUAL_BODY);
        if let Err(error) = serde_json::to_writer(&mut bytes, &self.0) {
            return ApiError::internal(error).into_response();
        }
        bytes.push(b'\n'); // so that a terminal shows its prompt on a line of its own
        let mut response = Response::new(Body::from(bytes));
        response.headers_mut().reserve(USUAL_HEADERS);
        response.headers_mut().insert(CONTENT_TYPE, JSON_CONTENT_TYPE);
        response
    }
}
