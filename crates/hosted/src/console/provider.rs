//! `/console/provider/{key}`, the way to a provider of `console.providers`, and `/console/provider/return`, the way back. The
//! second factor comes after it, as after the password. An identity that is no operator's gets the answer of wrong
//! credentials. A cookie has the departure, so nothing but the provider's code stands in an address.

use axum::routing::get;
use http::HeaderMap;
use latchkey_http::path::PathText;
use latchkey_pages::console::{Problem, Refusal};
use latchkey_pages::views::{ProviderLink, ProviderOutcome};
use latchkey_service::Error;
use latchkey_service::console::ConsoleEntrance;
use latchkey_service::oauth::exchange::Exchanged;
use latchkey_service::refusal::{INVALID_CREDENTIALS, INVALID_OAUTH_CODE, PROVIDER_UNAVAILABLE};
use latchkey_service::sessions::Credential;
use serde::{Deserialize, Serialize};

use super::carried::{self, InCookie};
use super::guest::{Guest, href};
use super::page::Page;
use super::rejection::Rejection;
use super::sign_in;
use super::stop::Outcome;
use crate::errors::PageError;
use crate::flow::LIFETIME;
use crate::provider::{Deliberate, Departure, outcome_of, returned};
use crate::sealed::Carried;

const BEGIN_PATH: &str = "/console/provider/{key}";
pub(crate) const BACK: &str = "/console/provider/return";

pub(crate) const BEGIN: Page = Page::of_reads(BEGIN_PATH, || get(begin));
pub(crate) const RETURN: Page = Page::of_reads(BACK, || get(come_back));

/// A browser on its way to a provider, and the page that its sign-in leads to.
#[derive(Serialize, Deserialize)]
struct Departed {
    departure: Departure,
    next: String,
}

impl Carried for Departed {
    const KIND: &'static str = "console-departed";
}

impl InCookie for Departed {
    const COOKIE: &'static str = "latchkey_operator_departed";
}

/// Returns the links to the providers. `next` is the parameter with the page that the sign-in leads to.
pub(super) fn links(guest: &Guest, next: &[(&str, &str)]) -> Vec<ProviderLink> {
    let providers = guest.service().oauth.console_providers().into_iter();
    let link =
        |key: &str, name: &str| ProviderLink::new(key, name, href(&BEGIN_PATH.replace("{key}", key), next));
    providers.map(|provider| link(provider.key.as_str(), provider.name())).collect()
}

async fn begin(_: Deliberate, PathText(key): PathText, mut guest: Guest) -> Outcome {
    let providers = guest.service().oauth.console_providers();
    let Some(provider) = providers.into_iter().find(|provider| provider.key.as_str() == key) else {
        return Err(PageError::not_found().into());
    };
    let next = sign_in::next(&guest)?;
    let departure = Departure::to(&provider, guest.service());
    let back = format!("{}{BACK}", guest.console.settings.public_origin());
    let start = departure.start(&provider, back, guest.to_client());
    let started = guest.service().oauth.start(start).await;
    match started {
        Ok(started) => {
            carried::keep(&mut guest, LIFETIME, Departed { departure, next })?;
            guest.go_out(&started.url)
        }
        Err(error) => refuse(&guest, &next, error.into()),
    }
}

async fn come_back(_: Deliberate, mut guest: Guest, headers: HeaderMap) -> Outcome {
    let Some(Departed { departure, next }) = carried::find(&guest, &headers) else {
        return refuse(&guest, sign_in::OVERVIEW, refusal_of(ProviderOutcome::Expired));
    };
    let code = match returned(guest.service(), &guest.query)? {
        Ok(code) => code,
        Err(said) => return refuse(&guest, &next, refusal_of(outcome_of(&said))),
    };
    let from = guest.sign_in().from(guest.to_client());
    let (oauth, nobody) = (&guest.service().oauth, Credential::Bearer(None));
    let exchanged = oauth.exchange(&code, &departure.verifier, nobody, &from).await;
    match exchanged {
        Ok(Exchanged::Entered(entrance)) => {
            carried::forget::<Departed>(&mut guest)?;
            sign_in::enter(guest, ConsoleEntrance::of(entrance)?, next, None).await
        }
        Ok(Exchanged::Linked { .. }) => Err(PageError::bad_flow().into()),
        Err(error) => refuse(&guest, &next, error.into()),
    }
}

/// Shows the sign-in with the reason for which the provider opened nothing.
fn refuse(guest: &Guest, next: &str, rejection: Rejection) -> Outcome {
    let view = sign_in::view(guest, next, String::new(), None)?;
    guest.refuse(rejection, &view)
}

/// Returns the refusal of a way back without a code.
fn refusal_of(outcome: ProviderOutcome) -> Rejection {
    Error::Refused(match outcome {
        ProviderOutcome::Denied => return Rejection::of(Problem::whole(Refusal::ProviderDenied)),
        ProviderOutcome::Unverified => &INVALID_CREDENTIALS,
        ProviderOutcome::Expired => &INVALID_OAUTH_CODE,
        ProviderOutcome::Down => &PROVIDER_UNAVAILABLE,
    })
    .into()
}
