//! `/auth/account/sessions`: the live sessions of the own account, with forms that end one of them or all others.

use std::cmp::Reverse;
use std::str::FromStr;

use axum::routing::get;
use latchkey_domain::ids::SessionId;
use latchkey_domain::session::{Session as Live, SessionKind};
use latchkey_pages::When;
use latchkey_pages::views::{Session, Sessions};
use latchkey_service::Error;
use latchkey_service::refusal::SESSION_NOT_FOUND;
use latchkey_service::sessions::PageSession;

use super::to_sign_in;
use crate::errors::PageError;
use crate::fields::Fields;
use crate::page::Page;
use crate::problem::Rejection;
use crate::submission::Submission;
use crate::visit::{Outcome, Visit};

const PATH: &str = "/auth/account/sessions";
/// Query parameter that says what a form does.
const ACT: &str = "act";
/// Query parameter with the number of sessions to leave out, for the rest of a long list.
const FROM: &str = "from";
/// Most sessions on one page.
const MOST: usize = 20;

pub(crate) const PAGE: Page = Page::new(PATH, || get(show).post(act));

async fn show(visit: Visit) -> Outcome {
    let Some(session) = &visit.session else { return to_sign_in(visit) };
    visit.page(&view(&visit, session).await?)
}

async fn act(Submission { visit, fields }: Submission) -> Outcome {
    let Some(session) = &visit.session else { return to_sign_in(visit) };
    let done = match visit.query.optional(ACT)?.as_deref() {
        Some("end-others") => end_others(&visit, session).await.map(|()| "sessions_ended"),
        _ => end(&visit, session, &fields).await.map(|()| "session_ended"),
    };
    match done {
        Ok(notice) => visit.go_to(&visit.href_with(PATH, &[("notice", notice)])),
        Err(rejection) => visit.refuse(rejection, &view(&visit, session).await?),
    }
}

/// Ends the session that the form names. One that is over already is no problem.
pub(super) async fn end(visit: &Visit, session: &PageSession, fields: &Fields) -> Result<(), Rejection> {
    let id = SessionId::from_str(&fields.text("id")?).map_err(|_| PageError::not_found())?;
    match visit.service().sessions.end(session.caller(), id, &visit.to_client()).await {
        Ok(()) => Ok(()),
        Err(Error::Refused(refusal)) if *refusal == SESSION_NOT_FOUND => Ok(()),
        Err(error) => Err(error.into()),
    }
}

async fn end_others(visit: &Visit, session: &PageSession) -> Result<(), Rejection> {
    visit.service().sessions.end_others(session.caller(), &visit.to_client()).await?;
    Ok(())
}

async fn view(visit: &Visit, session: &PageSession) -> Result<Sessions, PageError> {
    let all = list(visit, session).await?;
    let from = visit.query.optional(FROM)?.and_then(|from| from.parse::<usize>().ok());
    let from = from.filter(|from| *from < all.len()).unwrap_or_default();
    let next = from + MOST;
    Ok(Sessions {
        end: visit.form_with(PATH, &[(ACT, "end")]),
        end_others: (all.len() > 1).then(|| visit.form_with(PATH, &[(ACT, "end-others")])),
        more: (next < all.len()).then(|| visit.href_with(PATH, &[(FROM, &next.to_string())])),
        list: all.into_iter().skip(from).take(MOST).collect(),
    })
}

/// Returns all sessions as pages show them: the current one first, then the most recently used.
pub(super) async fn list(visit: &Visit, session: &PageSession) -> Result<Vec<Session>, PageError> {
    let mut all = visit.service().sessions.list(session.caller()).await?;
    let current = session.session().id;
    all.sort_by_key(|one| (one.id != current, Reverse(one.last_seen_at)));
    Ok(all.iter().map(|one| shown(one, current)).collect())
}

fn shown(session: &Live, current: SessionId) -> Session {
    Session {
        id: session.id.to_string(),
        name: session.name.as_ref().map(|name| name.as_str().to_owned()),
        device: session.client.device().into(),
        last_seen: When(session.last_seen_at),
        is_current: session.id == current,
        is_pages: session.kind == SessionKind::Pages,
    }
}
