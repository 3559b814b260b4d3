//! Responses to a browser that opened a link in a mail.

use axum::response::{IntoResponse, Response};
use http::StatusCode;
use http::header::{HeaderValue, LOCATION};
use latchkey_domain::redirect::RedirectUrl;
use latchkey_service::mailbox::links::LinkAnswer;

use crate::app::App;
use crate::endpoint::Endpoint;
use crate::error::{ApiError, Refusal, Result, codes};
use crate::pages::{LinkKind, ask_to_verify, dead_link};

/// Adds the responses and errors common to endpoints that links in mails point to.
pub(super) const fn link(endpoint: Endpoint) -> Endpoint {
    endpoint
        .redirects("To the target that was stored with the link, else to the default redirect URL.")
        .bad_request_page(
            "A page: the link is unknown, used up or replaced, and there is nowhere to redirect to.",
        )
        .errors(&[&codes::TOO_MANY_REQUESTS])
}

/// Converts the outcome of opening a link into a response. It is a redirect (302), the page for an invalid link, or
/// the page that asks for confirmation; `token` is the token of the link, for the form of that page.
pub(super) fn link_answer(
    app: &App,
    kind: LinkKind,
    answer: LinkAnswer,
    token: Option<&str>,
) -> Result<Response> {
    match answer {
        LinkAnswer::Redirect(url) => {
            let location = HeaderValue::try_from(url).map_err(ApiError::internal)?;
            Ok((StatusCode::FOUND, [(LOCATION, location)]).into_response())
        }
        LinkAnswer::Page(_) => Ok(dead(app, kind)),
        LinkAnswer::Ask { target } => {
            let service_name = app.service.name();
            let target = target.as_ref().map(RedirectUrl::as_str);
            let page = ask_to_verify(token.unwrap_or_default(), target, service_name);
            Ok(page.map_err(ApiError::internal)?.into_response())
        }
    }
}

/// Builds the page for an invalid link without a redirect target. The access log gets the code `INVALID_CODE`.
pub(super) fn dead(app: &App, kind: LinkKind) -> Response {
    let mut page = dead_link(kind, app.service.name()).into_response();
    page.extensions_mut().insert(Refusal::of(&codes::INVALID_CODE));
    page
}
