//! `/console/settings/change`: the question before a setting changes. It shows the difference; the form makes the change,
//! unless the setting has another value by then. The question is a form too, because an address has no room for a long list.

use axum::routing::get;
use latchkey_domain::operator::Act;
use latchkey_pages::Form;
use latchkey_pages::console::views::{DiffKind, DiffLine, SettingChange, SettingField};
use latchkey_pages::console::{Notice, Refusal};
use latchkey_service::settings::{EditableSetting, Kind, SettingsPatch, Source};

use super::{PATH as SETTINGS, field, find, invalid, rejected};
use crate::console::guest::href;
use crate::console::page::Page;
use crate::console::rejection::Rejection;
use crate::console::seen;
use crate::console::stop::Outcome;
use crate::console::submission::{ConsoleSubmission, Sent};
use crate::console::visit::ConsoleVisit;

const PATH: &str = "/console/settings/change";
/// Parameter and field with the key of the setting.
const KEY: &str = "key";
/// Parameter and field with the new value.
const VALUE: &str = "value";
/// Parameter of the form that asks and changes nothing.
const ASK: &str = "ask";
/// Parameter of the question, and of its form, that sets the default again in place of a value.
const DEFAULT: &str = "default";

pub(crate) const PAGE: Page = Page::new(PATH, || get(show).post(act));

/// The value that a setting is to have.
enum Wanted {
    /// What was typed.
    Typed(String),
    /// The default, so that later changes of it act on the setting.
    Default,
}

impl Wanted {
    fn text(&self, setting: &EditableSetting) -> String {
        match self {
            Self::Typed(text) => text.clone(),
            Self::Default => setting.default_text(),
        }
    }
}

/// Returns the address of the question before a setting gets its default again.
pub(super) fn address_of_default(key: &str) -> String {
    href(PATH, &[(KEY, key), (DEFAULT, "1")])
}

async fn show(visit: ConsoleVisit) -> Outcome {
    visit.must(Act::ChangeSettings).await?;
    let setting = find(&visit, &visit.query.optional(KEY)?.unwrap_or_default())?;
    let typed = visit.query.optional(VALUE)?;
    let wanted = match visit.query.optional(DEFAULT)? {
        Some(_) => Wanted::Default,
        None => Wanted::Typed(typed.unwrap_or_else(|| setting.text())),
    };
    ask(&visit, &setting, &wanted)
}

/// Shows the difference, and changes nothing.
fn ask(visit: &ConsoleVisit, setting: &EditableSetting, wanted: &Wanted) -> Outcome {
    let checked = read(setting, &wanted.text(setting))
        .and_then(|patch| visit.service().admin.check_settings(&patch).map_err(rejected));
    match checked {
        Ok(()) => visit.page(&view(visit, setting, wanted)),
        Err(rejection) => refuse(visit, rejection, setting, wanted),
    }
}

async fn act(sent: Sent) -> Outcome {
    if sent.visit.query.optional(ASK)?.is_some() {
        let ConsoleSubmission { visit, fields } = sent.permitted(Act::ChangeSettings).await?;
        let setting = find(&visit, &fields.text(KEY)?)?;
        return ask(&visit, &setting, &Wanted::Typed(fields.text(VALUE)?));
    }
    let ConsoleSubmission { visit, fields } = sent.must(Act::ChangeSettings).await?;
    visit.service().admin.sync_settings().await?;
    let setting = find(&visit, &fields.text(KEY)?)?;
    let wanted = match visit.query.optional(DEFAULT)? {
        Some(_) => Wanted::Default,
        None => Wanted::Typed(fields.text(VALUE)?),
    };
    if seen::is_other(&fields, &setting.text())? {
        return visit.refuse(seen::changed(Refusal::SettingChanged), &view(&visit, &setting, &wanted));
    }
    match save(&visit, &setting, &wanted).await {
        Ok(done) => visit.go_to_with(SETTINGS, done),
        Err(rejection) => refuse(&visit, rejection, &setting, &wanted),
    }
}

async fn save(visit: &ConsoleVisit, setting: &EditableSetting, wanted: &Wanted) -> Result<Notice, Rejection> {
    let (admin, party, client) = (&visit.service().admin, visit.party(), visit.to_client());
    match wanted {
        Wanted::Typed(text) => {
            let patch = read(setting, text)?;
            let changed = admin.change_settings(&patch, party, Some(&client)).await;
            changed.map(|_| Notice::SettingsSaved).map_err(rejected)
        }
        Wanted::Default => {
            let reset = admin.reset_setting(setting.item, party, Some(&client)).await;
            reset.map(|()| Notice::SettingsReset).map_err(rejected)
        }
    }
}

/// Shows the field again, with what was typed.
fn refuse(visit: &ConsoleVisit, rejection: Rejection, setting: &EditableSetting, wanted: &Wanted) -> Outcome {
    visit.refuse(rejection, &SettingChange { form: None, ..view(visit, setting, wanted) })
}

/// Returns the form that asks, for those who may change settings.
pub(super) fn question(visit: &ConsoleVisit) -> Option<Form> {
    visit.form_of_with(Act::ChangeSettings, PATH, &[(ASK, "1")])
}

fn read(setting: &EditableSetting, typed: &str) -> Result<SettingsPatch, Rejection> {
    setting.change(typed).map_err(|error| Rejection::of(invalid(error.to_string())))
}

fn view(visit: &ConsoleVisit, setting: &EditableSetting, wanted: &Wanted) -> SettingChange {
    let value = wanted.text(setting);
    let lines = difference(&lines_of(&setting.text()), &lines_of(&value));
    let is_changed = lines.iter().any(|line| line.kind != DiffKind::Same);
    let form = match wanted {
        Wanted::Typed(_) => is_changed.then(|| visit.form(PATH)),
        Wanted::Default => {
            (setting.source == Source::Admin).then(|| visit.form_with(PATH, &[(DEFAULT, "1")]))
        }
    };
    SettingChange {
        key: setting.item.name.to_owned(),
        about: setting.about.clone(),
        field: typed_field(setting, &value),
        form,
        question: question(visit),
        seen: seen::digest(&setting.text()),
        lines,
        value,
        warnings: Vec::new(),
        cancel: SETTINGS.to_owned(),
    }
}

/// Returns the field with what was typed. A choice has no room for another word, so it begins with the one in force.
fn typed_field(setting: &EditableSetting, typed: &str) -> SettingField {
    let is_word = setting.choices.is_empty() || setting.choices.iter().any(|choice| choice == typed);
    let is_flag = setting.item.kind != Kind::Boolean || matches!(typed, "true" | "false");
    let text = if is_word && is_flag { typed.to_owned() } else { setting.text() };
    field(setting, text)
}

fn lines_of(text: &str) -> Vec<String> {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

/// Lists the old lines, those that go marked, and then the new ones.
fn difference(old: &[String], new: &[String]) -> Vec<DiffLine> {
    let line = |kind, text: &String| DiffLine { kind, text: text.clone() };
    let kept = old
        .iter()
        .map(|text| line(if new.contains(text) { DiffKind::Same } else { DiffKind::Removed }, text));
    let added = new.iter().filter(|text| !old.contains(text)).map(|text| line(DiffKind::Added, text));
    kept.chain(added).collect()
}
