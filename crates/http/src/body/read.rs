//! Reads the bytes of a body within limits on size and time, and checks its declared type. The parent module parses
//! them.

use std::time::Duration;

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, StatusCode};
use http_body_util::BodyExt;
use latchkey_domain::reason::Reason;

use crate::error::{ApiError, Result, codes};

/// Reads a body of at most `limit` bytes within `time`. Both limits also hold if `Content-Length` is missing or wrong.
pub(super) async fn read(headers: &HeaderMap, mut body: Body, limit: usize, time: Duration) -> Result<Bytes> {
    if declared_length(headers).is_some_and(|length| length > limit as u64) {
        return Err(too_large(limit));
    }
    match tokio::time::timeout(time, collect(&mut body, limit)).await {
        Ok(Ok(Some(bytes))) => Ok(bytes),
        Ok(Ok(None)) => Err(too_large(limit)),
        Ok(Err(_)) => {
            let message = "The body could not be read to its end.";
            Err(ApiError::new(&codes::VALIDATION_ERROR, message).reason(Reason::Malformed))
        }
        Err(_) => Err(ApiError::of_status(StatusCode::REQUEST_TIMEOUT)),
    }
}

/// Refuses a body that is not declared as JSON in UTF-8: `application/json` or `application/…+json` (RFC 6839), no
/// `charset` but `utf-8`, no content coding.
pub(super) fn check_content_type(headers: &HeaderMap) -> Result<()> {
    let mut types = headers.get_all(CONTENT_TYPE).iter();
    let is_json = match (types.next(), types.next()) {
        (Some(value), None) => value.to_str().is_ok_and(is_json_type),
        _ => false,
    };
    let is_plain = headers
        .get_all(CONTENT_ENCODING)
        .iter()
        .all(|coding| coding.as_bytes().eq_ignore_ascii_case(b"identity"));
    if is_json && is_plain {
        return Ok(());
    }
    Err(ApiError::of_status(StatusCode::UNSUPPORTED_MEDIA_TYPE))
}

/// Refuses a body that is not declared as a form (WHATWG URL section 5), or has a content coding.
pub(super) fn check_form_type(headers: &HeaderMap) -> Result<()> {
    let types: Vec<_> = headers.get_all(CONTENT_TYPE).iter().collect();
    let is_form = |value: &HeaderValue| {
        let media_type = value.to_str().unwrap_or_default().split(';').next().unwrap_or_default();
        media_type.trim().eq_ignore_ascii_case("application/x-www-form-urlencoded")
    };
    if types.len() == 1 && is_form(types[0]) && !headers.contains_key(CONTENT_ENCODING) {
        return Ok(());
    }
    Err(ApiError::new(&codes::UNSUPPORTED_MEDIA_TYPE, "The body is not declared as a form.")
        .next_action("Send the body with `Content-Type: application/x-www-form-urlencoded`."))
}

/// True for a media type (RFC 9110 section 8.3.1) that is JSON in UTF-8.
fn is_json_type(value: &str) -> bool {
    let mut parts = value.split(';').map(str::trim);
    let media_type = parts.next().unwrap_or_default().to_ascii_lowercase();
    let is_json = match media_type.split_once('/') {
        Some(("application", subtype)) => {
            subtype == "json" || (subtype.ends_with("+json") && subtype.len() > 5)
        }
        _ => false,
    };
    is_json && parts.all(is_utf8_or_other_parameter)
}

/// True for the parameter `charset=utf-8` and for every parameter other than `charset`.
fn is_utf8_or_other_parameter(parameter: &str) -> bool {
    match parameter.split_once('=') {
        Some((name, value)) if name.trim().eq_ignore_ascii_case("charset") => {
            value.trim().trim_matches('"').eq_ignore_ascii_case("utf-8")
        }
        _ => true,
    }
}

/// Returns `Content-Length` as a number; `None` if it is missing or not a number.
fn declared_length(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// Reads all bytes. `None` as soon as there are more than `limit`.
async fn collect(body: &mut Body, limit: usize) -> Result<Option<Bytes>, axum::Error> {
    let mut bytes = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame?.into_data() else { continue }; // a frame of trailers has no data
        if bytes.len() + data.len() > limit {
            return Ok(None);
        }
        bytes.extend_from_slice(&data);
    }
    Ok(Some(bytes.freeze()))
}

fn too_large(limit: usize) -> ApiError {
    ApiError::new(&codes::PAYLOAD_TOO_LARGE, format!("The body is larger than {limit} bytes."))
}
