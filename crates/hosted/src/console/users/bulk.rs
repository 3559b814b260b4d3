//! `/console/users/chosen`: the question before an act on chosen accounts, which names them, and the act;
//! `/console/users/done` tells what became of each.

mod acts;
mod done;

use axum::routing::get;
use latchkey_domain::operator::Act;
use latchkey_domain::user::{User, UserId};
use latchkey_pages::console::views::{BulkAct, Chosen, ChosenRow, PersonLink};
use latchkey_pages::console::{Problem, Refusal};
use latchkey_service::Error;

use super::typed::Typed;
use super::{PATH as LIST, link};
use crate::console::page::Page;
use crate::console::rejection::Rejection;
use crate::console::stop::{Outcome, Stop};
use crate::console::submission::{ConsoleSubmission, Sent};
use crate::console::user::state_of;
use crate::console::visit::ConsoleVisit;
use crate::errors::PageError;

pub(crate) use done::PAGE as DONE;

pub(super) const PATH: &str = "/console/users/chosen";
/// Most accounts of one act.
const MOST: usize = 100;
/// Name of the parameter or field with the act, and with the ids of the accounts, which commas separate.
const ACT: &str = "act";
const IDS: &str = "ids";

pub(crate) const PAGE: Page = Page::new(PATH, || get(show).post(act));

/// Returns the act that an operator must be allowed to do.
pub(super) const fn act_of(act: BulkAct) -> Act {
    match act {
        BulkAct::EndSessions => Act::EndSessions,
        BulkAct::Ban => Act::Ban,
        BulkAct::Delete => Act::DeleteUsers,
    }
}

/// Returns the act that an operator must be allowed to do besides, to accounts of operators.
const fn act_on_operators(act: BulkAct) -> Act {
    match act {
        BulkAct::EndSessions => Act::EndSessionsOfOperators,
        BulkAct::Ban | BulkAct::Delete => Act::ChangeOperatorAccounts,
    }
}

/// An account that was chosen: its user, or only its id if it does not exist any more.
struct Choice {
    id: UserId,
    user: Option<User>,
    is_protected: bool,
}

async fn show(visit: ConsoleVisit) -> Outcome {
    let Some(act) = visit.query.optional(ACT)? else { return visit.go_to(LIST) };
    let act = read_act(Some(&act))?;
    visit.must(act_of(act)).await?;
    match ids(chosen_ids(visit.query.all()?)) {
        Ok(ids) => {
            let view = view(&visit, act, choices(&visit, act, &ids).await?).await?;
            visit.page(&view)
        }
        Err(refusal) => refuse(&visit, refusal).await,
    }
}

/// Shows the list again.
async fn refuse(visit: &ConsoleVisit, refusal: Refusal) -> Outcome {
    let view = super::view(visit, &Typed::of(visit)?).await?;
    visit.refuse(Rejection::of(Problem::whole(refusal)), &view)
}

/// Sends the browser from the list to the question, whose address has all ids in one parameter.
async fn choose(ConsoleSubmission { visit, fields }: ConsoleSubmission, act: BulkAct) -> Outcome {
    match ids(chosen_ids(fields.all()?)) {
        Ok(ids) => {
            let ids: Vec<_> = ids.iter().map(UserId::to_string).collect();
            visit.go_to(&format!("{PATH}?{ACT}={}&{IDS}={}", word(act), ids.join(",")))
        }
        Err(refusal) => refuse(&visit, refusal).await,
    }
}

async fn act(sent: Sent) -> Outcome {
    let act = read_act(Some(&sent.act(ACT)?))?;
    let submission = sent.permitted(act_of(act)).await?;
    let ids = submission.fields.text(IDS)?;
    if ids.is_empty() {
        return choose(submission, act).await;
    }
    let ids = ids.split(',').filter_map(|id| id.parse().ok()).collect();
    let ids = self::ids(ids).map_err(|_| PageError::bad_request())?;
    let choices = choices(&submission.visit, act, &ids).await?;
    let phrase = phrase(act, choices.iter().filter(|choice| choice.may_be_changed()).count());
    let typed = submission.fields.text("confirmation")?;
    if phrase.is_some_and(|phrase| typed.trim() != phrase) {
        let rejection = Rejection::of(Problem::at("confirmation", Refusal::NotConfirmed));
        let view = view(&submission.visit, act, choices).await?;
        return submission.visit.refuse(rejection, &view);
    }
    submission.must(act_of(act)).await?;
    submission.must_be_recent_for_operators(act_on_operators(act), &ids).await?;
    let mut visit = submission.visit;
    let outcomes = acts::run(&mut visit, act, choices).await?;
    done::go_to(&visit, act, &outcomes)
}

