//! `/auth/account/email`: a change of the email address, with the codes that both addresses got.

use axum::routing::get;
use latchkey_domain::email_change::{EmailChange, Side};
use latchkey_pages::views::{ChangeEmail, PendingEmail, SendAgain};
use latchkey_pages::{Fault, Problem, When};
use latchkey_service::email_change::{EmailChangeStep, EnteredCodes};
use latchkey_service::sessions::PageSession;

use super::{PATH as OVERVIEW, confirm, to_sign_in};
use crate::errors::PageError;
use crate::fields::Fields;
use crate::page::Page;
use crate::problem::Rejection;
use crate::submission::Submission;
use crate::visit::{Outcome, Visit};

pub(super) const PATH: &str = "/auth/account/email";
/// Query parameter that says what a form does.
const ACT: &str = "act";

pub(crate) const PAGE: Page = Page::new(PATH, || get(show).post(act));

async fn show(visit: Visit) -> Outcome {
    let Some(session) = &visit.session else { return to_sign_in(visit) };
    let typed = confirm::kept(&visit, "email").unwrap_or_default();
    let change = change(&visit, session).await?;
    visit.page(&view(&visit, session, typed, change))
}

async fn act(Submission { visit, mut fields }: Submission) -> Outcome {
    let Some(session) = &visit.session else { return confirm::late(visit, &fields, PATH) };
    let typed = fields.text("email")?;
    let done = match visit.query.optional(ACT)?.as_deref() {
        Some("confirm") => enter_codes(&visit, session, &mut fields).await,
        Some("cancel") => cancel(&visit, session).await,
        Some("send") => send_again(&visit, session).await,
        _ => begin(&visit, session, &mut fields).await,
    };
    match done {
        Ok(address) => visit.go_to(&address),
        Err(rejection) => {
            let view = view(&visit, session, typed, change(&visit, session).await?);
            confirm::refuse(visit, &fields, rejection, &view).await
        }
    }
}

async fn begin(visit: &Visit, session: &PageSession, fields: &mut Fields) -> Result<String, Rejection> {
    let Some(email) = fields.email("email")? else { return Err(fields.rejection()) };
    let caller = visit.service().sessions.fresh(session).await?;
    let begun = visit.service().email_changes.begin(&caller, email, &visit.to_client()).await;
    let same = [Problem::at("email", Fault::SameEmail)];
    begun.map_err(|error| Rejection::from(error).replacing(&Fault::InvalidEmail, &same))?;
    Ok(visit.href(PATH))
}

/// Checks the codes. A right one counts even if the other is wrong or missing.
async fn enter_codes(visit: &Visit, session: &PageSession, fields: &mut Fields) -> Result<String, Rejection> {
    let Some(pending) = change(visit, session).await? else { return Ok(visit.href(PATH)) };
    let needs = pending.needs();
    let mut read = |side| if needs.contains(&side) { fields.code_text(name_of(side)) } else { Ok(None) };
    let codes = EnteredCodes { new: read(Side::New)?, current: read(Side::Current)? };
    let entered = [(Side::New, codes.new.is_some()), (Side::Current, codes.current.is_some())];
    if entered.iter().all(|(_, is_entered)| !is_entered) {
        return Err(fields.rejection());
    }
    let (changes, client) = (&visit.service().email_changes, visit.to_client());
    match changes.confirm(session.caller(), pending.id, codes, &client).await {
        Ok(EmailChangeStep::Changed { .. }) => Ok(visit.href_with(OVERVIEW, &[("notice", "email_changed")])),
        Ok(EmailChangeStep::Needs(_)) => Ok(visit.href(PATH)),
        Err(error) => {
            let needs = change(visit, session).await?.map(|change| change.needs()).unwrap_or_default();
            let wrong = entered.iter().filter(|(side, is_entered)| *is_entered && needs.contains(side));
            let wrong: Vec<_> =
                wrong.map(|(side, _)| Problem::at(name_of(*side), Fault::InvalidCode)).collect();
            Err(Rejection::from(error).replacing(&Fault::InvalidCode, &wrong))
        }
    }
}

/// Begins the same change anew, with new codes.
async fn send_again(visit: &Visit, session: &PageSession) -> Result<String, Rejection> {
    let Some(pending) = change(visit, session).await? else { return Ok(visit.href(PATH)) };
    let caller = visit.service().sessions.fresh(session).await?;
    visit.service().email_changes.begin(&caller, pending.new_email, &visit.to_client()).await?;
    Ok(visit.href_with(PATH, &[("notice", "code_sent")]))
}

async fn cancel(visit: &Visit, session: &PageSession) -> Result<String, Rejection> {
    visit.service().email_changes.cancel(session.caller(), &visit.to_client()).await?;
    Ok(visit.href_with(OVERVIEW, &[("notice", "email_change_cancelled")]))
}

/// Returns the change of the account that waits for its codes.
async fn change(visit: &Visit, session: &PageSession) -> Result<Option<EmailChange>, PageError> {
    Ok(visit.service().factors.account(session).await?.email_change)
}

/// Returns the field for the code that was mailed to an address.
const fn name_of(side: Side) -> &'static str {
    match side {
        Side::New => "new_code",
        Side::Current => "current_code",
    }
}

fn view(visit: &Visit, session: &PageSession, typed: String, change: Option<EmailChange>) -> ChangeEmail {
    let user = session.user();
    ChangeEmail {
        email: user.email.as_typed().to_owned(),
        is_verified: user.email_verified,
        form: visit.service().mailbox.sends_mails().then(|| visit.form(PATH)),
        new_email: typed,
        pending: change.map(|change| pending(visit, session, &change)),
    }
}

fn pending(visit: &Visit, session: &PageSession, change: &EmailChange) -> PendingEmail {
    let is_own = change.session_id == Some(session.session().id);
    PendingEmail {
        new_email: change.new_email.as_typed().to_owned(),
        form: is_own.then(|| visit.form_with(PATH, &[(ACT, "confirm")])),
        needs_new: change.needs().contains(&Side::New),
        needs_current: change.needs().contains(&Side::Current),
        expires: When(change.expires_at),
        send: is_own.then(|| SendAgain { form: visit.form_with(PATH, &[(ACT, "send")]), wait: None }),
        cancel: visit.form_with(PATH, &[(ACT, "cancel")]),
    }
}
