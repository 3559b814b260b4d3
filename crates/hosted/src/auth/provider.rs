//! `/auth/provider/{key}`, the way to an identity provider, and `/auth/provider/return`, the way back. The flow has the
//! departure. That of a link to the own account names the page session too; only the page of the linked providers makes
//! one, so no other site can begin a link.

use axum::routing::get;
use http::StatusCode;
use latchkey_http::path::PathText;
use latchkey_pages::views::{ProviderLink, ProviderOutcome, ProviderReturn};
use latchkey_service::Error;
use latchkey_service::oauth::callback::CallbackProblem;
use latchkey_service::oauth::exchange::Exchanged;
use latchkey_service::refusal::{
    AUTH_UNAUTHORIZED, IDENTITY_TAKEN, PROVIDER_NOT_CONFIGURED, PROVIDER_UNAVAILABLE,
    REAUTHENTICATION_REQUIRED,
};
use latchkey_service::sessions::{Credential, KeepSignedIn, PageSession};

use super::account::providers;
use super::sign_in;
use crate::entrance;
use crate::errors::PageError;
use crate::flow::{self, Flow};
use crate::page::Page;
use crate::problem::Rejection;
use crate::provider::{Deliberate, Departure, outcome_of, outcome_of_refusal, returned};
use crate::visit::{Outcome, Visit};

const BACK: &str = "/auth/provider/return";

pub(crate) const BEGIN: Page = Page::of_reads("/auth/provider/{key}", || get(begin));
pub(crate) const RETURN: Page = Page::of_reads(BACK, || get(come_back));

/// Returns the links to the providers in force.
pub(super) fn links(visit: &Visit) -> Vec<ProviderLink> {
    let providers = visit.service().oauth.offered_providers().into_iter();
    let link =
        |key: &str, name: &str| ProviderLink::new(key, name, visit.href(&format!("/auth/provider/{key}")));
    providers.map(|provider| link(provider.key.as_str(), provider.name())).collect()
}

async fn begin(_: Deliberate, PathText(key): PathText, visit: Visit) -> Outcome {
    // An app's request begins on a page that shows the app. Here a link of anybody would sign in to it without a press.
    if visit.flow_text().is_none() && flow::is_of_app(&visit.query)? {
        return visit.go_to(&visit.here_on(sign_in::PATH));
    }
    let mut visit = visit.begin()?;
    let offered = visit.service().oauth.offered_providers();
    let Some(provider) = offered.into_iter().find(|provider| provider.key.as_str() == key) else {
        return Err(PageError::not_found());
    };
    let departure = Departure::to(&provider, visit.service());
    visit.change_flow(|flow| flow.departed = Some(departure.clone()))?;
    let flow = visit.flow_text().unwrap_or_default();
    let back = format!("{}{BACK}?{}={flow}", visit.service().site().origin(), flow::PARAMETER);
    let start = departure.start(&provider, back, visit.to_client());
    let url = if visit.flow().links.is_some() {
        let Some(session) = linking(&visit) else { return visit.go_to(&providers::address(&visit)) };
        match visit.service().sessions.fresh(session).await {
            Ok(fresh) => visit.service().oauth.start_link(&fresh, start).await,
            Err(error) => Err(error),
        }
    } else {
        visit.service().oauth.start(start).await.map(|started| started.url)
    };
    match url {
        Ok(url) => visit.go_out(&url),
        // The page of the linked providers asks for the sign-in.
        Err(Error::Refused(&(REAUTHENTICATION_REQUIRED | AUTH_UNAUTHORIZED))) => {
            visit.go_to(&providers::address(&visit))
        }
        Err(Error::Refused(refusal)) if *refusal == PROVIDER_UNAVAILABLE => {
            show(&visit, ProviderOutcome::Down)
        }
        Err(Error::Refused(refusal)) if *refusal == PROVIDER_NOT_CONFIGURED => Err(PageError::not_found()),
        Err(error) => Err(error.into()),
    }
}

