//! The answer to a link that was followed from another site: a page that goes on to the same address. It reads nothing and
//! uses no cookie. The second request comes from our own page, so the browser sends the cookie of the session, which is
//! `SameSite=Strict`; and no other site can open a page of the console with cookies.

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::uri::PathAndQuery;
use http::{Method, StatusCode};
use latchkey_http::client::SEC_FETCH_SITE;
use latchkey_pages::When;
use latchkey_pages::console::Frame;
use latchkey_pages::console::views::Again;

use super::state::Console;
use crate::errors::PageError;
use crate::response::html;

/// Layer that answers `GET` and `HEAD` from another site.
pub(super) async fn answer(State(console): State<Console>, request: Request, next: Next) -> Response {
    let is_cross_site = request.headers().get_all(SEC_FETCH_SITE).iter().any(|site| site == "cross-site");
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    if !is_cross_site || !is_read {
        return next.run(request).await;
    }
    let here = request.uri().path_and_query().map(PathAndQuery::as_str).unwrap_or_default().to_owned();
    let frame = Frame::new(When(console.service.now()));
    match console.templates.render(&frame, &Again { here }) {
        Ok(text) => html(StatusCode::OK, text),
        Err(error) => PageError::internal(error).into_response(),
    }
}
