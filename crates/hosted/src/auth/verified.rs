//! `/auth/verified`: where the mailed link that verifies an address leads to.

use axum::routing::get;
use http::StatusCode;
use latchkey_pages::views::Verified;

use super::{mailed_link, sign_in};
use crate::page::Page;
use crate::visit::{Outcome, Visit};

pub(crate) const PAGE: Page = Page::of_reads("/auth/verified", || get(show));

async fn show(mut visit: Visit) -> Outcome {
    visit.take_up()?;
    let status = visit.service().site().parameter("status");
    let is_verified = visit.query.optional(&status)?.as_deref() == Some("success");
    let app = visit.app()?;
    let email = visit.flow().email.as_deref();
    // Without a flow, nothing tells whose address it is.
    let is_own = visit
        .session
        .as_ref()
        .filter(|session| email.is_none_or(|email| email == session.user().email.as_typed()));
    let is_signed_in = is_own.is_some() && app.is_none();
    let next = match (is_signed_in, visit.session.is_some() && is_own.is_none()) {
        (true, _) => visit.flow().next.clone().unwrap_or_else(|| visit.href_outside("/auth/account", &[])),
        // "Continue as" would be about another account.
        (_, true) => visit.href_with(sign_in::PATH, &[(sign_in::OTHER, "1")]),
        _ => visit.href(sign_in::PATH),
    };
    // The password of a sign-up that somebody else may have begun is gone.
    let forgot = (is_verified && is_own.is_none()).then(|| visit.href("/auth/forgot"));
    let view = Verified { is_verified, next, is_signed_in, forgot, app };
    visit.page_as(if is_verified { StatusCode::OK } else { mailed_link::FAILED }, &view)
}
