//! `/console/users/done`: what became of each chosen account. The outcomes are sealed into the address, so that the page
//! can be loaded again and nothing is stored.

use std::time::Duration;

use axum::routing::get;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use latchkey_domain::ids::UserId;
use latchkey_pages::console::views::{BulkAct, BulkOutcome, BulkResult, Outcome as Became, PersonLink};
use latchkey_service::Error;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::acts::Told;
use super::{LIST, read_act, word};
use crate::console::page::Page;
use crate::console::stop::{Outcome, Stop};
use crate::console::visit::ConsoleVisit;
use crate::sealed::Carried;

const PATH: &str = "/console/users/done";
/// Query parameter with the outcomes.
const OUTCOMES: &str = "outcomes";
/// Time in which the page can be opened and reloaded.
const LIFETIME: Duration = Duration::from_mins(10);
/// Most bytes of addresses in the outcomes. An address of a page has to fit into the head of a request (8 KiB): two rounds
/// of base64 make 3 KiB of 100 ids, and 4 KiB of these.
const MOST_ADDRESSES: usize = 3_000;
/// Bytes of an address beside its text: quotation marks, number and commas.
const AROUND_ADDRESS: usize = 12;
const ID_LENGTH: usize = 16;

pub(crate) const PAGE: Page = Page::of_reads(PATH, || get(show));

/// Outcomes on their way to the page.
#[derive(Serialize, Deserialize)]
struct Outcomes {
    act: String,
    /// For each account its id and the letter of its outcome, as base64url.
    accounts: String,
    /// Addresses of accounts that are gone, as many as fit, each with the number of its account. The others are looked up.
    gone: Vec<(usize, String)>,
}

impl Carried for Outcomes {
    const KIND: &'static str = "console-outcomes";
}

/// Sends the browser to the page.
pub(super) fn go_to(visit: &ConsoleVisit, act: BulkAct, told: &[Told]) -> Outcome {
    let outcomes = Outcomes { act: word(act).to_owned(), accounts: packed(told), gone: gone(act, told) };
    let sealed = visit.seal(visit.now.plus(LIFETIME), outcomes)?;
    visit.go_to(&format!("{PATH}?{OUTCOMES}={sealed}"))
}

fn packed(told: &[Told]) -> String {
    let account = |one: &Told| one.id.as_uuid().into_bytes().into_iter().chain([letter(one.outcome)]);
    URL_SAFE_NO_PAD.encode(told.iter().flat_map(account).collect::<Vec<u8>>())
}

fn unpacked(text: &str) -> Option<Vec<(UserId, Became)>> {
    let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
    let account = |one: &[u8]| {
        let (id, letter) = one.split_at_checked(ID_LENGTH)?;
        Some((Uuid::from_slice(id).ok()?.into(), became(*letter.first()?)))
    };
    bytes.chunks(ID_LENGTH + 1).map(account).collect()
}

fn gone(act: BulkAct, told: &[Told]) -> Vec<(usize, String)> {
    let is_gone = |one: &Told| match one.outcome {
        Became::Done => act == BulkAct::Delete,
        outcome => outcome == Became::Gone,
    };
    let mut left = MOST_ADDRESSES;
    let mut fits = |email: &String| {
        let rest = left.checked_sub(email.len() + AROUND_ADDRESS);
        left = rest.unwrap_or(left);
        rest.is_some()
    };
    let gone = told.iter().enumerate().filter(|(_, one)| is_gone(one));
    let named = gone.filter_map(|(number, one)| Some((number, one.email.clone()?)));
    named.filter(|(_, email)| fits(email)).collect()
}

async fn show(visit: ConsoleVisit) -> Outcome {
    let sealed = visit.query.optional(OUTCOMES)?;
    let opened = sealed.and_then(|text| visit.open::<Outcomes>(&text));
    let Some(Outcomes { act, accounts, mut gone }) = opened else { return visit.go_to(LIST) };
    let accounts = unpacked(&accounts).ok_or_else(|| visit.not_found())?;
    let mut outcomes = Vec::with_capacity(accounts.len());
    for (number, (id, outcome)) in accounts.into_iter().enumerate() {
        let known = gone.iter().position(|(of, _)| *of == number).map(|at| gone.swap_remove(at).1);
        let email = match known {
            Some(email) => Some(email),
            None => address_of(&visit, id).await?,
        };
        outcomes.push(BulkOutcome { person: PersonLink { id, email }, outcome });
    }
    let done = outcomes.iter().filter(|one| one.outcome == Became::Done).count() as u64;
    let view = BulkResult { act: read_act(Some(&act))?, outcomes, done, back: LIST.to_owned() };
    visit.page(&view)
}

/// Returns the address of an account; `None` if it does not exist any more.
async fn address_of(visit: &ConsoleVisit, id: UserId) -> Result<Option<String>, Stop> {
    match visit.service().admin.find_user(id).await {
        Ok(user) => Ok(Some(user.email.as_typed().to_owned())),
        Err(Error::Refused(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

const fn letter(outcome: Became) -> u8 {
    match outcome {
        Became::Done => b'd',
        Became::Unchanged => b'u',
        Became::Protected => b'p',
        Became::LastOwner => b'o',
        Became::Gone => b'g',
        Became::Failed => b'f',
    }
}

const fn became(letter: u8) -> Became {
    match letter {
        b'd' => Became::Done,
        b'u' => Became::Unchanged,
        b'p' => Became::Protected,
        b'o' => Became::LastOwner,
        b'g' => Became::Gone,
        _ => Became::Failed,
    }
}
