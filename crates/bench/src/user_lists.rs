//! Latency of the list of users by search, filter and order, with one client. Each response contains the exact total.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use latchkey_domain::user_list::{UserKey, UserKeyValue};

use crate::error::Result;
use crate::people::{People, email};
use crate::row::{Goal, Row};
use crate::rows::{Pace, watched};
use crate::scripts::{Bearer, Get, Pick};
use crate::words::Words;
use crate::world::{ADMIN_KEY, World};

/// Number of requests per class, used in turn.
const REQUESTS: u64 = 50;
/// Longest acceptable time of a response, in milliseconds.
pub(crate) const GOAL: f64 = 50.0;

/// Measures the list in every class.
pub(crate) fn measure(world: &World, pace: Pace) -> Result<Vec<Row>> {
    let admin = Bearer { token: ADMIN_KEY.to_owned(), user_id: String::new() };
    let mut classes: Vec<(Row, Get)> = classes(&world.people)
        .into_iter()
        .map(|(name, paths)| {
            let script = Get::paths_by(paths.into_iter(), &admin, Pick::InTurn);
            (Row::new(name, &[Goal::P99(GOAL)]), script)
        })
        .collect();
    for _ in 0..pace.rounds {
        for (row, script) in &mut classes {
            let load = crate::rows::load(&world.service, 1, pace);
            let (seen, processor, peak) = watched(&world.service, &load, script)?;
            row.add(&seen, None, processor, peak);
        }
    }
    Ok(classes.into_iter().map(|(row, _)| row).collect())
}

fn classes(people: &People) -> Vec<(&'static str, Vec<String>)> {
    let words = Words::new();
    let numbers = || (0..REQUESTS).map(|n| n * (people.count / REQUESTS));
    let of = |query: &dyn Fn(u64) -> String| {
        numbers().map(|number| format!("/api/auth/users?limit=50&{}", query(number))).collect::<Vec<_>>()
    };
    let name = |number: u64, length: usize| words.first_name(number).chars().take(length).collect::<String>();
    let deep = |number: u64, sort: &str| {
        let value = match sort {
            "email" => UserKeyValue::Email(email(number)),
            _ => UserKeyValue::Time(people.created_at(number)),
        };
        let key = UserKey { value, id: people.user_id(number) };
        format!("sort={sort}&cursor={}", URL_SAFE_NO_PAD.encode(key.to_text()))
    };
    vec![
        ("users, first page", of(&|_| String::new())),
        ("users, deep cursor", of(&|number| deep(number, "created"))),
        ("users by address, deep cursor", of(&|number| deep(number, "email"))),
        ("users by last sign-in", of(&|_| "sort=lastSignIn".to_owned())),
        ("users, state unverified", of(&|_| "state=unverified".to_owned())),
        ("users, state unverified, by address", of(&|_| "state=unverified&sort=email".to_owned())),
        ("users, state banned", of(&|_| "state=banned".to_owned())),
        ("users, state no-profile", of(&|_| "state=no-profile".to_owned())),
        ("users of a provider", of(&|_| "provider=google".to_owned())),
        ("users created in a time", of(&|number| created(people, number))),
        ("users search, whole address", of(&|number| format!("search={}", email(number)))),
        ("users search, id", of(&|number| format!("search={}", people.user_id(number)))),
        (
            "users search, address begins with 7 letters",
            of(&|number| format!("search=user{}", number % 900 + 100)),
        ),
        ("users search, last name", of(&|number| format!("search={}", words.last_name(number)))),
        ("users search, first name", of(&|number| format!("search={}", words.first_name(number)))),
        ("users search, 3 letters of a name", of(&|number| format!("search={}", name(number, 3)))),
        ("users search, 2 letters of a name", of(&|number| format!("search={}", name(number, 2)))),
    ]
}

/// Returns a range of the times of creation that holds a hundredth of all people.
fn created(people: &People, number: u64) -> String {
    let until = (number + people.count / 100).min(people.count);
    format!("createdAfter={}&createdBefore={}", people.created_at(number), people.created_at(until))
}
