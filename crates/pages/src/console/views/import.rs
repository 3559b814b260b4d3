//! Views of imports of accounts from other services, and of the export of all accounts.

use latchkey_domain::imports::{ConflictPolicy, ImportState, ProblemCode};
use latchkey_domain::user::UserId;
use serde::Serialize;

use super::parts::{Choice, Listing};
use super::word;
use crate::frame::Form;
use crate::message::When;
use crate::view::views;

/// The imports, newest first.
#[derive(Debug, Clone, Serialize)]
pub struct Imports {
    pub list: Listing<ImportRow>,
    /// URL of the form of a new one.
    pub new: String,
}

/// An import in the list.
#[derive(Debug, Clone, Serialize)]
pub struct ImportRow {
    pub href: String,
    /// Name of the file.
    pub source: String,
    /// Name of the format.
    pub from: String,
    #[serde(serialize_with = "word")]
    pub state: ImportState,
    pub is_dry_run: bool,
    pub read: u64,
    pub created: u64,
    pub refused: u64,
    pub started: When,
}

/// The form of a new import.
#[derive(Debug, Clone, Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
pub struct ImportNew {
    /// Form of the file, or, without a recent proof of a factor, of the button that leads to it.
    pub form: Form,
    pub is_recent: bool,
    pub formats: Vec<Choice>,
    pub policies: Vec<Choice>,
    pub is_dry_run: bool,
    pub is_unverified: bool,
    pub allow_weak: bool,
    pub keep_rest: bool,
    /// Maximum size of a file in bytes.
    pub most: u64,
    pub cancel: String,
}

/// One import with its report.
#[derive(Debug, Clone, Serialize)]
pub struct ImportPage {
    pub source: String,
    pub from: String,
    #[serde(serialize_with = "word")]
    pub state: ImportState,
    #[serde(serialize_with = "word")]
    pub policy: ConflictPolicy,
    pub is_dry_run: bool,
    pub read: u64,
    pub created: u64,
    pub updated: u64,
    pub skipped: u64,
    pub refused: u64,
    pub started: When,
    pub ended: Option<When>,
    pub problems: Vec<ProblemCount>,
    /// The beginning of the report.
    pub report: Vec<ReportRow>,
    /// True if the report has more lines.
    pub has_more: bool,
    /// URL of the whole report; `None` if it is empty.
    pub download: Option<String>,
    /// URL of this page.
    pub reload: String,
    /// URL of the page that asks before the accounts are deleted again; `None` if that is not possible.
    pub undo: Option<String>,
    /// Time until which it is possible.
    pub undo_until: When,
    /// URL of the form, after a dry run.
    pub again: Option<String>,
}

/// Number of problems of a kind.
#[derive(Debug, Clone, Serialize)]
pub struct ProblemCount {
    #[serde(serialize_with = "word")]
    pub code: ProblemCode,
    pub count: u64,
}

/// A line of a report: a problem with a record, or the new id of an account. All texts come from the file, or may.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ReportRow {
    pub line: Option<u64>,
    /// Word of a [`latchkey_domain::imports::RecordOutcome`].
    pub outcome: Option<&'static str>,
    /// Word of a [`ProblemCode`].
    pub code: Option<&'static str>,
    pub field: Option<String>,
    pub message: Option<String>,
    pub imported_id: Option<String>,
    pub id: Option<UserId>,
}

/// The export of all accounts.
#[derive(Debug, Clone, Serialize)]
pub struct Export {
    /// Form of the file, or, without a recent proof of a factor, of the button that leads to it.
    pub form: Form,
    pub is_recent: bool,
}

views! {
    Imports "console/imports.html"
    ImportNew "console/import_new.html"
    ImportPage "console/import.html"
    Export "console/export.html"
}
