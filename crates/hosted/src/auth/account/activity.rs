//! `/auth/account/activity`: the security events of the own account, newest first.

use axum::routing::get;
use latchkey_domain::audit::AuditEvent;
use latchkey_domain::ids::{EventId, SessionId};
use latchkey_pages::When;
use latchkey_pages::views::{Activity, Event};

use super::to_sign_in;
use crate::errors::PageError;
use crate::page::Page;
use crate::visit::{Outcome, Visit};

const PATH: &str = "/auth/account/activity";
/// Query parameter with the id of the event before which the list begins.
const BEFORE: &str = "before";
/// Most events on one page.
const MOST: u32 = 20;

pub(crate) const PAGE: Page = Page::of_reads(PATH, || get(show));

async fn show(visit: Visit) -> Outcome {
    let Some(session) = &visit.session else { return to_sign_in(visit) };
    let before = visit.query.optional(BEFORE)?.map(|id| id.parse::<EventId>()).transpose();
    let before = before.map_err(|_| PageError::not_found())?;
    let page = visit.service().own_data.events(session.caller(), before, MOST).await?;
    let current = session.session().id;
    visit.page(&Activity {
        events: page.events.iter().map(|event| shown(event, current)).collect(),
        older: page.next.map(|next| visit.href_with(PATH, &[(BEFORE, &next.to_string())])),
    })
}

fn shown(event: &AuditEvent, current: SessionId) -> Event {
    Event {
        kind: event.kind,
        at: When(event.at),
        device: event.client.as_ref().map(|client| client.device().into()),
        is_current: event.session_id == Some(current),
    }
}
