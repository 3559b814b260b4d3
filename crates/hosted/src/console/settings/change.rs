//! `/console/settings/change`: the question before a setting changes. It shows the difference; the form makes the change,
//! unless the setting has another value by then. The question is a form too, because an address has no room for a long list.

use axum::routing::get;
use latchkey_domain::operator::Act;
use latchkey_pages::Form;
use latchkey_pages::console::views::{DiffKind, DiffLine, SettingChange, SettingField};
use latchkey_pages::console::{Notice, Refusal};
use latchkey_service::settings::{EditableSetting, Kind, SettingsPatch};

use super::{PATH as SETTINGS, field, find, invalid, rejected};
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

pub(crate) const PAGE: Page = Page::new(PATH, || get(show).post(act));

async fn show(visit: ConsoleVisit) -> Outcome {
    visit.must(Act::ChangeSettings).await?;
    let setting = find(&visit, &visit.query.optional(KEY)?.unwrap_or_default())?;
    let typed = visit.query.optional(VALUE)?.unwrap_or_else(|| setting.text());
    ask(&visit, &setting, &typed)
}

/// Shows the difference, and changes nothing.
fn ask(visit: &ConsoleVisit, setting: &EditableSetting, typed: &str) -> Outcome {
    let checked =
        read(setting, typed).and_then(|patch| visit.service().admin.check_settings(&patch).map_err(rejected));
    match checked {
        Ok(()) => visit.page(&view(visit, setting, typed)),
        Err(rejection) => refuse(visit, rejection, setting, typed),
    }
}

async fn act(sent: Sent) -> Outcome {
    if sent.visit.query.optional(ASK)?.is_some() {
        let ConsoleSubmission { visit, fields } = sent.permitted(Act::ChangeSettings).await?;
        let setting = find(&visit, &fields.text(KEY)?)?;
        return ask(&visit, &setting, &fields.text(VALUE)?);
    }
    let ConsoleSubmission { visit, fields } = sent.must(Act::ChangeSettings).await?;
    visit.service().admin.sync_settings().await?;
    let setting = find(&visit, &fields.text(KEY)?)?;
    let typed = fields.text(VALUE)?;
    if seen::is_other(&fields, &setting.text())? {
        return visit.refuse(seen::changed(Refusal::SettingChanged), &view(&visit, &setting, &typed));
    }
    match save(&visit, &setting, &typed).await {
        Ok(()) => visit.go_to_with(SETTINGS, Notice::SettingsSaved),
        Err(rejection) => refuse(&visit, rejection, &setting, &typed),
    }
}

async fn save(visit: &ConsoleVisit, setting: &EditableSetting, typed: &str) -> Result<(), Rejection> {
    let (patch, client) = (read(setting, typed)?, visit.to_client());
    let changed = visit.service().admin.change_settings(&patch, visit.party(), Some(&client)).await;
    changed.map(|_| ()).map_err(rejected)
}

/// Shows the field again, with what was typed.
fn refuse(visit: &ConsoleVisit, rejection: Rejection, setting: &EditableSetting, typed: &str) -> Outcome {
    visit.refuse(rejection, &SettingChange { form: None, ..view(visit, setting, typed) })
}

/// Returns the form that asks, for those who may change settings.
pub(super) fn question(visit: &ConsoleVisit) -> Option<Form> {
    visit.form_of_with(Act::ChangeSettings, PATH, &[(ASK, "1")])
}

fn read(setting: &EditableSetting, typed: &str) -> Result<SettingsPatch, Rejection> {
    setting.change(typed).map_err(|error| Rejection::of(invalid(error.to_string())))
}

fn view(visit: &ConsoleVisit, setting: &EditableSetting, typed: &str) -> SettingChange {
    let lines = difference(&lines_of(&setting.text()), &lines_of(typed));
    let is_changed = lines.iter().any(|line| line.kind != DiffKind::Same);
    SettingChange {
        key: setting.item.name.to_owned(),
        about: setting.about.clone(),
        field: typed_field(setting, typed),
        form: is_changed.then(|| visit.form(PATH)),
        question: question(visit),
        seen: seen::digest(&setting.text()),
        lines,
        value: typed.to_owned(),
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
