//! `/auth/account`: the overview of the own account, with the form that ends one of its sessions.

use axum::routing::get;
use latchkey_domain::challenge::SecondFactorPolicy;
use latchkey_domain::profile::{Profile, Username};
use latchkey_domain::user::User;
use latchkey_pages::views::{Account, ProfileSummary};
use latchkey_service::sessions::PageSession;

use crate::errors::PageError;
use crate::flow::Flow;
use crate::page::Page;
use crate::submission::Submission;
use crate::visit::{Outcome, Visit};

pub(crate) mod activity;
pub(crate) mod confirm;
pub(crate) mod data;
pub(crate) mod email;
pub(crate) mod passkeys;
pub(crate) mod password;
pub(crate) mod profile;
pub(crate) mod providers;
pub(crate) mod sessions;
pub(crate) mod two_step;

const PATH: &str = "/auth/account";
/// Most sessions on the overview. The page of sessions has all.
const MOST_SESSIONS: usize = 5;

pub(crate) const PAGE: Page = Page::new(PATH, || get(show).post(end));

async fn show(visit: Visit) -> Outcome {
    let Some(session) = &visit.session else { return to_sign_in(visit) };
    let view = view(&visit, session).await?;
    visit.page(&view)
}

/// Ends the session that the form names.
async fn end(Submission { visit, fields }: Submission) -> Outcome {
    let Some(session) = &visit.session else { return to_sign_in(visit) };
    match sessions::end(&visit, session, &fields).await {
        Ok(()) => visit.go_to(&visit.href(PATH)),
        Err(rejection) => visit.refuse(rejection, &view(&visit, session).await?),
    }
}

/// Sends the browser to the sign-in, which leads back to this page.
fn to_sign_in(mut visit: Visit) -> Outcome {
    if visit.path() != PATH {
        let next = visit.href_outside(visit.path(), &[]);
        visit.change_flow(|flow| flow.next = Some(next))?;
    }
    visit.go_to(&visit.href("/auth/sign-in"))
}

async fn view(visit: &Visit, session: &PageSession) -> Result<Account, PageError> {
    let service = visit.service();
    let account = service.factors.account(session).await?;
    let sessions = sessions::list(visit, session).await?;
    let user = &account.user;
    let passkeys = account.factors.passkeys.len() as u64;
    Ok(Account {
        email: user.email.as_typed().to_owned(),
        is_verified: user.email_verified,
        change_email: change_email(visit, user)?,
        profile: profile::own(visit, session).await?.map(summary),
        has_password: user.has_password,
        passkeys: (passkeys > 0 || service.passkeys.is_offered()).then_some(passkeys),
        two_step: (user.has_two_step() || offers_two_step(visit)).then(|| user.has_two_step()),
        recovery_codes_left: u64::from(account.factors.recovery_codes_left),
        providers: providers(visit, user),
        session_count: sessions.len() as u64,
        sessions: sessions.into_iter().take(MOST_SESSIONS).collect(),
        end: visit.form(PATH),
    })
}

fn offers_two_step(visit: &Visit) -> bool {
    visit.service().settings().values.second_factor != SecondFactorPolicy::Off
}

/// Returns the names of the linked providers; `None` if there is none to link either.
fn providers(visit: &Visit, user: &User) -> Option<Vec<String>> {
    let is_shown = !user.identities.is_empty() || !visit.service().oauth.offered_providers().is_empty();
    is_shown.then(|| user.identities.iter().map(|key| visit.provider_name(key)).collect())
}

fn summary(profile: Profile) -> ProfileSummary {
    let username = profile.username.map(Username::into_string);
    ProfileSummary { name: profile.name.into_string(), username }
}

/// Returns the page on which the address of the account can be changed; while it is not verified, the one that verifies it
/// and then leads back. `None` if no mail can be sent.
fn change_email(visit: &Visit, user: &User) -> Result<Option<String>, PageError> {
    if !visit.service().mailbox.sends_mails() {
        return Ok(None);
    }
    if user.email_verified {
        return Ok(Some(visit.href_outside(email::PATH, &[])));
    }
    let email = Some(user.email.as_typed().to_owned());
    let next = Some(visit.href_outside(PATH, &[("notice", "email_verified")]));
    visit.href_in("/auth/verify", Flow { email, next, ..Flow::default() }).map(Some)
}
