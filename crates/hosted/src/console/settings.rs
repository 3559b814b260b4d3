//! `/console/settings`: the settings that can be changed at run time, by group, each with its default and source, and the
//! tester of redirect targets.

use axum::routing::get;
use latchkey_domain::operator::Act;
use latchkey_domain::redirect::RedirectPolicy;
use latchkey_http::error::ApiError;
use latchkey_pages::console::views::{
    Choice, RedirectOutcome, RedirectTester, Setting, SettingField, SettingGroup, Settings, Source,
};
use latchkey_pages::console::{Problem, Refusal};
use latchkey_service::Error;
use latchkey_service::refusal::{EMAIL_PROVIDER_NOT_CONFIGURED, SETTING_PINNED};
use latchkey_service::settings::{EditableSetting, Kind, Source as SetBy};

use super::page::Page;
use super::rejection::{Refused, Rejection};
use super::stop::{Outcome, Stop};
use super::visit::ConsoleVisit;

pub(crate) mod change;
pub(crate) mod theme;

const PATH: &str = "/console/settings";
/// Query parameter with the target to be tested.
const REDIRECT: &str = "redirect";

pub(crate) const PAGE: Page = Page::of_reads(PATH, || get(show));

async fn show(visit: ConsoleVisit) -> Outcome {
    visit.page(&view(&visit)?)
}

/// Finds the setting with this key, which an admin can change.
fn find(visit: &ConsoleVisit, key: &str) -> Result<EditableSetting, Stop> {
    let mut all = visit.service().admin.list_settings().into_iter();
    all.find(|setting| setting.item.name == key).ok_or_else(|| visit.not_found())
}

/// Words the refusal of a change as one of the value.
fn rejected(error: Error) -> Rejection {
    let problem = match &error {
        Error::Refused(row) | Error::RefusedWith(row, _) if row.name == SETTING_PINNED.name => {
            Problem::whole(Refusal::SettingPinned)
        }
        Error::Refused(row) if **row == EMAIL_PROVIDER_NOT_CONFIGURED => invalid(row.message.to_owned()),
        Error::Validation { problem, .. } => invalid(problem.clone()),
        _ => return error.into(),
    };
    Rejection::Form(Box::new(Refused { error: ApiError::from(error), problems: vec![problem] }))
}

fn invalid(rule: String) -> Problem {
    Problem::at("value", Refusal::InvalidSetting { rule })
}

fn view(visit: &ConsoleVisit) -> Result<Settings, Stop> {
    let mut groups: Vec<SettingGroup> = Vec::new();
    for setting in visit.service().admin.list_settings() {
        let name = setting.item.section();
        let at = groups.iter().position(|group| group.name == name).unwrap_or(groups.len());
        if at == groups.len() {
            groups.push(SettingGroup { name: name.to_owned(), settings: Vec::new() });
        }
        groups[at].settings.push(shown(visit, &setting));
    }
    let url = visit.query.optional(REDIRECT)?.unwrap_or_default();
    let redirects = &visit.service().settings().redirects;
    Ok(Settings {
        groups,
        tester: RedirectTester { outcome: (!url.is_empty()).then(|| tested(redirects, &url)), url },
        theme: theme::PATH.to_owned(),
        change: change::question(visit),
    })
}

fn tested(redirects: &RedirectPolicy, url: &str) -> RedirectOutcome {
    match redirects.check(url) {
        Ok(target) => {
            let entry = redirects.entry_for(&target).map_or("localhost", |entry| entry.as_str());
            RedirectOutcome::Allowed { entry: entry.to_owned() }
        }
        Err(refusal) => RedirectOutcome::Refused { reason: refusal.to_string() },
    }
}

fn shown(visit: &ConsoleVisit, setting: &EditableSetting) -> Setting {
    let is_stored = setting.source == SetBy::Admin;
    let key = setting.item.name;
    Setting {
        key: key.to_owned(),
        about: setting.about.clone(),
        field: field(setting, setting.text()),
        default: setting.default.clone(),
        source: source(&setting.source),
        reset: (is_stored && visit.may(Act::ChangeSettings)).then(|| change::address_of_default(key)),
    }
}

/// Returns the field of a setting with a text, that of its value or a typed one.
fn field(setting: &EditableSetting, value: String) -> SettingField {
    let choice = |choice: &String| Choice { value: choice.clone(), label: None, is_chosen: *choice == value };
    match setting.item.kind {
        _ if !setting.choices.is_empty() => {
            SettingField::Choice { choices: setting.choices.iter().map(choice).collect() }
        }
        Kind::Boolean => SettingField::Switch { is_on: value == "true" },
        Kind::Integer { .. } => SettingField::Number { value },
        Kind::List => SettingField::List { lines: value },
        _ => SettingField::Text { value },
    }
}

pub(super) fn source(source: &SetBy) -> Source {
    match source {
        SetBy::Default | SetBy::Derived => Source::Default,
        SetBy::Admin => Source::Stored,
        SetBy::File(path) => Source::File { path: path.display().to_string() },
        SetBy::Environment(name) | SetBy::SecretFile(name, _) => Source::Environment { name: name.clone() },
        SetBy::CommandLine => Source::CommandLine,
    }
}
