//! `/auth/verified`: where the mailed link that verifies an address leads to.

use axum::routing::get;
use http::StatusCode;
use latchkey_pages::views::Verified;

use crate::page::Page;
use crate::visit::{Outcome, Visit};

pub(crate) const PAGE: Page = Page::of_reads("/auth/verified", || get(show));

async fn show(visit: Visit) -> Outcome {
    let status = visit.service().site().parameter("status");
    let is_verified = visit.query.optional(&status)?.as_deref() == Some("success");
    let next = visit.href(if visit.session.is_some() { "/auth/account" } else { "/auth/sign-in" });
    let view = Verified { is_verified, next, app: visit.app()? };
    visit.page_as(if is_verified { StatusCode::OK } else { StatusCode::BAD_REQUEST }, &view)
}
