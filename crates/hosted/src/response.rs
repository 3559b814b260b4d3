//! Responses of pages, with the headers that every page has.

use axum::response::{IntoResponse, Response};
use http::header::CONTENT_TYPE;
use http::{HeaderName, HeaderValue, StatusCode};
use latchkey_pages::HEADERS;

/// Response extension: the body is a page already.
#[derive(Clone, Copy)]
pub(crate) struct IsPage;

/// Builds the response of a rendered page.
pub(crate) fn html(status: StatusCode, html: String) -> Response {
    let content_type = [(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"))];
    let mut response = (status, content_type, html).into_response();
    add_headers(&mut response);
    response.extensions_mut().insert(IsPage);
    response
}

/// Adds the headers of every page.
pub(crate) fn add_headers(response: &mut Response) {
    for (name, value) in HEADERS {
        let name = HeaderName::from_static(name);
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
}
