//! `/auth/sign-in`: email address and password, or one press if this browser has a page session.

use axum::routing::get;
use latchkey_domain::time::Timestamp;
use latchkey_pages::views::{Resume, SignIn};
use latchkey_service::sessions::{KeepSignedIn, PageSession};

use crate::entrance;
use crate::errors::PageError;
use crate::fields::Fields;
use crate::page::Page;
use crate::problem::Rejection;
use crate::submission::Submission;
use crate::visit::{Outcome, Visit};

const PATH: &str = "/auth/sign-in";
/// Query parameter that says what a form does.
const ACT: &str = "act";
/// Query parameter of the whole sign-in, in place of the offer to continue with the page session.
const OTHER: &str = "other";

pub(crate) const PAGE: Page = Page::new(PATH, || get(show).post(act));

async fn show(visit: Visit) -> Outcome {
    let visit = visit.begin()?;
    let email = visit.flow().email.clone().unwrap_or_default();
    visit.page(&view(&visit, email, false, None)?)
}

async fn act(Submission { mut visit, mut fields }: Submission) -> Outcome {
    let is_resumed = visit.query.optional(ACT)?.as_deref() == Some("resume");
    let (typed, is_kept) = (fields.text("email")?, fields.is_ticked("keep")?);
    let done = if is_resumed { resume(&visit).await } else { sign_in(&mut visit, &mut fields).await };
    match done {
        Ok(address) => visit.go_to(&address),
        Err(rejection) => {
            visit.change_flow(|flow| flow.email = Some(typed.clone()))?;
            let verify = rejection.is_unverified().then(|| visit.href("/auth/verify"));
            visit.refuse(rejection, &view(&visit, typed, is_kept, verify)?)
        }
    }
}

async fn sign_in(visit: &mut Visit, fields: &mut Fields) -> Result<String, Rejection> {
    let keep = if fields.is_ticked("keep")? { KeepSignedIn::Yes } else { KeepSignedIn::No };
    let (email, password) = (fields.email("email")?, fields.password("password")?);
    let (Some(email), Some(password)) = (email, password) else { return Err(fields.rejection()) };
    let from = visit.sign_in_client(keep);
    let entrance = visit.service().passwords.sign_in(email, password, from).await?;
    entrance::enter(visit, entrance, keep).await
}

/// Goes on with the page session of this browser.
pub(super) async fn resume(visit: &Visit) -> Result<String, Rejection> {
    let session = resumable(visit).ok_or_else(PageError::stale_form)?;
    entrance::finish(visit, session).await
}

/// Returns the page session, unless the app wants a more recent sign-in.
fn resumable(visit: &Visit) -> Option<&PageSession> {
    let session = visit.session.as_ref()?;
    let (flow, at) = (visit.flow(), session.session().authenticated_at);
    let age = |at: Timestamp| visit.now.since(at).as_secs();
    (!flow.asks_again && flow.max_age.is_none_or(|most| age(at) <= most)).then_some(session)
}

fn view(visit: &Visit, email: String, is_kept: bool, verify: Option<String>) -> Result<SignIn, PageError> {
    let wants_other = visit.query.optional(OTHER)?.is_some() || verify.is_some();
    let session = resumable(visit).filter(|_| !wants_other);
    let resume = session.map(|session| Resume {
        form: visit.form_with(PATH, &[(ACT, "resume")]),
        email: session.user().email.as_typed().to_owned(),
        other: visit.href_with(PATH, &[(OTHER, "1")]),
    });
    let is_open = !visit.service().settings().values.disable_sign_up;
    Ok(SignIn {
        form: Some(visit.form_with(PATH, if wants_other { &[(OTHER, "1")] } else { &[] })),
        email,
        is_kept,
        providers: Vec::new(),
        passkey: None,
        forgot: visit.href("/auth/forgot"),
        mail_code: None,
        sign_up: is_open.then(|| visit.href("/auth/sign-up")),
        verify,
        resume,
        app: visit.app()?,
    })
}
