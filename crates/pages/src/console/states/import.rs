//! Sample states of imports, and of the export of all accounts.

use latchkey_domain::imports::{ConflictPolicy, ImportState, ProblemCode};

use super::users::choices;
use super::{State, ago, form, later, middle, user_id, whole};
use crate::console::views::{
    Choice, Export, ImportNew, ImportPage, ImportRow, Imports, Irreversible, IrreversibleAct, ProblemCount,
    ReportRow,
};
use crate::console::{CrumbText, Notice, Place, Refusal};
use crate::states::Person;

const PATH: &str = "/console/import";
const JOB: &str = "/console/import/0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b";

pub(super) fn states(person: &Person) -> Vec<State> {
    let page = |name, view| State::inside(name, person, Place::Import, view);
    let mut states = vec![
        page("console.import", Imports { list: middle(rows(person, 50), PATH), new: format!("{PATH}/new") }),
        page("console.import.empty", Imports { list: whole(Vec::new()), new: format!("{PATH}/new") }),
    ];
    states.extend(forms(person));
    states.extend(jobs(person));
    states.extend(exports(person));
    states
}

fn rows(person: &Person, count: u8) -> Vec<ImportRow> {
    let row = |index: u8| ImportRow {
        href: JOB.to_owned(),
        source: person.thing.clone(),
        from: "better-auth".to_owned(),
        state: ImportState::ALL[usize::from(index) % ImportState::ALL.len()],
        is_dry_run: index.is_multiple_of(3),
        read: 1_000_000 + u64::from(index),
        created: 999_000,
        refused: u64::from(index),
        started: ago(u64::from(index)),
    };
    (0..count).map(row).collect()
}

fn forms(person: &Person) -> Vec<State> {
    let formats = ["latchkey", "firebase"].map(|name| Choice {
        value: name.to_owned(),
        label: Some(format!("{name}: JSON of its own export")),
        is_chosen: name == "firebase",
    });
    let first = || ImportNew {
        form: form("/console/import/new"),
        is_recent: true,
        formats: formats.to_vec(),
        policies: choices("conflict", &["skip", "update", "fail"], "skip").choices.split_off(1),
        is_dry_run: true,
        is_unverified: false,
        allow_weak: false,
        keep_rest: false,
        most: 10 * 1024 * 1024,
        cancel: PATH.to_owned(),
    };
    let chosen =
        || ImportNew { is_dry_run: false, is_unverified: true, allow_weak: true, keep_rest: true, ..first() };
    let page = |name, view: ImportNew| State::inside(name, person, Place::Import, view).under(Place::Import);
    let because = |text: &str| Refusal::Because { reason: text.to_owned() };
    vec![
        page("console.import_new", first()),
        page("console.import_new.proof", ImportNew { is_recent: false, ..first() }),
        page("console.import_new.no_file", chosen()).at("file", Refusal::ChooseFile),
        page("console.import_new.too_large", first()).at("file", Refusal::FileTooLarge),
        page("console.import_new.bad_file", chosen())
            .at("file", Refusal::BadFile { reason: person.thing.clone() }),
        page("console.import_new.bad_config", chosen())
            .at("hash_config", because("base64_signer_key is missing")),
        page("console.import_new.running", chosen()).with(because("Another import is running.")),
    ]
}

fn jobs(person: &Person) -> Vec<State> {
    let done = || ImportPage {
        source: person.thing.clone(),
        from: "supabase".to_owned(),
        state: ImportState::Done,
        policy: ConflictPolicy::Skip,
        is_dry_run: false,
        read: 12_345,
        created: 12_000,
        updated: 5,
        skipped: 300,
        refused: 40,
        started: ago(2),
        ended: Some(ago(1)),
        problems: ProblemCode::ALL.iter().map(|code| ProblemCount { code: *code, count: 7 }).collect(),
        report: report(person),
        has_more: true,
        download: Some(format!("{JOB}/report")),
        reload: JOB.to_owned(),
        undo: Some(format!("{JOB}/undo")),
        undo_until: later(700),
        again: None,
    };
    let bare =
        || ImportPage { problems: Vec::new(), report: Vec::new(), has_more: false, download: None, ..done() };
    let page = |name, view: ImportPage| State::inside(name, person, Place::Import, view).under(Place::Import);
    let again = Some("/console/import/new".to_owned());
    vec![
        page("console.import_job", done()),
        page(
            "console.import_job.running",
            ImportPage { state: ImportState::Running, ended: None, undo: None, ..bare() },
        ),
        page("console.import_job.dry_run", ImportPage { is_dry_run: true, undo: None, again, ..done() }),
        page("console.import_job.clean", bare()),
        page("console.import_job.failed", ImportPage { state: ImportState::Failed, ..done() }),
        page("console.import_job.undone", ImportPage { state: ImportState::Undone, undo: None, ..bare() })
            .after(Notice::ImportUndone { deleted: 11_999, kept: 1 }),
        undo("console.import_undo", person),
        undo("console.import_undo.not_confirmed", person).at("confirmation", Refusal::NotConfirmed),
    ]
}

fn report(person: &Person) -> Vec<ReportRow> {
    let problem = |(line, code): (u64, &ProblemCode)| ReportRow {
        line: Some(line),
        outcome: Some("refused"),
        code: Some(code.as_str()),
        field: Some(person.thing.clone()),
        message: Some(person.bio.clone()),
        ..ReportRow::default()
    };
    let end = ReportRow { message: Some("the export is torn".to_owned()), ..ReportRow::default() };
    let changed =
        ReportRow { imported_id: Some(person.thing.clone()), id: Some(user_id(1)), ..ReportRow::default() };
    (2..).zip(ProblemCode::ALL).map(problem).chain([end, changed]).collect()
}

fn undo(name: &'static str, person: &Person) -> State {
    let view = Irreversible {
        act: IrreversibleAct::UndoImport,
        form: form("/console/import/undo"),
        phrase: "Example".to_owned(),
        cancel: JOB.to_owned(),
    };
    State::inside(name, person, Place::Import, view)
        .under(Place::Import)
        .below(CrumbText::Name(person.thing.clone()), JOB)
}

fn exports(person: &Person) -> Vec<State> {
    let page = |name, is_recent| {
        let view = Export { form: form("/console/export"), is_recent };
        State::inside(name, person, Place::Export, view)
    };
    let busy = Refusal::Because { reason: "The server is busy.".to_owned() };
    vec![
        page("console.export", true),
        page("console.export.proof", false),
        page("console.export.refused", true).with(busy),
    ]
}
