//! `/auth/verify`: the mailed code that verifies the address of a sign-up; or the hint to open the mailed link.

use axum::routing::get;
use latchkey_domain::email::Email;
use latchkey_http::error::codes;
use latchkey_pages::views::{CodeForm, SendAgain, Verify, VerifyBy};
use latchkey_service::mailbox::verify_email::VerificationProof;
use latchkey_service::sessions::{Credential, KeepSignedIn};
use latchkey_service::settings::EmailMethod;

use crate::entrance;
use crate::errors::PageError;
use crate::fields::Fields;
use crate::page::Page;
use crate::problem::Rejection;
use crate::submission::Submission;
use crate::visit::{Outcome, Visit};

const PATH: &str = "/auth/verify";
/// Query parameter that says what a form does.
const ACT: &str = "act";

pub(crate) const PAGE: Page = Page::new(PATH, || get(show).post(act));

async fn show(visit: Visit) -> Outcome {
    match view(&visit, is_sent(&visit)) {
        Some(view) => visit.page(&view),
        None => visit.go_to(&visit.href("/auth/sign-in")),
    }
}

async fn act(Submission { mut visit, mut fields }: Submission) -> Outcome {
    let done = match visit.query.optional(ACT)?.as_deref() {
        Some("send") => send_again(&mut visit).await,
        _ => verify(&mut visit, &mut fields).await,
    };
    match done {
        Ok(address) => visit.go_to(&address),
        Err(rejection) => {
            // A mail that must wait follows one that was sent from elsewhere, whose code can be entered.
            let is_sent = is_sent(&visit) || rejection.is(codes::TOO_MANY_REQUESTS.name);
            match view(&visit, is_sent) {
                Some(view) => visit.refuse(rejection, &view),
                None => Err(PageError::bad_flow()),
            }
        }
    }
}

async fn verify(visit: &mut Visit, fields: &mut Fields) -> Result<String, Rejection> {
    let email = typed_address(visit)?;
    let Some(code) = fields.code("code")? else { return Err(fields.rejection()) };
    let own = visit.session.as_ref().filter(|session| session.user().email.key() == email.key());
    let from = own.map_or_else(
        || visit.sign_in_client(KeepSignedIn::No),
        |session| session.sign_in_client(visit.to_client()),
    );
    let credential = visit.session.as_ref().map_or(Credential::Bearer(None), Credential::from);
    let proof = VerificationProof::Code(email, code);
    let entrance = visit.service().mailbox.verify_email(proof, credential, from).await?;
    entrance::enter(visit, entrance, KeepSignedIn::No).await
}

async fn send_again(visit: &mut Visit) -> Result<String, Rejection> {
    let email = typed_address(visit)?;
    let redirect = visit.mailed("/auth/verified");
    visit.service().mailbox.resend_verification(email, redirect, visit.to_client()).await?;
    let now = visit.now.as_millis();
    visit.change_flow(|flow| flow.mailed_at = Some(now))?;
    Ok(visit.href_with(PATH, &[("notice", "code_sent")]))
}

/// Returns the address that was typed before; without one the page cannot be used.
fn typed_address(visit: &Visit) -> Result<Email, PageError> {
    let email = visit.flow().email.as_deref().and_then(|text| Email::parse(text).ok());
    email.ok_or_else(PageError::bad_flow)
}

/// True if a mail was sent, for all that this browser knows. The overview of the own account leads here without one.
fn is_sent(visit: &Visit) -> bool {
    visit.flow().mailed_at.is_some() || !is_own(visit)
}

/// True for the address of the signed-in account.
fn is_own(visit: &Visit) -> bool {
    let own = visit.session.as_ref().map(|session| session.user().email.as_typed());
    own.is_some() && own == visit.flow().email.as_deref()
}

fn view(visit: &Visit, is_sent: bool) -> Option<Verify> {
    let email = visit.flow().email.clone()?;
    let send = SendAgain { form: visit.form_with(PATH, &[(ACT, "send")]), wait: visit.wait_for_mail() };
    let by = match visit.service().settings().values.verify_email_method {
        _ if !is_sent => VerifyBy::Unsent { email, form: send.form },
        EmailMethod::Code => VerifyBy::Code { code: CodeForm { form: visit.form(PATH), email, send } },
        EmailMethod::Link => VerifyBy::Link { email, send },
    };
    let is_own = is_own(visit);
    let change = if is_own { visit.href_outside("/auth/account", &[]) } else { visit.href("/auth/sign-up") };
    Some(Verify { by, is_own, change })
}
