//! `/auth/reset`: a new password, by the mailed code or link.
//!
//! A link from a mail arrives with its token in the query. The token moves into a sealed cookie, so that the address of
//! the page has none; the exchange of a code ends in the same cookie.

use axum::routing::get;
use latchkey_domain::email::Email;
use latchkey_domain::tokens::LinkToken;
use latchkey_http::cookies::Cookie;
use latchkey_pages::views::{CodeForm, PasswordRules, Reset, ResetStep, SendAgain};
use latchkey_service::passwords::reset::ResetOutcome;
use latchkey_service::refusal::INVALID_CODE;
use latchkey_service::sessions::KeepSignedIn;
use latchkey_service::settings::EmailMethod;
use serde::{Deserialize, Serialize};

use super::tokens::{self, Found, OF, Token};
use super::{forgot, mailed_link};
use crate::entrance;
use crate::errors::PageError;
use crate::fields::Fields;
use crate::flow::Asked;
use crate::hosted::Cookies;
use crate::page::Page;
use crate::problem::Rejection;
use crate::sealed::Carried;
use crate::submission::Submission;
use crate::visit::{Outcome, Visit};

const PATH: &str = "/auth/reset";
/// Query parameter that says what a form does.
const ACT: &str = "act";

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

impl Token for Ticket {
    fn token(&self) -> &str {
        &self.token
    }

    fn cookie(cookies: &Cookies) -> &Cookie {
        &cookies.reset
    }
}

impl Ticket {
    fn is_of(&self, email: &Email) -> bool {
        Email::parse(&self.email).is_ok_and(|own| own.key() == email.key())
    }
}

async fn show(mut visit: Visit) -> Outcome {
    visit.take_up()?;
    if let Some(token) = visit.query.optional("token")? {
        let taken = take(&mut visit, &token).await?;
        let dead = (mailed_link::PARAMETER, mailed_link::DEAD);
        let shown = taken.as_deref().map_or(dead, |name| (OF, name));
        return visit.go_to(&visit.href_with(PATH, &[shown]));
    }
    if visit.query.optional("done")?.is_some() {
        return visit.page(&Reset { step: ResetStep::Done { sign_in: visit.href("/auth/sign-in") } });
    }
    if mailed_link::has_failed(&visit)? || is_over(&visit)? {
        return visit.page_as(mailed_link::FAILED, &dead(&visit));
    }
    match step(&visit) {
        Some(view) => visit.page(&view),
        None => visit.go_to(&visit.href("/auth/forgot")),
    }
}

/// Moves the token of a mailed link into the cookie; returns its name there, or `None` if the token is not valid.
async fn take(visit: &mut Visit, token: &str) -> Result<Option<String>, PageError> {
    let Some(token) = LinkToken::parse(token) else { return Ok(None) };
    let found = visit.service().passwords.reset_account(&token, &visit.to_client()).await?;
    let Some(account) = found else { return Ok(None) };
    keep(visit, &token, account.as_typed()).map(Some)
}

/// Stores a token in the cookie; returns its name there.
fn keep(visit: &mut Visit, token: &LinkToken, email: &str) -> Result<String, PageError> {
    let ticket = Ticket { token: token.expose().to_owned(), email: email.to_owned() };
    tokens::keep(visit, ticket)
}

/// Forgets the tokens of an account. A link that was opened before is not what the person asks for now.
pub(super) fn forget(visit: &mut Visit, email: &Email) -> Result<(), PageError> {
    tokens::forget(visit, |ticket: &Ticket| ticket.is_of(email))
}

/// True if the page is for a token that is used or too old.
fn is_over(visit: &Visit) -> Result<bool, PageError> {
    Ok(visit.query.optional(OF)?.is_some() && ticket(visit).is_none())
}

async fn act(Submission { mut visit, mut fields }: Submission) -> Outcome {
    if is_over(&visit)? {
        return visit.page_as(mailed_link::FAILED, &dead(&visit));
    }
    let act = visit.query.optional(ACT)?;
    let is_of_token = act.is_none();
    let done = match act.as_deref() {
        Some("send") => send_again(&mut visit).await,
        Some("code") => check_code(&mut visit, &mut fields).await,
        _ => set_password(&mut visit, &mut fields).await,
    };
    match done {
        Ok(address) => visit.go_to(&address),
        // The token died while its page was open.
        Err(rejection) if is_of_token && rejection.is(INVALID_CODE.name) => {
            let used = ticket(&visit).map(|found| found.value.token);
            tokens::forget(&mut visit, |ticket: &Ticket| used.as_ref() == Some(&ticket.token))?;
            visit.page_as(mailed_link::FAILED, &dead(&visit))
        }
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
    let name = keep(visit, &reset.token, &address)?;
    Ok(visit.href_with(PATH, &[(OF, &name)]))
}

async fn set_password(visit: &mut Visit, fields: &mut Fields) -> Result<String, Rejection> {
    let named = visit.query.optional(OF)?.and_then(|_| ticket(visit));
    let Found { value: ticket, .. } = named.ok_or_else(PageError::bad_flow)?;
    let token = LinkToken::parse(&ticket.token).ok_or_else(PageError::bad_flow)?;
    let Some(password) = fields.password("password")? else { return Err(fields.rejection()) };
    let least = visit.service().settings().values.password_min_length;
    let from = visit.sign_in_client(KeepSignedIn::No);
    let reset = visit.service().passwords.reset_password(token, password, &from).await;
    match reset.map_err(|error| Rejection::from(error).with_least(least))? {
        ResetOutcome::Reset => {
            tokens::forget(visit, |other: &Ticket| other.token == ticket.token)?;
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
    let name = keep(visit, token, &email.ok_or_else(PageError::bad_flow)?)?;
    visit.change_flow(|flow| flow.asked = None)?;
    Ok(visit.href_with(PATH, &[(OF, &name), ("notice", "confirmed")]))
}

/// Returns the address that was typed before; without one the page cannot be used.
fn typed_address(visit: &Visit) -> Result<Email, Rejection> {
    let email = visit.flow().email.as_deref().and_then(|text| Email::parse(text).ok());
    Ok(email.ok_or_else(PageError::bad_flow)?)
}

/// Returns the token that the page is for: the one that its address names, else that of the account which this flow asks for.
fn ticket(visit: &Visit) -> Option<Found<Ticket>> {
    let asked = typed_address(visit).ok();
    tokens::find(visit, |ticket: &Ticket| asked.as_ref().is_none_or(|asked| ticket.is_of(asked)))
}

/// Returns the step that the person is at; `None` at the beginning.
fn step(visit: &Visit) -> Option<Reset> {
    let settings = visit.service().settings();
    if let Some(ticket) = ticket(visit) {
        visit.ends_at(ticket.ends);
        let rules = PasswordRules::from(&settings.values.passwords());
        let form = visit.form_with(PATH, &[(OF, &ticket.name)]);
        let step = ResetStep::Password { form, account: mailed_link::masked(&ticket.value.email), rules };
        return Some(Reset { step });
    }
    let email = visit.flow().email.clone()?;
    let send = SendAgain { form: visit.form_with(PATH, &[(ACT, "send")]), wait: visit.wait_for_mail() };
    let step = match settings.values.reset_password_method {
        EmailMethod::Code => {
            let form = visit.form_with(PATH, &[(ACT, "code")]);
            ResetStep::Code { code: CodeForm { form, email, send } }
        }
        EmailMethod::Link => ResetStep::Link { email, send },
    };
    Some(Reset { step })
}

fn dead(visit: &Visit) -> Reset {
    Reset { step: ResetStep::Dead { forgot: visit.href("/auth/forgot") } }
}
