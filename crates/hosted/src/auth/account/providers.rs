//! `/auth/account/providers`: the identity providers that the own account can sign in with, with forms that unlink them.

use axum::routing::get;
use latchkey_domain::identity::ProviderKey;
use latchkey_pages::views::{LinkedProvider, Providers};
use latchkey_service::Error;
use latchkey_service::refusal::IDENTITY_NOT_FOUND;
use latchkey_service::sessions::PageSession;

use super::{confirm, to_sign_in};
use crate::errors::PageError;
use crate::fields::Fields;
use crate::page::Page;
use crate::problem::Rejection;
use crate::submission::Submission;
use crate::visit::{Outcome, Visit};

const PATH: &str = "/auth/account/providers";

pub(crate) const PAGE: Page = Page::new(PATH, || get(show).post(unlink));

async fn show(visit: Visit) -> Outcome {
    let Some(session) = &visit.session else { return to_sign_in(visit) };
    visit.page(&view(&visit, session).await?)
}

async fn unlink(Submission { visit, fields }: Submission) -> Outcome {
    let Some(session) = visit.session.clone() else { return to_sign_in(visit) };
    match unlink_identity(&visit, &session, &fields).await {
        Ok(provider) => {
            let notice = [("notice", "provider_unlinked"), ("provider", provider.as_str())];
            visit.go_to(&visit.href_with(PATH, &notice))
        }
        Err(rejection) => {
            let view = view(&visit, &session).await?;
            confirm::refuse(visit, &fields, rejection, &view).await
        }
    }
}

/// Unlinks the identity that the form names; returns its provider. One that is unlinked already is no problem.
async fn unlink_identity(
    visit: &Visit,
    session: &PageSession,
    fields: &Fields,
) -> Result<ProviderKey, Rejection> {
    let fresh = visit.service().sessions.fresh(session).await?;
    let provider = ProviderKey::parse(&fields.text("provider")?).map_err(|_| PageError::not_found())?;
    let (subject, client) = (fields.text("subject")?, visit.to_client());
    let unlinked =
        visit.service().oauth.unlink_identity(&fresh, provider.as_str(), Some(&subject), &client).await;
    match unlinked {
        Ok(_) => Ok(provider),
        Err(Error::Refused(refusal)) if *refusal == IDENTITY_NOT_FOUND => Ok(provider),
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
    Ok(Providers { linked: linked.collect(), available: Vec::new(), unlink: visit.form(PATH) })
}
