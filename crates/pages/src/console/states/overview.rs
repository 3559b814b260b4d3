//! Sample states of the overview and of the system.

use super::{State, ago, events, form};
use crate::console::views::{Check, Database, Day, Hashing, InstanceRow, Numbers, Overview, System, Warning};
use crate::console::{Place, Role};
use crate::states::Person;

pub(super) fn states(person: &Person) -> Vec<State> {
    let mut states = overview(person);
    states.extend(system(person));
    states
}

fn overview(person: &Person) -> Vec<State> {
    let full = || Overview {
        numbers: numbers(),
        age: 12,
        days: (0..30).rev().map(day).collect(),
        warnings: Vec::new(),
        changes: events::rows(person, 8, true),
    };
    let empty = || Overview {
        numbers: Numbers::default(),
        days: (0..30)
            .rev()
            .map(|index| Day { sign_ups: 0, sign_ins: 0, failures: 0, ..day(index) })
            .collect(),
        changes: Vec::new(),
        ..full()
    };
    let warnings = || {
        let text = "server.public_url begins with http://, so cookies travel unencrypted.".to_owned();
        let remedy = Some("Set an address that begins with https://".to_owned());
        vec![
            Warning { is_error: true, text, remedy },
            Warning { is_error: false, text: person.thing.clone(), remedy: None },
        ]
    };
    let page = |name, view| State::inside(name, person, Place::Overview, view);
    vec![
        page("console.overview", full()).ending(),
        page("console.overview.warnings", Overview { warnings: warnings(), ..full() }),
        page("console.overview.empty", empty()),
        page("console.overview.viewer", full()).by(person, Role::Viewer),
    ]
}

const fn numbers() -> Numbers {
    Numbers {
        accounts: 1_234_567,
        verified: 1_200_345,
        new_day: 812,
        new_week: 5_120,
        sign_ins: 48_211,
        failures: 1_093,
        sessions: 302_118,
        mails_waiting: 3,
        mails_dead: 1,
    }
}

fn day(index: u64) -> Day {
    Day {
        day: ago(index * 24),
        sign_ups: 600 + index * 7 % 50,
        sign_ins: 30_000 + (index * 7_919) % 18_000,
        failures: 900 + (index * 1_237) % 3_000,
    }
}

fn system(person: &Person) -> Vec<State> {
    let check = |name: &str, is_good, detail: &str| Check {
        name: name.to_owned(),
        is_good,
        detail: detail.to_owned(),
    };
    let full = || System {
        instances: (0..2).map(instance).collect(),
        database: Database { engine: "PostgreSQL 17.2".to_owned(), bytes: 5_368_709_120, migration: 29 },
        counted: ago(0),
        outbox_lag: 40,
        hashing: Some(Hashing { waiting: 3, most: 64 }),
        last_backup: None,
        checks: Some(vec![
            check("database", true, "writes within 2 ms"),
            check("mail", false, &person.thing),
        ]),
        run_checks: Some(form("/console/system?act=check")),
    };
    let first = || System {
        instances: vec![instance(0)],
        database: Database { engine: "SQLite 3.50".to_owned(), bytes: 812, migration: 29 },
        outbox_lag: 0,
        hashing: None,
        checks: None,
        ..full()
    };
    let page = |name, view| State::inside(name, person, Place::System, view);
    vec![
        page("console.system", first()),
        page("console.system.checked", full()),
        page("console.system.backup", System { last_backup: Some(ago(9)), ..first() }),
        page("console.system.viewer", System { run_checks: None, instances: Vec::new(), ..first() })
            .by(person, Role::Viewer),
    ]
}

fn instance(index: u64) -> InstanceRow {
    InstanceRow {
        id: format!("node-{index}"),
        version: "0.1.0".to_owned(),
        since: ago(100 + index),
        seen: ago(0),
        is_this: index == 0,
    }
}
