//! `/auth/verified`: where the mailed link that verifies an address leads to.

use axum::routing::get;
use http::StatusCode;
use latchkey_pages::views::Verified;

use super::mailed_link;
use crate::page::Page;
use crate::visit::{Outcome, Visit};

pub(crate) const PAGE: Page = Page::of_reads("/auth/verified", || get(show));

async fn show(mut visit: Visit) -> Outcome {
    visit.take_up()?;
    let status = visit.service().site().parameter("status");
    let is_verified = visit.query.optional(&status)?.as_deref() == Some("success");
    let app = visit.app()?;
    let is_over = visit.session.is_some() && app.is_none();
    let next = if is_over { "/auth/account".to_owned() } else { visit.href("/auth/sign-in") };
    let view = Verified { is_verified, next, app };
    visit.page_as(if is_verified { StatusCode::OK } else { mailed_link::FAILED }, &view)
}
