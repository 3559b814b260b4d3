//! `/auth/account/passkeys`: the passkeys of the own account, with forms that add, rename and remove them.

use axum::routing::get;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use latchkey_domain::passkey::{MAX_PASSKEYS, Passkey as Stored, PasskeyId};
use latchkey_pages::When;
use latchkey_pages::views::{AddPasskey, Passkey, Passkeys};
use latchkey_service::Error;
use latchkey_service::factors::FactorEnroller;
use latchkey_service::passkeys::{BegunRegistration, OwnPasskeys, RegistrationMode};
use latchkey_service::refusal::PASSKEY_NOT_FOUND;
use latchkey_service::sessions::PageSession;
use serde_json::json;

use super::{confirm, to_sign_in};
use crate::ceremony;
use crate::errors::PageError;
use crate::fields::Fields;
use crate::page::Page;
use crate::problem::Rejection;
use crate::submission::Submission;
use crate::visit::{Outcome, Visit};

const PATH: &str = "/auth/account/passkeys";
/// Query parameter that says what a form does.
const ACT: &str = "act";
/// Query parameter of the page after the button was pressed that adds a passkey.
const ASKED: &str = "asked";
/// Query parameter with the id of the passkey whose name is being edited.
const RENAME: &str = "rename";
/// Field with the new name of that passkey.
const NAME: &str = "name";

pub(crate) const PAGE: Page = Page::new(PATH, || get(show).post(act));

async fn show(visit: Visit) -> Outcome {
    let Some(session) = &visit.session else { return to_sign_in(visit) };
    visit.page(&view(&visit, session, confirm::kept(&visit, NAME)).await?)
}

async fn act(Submission { visit, mut fields }: Submission) -> Outcome {
    let Some(session) = visit.session.clone() else {
        let page = renaming(&visit)?.map_or_else(|| PATH.to_owned(), |id| format!("{PATH}?{RENAME}={id}"));
        return confirm::late(visit, &fields, &page);
    };
    match change(&visit, &session, &mut fields).await {
        Ok(shown) => {
            let parameters: Vec<_> = shown.into_iter().collect();
            visit.go_to(&visit.href_with(PATH, &parameters))
        }
        Err(rejection) => {
            let view = view(&visit, &session, Some(fields.text(NAME)?)).await?;
            confirm::refuse(visit, &fields, rejection, &view).await
        }
    }
}

/// Parameter of the page that follows, if it has one.
type Shown = Result<Option<(&'static str, &'static str)>, Rejection>;

/// Does what the form asks for.
async fn change(visit: &Visit, session: &PageSession, fields: &mut Fields) -> Shown {
    match visit.query.optional(ACT)?.as_deref() {
        // Writes the user handle of the account, which the page with the options may not do.
        Some("begin") => Ok(begin(visit, session).await.map(|_| Some((ASKED, "1")))?),
        Some("add") => add(visit, session, fields).await,
        Some("rename") => rename(visit, session, fields).await,
        Some("remove") => remove(visit, session, fields).await,
        _ => Err(PageError::not_found().into()),
    }
}

async fn begin(visit: &Visit, session: &PageSession) -> Result<BegunRegistration, Error> {
    let fresh = visit.service().sessions.fresh(session).await?;
    let enroller = FactorEnroller::Fresh(fresh);
    visit.service().passkeys.begin_registration(enroller, RegistrationMode::Prompted).await
}

async fn add(visit: &Visit, session: &PageSession, fields: &mut Fields) -> Shown {
    let Some(registration) = fields.registration()? else { return Err(fields.rejection()) };
    let ceremony = fields.text(ceremony::ID)?;
    let from = session.sign_in_client(visit.to_client());
    let enroller = FactorEnroller::Session(session.caller());
    visit.service().passkeys.register(enroller, &ceremony, registration, None, &from).await?;
    Ok(Some(("notice", "passkey_added")))
}

