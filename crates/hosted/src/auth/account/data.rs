//! `/auth/account/data`: a copy of the stored data, and the deletion of the account. Deletion ends all sessions; the page
//! then says until when the account can be kept.

use axum::response::Response;
use axum::routing::get;
use latchkey_domain::time::Timestamp;
use latchkey_http::endpoints::auth::account::export;
use latchkey_pages::views::{AccountData, Deleted, Deletion};
use latchkey_pages::{Wait, When};
use latchkey_service::sessions::PageSession;
use serde::{Deserialize, Serialize};

use super::{confirm, to_sign_in};
use crate::flow;
use crate::page::Page;
use crate::problem::Rejection;
use crate::sealed::Carried;
use crate::set_up;
use crate::submission::Submission;
use crate::visit::{Outcome, Visit};

const PATH: &str = "/auth/account/data";
/// Query parameter that says what a form does.
const ACT: &str = "act";
/// Query parameter with the sealed [`Farewell`].
const DELETED: &str = "deleted";

pub(crate) const PAGE: Page = Page::new(PATH, || get(show).post(act));

/// A deletion, for the page after it.
#[derive(Serialize, Deserialize)]
struct Farewell {
    email: String,
    /// Time from which the account is deleted for good, in milliseconds since 1970.
    deletes_at: i64,
}

impl Carried for Farewell {
    const KIND: &'static str = "farewell";
}

async fn show(visit: Visit) -> Outcome {
    if let Some(farewell) = farewell(&visit) {
        return visit.page(&deleted(&visit, &farewell));
    }
    if visit.session.is_none() {
        return to_sign_in(visit);
    }
    visit.page(&view(&visit))
}

async fn act(Submission { mut visit, fields }: Submission) -> Outcome {
    let act = visit.query.optional(ACT)?;
    if act.as_deref() == Some("keep") {
        return keep(visit);
    }
    let Some(session) = visit.session.clone() else { return to_sign_in(visit) };
    let done = match act.as_deref() {
        Some("delete") => delete(&mut visit, &session).await,
        _ => download(&visit, &session).await,
    };
    match done {
        Ok(response) => Ok(response),
        Err(rejection) => {
            let view = view(&visit);
            confirm::refuse(visit, &fields, rejection, &view).await
        }
    }
}

async fn download(visit: &Visit, session: &PageSession) -> Result<Response, Rejection> {
    let caller = visit.service().sessions.fresh(session).await?;
    let file = export::file(visit.service(), &caller, session.into(), &visit.to_client()).await;
    Ok(visit.file(file.map_err(Rejection::from)?))
}

async fn delete(visit: &mut Visit, session: &PageSession) -> Result<Response, Rejection> {
    let caller = visit.service().sessions.fresh(session).await?;
    let deletes_at = visit.service().deletion.delete(&caller, &visit.to_client()).await?;
    let cookie = visit.hosted.cookies.pages.clear();
    visit.set_cookie(cookie)?;
    set_up::forget_codes(visit)?;
    let email = session.user().email.as_typed().to_owned();
    let farewell = Farewell { email, deletes_at: deletes_at.as_millis() };
    let text = visit.seal(visit.now.plus(flow::LIFETIME), farewell)?;
    Ok(visit.go_to(&visit.href_with(PATH, &[(DELETED, &text)]))?)
}

/// Sends the browser to the sign-in, which restores the account.
fn keep(mut visit: Visit) -> Outcome {
    if let Some(farewell) = farewell(&visit) {
        visit.change_flow(|flow| (flow.email, flow.asks_again) = (Some(farewell.email), true))?;
    }
    visit.go_to(&visit.href("/auth/sign-in"))
}

/// Returns the deletion of which this page says farewell, in the half hour after it.
fn farewell(visit: &Visit) -> Option<Farewell> {
    let opened = visit.open::<Farewell>(&visit.query.optional(DELETED).ok()??)?;
    (opened.ends > visit.now).then_some(opened.value)
}

fn deleted(visit: &Visit, farewell: &Farewell) -> Deleted {
    let at = Timestamp::from_millis(farewell.deletes_at);
    let sealed = visit.query.optional(DELETED).ok().flatten().unwrap_or_default();
    let keep = || visit.form_with(PATH, &[(ACT, "keep"), (DELETED, &sealed)]);
    Deleted { deletion: (at > visit.now).then(|| Deletion { at: When(at), keep: keep() }) }
}

fn view(visit: &Visit) -> AccountData {
    AccountData {
        export: visit.form_with(PATH, &[(ACT, "export")]),
        delete: visit.form_with(PATH, &[(ACT, "delete")]),
        grace: Some(visit.service().deletion.grace()).filter(|grace| !grace.is_zero()).map(Wait),
    }
}
