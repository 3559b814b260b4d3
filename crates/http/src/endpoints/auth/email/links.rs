//! What a browser gets that opened a mailed link.

use axum::response::{IntoResponse, Response};
use http::StatusCode;
use http::header::{HeaderValue, LOCATION};
use latchkey_service::links::LinkAnswer;

use crate::app::App;
use crate::error::{ApiError, Refusal, Result, codes};
use crate::pages::{LinkKind, dead_link};

/// A redirect (302), or the page for a link with nowhere to go.
pub(super) fn link_answer(app: &App, kind: LinkKind, answer: LinkAnswer) -> Result<Response> {
    match answer {
        LinkAnswer::Redirect(url) => {
            let location = HeaderValue::try_from(url).map_err(ApiError::internal)?;
            Ok((StatusCode::FOUND, [(LOCATION, location)]).into_response())
        }
        LinkAnswer::Page(_) => {
            let mut page = dead_link(kind, &app.service.config().service_name).into_response();
            page.extensions_mut().insert(Refusal::of(&codes::INVALID_CODE));
            Ok(page)
        }
    }
}