async fn rename(visit: &Visit, session: &PageSession, fields: &mut Fields) -> Shown {
    let id = named(fields)?;
    let Some(name) = fields.factor_name(NAME)? else { return Err(fields.rejection()) };
    visit.service().passkeys.rename(session.caller(), id, name, &visit.to_client()).await?;
    Ok(Some(("notice", "saved")))
}

/// Removes the passkey that the form names. One that is removed already is no problem.
async fn remove(visit: &Visit, session: &PageSession, fields: &Fields) -> Shown {
    let fresh = visit.service().sessions.fresh(session).await?;
    match visit.service().passkeys.remove(&fresh, named(fields)?, &visit.to_client()).await {
        Ok(_) => Ok(Some(("notice", "passkey_removed"))),
        Err(Error::Refused(refusal)) if *refusal == PASSKEY_NOT_FOUND => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Returns the passkey whose name is being edited.
fn renaming(visit: &Visit) -> Result<Option<PasskeyId>, PageError> {
    Ok(visit.query.optional(RENAME)?.and_then(|id| id.parse().ok()))
}

fn named(fields: &Fields) -> Result<PasskeyId, PageError> {
    fields.text("id")?.parse().map_err(|_| PageError::not_found())
}

/// Fills the page. `typed` is the new name of the passkey whose name is being edited; `None` for the one that it has.
async fn view(visit: &Visit, session: &PageSession, typed: Option<String>) -> Result<Passkeys, PageError> {
    let own = visit.service().passkeys.list(session.caller()).await?;
    let form = |act| visit.form_with(PATH, &[(ACT, act)]);
    let edited = renaming(visit)?.map(|id| id.to_string());
    let renamed = edited.clone().unwrap_or_default();
    let is_full = own.passkeys.len() >= MAX_PASSKEYS as usize;
    let add = match adding(visit, session, &own).await? {
        _ if !visit.service().passkeys.is_offered() => Some(AddPasskey::Off),
        _ if is_full => None,
        Some(begun) => {
            let is_asked = visit.query.optional(ASKED)?.is_some();
            Some(AddPasskey::Ready { passkey: ceremony::registration(form("add"), begun)?, is_asked })
        }
        None => Some(AddPasskey::Begin { form: form("begin") }),
    };
    let mut list: Vec<_> = own.passkeys.iter().map(|one| shown(visit, one)).collect();
    if let (Some(typed), Some(edited)) = (typed, list.iter_mut().find(|one| edited.as_ref() == Some(&one.id)))
    {
        edited.name = typed;
    }
    Ok(Passkeys {
        add,
        accepted: accepted(&own),
        list,
        rename: visit.form_with(PATH, &[(ACT, "rename"), (RENAME, &renamed)]),
        remove: form("remove"),
        edited,
    })
}

/// Begins a registration for the form of a page, if that writes nothing and the session may.
async fn adding(
    visit: &Visit,
    session: &PageSession,
    own: &OwnPasskeys,
) -> Result<Option<BegunRegistration>, PageError> {
    if own.user_handle.is_none() {
        return Ok(None);
    }
    match begin(visit, session).await {
        Ok(begun) => Ok(Some(begun)),
        Err(Error::Refused(_)) => Ok(None), // the form that begins says why
        Err(error) => Err(error.into()),
    }
}

/// Returns what the browser updates its passkey manager with.
fn accepted(own: &OwnPasskeys) -> Option<String> {
    let (rp_id, handle) = (own.rp_id.as_ref()?, own.user_handle?);
    let ids: Vec<_> = own.accepted().map(|id| URL_SAFE_NO_PAD.encode(id.as_bytes())).collect();
    let user_id = URL_SAFE_NO_PAD.encode(handle.as_bytes());
    let accepted = json!({ "rpId": rp_id.as_str(), "userId": user_id, "allAcceptedCredentialIds": ids });
    Some(accepted.to_string())
}

fn shown(visit: &Visit, passkey: &Stored) -> Passkey {
    Passkey {
        id: passkey.id.to_string(),
        name: passkey.name.as_str().to_owned(),
        created: When(passkey.created_at),
        last_used: passkey.last_used_at.map(When),
        is_usable: visit.service().passkeys.is_usable(passkey),
    }
}
