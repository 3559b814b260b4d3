//! `/console/operators/revoke`: the question before an owner is revoked, who is named by typing the address.

use axum::routing::get;
use latchkey_domain::ids::UserId;
use latchkey_domain::operator::{Act, Operator, Role};
use latchkey_pages::console::views::{Irreversible, IrreversibleAct};
use latchkey_pages::console::{Notice, Problem, Refusal};

use crate::console::page::Page;
use crate::console::rejection::Rejection;
use crate::console::stop::{Outcome, Stop};
use crate::console::submission::ConsoleSubmission;
use crate::console::visit::ConsoleVisit;

const PATH: &str = "/console/operators/revoke";
/// Query parameter with the user of the owner.
const USER: &str = "user";

pub(crate) const PAGE: Page = Page::new(PATH, || get(show).post(act));

/// Revokes a grant; an owner's only after the question.
pub(super) async fn begin(submission: ConsoleSubmission) -> Outcome {
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

async fn show(visit: ConsoleVisit) -> Outcome {
    let operator = named(&visit).await?;
    visit.must(Act::ManageOperators).await?;
    visit.page(&view(&visit, &operator))
}

async fn act(submission: ConsoleSubmission) -> Outcome {
    submission.must(Act::ManageOperators).await?;
    let operator = named(&submission.visit).await?;
    let typed = submission.fields.text("confirmation")?;
    let visit = submission.visit;
    let done = if typed.trim() == operator.user.email.as_typed() {
        revoke(&visit, &operator).await
    } else {
        Err(Rejection::of(Problem::at("confirmation", Refusal::NotConfirmed)))
    };
    match done {
        Ok(()) => visit.go_to_with(super::PATH, Notice::OperatorRevoked),
        Err(rejection) => visit.refuse(rejection, &view(&visit, &operator)),
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

fn view(visit: &ConsoleVisit, operator: &Operator) -> Irreversible {
    let id = operator.user.id.to_string();
    Irreversible {
        act: IrreversibleAct::RevokeOwner,
        form: visit.form_with(PATH, &[(USER, &id)]),
        phrase: operator.user.email.as_typed().to_owned(),
        cancel: super::PATH.to_owned(),
    }
}
