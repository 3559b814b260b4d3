//! `/console/users/done`: what became of each chosen account. The outcomes are sealed into the address, so that the page
//! can be loaded again and nothing is stored.

use std::time::Duration;

use axum::routing::get;
use latchkey_pages::console::views::{BulkAct, BulkOutcome, BulkResult, Outcome as Became, PersonLink};
use latchkey_service::Error;
use serde::{Deserialize, Serialize};

use super::acts::Told;
use super::{LIST, read_act, word};
use crate::console::page::Page;
use crate::console::stop::Outcome;
use crate::console::visit::ConsoleVisit;
use crate::sealed::Carried;

const PATH: &str = "/console/users/done";
/// Query parameter with the outcomes.
const OUTCOMES: &str = "outcomes";
/// Time in which the page can be opened and reloaded.
const LIFETIME: Duration = Duration::from_mins(10);
/// Most bytes of addresses in the outcomes; above it the page names deleted accounts by id. An address of a page must fit
/// into the head of a request.
const MOST_ADDRESSES: usize = 2_500;

pub(crate) const PAGE: Page = Page::of_reads(PATH, || get(show));

/// Outcomes on their way to the page.
#[derive(Serialize, Deserialize)]
struct Outcomes {
    act: String,
    accounts: Vec<(String, Option<String>, char)>,
}

impl Carried for Outcomes {
    const KIND: &'static str = "console-outcomes";
}

/// Sends the browser to the page.
pub(super) fn go_to(visit: &ConsoleVisit, act: BulkAct, told: Vec<Told>) -> Outcome {
    let length: usize = told.iter().filter_map(|one| one.email.as_ref()).map(String::len).sum();
    let account = |one: Told| {
        let email = one.email.filter(|_| length <= MOST_ADDRESSES);
        (one.id.to_string(), email, letter(one.outcome))
    };
    let outcomes = Outcomes { act: word(act).to_owned(), accounts: told.into_iter().map(account).collect() };
    let sealed = visit.seal(visit.now.plus(LIFETIME), outcomes)?;
    visit.go_to(&format!("{PATH}?{OUTCOMES}={sealed}"))
}

async fn show(visit: ConsoleVisit) -> Outcome {
    let sealed = visit.query.optional(OUTCOMES)?;
    let Some(Outcomes { act, accounts }) = sealed.and_then(|text| visit.open(&text)) else {
        return visit.go_to(LIST);
    };
    let mut outcomes = Vec::with_capacity(accounts.len());
    for (id, known, letter) in accounts {
        let Ok(id) = id.parse() else { return Err(visit.not_found()) };
        let email = match known {
            Some(email) => Some(email),
            None => match visit.service().admin.find_user(id).await {
                Ok(user) => Some(user.email.as_typed().to_owned()),
                Err(Error::Refused(_)) => None,
                Err(error) => return Err(error.into()),
            },
        };
        outcomes.push(BulkOutcome { person: PersonLink { id, email }, outcome: became(letter) });
    }
    let done = outcomes.iter().filter(|one| one.outcome == Became::Done).count() as u64;
    let view = BulkResult { act: read_act(Some(&act))?, outcomes, done, back: LIST.to_owned() };
    visit.page(&view)
}

const fn letter(outcome: Became) -> char {
    match outcome {
        Became::Done => 'd',
        Became::Unchanged => 'u',
        Became::Protected => 'p',
        Became::Gone => 'g',
        Became::Failed => 'f',
    }
}

const fn became(letter: char) -> Became {
    match letter {
        'd' => Became::Done,
        'u' => Became::Unchanged,
        'p' => Became::Protected,
        'g' => Became::Gone,
        _ => Became::Failed,
    }
}
