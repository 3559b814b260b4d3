//! Sample states of the audit.

use latchkey_domain::audit::{ActorKind, AuditKind, EventId};

use super::{State, ago, client, link};
use crate::console::Place;
use crate::console::views::{Audit, By, Choice, Detail, EventRow, EventTotal, Filter, PersonLink};
use crate::states::{NOW, Person};

pub(super) fn states(person: &Person) -> Vec<State> {
    let full = || Audit {
        filters: filters(person, "sign_in_failed"),
        user: person.email.clone(),
        address: "192.0.2.7".to_owned(),
        since: "2026-05-01".to_owned(),
        until: "2026-05-04".to_owned(),
        clear: Some("/console/audit".to_owned()),
        rows: rows(person, 50, true),
        total: EventTotal::AtLeast { count: 18 },
        previous: Some("/console/audit?before=c2VhbGVk".to_owned()),
        next: Some("/console/audit?after=c2VhbGVk".to_owned()),
        export: "/console/audit/export".to_owned(),
    };
    let first = || Audit {
        filters: filters(person, ""),
        user: String::new(),
        address: String::new(),
        since: String::new(),
        until: String::new(),
        clear: None,
        rows: Vec::new(),
        total: EventTotal::Exact { count: 0 },
        previous: None,
        next: None,
        ..full()
    };
    let total = EventTotal::MoreThan { count: 10_000 };
    let all = Audit { rows: full().rows, total, next: full().next, ..first() };
    let no_match = Audit { rows: Vec::new(), total: first().total, previous: None, next: None, ..full() };
    let page = |name, view| State::inside(name, person, Place::Audit, view);
    vec![
        page("console.audit", all),
        page("console.audit.filtered", full()),
        page("console.audit.no_match_yet", Audit { rows: Vec::new(), ..full() }),
        page("console.audit.no_match", no_match),
        page("console.audit.empty", first()),
    ]
}

fn filters(person: &Person, chosen: &str) -> Vec<Filter> {
    let kinds = AuditKind::ALL.iter().map(|kind| kind.as_str());
    let actors = ActorKind::ALL.iter().map(|actor| actor.as_str());
    let choice = |value: &str| Choice { value: value.to_owned(), label: None, is_chosen: value == chosen };
    let of = |name, values: Vec<&str>| Filter {
        name,
        choices: std::iter::once("").chain(values).map(choice).collect(),
    };
    let operator =
        Choice { value: "ada".to_owned(), label: Some(person.email.clone()), is_chosen: !chosen.is_empty() };
    let any = Choice { value: String::new(), label: None, is_chosen: false };
    let operators = Filter { name: "operator", choices: vec![any, operator] };
    vec![of("event", kinds.collect()), of("actor", actors.collect()), operators]
}

/// Returns sign-ins and failed ones in turn.
pub(super) fn sign_ins(person: &Person) -> Vec<EventRow> {
    let row = |(index, event): (usize, EventRow)| {
        let (kind, name, value) = match index % 3 {
            1 => (AuditKind::SignInFailed, "reason", "wrong password"),
            _ => (AuditKind::SignedIn, "methods", "pwd, otp"),
        };
        let details = vec![Detail { name: name.to_owned(), value: value.to_owned() }];
        EventRow { kind, by: By::User, client: Some(client(person)), details, ..event }
    };
    rows(person, 10, false).into_iter().enumerate().map(row).collect()
}

/// Returns events of all kinds in turn.
pub(super) fn rows(person: &Person, count: u8, has_people: bool) -> Vec<EventRow> {
    let kinds = AuditKind::ALL;
    let row = |index: u8| EventRow {
        id: EventId::new(NOW, [index; 10]),
        kind: kinds[usize::from(index) % kinds.len()],
        at: ago(u64::from(index) * 2),
        by: match index % 4 {
            0 | 1 => By::User,
            2 => By::Operator { name: person.name.clone() },
            _ if index % 8 == 3 => By::Key,
            _ => By::System,
        },
        person: (has_people && index % 6 != 5).then(|| PersonLink {
            email: (index % 7 != 3).then(|| person.email.clone()),
            ..link(person, index)
        }),
        client: (index % 4 != 3).then(|| client(person)),
        details: (index % 5 == 2)
            .then(|| Detail { name: "reason".to_owned(), value: person.thing.clone() })
            .into_iter()
            .collect(),
    };
    (0..count).map(row).collect()
}
