//! `/console/users`: search, filters and order in the address, and pages by keyset.

pub(crate) mod bulk;
pub(crate) mod csv;
pub(crate) mod new;
mod typed;

use axum::routing::get;
use latchkey_domain::operator::{Act, Operator};
use latchkey_domain::user::{EMAIL_PROVIDER, PASSKEY_PROVIDER, User};
use latchkey_domain::user_list::{Direction, UserKey, UserOrder, UserSort, UserState};
use latchkey_pages::When;
use latchkey_pages::console::views::{BulkAct, Choice, Column, Filter, Listing, PersonLink, UserRow, Users};
use latchkey_service::admin::{ListUsers, UserPage, UserPosition};
use latchkey_service::providers::KnownProvider;

use super::keyset::Place;
use super::page::Page;
use super::stop::{Outcome, Stop};
use super::user::state_of;
use super::visit::ConsoleVisit;
use typed::Typed;

pub(crate) const PATH: &str = "/console/users";
/// Number of users on one page.
const MOST: u32 = 50;

pub(crate) const PAGE: Page = Page::of_reads(PATH, || get(show));

async fn show(visit: ConsoleVisit) -> Outcome {
    let view = view(&visit, &Typed::of(&visit)?).await?;
    visit.page(&view)
}

/// Reads the list that the address asks for. A filter that no user can meet has an empty list.
async fn view(visit: &ConsoleVisit, typed: &Typed) -> Result<Users, Stop> {
    let providers = visit.service().oauth.offered_providers();
    let place = typed.place(visit)?;
    let page = read(visit, typed, &place).await?;
    let key = |user: Option<&User>| user.map(|user| typed.order.sort.key_of(user).to_text());
    let ends = (key(page.users.first()), key(page.users.last()));
    let around = place.around(page.has_more, ends, |name, key| typed.address_at(PATH, name, key));
    let operators = visit.service().operators.list().await?;
    let rows = page.users.iter().map(|user| row(user, &operators, &providers)).collect();
    Ok(Users {
        filters: vec![states(typed), ways_in(typed, &providers)],
        clear: typed.is_filtered().then(|| PATH.to_owned()),
        columns: columns(typed),
        list: Listing { rows, total: page.total, previous: around.previous, next: around.next },
        acts: acts(visit),
        choose: visit.form(bulk::PATH),
        create: visit.may(Act::CreateUsers).then(|| new::PATH.to_owned()),
        export: visit.form_of(Act::ExportLists, csv::PATH).map(|mut form| {
            form.action = typed.address(csv::PATH);
            form
        }),
        sort: typed.sort.clone(),
        query: typed.search.clone(),
        created_after: typed.created_after.clone(),
        created_before: typed.created_before.clone(),
        signed_in_after: typed.signed_in_after.clone(),
        signed_in_before: typed.signed_in_before.clone(),
    })
}

/// Reads a page.
async fn read(visit: &ConsoleVisit, typed: &Typed, place: &Place<UserKey>) -> Result<UserPage, Stop> {
    let nobody = UserPage { users: Vec::new(), total: 0, has_more: false };
    let Some(filter) = typed.filter() else { return Ok(nobody) };
    let list = |position| ListUsers { filter: filter.clone(), order: typed.order, position, limit: MOST };
    let admin = &visit.service().admin;
    let position = match place {
        Place::First => UserPosition::Offset(0),
        Place::After(key) => UserPosition::After(key.clone()),
        Place::Before(key) => UserPosition::Before(key.clone()),
    };
    let page = admin.list_users(&list(position)).await?;
    if place.is_start(page.has_more) {
        let first = admin.list_users(&list(UserPosition::Offset(0))).await?;
        return Ok(UserPage { has_more: false, ..first });
    }
    Ok(page)
}

fn row(user: &User, operators: &[Operator], providers: &[KnownProvider]) -> UserRow {
    let name = user.profile.as_ref().map(|profile| profile.name.as_str().to_owned());
    UserRow {
        person: link(user),
        name: name.filter(|name| !name.is_empty()),
        state: state_of(user),
        is_operator: operators.iter().any(|operator| operator.user.id == user.id),
        ways: user.providers().into_iter().map(|key| way(key, providers)).collect(),
        created: When(user.created_at),
        last_sign_in: user.last_sign_in_at.map(When),
    }
}

/// Returns the link to the page of a user.
pub(super) fn link(user: &User) -> PersonLink {
    PersonLink { id: user.id, email: Some(user.email.as_typed().to_owned()) }
}

/// Returns the name of a provider; the words of the page name the other ways.
fn way(key: &str, providers: &[KnownProvider]) -> String {
    let known = providers.iter().find(|known| known.key.as_str() == key);
    known.map_or_else(|| key.to_owned(), |known| known.name().to_owned())
}

fn acts(visit: &ConsoleVisit) -> Vec<BulkAct> {
    let all = [BulkAct::EndSessions, BulkAct::Ban, BulkAct::Delete];
    all.into_iter().filter(|act| visit.may(bulk::act_of(*act))).collect()
}

fn states(typed: &Typed) -> Filter {
    let values = std::iter::once("").chain(UserState::ALL.iter().map(|state| state.as_str()));
    let choice =
        |value: &str| Choice { value: value.to_owned(), label: None, is_chosen: value == typed.state };
    Filter { name: "state", choices: values.map(choice).collect() }
}

fn ways_in(typed: &Typed, providers: &[KnownProvider]) -> Filter {
    let choice = |value: &str, label: Option<&str>| Choice {
        value: value.to_owned(),
        label: label.map(str::to_owned),
        is_chosen: value == typed.provider,
    };
    let own = ["", EMAIL_PROVIDER, PASSKEY_PROVIDER].map(|value| choice(value, None));
    let others = providers.iter().map(|provider| choice(provider.key.as_str(), Some(provider.name())));
    Filter { name: "provider", choices: own.into_iter().chain(others).collect() }
}

fn columns(typed: &Typed) -> Vec<Column> {
    let sorted = |key, sort: UserSort| {
        let is_sorted = typed.order.sort == sort;
        let usual = sort.order();
        let direction = if is_sorted { typed.order.direction.turned() } else { usual.direction };
        let url = typed.address_sorted(PATH, UserOrder { sort, direction });
        Column { key, sort: Some(url), sorted: is_sorted.then(|| shown(typed.order.direction)) }
    };
    let plain = |key| Column { key, sort: None, sorted: None };
    vec![
        sorted("email", UserSort::Email),
        plain("state"),
        plain("ways"),
        sorted("created", UserSort::Created),
        sorted("last_sign_in", UserSort::LastSignIn),
    ]
}

const fn shown(direction: Direction) -> latchkey_pages::console::views::Direction {
    match direction {
        Direction::Ascending => latchkey_pages::console::views::Direction::Ascending,
        Direction::Descending => latchkey_pages::console::views::Direction::Descending,
    }
}
