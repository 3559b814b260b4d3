//! `/auth/error`: an error with an address of its own, for whatever leads a browser to an error by a link. The query
//! names the cause; without one the request cannot be read.

use axum::routing::get;

use crate::errors::PageError;
use crate::page::Page;
use crate::visit::{Outcome, Visit};

/// Query parameter with the cause.
const CAUSE: &str = "cause";

pub(crate) const PAGE: Page = Page::of_reads("/auth/error", || get(show));

async fn show(visit: Visit) -> Outcome {
    let error = match visit.query.optional(CAUSE)?.as_deref() {
        Some("bad_target") => PageError::bad_target(),
        Some("bad_flow") => PageError::bad_flow(),
        Some("stale_form") => PageError::stale_form(),
        Some("forbidden") => PageError::forbidden(),
        _ => PageError::bad_request(),
    };
    let next = if visit.session.is_some() { "/auth/account" } else { "/auth/sign-in" };
    Err(error.with_next(visit.href(next)))
}