async fn come_back(_: Deliberate, mut visit: Visit) -> Outcome {
    let Some(left) = visit.flow().departed.clone() else { return Err(PageError::bad_flow()) };
    let code = match returned(visit.service(), &visit.query)? {
        Ok(code) => code,
        Err(said) if said == CallbackProblem::Taken.message() => {
            return visit.go_to(&providers::taken(&visit));
        }
        Err(said) => return show(&visit, outcome_of(&said)),
    };
    if visit.flow().links.is_some() {
        return link(visit, &code, &left).await;
    }
    let from = visit.sign_in_client(KeepSignedIn::No);
    let oauth = &visit.service().oauth;
    let entrance = match oauth.exchange(&code, &left.verifier, Credential::Bearer(None), &from).await {
        Ok(Exchanged::Entered(entrance)) => entrance,
        Ok(Exchanged::Linked { .. }) => return Err(PageError::bad_flow()),
        Err(Error::Refused(refusal)) => match outcome_of_refusal(refusal) {
            Some(outcome) => return show(&visit, outcome),
            None => return Err(Error::Refused(refusal).into()),
        },
        Err(error) => return Err(error.into()),
    };
    match entrance::enter(&mut visit, entrance, KeepSignedIn::No).await {
        Ok(address) => visit.go_to(&address),
        Err(Rejection::Page(error)) => Err(error),
        Err(Rejection::Form(refused)) => Err(refused.error.into()),
    }
}

/// Returns the page session for whose account the flow links an identity, if it is still the one of this browser.
fn linking(visit: &Visit) -> Option<&PageSession> {
    let session = visit.session.as_ref()?;
    (visit.flow().links.as_ref()? == &session.session().id.to_string()).then_some(session)
}

/// Links the identity that came back to the own account.
async fn link(visit: Visit, code: &str, left: &Departure) -> Outcome {
    let Some(session) = linking(&visit) else { return visit.go_to(&providers::address(&visit)) };
    let from = session.sign_in_client(visit.to_client());
    match visit.service().oauth.exchange(code, &left.verifier, session, &from).await {
        Ok(Exchanged::Linked { .. }) => visit.go_to(&providers::linked(&visit, &left.provider)),
        Ok(Exchanged::Entered(_)) => Err(PageError::bad_flow()),
        Err(Error::Refused(&IDENTITY_TAKEN)) => visit.go_to(&providers::taken(&visit)),
        Err(Error::Refused(&AUTH_UNAUTHORIZED)) => visit.go_to(&providers::address(&visit)),
        Err(Error::Refused(refusal)) => match outcome_of_refusal(refusal) {
            Some(outcome) => show(&visit, outcome),
            None => Err(Error::Refused(refusal).into()),
        },
        Err(error) => Err(error.into()),
    }
}

/// Returns the address of a sign-in that leads to the linked providers, in a flow of its own: the app of this one waits for
/// another sign-in. `None` if the identity need not be linked.
fn link_after_sign_in(visit: &Visit, outcome: ProviderOutcome) -> Result<Option<String>, PageError> {
    let is_needed = outcome == ProviderOutcome::Unverified && visit.flow().links.is_none();
    let (locale, email) = (visit.flow().locale.clone(), visit.flow().email.clone());
    let flow = Flow { locale, email, next: Some(providers::address(visit)), ..Flow::default() };
    is_needed.then(|| visit.href_in("/auth/sign-in", flow)).transpose()
}

fn show(visit: &Visit, outcome: ProviderOutcome) -> Outcome {
    let key = visit.flow().departed.as_ref().map(|left| left.provider.clone()).unwrap_or_default();
    let offered = visit.service().oauth.offered_providers();
    let known = offered.iter().find(|provider| provider.key.as_str() == key);
    let is_tried_again = outcome != ProviderOutcome::Unverified && known.is_some();
    let status = match outcome {
        ProviderOutcome::Down => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::BAD_REQUEST,
    };
    let view = ProviderReturn {
        provider: known.map_or_else(|| key.clone(), |provider| provider.name().to_owned()),
        outcome,
        retry: is_tried_again.then(|| visit.href(&format!("/auth/provider/{key}"))),
        link: link_after_sign_in(visit, outcome)?,
        is_link: visit.flow().links.is_some(),
        other: match visit.flow().links {
            Some(_) => providers::address(visit),
            None => visit.href("/auth/sign-in"),
        },
    };
    visit.page_as(status, &view)
}
