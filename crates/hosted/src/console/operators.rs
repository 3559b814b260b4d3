//! `/console/operators`: who may use the console, and for an owner the forms that grant a role, change it, make a new
//! activation link, and revoke the grant.

pub(crate) mod revoke;

use std::time::Duration;

use axum::routing::get;
use http::HeaderMap;
use latchkey_domain::email::Email;
use latchkey_domain::ids::UserId;
use latchkey_domain::operator::{
    Act, AddressGrant, Ineligible, Operator, Role, WaitingGrant, may_be_operator,
};
use latchkey_domain::time::Timestamp;
use latchkey_domain::user::User;
use latchkey_pages::When;
use latchkey_pages::console::views::{
    ActivationLink, Grant, OperatorRow, Operators, PersonLink, WaitingRow, WaitingState,
};
use latchkey_pages::console::{Notice, Problem, Refusal};
use latchkey_service::operators::Granting;
use serde::{Deserialize, Serialize};

use super::carried::{self, InCookie};
use super::page::Page;
use super::rejection::Rejection;
use super::stop::{Outcome, Stop};
use super::submission::{ConsoleSubmission, Sent};
use super::visit::ConsoleVisit;
use crate::errors::PageError;
use crate::sealed::Carried;

const PATH: &str = "/console/operators";
/// Query parameter that says what a form does.
const ACT: &str = "act";
/// Field with the address of a grant without an account.
const ADDRESS: &str = "address";
/// Time in which that page can be opened.
const LIFETIME: Duration = Duration::from_mins(1);

pub(crate) const PAGE: Page = Page::new(PATH, || get(show).post(act));

/// A new activation link on its way to the page that shows it once.
#[derive(Serialize, Deserialize)]
struct NewLink {
    email: String,
    url: String,
    /// End of the link, in milliseconds since 1970.
    expires_at: i64,
}

impl Carried for NewLink {
    const KIND: &'static str = "console-activation-link";
}

impl InCookie for NewLink {
    const COOKIE: &'static str = "latchkey_console_link";
}

async fn show(mut visit: ConsoleVisit, headers: HeaderMap) -> Outcome {
    let mut view = view(&visit, String::new()).await?;
    if let Some(link) = carried::find::<NewLink>(&visit, &headers) {
        let expires = When(Timestamp::from_millis(link.expires_at));
        view.link = Some(ActivationLink { email: link.email, url: link.url, expires });
        carried::forget::<NewLink>(&mut visit)?;
    }
    visit.page(&view)
}

async fn act(sent: Sent) -> Outcome {
    let mut submission = sent.must(Act::ManageOperators).await?;
    let done = match submission.visit.query.optional(ACT)?.as_deref() {
        Some("grant") => match question_of_grant(&mut submission).await? {
            Some(address) => return submission.visit.go_to(&address),
            None => grant(&mut submission).await,
        },
        Some("change") => {
            let operator = operator(&submission).await?;
            match revoke::question(&operator, &submission.fields.text("role")?) {
                Some(address) => return submission.visit.go_to(&address),
                None => change(&mut submission, &operator).await,
            }
        }
        Some("reactivate") => reactivate(&mut submission).await,
        Some("revoke") => return revoke::begin(submission).await,
        _ => return Err(PageError::bad_request().into()),
    };
    let typed = submission.fields.text("email")?;
    let visit = submission.visit;
    match done {
        Ok(notice) => visit.go_to_with(PATH, notice),
        Err(rejection) => {
            let view = view(&visit, typed).await?;
            visit.refuse(rejection, &view)
        }
    }
}

/// Returns the address of the question if the form of a new grant would lower an owner.
async fn question_of_grant(submission: &mut ConsoleSubmission) -> Result<Option<String>, Stop> {
    let Some(email) = submission.fields.email("email")? else { return Ok(None) };
    let operators = submission.visit.service().operators.list().await?;
    let known = operators.iter().find(|operator| operator.user.email.key() == email.key());
    let role = submission.fields.text("role")?;
    Ok(known.and_then(|operator| revoke::question(operator, &role)))
}

async fn grant(submission: &mut ConsoleSubmission) -> Result<Notice, Rejection> {
    let email = submission.fields.email("email")?;
    let role = role(submission)?;
    let Some(email) = email else { return Err(submission.fields.rejection().into()) };
    let visit = &mut submission.visit;
    let (party, client) = (visit.party(), visit.to_client());
    let granted = visit.service().operators.grant_to(&email, role, party, Some(&client)).await?;
    finish(visit, granted, &email, "email")
}

async fn change(submission: &mut ConsoleSubmission, operator: &Operator) -> Result<Notice, Rejection> {
    let role = role(submission)?;
    change_role(&mut submission.visit, operator, role).await
}

async fn change_role(visit: &mut ConsoleVisit, operator: &Operator, role: Role) -> Result<Notice, Rejection> {
    let (party, client, user) = (visit.party(), visit.to_client(), &operator.user);
    let granted = visit.service().operators.grant(user.id, role, party, Some(&client)).await?;
    match finish(visit, granted, &user.email, "id")? {
        Notice::OperatorGranted if operator.grant.activated_at.is_none() => Ok(Notice::OperatorGranted),
        _ => Ok(Notice::OperatorChanged),
    }
}

async fn reactivate(submission: &mut ConsoleSubmission) -> Result<Notice, Rejection> {
    if let Some(email) = address(submission)? {
        let visit = &mut submission.visit;
        let (party, client) = (visit.party(), visit.to_client());
        let made = visit.service().operators.reactivate_address(&email, party, Some(&client)).await?;
        return finish(visit, made, &email, "address");
    }
    let user = operator(submission).await?.user;
    let visit = &mut submission.visit;
    let (party, client) = (visit.party(), visit.to_client());
    let made = Box::pin(visit.service().operators.reactivate(user.id, party, Some(&client))).await?;
    finish(visit, made, &user.email, "id")
}