impl Choice {
    /// True if the act concerns the account.
    const fn may_be_changed(&self) -> bool {
        self.user.is_some() && !self.is_protected
    }

    fn link(&self) -> PersonLink {
        self.user.as_ref().map_or(PersonLink { id: self.id, email: None }, link)
    }
}

fn read_act(text: Option<&str>) -> Result<BulkAct, PageError> {
    match text {
        Some("end_sessions") => Ok(BulkAct::EndSessions),
        Some("ban") => Ok(BulkAct::Ban),
        Some("delete") => Ok(BulkAct::Delete),
        _ => Err(PageError::bad_request()),
    }
}

const fn word(act: BulkAct) -> &'static str {
    match act {
        BulkAct::EndSessions => "end_sessions",
        BulkAct::Ban => "ban",
        BulkAct::Delete => "delete",
    }
}

/// Returns the accounts that parameters or fields name: each ticked box is one named by an id.
fn chosen_ids(named: Vec<(String, String)>) -> Vec<UserId> {
    let mut ids: Vec<UserId> = Vec::new();
    for (name, value) in named {
        if name == IDS {
            ids.extend(value.split(',').filter_map(|id| id.parse::<UserId>().ok()));
        } else if let Ok(id) = name.parse() {
            ids.push(id);
        }
    }
    ids
}

/// Returns the ids once each, in their order.
fn ids(mut ids: Vec<UserId>) -> Result<Vec<UserId>, Refusal> {
    let mut seen = std::collections::HashSet::new();
    ids.retain(|id| seen.insert(*id));
    match ids.len() {
        0 => Err(Refusal::NoneChosen),
        count if count > MOST => Err(Refusal::TooMany { most: MOST as u64 }),
        _ => Ok(ids),
    }
}

async fn choices(visit: &ConsoleVisit, act: BulkAct, ids: &[UserId]) -> Result<Vec<Choice>, Stop> {
    let protected = visit.service().operators.list_protected().await?;
    let is_spared = !visit.may(act_on_operators(act));
    let mut choices = Vec::with_capacity(ids.len());
    for &id in ids {
        let user = match visit.service().admin.find_user(id).await {
            Ok(user) => Some(user),
            Err(Error::Refused(_)) => None,
            Err(error) => return Err(error.into()),
        };
        choices.push(Choice { id, user, is_protected: is_spared && protected.contains_key(&id) });
    }
    Ok(choices)
}

async fn view(visit: &ConsoleVisit, act: BulkAct, choices: Vec<Choice>) -> Result<Chosen, Stop> {
    let (changed, left_out): (Vec<_>, Vec<_>) = choices.into_iter().partition(Choice::may_be_changed);
    let mut rows = Vec::with_capacity(changed.len());
    for user in changed.iter().filter_map(|choice| choice.user.as_ref()) {
        let name = user.profile.as_ref().map(|profile| profile.name.as_str().to_owned());
        rows.push(ChosenRow {
            person: link(user),
            name: name.filter(|name| !name.is_empty()),
            state: state_of(user),
            sessions: visit.service().admin.list_sessions(user.id).await?.len() as u64,
        });
    }
    Ok(Chosen {
        act,
        form: (!rows.is_empty()).then(|| visit.form(PATH)),
        ids: changed.iter().map(|choice| choice.id.to_string()).collect::<Vec<_>>().join(","),
        phrase: phrase(act, rows.len()),
        left_out: left_out.iter().map(Choice::link).collect(),
        rows,
        cancel: LIST.to_owned(),
    })
}

/// Returns the text to type before a deletion.
fn phrase(act: BulkAct, count: usize) -> Option<String> {
    let accounts = if count == 1 { "account" } else { "accounts" };
    (act == BulkAct::Delete).then(|| format!("delete {count} {accounts}"))
}
