//! `/auth/mail-code`: sign-in by a mailed code, or by the link of the same mail in the browser that asked for it.
//!
//! The link brings its token and the flow in which it was asked for. The flow opens only in the browser that began it,
//! and has the verifier without which the token is worth nothing. The token moves into a sealed cookie.

use axum::routing::get;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use latchkey_domain::email::Email;
use latchkey_domain::tokens::{LinkToken, TokenHash};
use latchkey_http::cookies::Cookie;
use latchkey_pages::views::{CodeForm, MailCode, MailCodeStep, SendAgain};
use latchkey_service::mailbox::sign_in::SignInMail;
use latchkey_service::sessions::KeepSignedIn;
use latchkey_service::settings::EmailSignIn;
use serde::{Deserialize, Serialize};

use super::mailed_link;
use super::tokens::{self, Found, OF, Token};
use crate::entrance;
use crate::errors::PageError;
use crate::fields::Fields;
use crate::flow::Flow;
use crate::hosted::Cookies;
use crate::page::Page;
use crate::problem::Rejection;
use crate::sealed::Carried;
use crate::submission::Submission;
use crate::visit::{Outcome, Visit};

const PATH: &str = "/auth/mail-code";
/// Query parameter that says what a form does.
const ACT: &str = "act";
/// Query parameter of the first step, to name another address.
const CHANGE: &str = "change";
/// What became of a link that was opened in another browser than the one that asked for it.
const ELSEWHERE: &str = "elsewhere";

pub(crate) const PAGE: Page = Page::new(PATH, || get(show).post(act));

/// The token of a mailed link, on its way to the press of a button.
#[derive(Serialize, Deserialize)]
struct Link(String);

impl Carried for Link {
    const KIND: &'static str = "sign-in-link";
}

impl Token for Link {
    fn token(&self) -> &str {
        &self.0
    }

    fn cookie(cookies: &Cookies) -> &Cookie {
        &cookies.sign_in_link
    }
}

async fn show(visit: Visit) -> Outcome {
    if let Some(token) = visit.query.optional("token")? {
        return arrive(visit, token);
    }
    if mailed_link::has_failed(&visit)? {
        let again = visit.href(PATH);
        return visit.page_as(mailed_link::FAILED, &view(&visit, MailCodeStep::Dead { again }));
    }
    if visit.query.optional(mailed_link::PARAMETER)?.as_deref() == Some(ELSEWHERE) {
        return visit.page(&view(&visit, MailCodeStep::Elsewhere));
    }
    let visit = visit.begin()?;
    visit.page(&view(&visit, step(&visit)?))
}

/// Takes a mailed link. Opening it uses nothing up. In another browser its token is worth nothing, and is dropped.
fn arrive(mut visit: Visit, token: String) -> Outcome {
    if !visit.take_up()? || visit.flow().verifier.is_none() {
        return visit.go_to(&visit.href_with(PATH, &[(mailed_link::PARAMETER, ELSEWHERE)]));
    }
    let name = tokens::keep(&mut visit, Link(token))?;
    visit.go_to(&visit.href_with(PATH, &[(ACT, "link"), (OF, &name)]))
}

async fn act(Submission { mut visit, mut fields }: Submission) -> Outcome {
    let act = visit.query.optional(ACT)?;
    let again = || visit.href_with(PATH, &[(CHANGE, "1")]);
    if act.as_deref() == Some("link") && link(&visit).is_none() {
        return visit.page_as(mailed_link::FAILED, &view(&visit, MailCodeStep::Dead { again: again() }));
    }
    let done = match act.as_deref() {
        Some("code") => by_code(&mut visit, &mut fields).await,
        Some("link") => by_link(&mut visit).await,
        Some("send") => match typed_address(&visit) {
            Ok(email) => send(&mut visit, email).await.map(|address| format!("{address}&notice=code_sent")),
            Err(rejection) => Err(rejection),
        },
        _ => begin(&mut visit, &mut fields).await,
    };
    let rejection = match done {
        Ok(address) => return visit.go_to(&address),
        Err(rejection) => rejection,
    };
    let step = match act.as_deref() {
        Some("code" | "send") => step(&visit)?,
        Some("link") => MailCodeStep::Dead { again: visit.href_with(PATH, &[(CHANGE, "1")]) },
        _ => MailCodeStep::Email { form: visit.form(PATH), email: fields.text("email")? },
    };
    visit.refuse(rejection, &view(&visit, step))
}

