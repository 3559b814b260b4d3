//! JSON responses. The endpoints define the contents of the responses.

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use http::header::CONTENT_TYPE;
use serde::Serialize;

use crate::error::{ApiError, JSON_CONTENT_TYPE};

/// Initial capacities of a response: bytes of the body, and number of headers with those that the middleware adds.
/// Most responses fit, so the buffers need not grow.
const USUAL_BODY: usize = 512;
const USUAL_HEADERS: usize = 12;

/// Response with a JSON body in UTF-8, followed by a line feed. The status is 200 unless given, as in
/// `(StatusCode::ACCEPTED, Json(value))`.
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
