//! `/console/sign-in`: by passkey, or by password or provider and the second factor that `/console/confirm` asks for. An
//! account that is no operator gets the answer of wrong credentials.

use axum::routing::get;
use http::uri::PathAndQuery;
use latchkey_pages::console::views::SignIn;
use latchkey_pages::views::PasskeyForm;
use latchkey_service::Error;
use latchkey_service::console::ConsoleEntrance;
use url::form_urlencoded;

use super::guest::{Guest, href};
use super::page::Page;
use super::rejection::Rejection;
use super::stop::{Outcome, Stop};
use super::submission::GuestSubmission;
use super::{confirm, late, passkey_options, provider};
use crate::ceremony;
use crate::errors::PageError;
use crate::fields::Fields;

pub(super) const PATH: &str = "/console/sign-in";
pub(super) const OVERVIEW: &str = "/console";
/// Query parameter with the page that the sign-in leads to.
const NEXT: &str = "next";
/// Most characters of that page's address. A cookie carries it.
const LONGEST_NEXT: usize = 1024;
/// Query parameter that says what a form does.
const ACT: &str = "act";

pub(crate) const PAGE: Page = Page::new(PATH, || get(show).post(act));

/// Sends the browser to the sign-in, which leads to `next`, a path of the console with its query.
pub(super) fn to_sign_in(guest: &Guest, next: &str) -> Stop {
    let next = encoded(next);
    let parameters = [(NEXT, next.as_str())];
    let address = href(PATH, if next.is_empty() { &[] } else { &parameters });
    guest.go_to(&address).map_or_else(|stop| stop, |response| Stop::Instead(Box::new(response)))
}

/// Returns a page as it stands in a query; empty for the overview.
fn encoded(next: &str) -> String {
    if next == OVERVIEW { String::new() } else { form_urlencoded::byte_serialize(next.as_bytes()).collect() }
}

async fn show(guest: Guest) -> Outcome {
    if guest.session.is_some() {
        return guest.go_to(&next(&guest)?);
    }
    let view = view(&guest, &next(&guest)?, String::new(), None)?;
    guest.page(&view)
}

async fn act(GuestSubmission { guest, mut fields }: GuestSubmission) -> Outcome {
    let (typed, next, kept) = (fields.text("email")?, next(&guest)?, late::carried(&guest, &fields)?);
    let entered = match guest.query.optional(ACT)?.as_deref() {
        Some("passkey") => by_passkey(&guest, &mut fields).await,
        _ => by_password(&guest, &mut fields).await,
    };
    match entered {
        Ok(entrance) => enter(guest, entrance, next, kept).await,
        Err(rejection) => {
            let view = view(&guest, &next, typed, kept)?;
            guest.refuse(rejection, &view)
        }
    }
}

/// Goes on after a right factor: to the page that was wanted or the form that was kept, or to the question for a further
/// factor.
pub(super) async fn enter(
    mut guest: Guest,
    entrance: ConsoleEntrance,
    next: String,
    kept: Option<String>,
) -> Outcome {
    match entrance {
        ConsoleEntrance::SignedIn(signed_in) => {
            confirm::forget(&mut guest)?;
            late::go_on(guest, &signed_in, kept, &next).await
        }
        ConsoleEntrance::Challenged(challenge) => confirm::ask(guest, &challenge, next, kept).await,
    }
}

async fn by_password(guest: &Guest, fields: &mut Fields) -> Result<ConsoleEntrance, Rejection> {
    let (email, password) = (fields.email("email")?, fields.password("password")?);
    let (Some(email), Some(password)) = (email, password) else { return Err(fields.rejection().into()) };
    let console = &guest.service().console;
    Ok(console.sign_in(email, password, guest.sign_in(), &guest.to_client()).await?)
}

async fn by_passkey(guest: &Guest, fields: &mut Fields) -> Result<ConsoleEntrance, Rejection> {
    let Some(assertion) = fields.assertion()? else { return Err(fields.rejection().into()) };
    let ceremony = fields.text(ceremony::ID)?;
    let (console, client) = (&guest.service().console, guest.to_client());
    Ok(console.sign_in_with_passkey(&ceremony, assertion, guest.sign_in(), &client).await?)
}

/// Returns the page that the sign-in leads to: a path of the console, else the overview.
pub(super) fn next(guest: &Guest) -> Result<String, PageError> {
    let wanted = guest.query.optional(NEXT)?.filter(|next| is_own(next));
    Ok(wanted.unwrap_or_else(|| OVERVIEW.to_owned()))
}

/// True for a path of the console with or without a query.
fn is_own(next: &str) -> bool {
    let Ok(address) = next.parse::<PathAndQuery>() else { return false };
    let path = address.path();
    let is_below = path == OVERVIEW || path.starts_with("/console/");
    let is_whole = address.as_str() == next && next.len() <= LONGEST_NEXT && !next.contains(['\\', '#']);
    is_below && is_whole && !path.split('/').any(is_step)
}

/// True for a segment by which a browser leaves the path before it.
fn is_step(segment: &str) -> bool {
    matches!(segment.to_ascii_lowercase().replace("%2e", ".").as_str(), "." | "..")
}

/// Returns the form for a passkey; `None` if passkeys do not work here, or this client asked for too many options.
pub(super) fn passkey(
    guest: &Guest,
    path: &str,
    parameters: &[(&str, &str)],
) -> Result<Option<PasskeyForm>, PageError> {
    if !guest.console.has_passkeys() {
        return Ok(None);
    }
    match guest.service().passkeys.begin_sign_in(None, &guest.to_client()) {
        Ok(begun) => {
            let form = guest.form_with(path, parameters);
            ceremony::sign_in(form, begun, passkey_options::PATH).map(Some)
        }
        Err(Error::Refused(_) | Error::RefusedWith(..)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Returns the page of the sign-in that leads to `next`, or to a kept form.
pub(super) fn view(
    guest: &Guest,
    next: &str,
    email: String,
    kept: Option<String>,
) -> Result<SignIn, PageError> {
    let next = encoded(next);
    let next: Vec<_> = Some((NEXT, next.as_str())).filter(|(_, next)| !next.is_empty()).into_iter().collect();
    let by_passkey = [&next[..], &[(ACT, "passkey")]].concat();
    Ok(SignIn {
        passkey: passkey(guest, PATH, &by_passkey)?,
        form: guest.form_with(PATH, &next),
        email,
        // The way over a provider has no room for the form, so it would be lost without a word.
        providers: if kept.is_some() { Vec::new() } else { provider::links(guest, &next) },
        kept,
        is_lost: false,
    })
}
