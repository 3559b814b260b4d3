//! `/console/operators/revoke`: the question before an owner is revoked or gets a lower role. The address is typed.

use axum::routing::get;
use latchkey_domain::ids::UserId;
use latchkey_domain::operator::{Act, Operator, Role};
use latchkey_pages::console::views::{Irreversible, IrreversibleAct};
use latchkey_pages::console::{Notice, Problem, Refusal};

use crate::console::page::Page;
use crate::console::rejection::Rejection;
use crate::console::stop::{Outcome, Stop};
use crate::console::submission::{ConsoleSubmission, Sent};
use crate::console::visit::ConsoleVisit;
use crate::errors::PageError;

const PATH: &str = "/console/operators/revoke";
/// Query parameter with the user of the owner.
const USER: &str = "user";
/// Query parameter with the lower role; absent for a revocation.
const ROLE: &str = "role";

pub(crate) const PAGE: Page = Page::new(PATH, || get(show).post(act));

/// Revokes a grant; an owner's only after the question.
pub(super) async fn begin(submission: ConsoleSubmission) -> Outcome {
    if let Some(email) = super::address(&submission)? {
        let visit = submission.visit;
        let (party, client) = (visit.party(), visit.to_client());
        visit.service().operators.revoke_address(&email, party, Some(&client)).await?;
        return visit.go_to_with(super::PATH, Notice::OperatorRevoked);
    }
    let operator = super::operator(&submission).await?;
    if operator.grant.role == Role::Owner {
        let id = operator.user.id;
        return submission.visit.go_to(&format!("{PATH}?{USER}={id}"));
    }
    match revoke(&submission.visit, &operator).await {
        Ok(()) => submission.visit.go_to_with(super::PATH, Notice::OperatorRevoked),
        Err(rejection) => {
            let view = super::view(&submission.visit, String::new()).await?;
            submission.visit.refuse(rejection, &view)
        }
    }
}

/// Returns the address of the question before an owner gets a lower role; `None` for other changes of roles.
pub(super) fn question(operator: &Operator, role: &str) -> Option<String> {
    let lower = lower(role).filter(|_| operator.grant.role == Role::Owner);
    lower.map(|role| format!("{PATH}?{USER}={}&{ROLE}={}", operator.user.id, role.as_str()))
}

/// Parses a role below that of an owner.
fn lower(text: &str) -> Option<Role> {
    Role::parse(text).filter(|role| *role < Role::Owner)
}

async fn show(visit: ConsoleVisit) -> Outcome {
    let operator = named(&visit).await?;
    visit.must(Act::ManageOperators).await?;
    visit.page(&view(&visit, &operator)?)
}

async fn act(sent: Sent) -> Outcome {
    let submission = sent.must(Act::ManageOperators).await?;
    let operator = named(&submission.visit).await?;
    let typed = submission.fields.text("confirmation")?;
    let mut visit = submission.visit;
    let done = match role(&visit)? {
        _ if typed.trim() != operator.user.email.as_typed() => {
            Err(Rejection::of(Problem::at("confirmation", Refusal::NotConfirmed)))
        }
        Some(role) => super::change_role(&mut visit, &operator, role).await,
        None => revoke(&visit, &operator).await.map(|()| Notice::OperatorRevoked),
    };
    match done {
        Ok(notice) => visit.go_to_with(super::PATH, notice),
        Err(rejection) => visit.refuse(rejection, &view(&visit, &operator)?),
    }
}

/// Returns the lower role that the address names; `None` for a revocation.
fn role(visit: &ConsoleVisit) -> Result<Option<Role>, PageError> {
    match visit.query.optional(ROLE)? {
        Some(text) => lower(&text).map(Some).ok_or_else(PageError::bad_request),
        None => Ok(None),
    }
}

async fn revoke(visit: &ConsoleVisit, operator: &Operator) -> Result<(), Rejection> {
    let (party, client) = (visit.party(), visit.to_client());
    visit.service().operators.revoke(operator.user.id, false, party, Some(&client)).await?;
    Ok(())
}

/// Finds the operator that the address names.
async fn named(visit: &ConsoleVisit) -> Result<Operator, Stop> {
    let id = visit.query.optional(USER)?.and_then(|id| id.parse::<UserId>().ok());
    super::find(visit, id.ok_or_else(|| visit.not_found())?).await
}

fn view(visit: &ConsoleVisit, operator: &Operator) -> Result<Irreversible, PageError> {
    let id = operator.user.id.to_string();
    let (act, form) = match role(visit)? {
        Some(role) => {
            let parameters = [(USER, id.as_str()), (ROLE, role.as_str())];
            (IrreversibleAct::DemoteOwner, visit.form_with(PATH, &parameters))
        }
        None => (IrreversibleAct::RevokeOwner, visit.form_with(PATH, &[(USER, &id)])),
    };
    let phrase = operator.user.email.as_typed().to_owned();
    Ok(Irreversible { act, form, phrase, cancel: super::PATH.to_owned() })
}
