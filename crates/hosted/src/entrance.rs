//! The end of every way in: the cookie of the page session, then the second factor, the app, or the own account.

use std::time::Duration;

use latchkey_domain::page_session::PageToken;
use latchkey_domain::session::Session;
use latchkey_http::error::codes;
use latchkey_service::sessions::{
    Challenge, Entrance, KeepSignedIn, Opened, PageSession, PageSignedIn, cookie_lifetime,
};
use serde::{Deserialize, Serialize};

use crate::ceremony;
use crate::errors::PageError;
use crate::flow::Asked;
use crate::other_account::Left;
use crate::problem::Rejection;
use crate::sealed::Carried;
use crate::visit::Visit;

/// Lifetime of the cookie with the secret of a browser in which somebody stays signed in: the longest that browsers keep.
const SECRET_STAYS: Duration = Duration::from_hours(400 * 24);

/// Longest time in which the browser goes on to the app. A code that lives shorter ends it.
const TICKET_LIFETIME: Duration = Duration::from_mins(1);

/// The way back to an app, for the page `/auth/continue`. Its own address has to have room for it.
#[derive(Serialize, Deserialize)]
pub(crate) struct Ticket {
    /// Address with the code.
    pub(crate) address: String,
    /// The address of the app without a code, as the length of what both addresses begin with, and the rest.
    shared: usize,
    rest: String,
}

impl Ticket {
    fn new(address: String, app: &str) -> Self {
        let shared = address.bytes().zip(app.bytes()).take_while(|(one, other)| one == other).count();
        // Both are ASCII, as every serialised address.
        let shared =
            if address.is_char_boundary(shared) && app.is_char_boundary(shared) { shared } else { 0 };
        Self { rest: app[shared..].to_owned(), address, shared }
    }

    /// Returns the address of the app without a code, for a page that is shown again.
    pub(crate) fn app(&self) -> String {
        format!("{}{}", self.address.get(..self.shared).unwrap_or_default(), self.rest)
    }
}

impl Carried for Ticket {
    const KIND: &'static str = "ticket";
}

/// Takes what a sign-in opened; returns the address of the next page. `keep` is what the sign-in asked for.
pub(crate) async fn enter(
    visit: &mut Visit,
    entrance: Entrance,
    keep: KeepSignedIn,
) -> Result<String, Rejection> {
    match entrance {
        Entrance::SignedIn(opened) => {
            let session = take(visit, opened).await?;
            finish(visit, &session).await
        }
        Entrance::Challenged(challenge) => {
            let is_kept = keep == KeepSignedIn::Yes;
            let asked = Asked { is_kept, ..Asked::of(&challenge, "/auth/sign-in") };
            ask(visit, &challenge, asked).await
        }
    }
}

/// Goes to the page of a challenge.
pub(crate) async fn ask(visit: &mut Visit, challenge: &Challenge, asked: Asked) -> Result<String, Rejection> {
    ceremony::prepare(visit.service(), &challenge.id, &challenge.kinds).await?;
    visit.change_flow(|flow| flow.asked = Some(asked))?;
    Ok(visit.href("/auth/challenge"))
}

/// Takes the page session that a sign-in opened.
pub(crate) async fn take(visit: &mut Visit, opened: Opened) -> Result<PageSession, Rejection> {
    match opened {
        Opened::Pages(signed_in) => take_session(visit, &signed_in).await,
        Opened::App(_) | Opened::Console(_) => {
            Err(PageError::internal("a sign-in on the pages opened another session").into())
        }
    }
}

/// Sets the cookie of a page session that was just opened or renewed.
pub(crate) async fn take_session(
    visit: &mut Visit,
    signed_in: &PageSignedIn,
) -> Result<PageSession, Rejection> {
    set_token(visit, &signed_in.token, &signed_in.session)?;
    let other = visit.session.as_ref().filter(|before| before.user().id != signed_in.user.id);
    if let Some(email) = other.map(|before| before.user().email.as_typed().to_owned()) {
        visit.change_flow(|flow| flow.left = Some(email))?;
    }
    let client = visit.to_client();
    let found = visit.service().page_sessions.find(&signed_in.token, &visit.browser.secret, &client).await?;
    Ok(found.ok_or_else(PageError::stale_form)?)
}

/// Sets the cookie of a page session to its new token.
pub(crate) fn set_token(visit: &mut Visit, token: &PageToken, session: &Session) -> Result<(), PageError> {
    let token = token.expose();
    let Some(lifetime) = cookie_lifetime(session, visit.now) else {
        let cookie = visit.hosted.cookies.pages.set_until_closed(&token);
        return visit.set_cookie(cookie);
    };
    let cookie = visit.hosted.cookies.pages.set(&token, lifetime);
    visit.set_cookie(cookie)?;
    // The session is worth nothing without the secret of its browser, so both cookies outlive the browser. The secret alone
    // opens nothing, and later sessions of this browser, which do not set it, are not to lose it: it stays longer than they.
    let cookie = visit.hosted.browser.set(&visit.browser.secret.expose(), SECRET_STAYS);
    visit.set_cookie(cookie)
}

/// Ends a flow with a page session; returns the address of the next page.
pub(crate) async fn finish(visit: &Visit, session: &PageSession) -> Result<String, Rejection> {
    let Some(app) = &visit.flow().app else {
        let next = match (&visit.flow().next, &visit.flow().kept) {
            (Some(next), Some(kept)) => kept.add_to(visit, next)?,
            (Some(next), None) => next.clone(),
            (None, _) => visit.href_outside("/auth/account", &[]),
        };
        return Ok(Left::tell(visit, next)?);
    };
    let pages = &visit.service().page_sessions;
    let address = pages.hand_over(session, &app.target()).await;
    let address = address.map_err(|error| match Rejection::from(error) {
        refused if refused.is(codes::REDIRECT_NOT_ALLOWED.name) => PageError::bad_target().into(),
        other => other,
    })?;
    let lifetime = TICKET_LIFETIME.min(pages.code_lifetime());
    let text = visit.seal(visit.now.plus(lifetime), Ticket::new(address, &app.redirect_uri))?;
    let locale = visit.flow().locale.as_deref().map(|locale| format!("&locale={locale}")).unwrap_or_default();
    Ok(Left::tell(visit, format!("/auth/continue?ticket={text}{locale}"))?)
}