async fn begin(visit: &mut Visit, fields: &mut Fields) -> Result<String, Rejection> {
    let Some(email) = fields.email("email")? else { return Err(fields.rejection()) };
    send(visit, email).await
}

/// Mails the code; returns the address of the page that asks for it. All addresses are answered alike.
async fn send(visit: &mut Visit, email: Email) -> Result<String, Rejection> {
    let (typed, now) = (email.as_typed().to_owned(), visit.now.as_millis());
    let verifier = LinkToken::new(visit.service().random_bytes()).expose().to_owned();
    let challenge = URL_SAFE_NO_PAD.encode(TokenHash::of(verifier.as_bytes()).as_bytes());
    let before = visit.flow().clone();
    visit.change_flow(|flow| {
        (flow.email, flow.mailed_at, flow.verifier) = (Some(typed), Some(now), Some(verifier));
    })?;
    // The link of the mail has the flow with the verifier.
    let mail = SignInMail { email, redirect: visit.mailed(PATH), code_challenge: Some(challenge) };
    let sent = visit.service().mailbox.send_sign_in(mail, &visit.to_client()).await;
    if sent.is_err() {
        visit.change_flow(|flow| {
            let email = flow.email.take();
            // A code that was mailed to another address is not one of this one.
            *flow = if email == before.email {
                before
            } else {
                Flow { email, mailed_at: None, verifier: None, ..before }
            };
        })?;
    }
    sent?;
    Ok(visit.href_with(PATH, &[(ACT, "code")]))
}

async fn by_code(visit: &mut Visit, fields: &mut Fields) -> Result<String, Rejection> {
    let email = typed_address(visit)?;
    let Some(code) = fields.code("code")? else { return Err(fields.rejection()) };
    let from = visit.sign_in_client(KeepSignedIn::No);
    let entrance = visit.service().mailbox.sign_in_by_code(email, code, None, &from).await?;
    entrance::enter(visit, entrance, KeepSignedIn::No).await
}

async fn by_link(visit: &mut Visit) -> Result<String, Rejection> {
    let token = link(visit).and_then(|link| LinkToken::parse(link.value.token()));
    let token = token.ok_or_else(PageError::bad_flow)?;
    let used = token.expose().to_owned();
    let verifier = visit.flow().verifier.clone().unwrap_or_default();
    let from = visit.sign_in_client(KeepSignedIn::No);
    let entrance = visit.service().mailbox.sign_in_by_link(token, &verifier, None, &from).await?;
    tokens::forget(visit, |link: &Link| link.0 == used)?;
    entrance::enter(visit, entrance, KeepSignedIn::No).await
}

/// Returns the address that was typed before; without one the page cannot be used.
fn typed_address(visit: &Visit) -> Result<Email, Rejection> {
    let email = visit.flow().email.as_deref().and_then(|text| Email::parse(text).ok());
    Ok(email.ok_or_else(PageError::bad_flow)?)
}

/// Returns the token that the address names, unless it is too old.
fn link(visit: &Visit) -> Option<Found<Link>> {
    tokens::find(visit, |_| false)
}

/// Returns the step that the person is at.
fn step(visit: &Visit) -> Result<MailCodeStep, PageError> {
    let email = visit.flow().email.clone().unwrap_or_default();
    let is_mailed = visit.flow().verifier.is_some() && visit.query.optional(CHANGE)?.is_none();
    let is_link = visit.query.optional(ACT)?.as_deref() == Some("link");
    let link = link(visit).filter(|_| is_mailed && is_link);
    Ok(if let Some(link) = link {
        visit.ends_at(link.ends);
        let email = mailed_link::masked(&email);
        MailCodeStep::Link { form: visit.form_with(PATH, &[(ACT, "link"), (OF, &link.name)]), email }
    } else if is_mailed {
        let send = SendAgain { form: visit.form_with(PATH, &[(ACT, "send")]), wait: visit.wait_for_mail() };
        let form = visit.form_with(PATH, &[(ACT, "code")]);
        let code = CodeForm { form, email, send };
        MailCodeStep::Code { code, change: visit.href_with(PATH, &[(CHANGE, "1")]) }
    } else {
        MailCodeStep::Email { form: visit.form(PATH), email }
    })
}

fn view(visit: &Visit, step: MailCodeStep) -> MailCode {
    let is_off = visit.service().admin.public_settings().email_sign_in == EmailSignIn::Off;
    let step = if is_off { MailCodeStep::Off } else { step };
    MailCode { step, sign_in: visit.href("/auth/sign-in") }
}
