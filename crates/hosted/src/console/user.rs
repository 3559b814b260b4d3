//! `/console/users/{id}`: what is known about one user, why the user cannot sign in, and the acts on the account. Opening
//! it is noted in the audit log, once an hour for each operator and user.

use std::str::FromStr;

use axum::routing::get;
use latchkey_domain::audit::AuditKind;
use latchkey_domain::ids::UserId;
use latchkey_http::path::PathText;
use latchkey_pages::console::views::UserPage;
use latchkey_service::admin::UserFile;
use latchkey_service::refusal::USER_NOT_FOUND;

use super::audit;
use super::events::{self, People};
use super::mails;
use super::page::Page;
use super::seen;
use super::stop::{Outcome, Stop};
use super::visit::ConsoleVisit;

mod acts;
mod forms;
mod shown;

use forms::Forms;
pub(super) use shown::state as state_of;

const PATH: &str = "/console/users/{id}";

pub(crate) const PAGE: Page = Page::new(PATH, || get(show).post(acts::act));

async fn show(PathText(id): PathText, visit: ConsoleVisit) -> Outcome {
    let id = UserId::from_str(&id).map_err(|_| visit.not_found())?;
    let view = view(&visit, id).await?;
    visit.page(&view)
}

/// Reads everything that the page shows, and notes it. An unknown user is the 404 page.
pub(super) async fn view(visit: &ConsoleVisit, id: UserId) -> Result<UserPage, Stop> {
    let file = match visit.service().admin.user_file(id).await {
        Ok(file) => file,
        Err(latchkey_service::Error::Refused(refusal)) if *refusal == USER_NOT_FOUND => {
            return Err(visit.not_found());
        }
        Err(error) => return Err(error.into()),
    };
    let UserFile { account, sign_ins, events, .. } = &file;
    let (user, forms) = (&account.user, Forms::new(visit, &file));
    let providers = visit.service().oauth.offered_providers();
    let sign_ins = events::rows(visit.service(), sign_ins.clone(), People::Omitted).await?;
    let events = events::rows(visit.service(), events.clone(), People::Omitted).await?;
    let name = file.profile.as_ref().map(|profile| profile.name.as_str().to_owned());
    visit.service().admin.note_reading(id, visit.party(), &visit.to_client()).await?;
    let metadata = shown::json(user.metadata.as_map());
    Ok(UserPage {
        id,
        email: user.email.as_typed().to_owned(),
        name: name.filter(|name| !name.is_empty()),
        state: shown::state(user),
        can_sign_in: file.can_sign_in(),
        obstacles: file.obstacles.iter().map(Into::into).collect(),
        operator: shown::mark(visit, &file),
        created: shown::when(user.created_at),
        last_sign_in: user.last_sign_in_at.map(shown::when),
        ways: shown::ways(&file, &providers, &forms),
        sessions: shown::sessions(&file, &forms),
        session_count: file.sessions.len() as u64,
        all_sessions: format!("/console/sessions?user={id}"),
        profile: file.profile.as_ref().map(shown::profile),
        metadata_seen: seen::digest(&metadata),
        metadata_now: None,
        metadata,
        mails: file.mails.iter().map(|mail| mails::row(mail, None, forms.retry_mail())).collect(),
        all_mails: file.has_more_mails.then(|| mails::address_to(&user.email)),
        limits: file.limits.iter().map(shown::limit).collect(),
        sign_ins,
        all_sign_ins: audit::address_of_user(id, Some(AuditKind::SignedIn)),
        all_failures: audit::address_of_user(id, Some(AuditKind::SignInFailed)),
        events,
        all_events: audit::address_of_user(id, None),
        acts: forms.acts(&file),
    })
}
