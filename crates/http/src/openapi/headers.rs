//! Response headers, as components of the `OpenAPI` document to which responses refer by name. Request headers are in
//! `parameters`.

use utoipa::openapi::header::{Header, HeaderBuilder};
use utoipa::openapi::{ObjectBuilder, Ref, Type};

pub(crate) const X_REQUEST_ID: &str = "X-Request-Id";
pub(crate) const X_TOTAL_COUNT: &str = "X-Total-Count";
pub(crate) const X_PAGE: &str = "X-Page";
pub(crate) const X_PAGE_SIZE: &str = "X-Page-Size";
pub(crate) const ETAG: &str = "ETag";
pub(crate) const RETRY_AFTER: &str = "Retry-After";
pub(crate) const SET_COOKIE: &str = "Set-Cookie";
pub(crate) const LOCATION: &str = "Location";
pub(crate) const WWW_AUTHENTICATE: &str = "WWW-Authenticate";
pub(crate) const CONTENT_DISPOSITION: &str = "Content-Disposition";
pub(crate) const CACHE_CONTROL: &str = "Cache-Control";

pub(super) fn all() -> [(&'static str, Header); 11] {
    [
        (
            X_REQUEST_ID,
            header(
                string().max_length(Some(128)),
                "The id of this request; the service's log knows more under it. A UUID, or what a trusted proxy sent.",
            ),
        ),
        (X_TOTAL_COUNT, header(integer(0), "How many profiles match, whatever the page.")),
        (X_PAGE, header(integer(1), "The number of this page: offset ÷ limit, floored, plus 1.")),
        (X_PAGE_SIZE, header(integer(1).maximum(Some(100)), "The limit that was used.")),
        (ETAG, header(string(), "The version of the record, for `If-Match`.")),
        (RETRY_AFTER, header(integer(1), "Seconds to wait before the request is sent again.")),
        (
            SET_COOKIE,
            header(
                string(),
                "For clients of type `web` alone: the refresh cookie, `HttpOnly`, for `/api/auth`; emptied at sign-out. At a \
                 sign-up that waits for a verification, the cookie by which a link knows its browser.",
            ),
        ),
        (LOCATION, header(string(), "Where the browser goes.")),
        (WWW_AUTHENTICATE, header(string(), "The challenge of RFC 9110: `Bearer`.")),
        (CONTENT_DISPOSITION, header(string(), "The name under which a browser saves the file.")),
        (CACHE_CONTROL, header(string(), "How long the answer may be kept.")),
    ]
}

pub(super) fn header_ref(name: &str) -> Ref {
    Ref::new(format!("#/components/headers/{name}"))
}

fn header(schema: ObjectBuilder, description: &str) -> Header {
    HeaderBuilder::new().schema(Some(schema)).description(Some(description)).build()
}

fn string() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String)
}

fn integer(minimum: usize) -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(minimum))
}
