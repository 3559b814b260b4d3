//! `/auth/continue`: the way back to the app, after a form that finished a flow. Browsers apply `form-action` to redirects
//! after a form, so a page is in between. It leads on once: shown again, it has a link without a code.

use axum::routing::get;
use latchkey_domain::tokens::TokenHash;
use latchkey_pages::Address;
use latchkey_pages::views::{Continue, ContinueStep};

use crate::entrance::Ticket;
use crate::errors::PageError;
use crate::flow::host_of;
use crate::page::Page;
use crate::visit::{Outcome, Visit};

/// Most tickets that the cookie remembers.
const MOST_SHOWN: usize = 8;

pub(crate) const PAGE: Page = Page::of_reads("/auth/continue", || get(show));

async fn show(mut visit: Visit) -> Outcome {
    let text = visit.query.optional("ticket")?.unwrap_or_default();
    let Some(opened) = visit.open::<Ticket>(&text) else {
        return visit.page_as(http::StatusCode::BAD_REQUEST, &Continue { step: ContinueStep::Foreign });
    };
    let ticket = opened.value;
    let digest = hex::encode(&TokenHash::of(text.as_bytes()).as_bytes()[..8]);
    let mut shown = shown_before(&visit);
    let is_first = opened.ends > visit.now && !shown.contains(&digest);
    if is_first {
        shown.insert(0, digest);
        shown.truncate(MOST_SHOWN);
        let cookie = visit.hosted.cookies.shown.set_until_closed(&shown.join("."));
        visit.set_cookie(cookie)?;
    }
    let app = ticket.app();
    let host = host_of(&app);
    let target = if is_first { ticket.address } else { app };
    let target = Address::parse(&target).ok_or_else(PageError::bad_target)?;
    if is_first {
        visit.page_once(&Continue { step: ContinueStep::Go { target, host } })
    } else {
        visit.page(&Continue { step: ContinueStep::Shown { target, host } })
    }
}

fn shown_before(visit: &Visit) -> Vec<String> {
    let cookie = visit.hosted.cookies.shown.read(visit.headers());
    cookie.map(|cookie| cookie.expose().split('.').map(str::to_owned).collect()).unwrap_or_default()
}
