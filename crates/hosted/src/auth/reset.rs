//! `/auth/reset`: a new password, by the mailed code or link.
//!
//! A link from a mail arrives with its token in the query. The token moves into a sealed cookie, so that the address of
//! the page has none; the exchange of a code ends in the same cookie.

use std::time::Duration;

use axum::routing::get;
use latchkey_domain::email::Email;
use latchkey_domain::tokens::{LinkToken, TokenHash};
use latchkey_pages::views::{CodeForm, PasswordRules, Reset, ResetStep, SendAgain};
use latchkey_service::passwords::reset::ResetOutcome;
use latchkey_service::sessions::KeepSignedIn;
use latchkey_service::settings::EmailMethod;
use serde::{Deserialize, Serialize};

use super::{forgot, mailed_link};
use crate::entrance;
use crate::errors::PageError;
use crate::fields::Fields;
use crate::flow::Asked;
use crate::page::Page;
use crate::problem::Rejection;
use crate::sealed::Carried;
use crate::submission::Submission;
use crate::visit::{Outcome, Visit};

const PATH: &str = "/auth/reset";
/// Lifetime of the cookie with the token.
const LIFETIME: Duration = Duration::from_mins(10);
/// Query parameter that says what a form does.
const ACT: &str = "act";
/// Query parameter of the form for the password: the name of its token.
const OF: &str = "of";

pub(crate) const PAGE: Page = Page::new(PATH, || get(show).post(act));

/// A reset token on its way to the new password.
#[derive(Serialize, Deserialize)]
struct Ticket {
    token: String,
    /// The address of the account.
    email: String,
}

impl Carried for Ticket {
    const KIND: &'static str = "reset";
}

impl Ticket {
    /// Names the token in the form that it is for. Several tabs share the cookie, and each form is for what it shows.
    fn name(&self) -> String {
        hex::encode(&TokenHash::of(self.token.as_bytes()).as_bytes()[..8])
    }
}

async fn show(mut visit: Visit) -> Outcome {
    visit.take_up()?;
    if let Some(token) = visit.query.optional("token")? {
        let is_taken = take(&mut visit, &token).await?;
        let dead = [(mailed_link::PARAMETER, mailed_link::DEAD)];
        return visit.go_to(&visit.href_with(PATH, if is_taken { &[] } else { &dead }));
    }
    if visit.query.optional("done")?.is_some() {
        return visit.page(&Reset { step: ResetStep::Done { sign_in: visit.href("/auth/sign-in") } });
    }
    if mailed_link::has_failed(&visit)? {
        return visit.page_as(mailed_link::FAILED, &dead(&visit));
    }
    match step(&visit) {
        Some(view) => visit.page(&view),
        None => visit.go_to(&visit.href("/auth/forgot")),
    }
}

/// Moves the token of a mailed link into the cookie; false if it is not valid.
async fn take(visit: &mut Visit, token: &str) -> Result<bool, PageError> {
    let Some(token) = LinkToken::parse(token) else { return Ok(false) };
    let found = visit.service().passwords.reset_account(&token, &visit.to_client()).await?;
    let Some(account) = found else { return Ok(false) };
    keep(visit, &token, account.as_typed())?;
    Ok(true)
}

/// Stores a token in the cookie.
fn keep(visit: &mut Visit, token: &LinkToken, email: &str) -> Result<(), PageError> {
    let ticket = Ticket { token: token.expose().to_owned(), email: email.to_owned() };
    let sealed = visit.seal(visit.now.plus(LIFETIME), ticket)?;
    let cookie = visit.hosted.cookies.reset.set(&sealed, LIFETIME);
    visit.set_cookie(cookie)
}

async fn act(Submission { mut visit, mut fields }: Submission) -> Outcome {
    let done = match visit.query.optional(ACT)?.as_deref() {
        Some("send") => send_again(&mut visit).await,
        Some("code") => check_code(&mut visit, &mut fields).await,
        _ => set_password(&mut visit, &mut fields).await,
    };
    match done {
        Ok(address) => visit.go_to(&address),
        Err(rejection) => match step(&visit) {
            Some(view) => visit.refuse(rejection, &view),
            None => Err(PageError::bad_flow()),
        },
    }
}

async fn send_again(visit: &mut Visit) -> Result<String, Rejection> {
    forgot::mail(visit, typed_address(visit)?).await?;
    let now = visit.now.as_millis();
    visit.change_flow(|flow| flow.mailed_at = Some(now))?;
    Ok(visit.href_with(PATH, &[("notice", "code_sent")]))
}

