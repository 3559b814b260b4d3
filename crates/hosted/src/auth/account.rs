//! `/auth/account`: the overview of the own account, with the form that ends one of its sessions.

use std::str::FromStr;

use axum::routing::get;
use latchkey_domain::ids::SessionId;
use latchkey_domain::session::SessionKind;
use latchkey_pages::When;
use latchkey_pages::views::{Account, ProfileSummary, Session};
use latchkey_service::Error;
use latchkey_service::refusal::{PROFILE_NOT_FOUND, SESSION_NOT_FOUND};
use latchkey_service::sessions::{Credential, PageSession};

use crate::errors::PageError;
use crate::fields::Fields;
use crate::list::PAGES;
use crate::page::Page;
use crate::problem::Rejection;
use crate::submission::Submission;
use crate::visit::{Outcome, Visit};

const PATH: &str = "/auth/account";

pub(crate) const PAGE: Page = Page::new(PATH, || get(show).post(end));

async fn show(visit: Visit) -> Outcome {
    let Some(session) = &visit.session else { return to_sign_in(&visit) };
    let view = view(&visit, session).await?;
    visit.page(&view)
}

/// Ends the session that the form names. One that is over already is no problem.
async fn end(Submission { visit, fields }: Submission) -> Outcome {
    let Some(session) = &visit.session else { return to_sign_in(&visit) };
    match end_session(&visit, session, &fields).await {
        Ok(()) => visit.go_to(&visit.href(PATH)),
        Err(rejection) => visit.refuse(rejection, &view(&visit, session).await?),
    }
}

async fn end_session(visit: &Visit, session: &PageSession, fields: &Fields) -> Result<(), Rejection> {
    let id = fields.text("id")?;
    let id = SessionId::from_str(&id).map_err(|_| PageError::not_found())?;
    let sessions = &visit.service().sessions;
    let caller = sessions.authenticate(Credential::from(session)).await?;
    match sessions.end(caller, id, &visit.to_client()).await {
        Ok(()) => Ok(()),
        Err(Error::Refused(refusal)) if *refusal == SESSION_NOT_FOUND => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn to_sign_in(visit: &Visit) -> Outcome {
    visit.go_to(&visit.href("/auth/sign-in"))
}

async fn view(visit: &Visit, session: &PageSession) -> Result<Account, PageError> {
    let service = visit.service();
    let account = service.factors.account(session).await?;
    let caller = service.sessions.authenticate(session).await?;
    let sessions = shown(service.sessions.list(caller).await?, session.session().id);
    let user = &account.user;
    let passkeys = account.factors.passkeys.len() as u64;
    Ok(Account {
        pages: PAGES.iter().map(|page| page.path).collect(),
        email: user.email.as_typed().to_owned(),
        is_verified: user.email_verified,
        verify: None,
        profile: profile(visit, session).await?,
        has_password: user.has_password,
        passkeys: (passkeys > 0).then_some(passkeys),
        has_two_step: user.has_two_step(),
        recovery_codes_left: u64::from(account.factors.recovery_codes_left),
        providers: (!user.identities.is_empty()).then(|| user.identities.clone()),
        session_count: sessions.len() as u64,
        sessions,
        end: visit.form(PATH),
        deletion: None, // an account in deletion has no session
    })
}

async fn profile(visit: &Visit, session: &PageSession) -> Result<Option<ProfileSummary>, PageError> {
    match visit.service().profiles.own(session).await {
        Ok(profile) => Ok(Some(ProfileSummary {
            name: profile.name.as_str().to_owned(),
            username: profile.username.map(|username| username.as_str().to_owned()),
        })),
        Err(Error::Refused(refusal)) if *refusal == PROFILE_NOT_FOUND => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Returns the sessions as the page shows them, the current one first.
fn shown(sessions: Vec<latchkey_domain::session::Session>, current: SessionId) -> Vec<Session> {
    let mut sessions: Vec<_> = sessions
        .into_iter()
        .map(|session| Session {
            id: session.id.to_string(),
            name: session.shown_name().map(str::to_owned),
            device: session.client.device().into(),
            last_seen: When(session.last_seen_at),
            is_current: session.id == current,
            is_pages: session.kind == SessionKind::Pages,
        })
        .collect();
    sessions.sort_by_key(|session| !session.is_current);
    sessions
}
