//! Tests of the settings as a whole: from sources to settings or to problems.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod console;
mod defaults;
mod modes;
mod pages;
mod passkeys;
mod printing;
mod providers;
mod rules;
mod sources;
mod values;
mod watch;

use super::{Settings, Sources};

/// Valid secret of 64 hexadecimal digits, and another one.
const SECRET: &str = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
const OTHER_SECRET: &str = "60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752";

/// Sources of development mode with these `--set` values.
fn development(overrides: &[&str]) -> Sources {
    overrides.iter().fold(Sources::none(), |sources, text| sources.with_override(*text))
}

/// Sources of a production mode that starts, with these `--set` values added.
fn production(overrides: &[&str]) -> Sources {
    let base = [
        "server.mode=production",
        "server.public_url=https://accounts.example.com",
        &format!("server.secret={SECRET}"),
        &format!("admin.api_key={OTHER_SECRET}"),
        "mail.transport=file",
    ]
    .map(str::to_owned);
    let sources = base.into_iter().fold(Sources::none(), Sources::with_override);
    overrides.iter().fold(sources, |sources, text| sources.with_override(*text))
}

fn load(sources: Sources) -> Settings {
    Settings::load(sources).unwrap_or_else(|error| panic!("{error}"))
}

/// Problems of settings that must not load, one per line.
fn problems(sources: Sources) -> Vec<String> {
    let error = Settings::load(sources).expect_err("these settings must be refused");
    error.problems().iter().map(ToString::to_string).collect()
}

/// Problem of settings that must have exactly one.
fn problem(sources: Sources) -> String {
    let mut problems = problems(sources);
    assert_eq!(problems.len(), 1, "{problems:#?}");
    problems.remove(0)
}

#[track_caller]
fn assert_says(sentence: &str, parts: &[&str]) {
    for part in parts {
        assert!(sentence.contains(part), "{part:?} is missing in: {sentence}");
    }
}
