//! `/auth/account/providers`: the identity providers that the own account can sign in with, with forms that unlink them and
//! links that add one. A link leads to the provider and back; it needs a recent sign-in, for which there is a form.

use axum::routing::get;
use latchkey_domain::identity::ProviderKey;
use latchkey_pages::views::{LinkedProvider, ProviderLink, Providers};
use latchkey_service::Error;
use latchkey_service::providers::KnownProvider;
use latchkey_service::refusal::{
    AUTH_UNAUTHORIZED, IDENTITY_NOT_FOUND, IDENTITY_TAKEN, REAUTHENTICATION_REQUIRED,
};
use latchkey_service::sessions::PageSession;

use super::{confirm, to_sign_in};
use crate::errors::PageError;
use crate::fields::Fields;
use crate::flow::Flow;
use crate::page::Page;
use crate::problem::Rejection;
use crate::submission::Submission;
use crate::visit::{Outcome, Visit};

const PATH: &str = "/auth/account/providers";
/// Query parameter that says what a form does.
const ACT: &str = "act";
/// Query parameter of a link that failed, because another account has the identity.
const TAKEN: &str = "taken";

pub(crate) const PAGE: Page = Page::new(PATH, || get(show).post(act));

async fn show(visit: Visit) -> Outcome {
    let Some(session) = &visit.session else { return to_sign_in(visit) };
    let view = view(&visit, session).await?;
    if visit.query.optional(TAKEN)?.is_some() {
        return visit.refuse(Error::Refused(&IDENTITY_TAKEN).into(), &view);
    }
    visit.page(&view)
}

/// Returns the address of this page.
pub(in crate::auth) fn address(visit: &Visit) -> String {
    visit.href_outside(PATH, &[])
}

/// Returns the address of this page after an identity was linked.
pub(in crate::auth) fn linked(visit: &Visit, provider: &str) -> String {
    visit.href_outside(PATH, &[("notice", "provider_linked"), ("provider", provider)])
}

/// Returns the address of this page after an identity was not linked, because another account has it.
pub(in crate::auth) fn taken(visit: &Visit) -> String {
    visit.href_outside(PATH, &[(TAKEN, "1")])
}

async fn act(Submission { visit, fields }: Submission) -> Outcome {
    let Some(session) = visit.session.clone() else { return to_sign_in(visit) };
    let done = match visit.query.optional(ACT)?.as_deref() {
        Some("confirm") => confirm_sign_in(&visit, &session).await,
        _ => unlink_identity(&visit, &session, &fields).await,
    };
    match done {
        Ok(address) => visit.go_to(&address),
        Err(rejection) => {
            let view = view(&visit, &session).await?;
            confirm::refuse(visit, &fields, rejection, &view).await
        }
    }
}

/// Returns the address of this page with the links to providers, if the sign-in is recent.
async fn confirm_sign_in(visit: &Visit, session: &PageSession) -> Result<String, Rejection> {
    visit.service().sessions.fresh(session).await?;
    Ok(visit.href(PATH))
}

/// Unlinks the identity that the form names. One that is unlinked already is no problem.
async fn unlink_identity(visit: &Visit, session: &PageSession, fields: &Fields) -> Result<String, Rejection> {
    let fresh = visit.service().sessions.fresh(session).await?;
    let provider = ProviderKey::parse(&fields.text("provider")?).map_err(|_| PageError::not_found())?;
    let (subject, client) = (fields.text("subject")?, visit.to_client());
    let unlinked =
        visit.service().oauth.unlink_identity(&fresh, provider.as_str(), Some(&subject), &client).await;
    match unlinked {
        Ok(_) | Err(Error::Refused(&IDENTITY_NOT_FOUND)) => {
            let notice = [("notice", "provider_unlinked"), ("provider", provider.as_str())];
            Ok(visit.href_with(PATH, &notice))
        }
        Err(error) => Err(error.into()),
    }
}

async fn view(visit: &Visit, session: &PageSession) -> Result<Providers, PageError> {
    let identities = visit.service().oauth.list_identities(session.caller()).await?;
    let linked = identities.into_iter().map(|identity| LinkedProvider {
        name: visit.provider_name(&identity.provider),
        key: identity.provider,
        subject: identity.subject,
        email: identity.email.map(|email| email.as_typed().to_owned()),
    });
    let linked = linked.collect();
    let available = available(visit, session)?;
    let is_fresh = available.is_empty() || is_fresh(visit, session).await?;
    let confirm = (!is_fresh).then(|| visit.form_with(PATH, &[(ACT, "confirm")]));
    Ok(Providers { linked, available, confirm, unlink: visit.form(PATH) })
}

/// Returns the links to the providers in force. They carry a flow, which only this page seals.
fn available(visit: &Visit, session: &PageSession) -> Result<Vec<ProviderLink>, PageError> {
    let links = Some(session.session().id.to_string());
    let locale = visit.flow().locale.clone();
    let flow = Flow { locale, links, ..Flow::default() };
    let offered = visit.service().oauth.offered_providers();
    let link = |provider: &KnownProvider| {
        let key = provider.key.as_str();
        let href = visit.href_in(&format!("/auth/provider/{key}"), flow.clone())?;
        Ok(ProviderLink::new(key, provider.name(), href))
    };
    offered.iter().map(link).collect()
}

async fn is_fresh(visit: &Visit, session: &PageSession) -> Result<bool, PageError> {
    match visit.service().sessions.fresh(session).await {
        Ok(_) => Ok(true),
        Err(Error::Refused(&(REAUTHENTICATION_REQUIRED | AUTH_UNAUTHORIZED))) => Ok(false),
        Err(error) => Err(error.into()),
    }
}
