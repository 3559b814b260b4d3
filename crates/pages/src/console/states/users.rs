//! Sample states of the lists of users.

use super::{State, ago, form, link, middle, rules, user_id, whole};
use crate::console::views::{
    AccountState, BulkAct, BulkOutcome, BulkResult, Choice, Chosen, ChosenRow, Column, Direction, Filter,
    Outcome, UserNew, UserRow, Users,
};
use crate::console::{Notice, Place, Refusal, Role};
use crate::message::Fault;
use crate::states::Person;

/// Acts on several accounts, in the order of the rows of the table of roles.
const ACTS: [BulkAct; 3] = [BulkAct::EndSessions, BulkAct::Ban, BulkAct::Delete];

pub(super) fn states(person: &Person) -> Vec<State> {
    let mut states = lists(person);
    states.extend(chosen(person));
    states.extend(results(person));
    states.extend(new(person));
    states
}

fn chosen(person: &Person) -> Vec<State> {
    let of = |act, count: u8, phrase: Option<&str>| Chosen {
        act,
        rows: (0..count).map(|index| chosen_row(person, index)).collect(),
        left_out: Vec::new(),
        form: Some(form("/console/users/chosen")),
        ids: (0..count).map(|index| user_id(index).to_string()).collect::<Vec<_>>().join(","),
        phrase: phrase.map(str::to_owned),
        cancel: "/console/users".to_owned(),
    };
    let page = |name, view| State::inside(name, person, Place::Users, view).under(Place::Users);
    let delete = || of(BulkAct::Delete, 100, Some("delete 100 accounts"));
    vec![
        page("console.chosen.end_sessions", of(BulkAct::EndSessions, 3, None)),
        page("console.chosen.ban", Chosen { left_out: vec![link(person, 9)], ..of(BulkAct::Ban, 1, None) }),
        page("console.chosen.delete", delete()),
        page("console.chosen.not_confirmed", delete()).at("confirmation", Refusal::NotConfirmed),
        page(
            "console.chosen.none_left",
            Chosen { left_out: vec![link(person, 9)], form: None, ..of(BulkAct::Ban, 0, None) },
        ),
    ]
}

fn chosen_row(person: &Person, index: u8) -> ChosenRow {
    let states = AccountState::ALL;
    ChosenRow {
        person: link(person, index),
        name: (index % 3 != 1).then(|| person.name.clone()),
        state: states[usize::from(index) % states.len()],
        sessions: u64::from(index % 4),
    }
}

fn results(person: &Person) -> Vec<State> {
    let all = [
        Outcome::Done,
        Outcome::Unchanged,
        Outcome::Protected,
        Outcome::LastOwner,
        Outcome::Gone,
        Outcome::Failed,
    ];
    let of = |act| BulkResult {
        act,
        outcomes: (0..)
            .zip(all)
            .map(|(index, outcome)| BulkOutcome { person: link(person, index), outcome })
            .collect(),
        done: 1,
        back: "/console/users".to_owned(),
    };
    let page = |name, act| State::inside(name, person, Place::Users, of(act)).under(Place::Users);
    vec![
        page("console.result.end_sessions", BulkAct::EndSessions),
        page("console.result.ban", BulkAct::Ban),
        page("console.result.delete", BulkAct::Delete),
    ]
}

fn new(person: &Person) -> Vec<State> {
    let empty = || UserNew {
        form: form("/console/users/new"),
        email: String::new(),
        name: String::new(),
        is_verified: false,
        rules: rules(),
        cancel: "/console/users".to_owned(),
    };
    let typed =
        || UserNew { email: person.email.clone(), name: person.name.clone(), is_verified: true, ..empty() };
    let page = |name, view| State::inside(name, person, Place::Users, view).under(Place::Users);
    vec![
        page("console.new", empty()),
        page("console.new.taken", typed()).at("email", Refusal::AddressTaken),
        page("console.new.refused", typed())
            .at("email", Fault::InvalidEmail)
            .at("new_password", Fault::TooShort { least: 8 }),
    ]
}