/// Keeps the link of a grant that sleeps for the page that shows it once.
fn finish(
    visit: &mut ConsoleVisit,
    granted: Granting,
    email: &Email,
    field: &'static str,
) -> Result<Notice, Rejection> {
    match granted {
        Granting::Active => Ok(Notice::OperatorChanged),
        Granting::Asleep(link) => {
            let link = NewLink {
                email: email.as_typed().to_owned(),
                url: link.expose().to_owned(),
                expires_at: link.expires_at.as_millis(),
            };
            carried::keep(visit, LIFETIME, link)?;
            Ok(Notice::OperatorGranted)
        }
        Granting::Ineligible(reason) => {
            let refusal = Refusal::Ineligible { reason: reason.to_string() };
            Err(Rejection::of(Problem::at(field, refusal)))
        }
    }
}

/// Reads the role of a form. Only a changed form has another value.
fn role(submission: &ConsoleSubmission) -> Result<Role, Rejection> {
    let role = Role::parse(&submission.fields.text("role")?);
    role.ok_or_else(|| Stop::from(PageError::bad_request()).into())
}

/// Finds the operator that a form names.
async fn operator(submission: &ConsoleSubmission) -> Result<Operator, Stop> {
    let visit = &submission.visit;
    let id = submission.fields.text("id")?.parse::<UserId>().map_err(|_| visit.not_found())?;
    find(visit, id).await
}

async fn find(visit: &ConsoleVisit, id: UserId) -> Result<Operator, Stop> {
    let operators = visit.service().operators.list().await?;
    operators.into_iter().find(|operator| operator.user.id == id).ok_or_else(|| visit.not_found())
}

/// Returns the address that a form names in place of an account.
fn address(submission: &ConsoleSubmission) -> Result<Option<Email>, Stop> {
    let text = submission.fields.text(ADDRESS)?;
    if text.is_empty() {
        return Ok(None);
    }
    Email::parse(&text).map(Some).map_err(|_| submission.visit.not_found())
}

async fn view(visit: &ConsoleVisit, email: String) -> Result<Operators, Stop> {
    let operators = visit.service().operators.list().await?;
    let mut rows = Vec::with_capacity(operators.len());
    for operator in &operators {
        rows.push(row(visit, operator, &operators).await?);
    }
    let roles = Role::ALL.iter().copied().filter(|role| visit.role().may_grant(*role)).collect();
    let form = visit.form_of_with(Act::ManageOperators, PATH, &[(ACT, "grant")]);
    let waiting = visit.service().operators.list_waiting().await?;
    Ok(Operators {
        waiting: waiting.iter().map(|waiting| waiting_row(visit, waiting, &operators)).collect(),
        rows,
        grant: form.map(|form| Grant { form, email, roles }),
        link: None,
    })
}

fn waiting_row(visit: &ConsoleVisit, waiting: &WaitingGrant, operators: &[Operator]) -> WaitingRow {
    let AddressGrant { email, grant, .. } = &waiting.of;
    let person = |user: &User| PersonLink { id: user.id, email: Some(user.email.as_typed().to_owned()) };
    let form = |act| visit.form_of_with(Act::ManageOperators, PATH, &[(ACT, act)]);
    WaitingRow {
        email: email.as_typed().to_owned(),
        state: waiting_state(waiting.account.as_ref()),
        person: waiting.account.as_ref().map(person),
        role: grant.role,
        granted_by: grant.granted_by.map(|id| name_of(id, operators)),
        granted: When(grant.granted_at),
        reactivate: form("reactivate"),
        revoke: form("revoke"),
    }
}

fn waiting_state(account: Option<&User>) -> WaitingState {
    match account.map(may_be_operator) {
        None => WaitingState::NoAccount,
        Some(Ok(())) => WaitingState::Account,
        Some(Err(Ineligible::Unverified)) => WaitingState::Unverified,
        Some(Err(Ineligible::Banned | Ineligible::InDeletion)) => WaitingState::Barred,
    }
}

/// Returns the address of an operator; the id of one who is an operator no more.
fn name_of(id: UserId, operators: &[Operator]) -> String {
    let by = operators.iter().find(|operator| operator.user.id == id);
    by.map_or_else(|| id.to_string(), |by| by.user.email.as_typed().to_owned())
}

async fn row(visit: &ConsoleVisit, operator: &Operator, operators: &[Operator]) -> Result<OperatorRow, Stop> {
    let (user, grant) = (&operator.user, &operator.grant);
    let form = |act| visit.form_of_with(Act::ManageOperators, PATH, &[(ACT, act)]);
    let factors = visit.service().factors.of_user(user.id).await?.factors;
    let granted_by = grant.granted_by.map(|id| name_of(id, operators));
    let is_own = user.id == visit.user_id();
    Ok(OperatorRow {
        person: PersonLink { id: user.id, email: Some(user.email.as_typed().to_owned()) },
        role: grant.role,
        state: operator.state(),
        granted_by,
        granted: When(grant.granted_at),
        last_seen: visit.service().admin.last_seen(user.id).await?.map(When),
        factors: (factors.totp.len() + factors.passkeys.len()) as u64,
        change: form("change").filter(|_| !is_own),
        reactivate: form("reactivate").filter(|_| !is_own),
        revoke: form("revoke"),
    })
}
