//! `/auth/forgot`: a forgotten password. The person names the address, and gets a mail.

use axum::routing::get;
use latchkey_domain::email::Email;
use latchkey_pages::views::Forgot;

use super::reset;
use crate::fields::Fields;
use crate::page::Page;
use crate::problem::Rejection;
use crate::submission::Submission;
use crate::visit::{Outcome, Visit};

const PATH: &str = "/auth/forgot";

pub(crate) const PAGE: Page = Page::new(PATH, || get(show).post(act));

async fn show(visit: Visit) -> Outcome {
    let visit = visit.begin()?;
    let email = visit.flow().email.clone().unwrap_or_default();
    visit.page(&view(&visit, email))
}

async fn act(Submission { mut visit, mut fields }: Submission) -> Outcome {
    let typed = fields.text("email")?;
    match send(&mut visit, &mut fields).await {
        Ok(()) => visit.go_to(&visit.href("/auth/reset")),
        Err(rejection) => visit.refuse(rejection, &view(&visit, typed)),
    }
}

/// Sends the mail. Known and unknown addresses are answered alike.
async fn send(visit: &mut Visit, fields: &mut Fields) -> Result<(), Rejection> {
    let Some(email) = fields.email("email")? else { return Err(fields.rejection()) };
    let typed = email.as_typed().to_owned();
    visit.change_flow(|flow| flow.email = Some(typed))?;
    mail(visit, email.clone()).await?;
    let now = visit.now.as_millis();
    visit.change_flow(|flow| flow.mailed_at = Some(now))?;
    Ok(reset::forget(visit, &email)?)
}

/// Mails a code or link to set a new password with, if the address has an account.
pub(super) async fn mail(visit: &Visit, email: Email) -> Result<(), Rejection> {
    let redirect = visit.mailed("/auth/reset");
    Ok(visit.service().passwords.send_reset(email, redirect, visit.to_client()).await?)
}

fn view(visit: &Visit, email: String) -> Forgot {
    let form = visit.service().mailbox.sends_mails().then(|| visit.form(PATH));
    Forgot { form, email, sign_in: visit.href("/auth/sign-in") }
}