fn lists(person: &Person) -> Vec<State> {
    let full = || Users {
        query: person.username.clone(),
        filters: vec![states_of_accounts("unverified"), ways_in(person)],
        created_after: "2026-04-01".to_owned(),
        created_before: String::new(),
        signed_in_after: String::new(),
        signed_in_before: String::new(),
        clear: Some("/console/users".to_owned()),
        columns: columns(),
        list: middle(rows(person, 50), "/console/users"),
        acts: ACTS.to_vec(),
        choose: form("/console/users/chosen"),
        create: Some("/console/users/new".to_owned()),
        export: Some(form("/console/users/csv")),
        sort: String::new(),
    };
    let first = || Users {
        query: String::new(),
        filters: vec![states_of_accounts(""), ways_in(person)],
        created_after: String::new(),
        clear: None,
        list: whole(rows(person, 6)),
        ..full()
    };
    let viewer = || Users { acts: Vec::new(), create: None, export: None, ..first() };
    let page = |name, view| State::inside(name, person, Place::Users, view);
    vec![
        page("console.users", first()),
        page("console.users.full", full()).ending(),
        page("console.users.deleted", first()).after(Notice::AccountDeleted { email: person.email.clone() }),
        page("console.users.none_chosen", first()).with(Refusal::NoneChosen),
        page("console.users.too_many_chosen", first()).with(Refusal::TooMany { most: 100 }),
        page("console.users.too_many_rows", full()).with(Refusal::TooManyRows { most: 10_000 }),
        page("console.users.no_match", Users { list: whole(Vec::new()), ..full() }),
        page("console.users.empty", Users { list: whole(Vec::new()), ..first() }),
        page("console.users.empty_viewer", Users { list: whole(Vec::new()), ..viewer() })
            .by(person, Role::Viewer),
        page("console.users.viewer", viewer()).by(person, Role::Viewer),
        page("console.users.support", Users { acts: ACTS[..2].to_vec(), ..viewer() })
            .by(person, Role::Support),
    ]
}

/// Returns the choices of a filter.
pub(super) fn choices(name: &'static str, values: &[&str], chosen: &str) -> Filter {
    let all = std::iter::once("").chain(values.iter().copied());
    let choice = |value: &str| Choice { value: value.to_owned(), label: None, is_chosen: value == chosen };
    Filter { name, choices: all.map(choice).collect() }
}

fn states_of_accounts(chosen: &str) -> Filter {
    let values = [
        "verified",
        "unverified",
        "banned",
        "pending",
        "deletion",
        "operator",
        "no-profile",
        "imported-hash",
    ];
    choices("state", &values, chosen)
}

fn ways_in(person: &Person) -> Filter {
    let mut filter = choices("provider", &["email", "passkey"], "");
    filter.choices.extend(person.providers.iter().map(|name| Choice {
        value: "example".to_owned(),
        label: Some(name.clone()),
        is_chosen: false,
    }));
    filter
}

fn columns() -> Vec<Column> {
    let sorted = |key, sorted| Column { key, sort: Some(format!("/console/users?sort={key}")), sorted };
    let plain = |key| Column { key, sort: None, sorted: None };
    vec![
        sorted("email", None),
        plain("state"),
        plain("ways"),
        sorted("created", Some(Direction::Descending)),
        sorted("last_sign_in", None),
    ]
}

fn rows(person: &Person, count: u8) -> Vec<UserRow> {
    let row = |index: u8| {
        let states = AccountState::ALL;
        let ways = match index % 4 {
            0 => vec!["email".to_owned()],
            1 => vec!["email".to_owned(), "passkey".to_owned()],
            2 => person.providers.clone(),
            _ => Vec::new(),
        };
        UserRow {
            person: link(person, index),
            name: (index % 3 != 1).then(|| person.name.clone()),
            state: states[usize::from(index) % states.len()],
            is_operator: index == 0,
            ways,
            created: ago(u64::from(index) * u64::from(index) * 5),
            last_sign_in: (index % 5 != 2).then(|| ago(u64::from(index) * 3)),
        }
    };
    (0..count).map(row).collect()
}
