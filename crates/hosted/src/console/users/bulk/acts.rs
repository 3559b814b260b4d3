//! An act on several accounts, one after another: the failure of one leaves the others.

use latchkey_domain::user::{User, UserId};
use latchkey_pages::console::views::{BulkAct, Outcome};
use latchkey_service::admin::UserChange;
use latchkey_service::refusal::{LAST_OWNER, OPERATOR_PROTECTED, USER_NOT_FOUND};
use latchkey_service::{Error, Result};

use super::{Choice, act_of};
use crate::console::stop::Stop;
use crate::console::visit::ConsoleVisit;

/// What became of one account.
pub(super) struct Told {
    pub(super) id: UserId,
    /// Address, for an account that may be gone afterwards.
    pub(super) email: Option<String>,
    pub(super) outcome: Outcome,
}

/// Does the act to each account that it concerns.
pub(super) async fn run(
    visit: &mut ConsoleVisit,
    act: BulkAct,
    choices: Vec<Choice>,
) -> std::result::Result<Vec<Told>, Stop> {
    let mut told = Vec::with_capacity(choices.len());
    for choice in choices {
        let done = match &choice.user {
            None => Ok(Outcome::Gone),
            Some(user) => one(visit, act, user).await,
        };
        if matches!(&done, Err(Error::Refused(row)) if row.name == OPERATOR_PROTECTED.name) {
            visit.concerns(choice.id);
            visit.record_refusal(act_of(act)).await?;
        }
        let outcome = done.unwrap_or_else(|error| outcome_of(&error));
        let email = choice.user.map(|user| user.email.as_typed().to_owned());
        told.push(Told { id: choice.id, email, outcome });
    }
    Ok(told)
}

async fn one(visit: &ConsoleVisit, act: BulkAct, user: &User) -> Result<Outcome> {
    let (admin, party, client) = (&visit.service().admin, visit.party(), visit.to_client());
    let is_changed = match act {
        BulkAct::EndSessions => admin.end_all_sessions(user.id, party, Some(&client)).await? > 0,
        BulkAct::Ban if user.is_banned() => false,
        BulkAct::Ban => {
            let ban = UserChange { banned: Some(true), ..UserChange::default() };
            admin.change_user(user.id, ban, party, Some(&client)).await?;
            true
        }
        BulkAct::Delete if admin.delete_users(&[user.id], party, Some(&client)).await? == 0 => {
            return Ok(Outcome::Gone);
        }
        BulkAct::Delete => true,
    };
    Ok(if is_changed { Outcome::Done } else { Outcome::Unchanged })
}

fn outcome_of(error: &Error) -> Outcome {
    match error {
        Error::Refused(row) if row.name == OPERATOR_PROTECTED.name => Outcome::Protected,
        Error::Refused(row) if row.name == LAST_OWNER.name => Outcome::LastOwner,
        Error::Refused(row) if row.name == USER_NOT_FOUND.name => Outcome::Gone,
        error => {
            tracing::warn!(%error, "an act on one of several accounts failed");
            Outcome::Failed
        }
    }
}
