//! `/auth/sign-in`: email address and password, or one press if this browser has a page session.

use std::time::Duration;

use axum::routing::get;
use latchkey_pages::views::{PasskeyForm, Resume, SignIn};
use latchkey_service::Error;
use latchkey_service::sessions::{KeepSignedIn, PageSession};
use latchkey_service::settings::EmailSignIn;

use super::{passkey_options, provider};
use crate::errors::PageError;
use crate::fields::Fields;
use crate::flow::is_kept;
use crate::page::Page;
use crate::problem::Rejection;
use crate::submission::Submission;
use crate::visit::{Outcome, Visit};
use crate::{ceremony, entrance};

pub(super) const PATH: &str = "/auth/sign-in";
/// Query parameter that says what a form does.
const ACT: &str = "act";
/// Query parameter of the whole sign-in, in place of the offer to continue with the page session.
pub(super) const OTHER: &str = "other";

pub(crate) const PAGE: Page = Page::new(PATH, || get(show).post(act));

async fn show(visit: Visit) -> Outcome {
    let visit = visit.begin()?;
    let email = visit.flow().email.clone().unwrap_or_default();
    let wants_form = visit.query.optional(OTHER)?.is_some();
    visit.page(&view(&visit, email, false, wants_form)?)
}

async fn act(Submission { mut visit, mut fields }: Submission) -> Outcome {
    let act = visit.query.optional(ACT)?;
    if act.as_deref() == Some("resume") && resumable(&visit).is_none() {
        // The page session has ended, or is too old for the app by now.
        return visit.go_to(&visit.href(PATH));
    }
    let done = match act.as_deref() {
        Some("resume") => resume(&visit).await,
        Some("passkey") => by_passkey(&mut visit, &mut fields).await,
        _ => sign_in(&mut visit, &mut fields).await,
    };
    match done {
        Ok(address) => visit.go_to(&address),
        Err(rejection) => {
            let (mut email, is_ticked) = (fields.text("email")?, fields.is_ticked("keep")?);
            if act.is_none() {
                visit.change_flow(|flow| flow.email = Some(email.clone()).filter(|email| is_kept(email)))?;
            } else {
                // The form of the password alone has an address.
                email = visit.flow().email.clone().unwrap_or_default();
            }
            let is_unverified = rejection.is_unverified() && visit.flow().email.is_some();
            let verify = is_unverified.then(|| visit.href("/auth/verify"));
            // A refusal is told at the form that was sent.
            let view = view(&visit, email, is_ticked, act.as_deref() != Some("resume"))?;
            visit.refuse(rejection, &SignIn { verify, ..view })
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

async fn by_passkey(visit: &mut Visit, fields: &mut Fields) -> Result<String, Rejection> {
    let Some(assertion) = fields.assertion()? else { return Err(fields.rejection()) };
    let ceremony = fields.text(ceremony::ID)?;
    let from = visit.sign_in_client(KeepSignedIn::No);
    let entrance = visit.service().passkeys.sign_in(&ceremony, assertion, &from).await?;
    entrance::enter(visit, entrance, KeepSignedIn::No).await
}

/// Returns the form for a passkey; `None` if passkeys are off, or this address asked for too many options.
fn passkey(visit: &Visit) -> Result<Option<PasskeyForm>, PageError> {
    match visit.service().passkeys.begin_sign_in(None, &visit.to_client()) {
        Ok(begun) => {
            let form = visit.form_with(PATH, &[(ACT, "passkey")]);
            ceremony::sign_in(form, begun, passkey_options::PATH).map(Some)
        }
        Err(Error::Refused(_) | Error::RefusedWith(..)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Goes on with the page session of this browser.
pub(super) async fn resume(visit: &Visit) -> Result<String, Rejection> {
    let session = resumable(visit).ok_or_else(PageError::stale_form)?;
    entrance::finish(visit, session).await
}

/// Returns the page session, unless the app wants a more recent sign-in.
fn resumable(visit: &Visit) -> Option<&PageSession> {
    let session = visit.session.as_ref()?;
    let (flow, age) = (visit.flow(), visit.now.since(session.session().authenticated_at));
    // Even a sign-in of the same instant is too old for `max_age=0`.
    let is_recent = flow.max_age.is_none_or(|most| most > 0 && age <= Duration::from_secs(most));
    (is_recent && !flow.asks_again).then_some(session)
}

/// Fills the page. `wants_form` asks for the whole sign-in, in place of the offer to continue with the page session.
fn view(visit: &Visit, email: String, is_kept: bool, wants_form: bool) -> Result<SignIn, PageError> {
    let session = resumable(visit).filter(|_| !wants_form);
    let resume = session.map(|session| Resume {
        form: visit.form_with(PATH, &[(ACT, "resume")]),
        email: session.user().email.as_typed().to_owned(),
        other: visit.href_with(PATH, &[(OTHER, "1")]),
    });
    let public = visit.service().admin.public_settings();
    let is_open = !public.in_force.values.disable_sign_up;
    let sends_mails = visit.service().mailbox.sends_mails();
    let has_mail_code = sends_mails && public.email_sign_in != EmailSignIn::Off;
    Ok(SignIn {
        form: Some(visit.form_with(PATH, if wants_form { &[(OTHER, "1")] } else { &[] })),
        email,
        is_kept,
        providers: provider::links(visit),
        passkey: if resume.is_none() { passkey(visit)? } else { None },
        forgot: sends_mails.then(|| visit.href("/auth/forgot")),
        mail_code: has_mail_code.then(|| visit.href("/auth/mail-code")),
        sign_up: is_open.then(|| visit.href("/auth/sign-up")),
        verify: None,
        resume,
        app: visit.app()?,
    })
}