async fn check_code(visit: &mut Visit, fields: &mut Fields) -> Result<String, Rejection> {
    let email = typed_address(visit)?;
    let Some(code) = fields.code("code")? else { return Err(fields.rejection()) };
    let address = email.as_typed().to_owned();
    let reset = visit.service().passwords.exchange_reset_code(email, code, visit.to_client()).await?;
    keep(visit, &reset.token, &address)?;
    Ok(visit.href(PATH))
}

async fn set_password(visit: &mut Visit, fields: &mut Fields) -> Result<String, Rejection> {
    let named = visit.query.optional(OF)?;
    let ticket = ticket(visit).filter(|ticket| named.is_some_and(|named| named == ticket.name()));
    let ticket = ticket.ok_or_else(PageError::bad_flow)?;
    let token = LinkToken::parse(&ticket.token).ok_or_else(PageError::bad_flow)?;
    let Some(password) = fields.password("password")? else { return Err(fields.rejection()) };
    let least = visit.service().settings().values.password_min_length;
    let from = visit.sign_in_client(KeepSignedIn::No);
    let reset = visit.service().passwords.reset_password(token, password, &from).await;
    match reset.map_err(|error| Rejection::from(error).with_least(least))? {
        ResetOutcome::Reset => {
            let cookie = visit.hosted.cookies.reset.clear();
            visit.set_cookie(cookie)?;
            Ok(visit.href_with(PATH, &[("done", "1")]))
        }
        ResetOutcome::Challenged(challenge) => {
            let asked = Asked { reset: Some(ticket.email), ..Asked::of(&challenge, PATH) };
            entrance::ask(visit, &challenge, asked).await
        }
    }
}

/// Goes on with the token that a second factor gave. Its account is that of the reset that asked for the factor: the cookie
/// may be that of another one by now, or gone.
pub(super) fn go_on(visit: &mut Visit, token: &LinkToken) -> Result<String, Rejection> {
    let email = visit.flow().asked.as_ref().and_then(|asked| asked.reset.clone());
    keep(visit, token, &email.ok_or_else(PageError::bad_flow)?)?;
    visit.change_flow(|flow| flow.asked = None)?;
    Ok(visit.href_with(PATH, &[("notice", "confirmed")]))
}

/// Returns the address that was typed before; without one the page cannot be used.
fn typed_address(visit: &Visit) -> Result<Email, Rejection> {
    let email = visit.flow().email.as_deref().and_then(|text| Email::parse(text).ok());
    Ok(email.ok_or_else(PageError::bad_flow)?)
}

/// Returns the token of the cookie, unless it is too old, or of another account than the one that this flow asks for.
fn ticket(visit: &Visit) -> Option<Ticket> {
    let cookie = visit.hosted.cookies.reset.read(visit.headers())?;
    let opened = visit.open::<Ticket>(cookie.expose()).filter(|opened| opened.ends > visit.now)?;
    let email = Email::parse(&opened.value.email).ok()?;
    let is_asked = typed_address(visit).map_or(true, |asked| asked.key() == email.key());
    is_asked.then_some(opened.value)
}

/// Returns the step that the person is at; `None` at the beginning.
fn step(visit: &Visit) -> Option<Reset> {
    let settings = visit.service().settings();
    if let Some(ticket) = ticket(visit) {
        let rules = PasswordRules::from(&settings.values.passwords());
        let form = visit.form_with(PATH, &[(OF, &ticket.name())]);
        let step = ResetStep::Password { form, account: mailed_link::masked(&ticket.email), rules };
        return Some(Reset { step });
    }
    let email = visit.flow().email.clone()?;
    let send = SendAgain { form: visit.form_with(PATH, &[(ACT, "send")]), wait: visit.wait_for_mail() };
    let step = match settings.values.reset_password_method {
        EmailMethod::Code => {
            let form = visit.form_with(PATH, &[(ACT, "code")]);
            ResetStep::Code { code: CodeForm { form, email, has_letters: false, send } }
        }
        EmailMethod::Link => ResetStep::Link { email, send },
    };
    Some(Reset { step })
}

fn dead(visit: &Visit) -> Reset {
    Reset { step: ResetStep::Dead { forgot: visit.href("/auth/forgot") } }
}
