//! JSON answers. What is in them is the endpoint's matter.

use axum::response::{IntoResponse, Response};
use http::header::CONTENT_TYPE;
use serde::Serialize;

use crate::error::{ApiError, JSON_CONTENT_TYPE};

/// A value as JSON in UTF-8, status 200 unless paired with another: `(StatusCode::ACCEPTED, Json(value))`.
pub struct Json<T>(pub T);

impl<T: Serialize> IntoResponse for Json<T> {
    fn into_response(self) -> Response {
        match serde_json::to_vec(&self.0) {
            Ok(bytes) => ([(CONTENT_TYPE, JSON_CONTENT_TYPE)], bytes).into_response(),
            Err(error) => ApiError::internal(error).into_response(),
        }
    }
}
