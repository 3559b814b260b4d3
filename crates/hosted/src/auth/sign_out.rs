//! `/auth/sign-out`: ends the page session of this browser, and with a second button the app sessions opened from it.

use axum::routing::get;
use latchkey_pages::views::{App, SignOut};
use latchkey_service::page_sessions::PageSignOut;

use crate::errors::PageError;
use crate::flow::host_of;
use crate::page::Page;
use crate::set_up;
use crate::submission::Submission;
use crate::visit::{Outcome, Visit};

const PATH: &str = "/auth/sign-out";

pub(crate) const PAGE: Page = Page::new(PATH, || get(show).post(act));

async fn show(mut visit: Visit) -> Outcome {
    if let Some(target) = visit.query.optional("redirect_uri")? {
        let checked = visit.service().settings().redirects.check(&target);
        let target = checked.map_err(|_| PageError::bad_target())?.as_str().to_owned();
        visit.change_flow(|flow| flow.leaves_to = Some(target))?;
    }
    visit.page(&view(&visit))
}

async fn act(Submission { mut visit, .. }: Submission) -> Outcome {
    if let Some(session) = visit.session.take() {
        let what = match visit.query.optional("act")?.as_deref() {
            Some("everywhere") => PageSignOut::WithApps,
            _ => PageSignOut::ThisSession,
        };
        visit.service().page_sessions.sign_out(&session, what, &visit.to_client()).await?;
    }
    let cookie = visit.hosted.cookies.pages.clear();
    visit.set_cookie(cookie)?;
    set_up::forget_codes(&mut visit)?;
    visit.go_to(&visit.href(PATH))
}

fn view(visit: &Visit) -> SignOut {
    let session = visit.session.as_ref();
    // An admin may have taken the target off the list since it was sealed.
    let redirects = &visit.service().settings().redirects;
    let leaves_to = visit.flow().leaves_to.as_ref().filter(|target| redirects.check(target).is_ok());
    SignOut {
        form: session.map(|_| visit.form(PATH)),
        everywhere: session.map(|_| visit.form_with(PATH, &[("act", "everywhere")])),
        email: session.map(|session| session.user().email.as_typed().to_owned()).unwrap_or_default(),
        sign_in: visit.href_outside("/auth/sign-in", &[]),
        app: leaves_to.map(|target| App { host: host_of(target), leave: Some(target.clone()) }),
    }
}
