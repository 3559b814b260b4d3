//! `/console/import/new`: the form that uploads a file. A recent proof of a factor comes before it, because a browser does not
//! keep a chosen file over another page.

use axum::routing::get;
use latchkey_domain::imports::{ConflictPolicy, ImportJob};
use latchkey_domain::operator::Act;
use latchkey_domain::reason::Reason;
use latchkey_http::body::UploadedFile;
use latchkey_http::error::{ApiError, codes};
use latchkey_pages::Fault;
use latchkey_pages::console::views::{Choice, ImportNew};
use latchkey_pages::console::{Problem, Refusal};
use latchkey_service::Error;
use latchkey_service::imports::{FirebaseHashes, ImportOptions, Upload, formats};
use latchkey_service::refusal::FORMAT_UNKNOWN;

use crate::console::kept::KeptForm;
use crate::console::page::Page;
use crate::console::rejection::{Refused, Rejection};
use crate::console::stop::{Outcome, Stop};
use crate::console::submission::{ConsoleSubmission, ConsoleUpload};
use crate::console::visit::ConsoleVisit;
use crate::fields::Fields;

pub(super) const PATH: &str = "/console/import/new";
/// Field of the button that leads to the proof.
const BEGIN: &str = "begin";

pub(crate) const PAGE: Page = Page::new(PATH, || get(show).post(act));

/// True if a form that waits for a proof is the one with the file, which nothing keeps.
pub(in crate::console) fn has_file(form: &KeptForm) -> bool {
    form.path() == PATH && !form.has(BEGIN)
}

/// What was chosen, without the file and the parameters of Firebase's hashes, which are secret.
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
struct Typed {
    from: String,
    policy: String,
    is_dry_run: bool,
    is_unverified: bool,
    allow_weak: bool,
    keep_rest: bool,
}

async fn show(visit: ConsoleVisit) -> Outcome {
    visit.must(Act::Import).await?;
    visit.page(&view(&visit, &Typed::default()))
}

async fn act(upload: ConsoleUpload) -> Outcome {
    let (sent, file) = match upload {
        ConsoleUpload::Read(sent, file) => (sent, file),
        ConsoleUpload::TooLarge(visit) => {
            visit.must(Act::Import).await?;
            return visit.refuse(too_large(), &view(&visit, &Typed::default()));
        }
    };
    let submission = sent.must(Act::Import).await?;
    let visit = &submission.visit;
    if !submission.fields.text(BEGIN)?.is_empty() {
        return visit.go_to(PATH);
    }
    let typed = Typed::of(&submission.fields)?;
    match begin(&submission, &typed, file).await {
        Ok(job) => visit.go_to(&super::address(job.id)),
        Err(rejection) => visit.refuse(rejection, &view(visit, &typed)),
    }
}

async fn begin(
    submission: &ConsoleSubmission,
    typed: &Typed,
    file: Option<UploadedFile>,
) -> Result<ImportJob, Rejection> {
    let file = file.ok_or_else(|| Rejection::of(Problem::at("file", Refusal::ChooseFile)))?;
    let policy = ConflictPolicy::parse(&typed.policy);
    let policy = policy.ok_or_else(|| Rejection::of(Problem::whole(Fault::Required)))?;
    let options = ImportOptions {
        is_unverified: typed.is_unverified,
        allow_weak: typed.allow_weak,
        keep_rest: typed.keep_rest,
        firebase: hashes(&submission.fields)?,
        ..ImportOptions::default()
    };
    let upload = Upload {
        name: Some(file.name),
        from: typed.from.clone(),
        bytes: file.bytes.into(),
        options,
        policy,
        is_dry_run: typed.is_dry_run,
    };
    let visit = &submission.visit;
    let begun = visit.service().imports.upload(upload, visit.party(), Some(&visit.to_client())).await;
    begun.map_err(refused)
}

/// Reads the parameters of a Firebase project's hashes, as its console shows them.
fn hashes(fields: &Fields) -> Result<Option<FirebaseHashes>, Rejection> {
    let text = fields.text("hash_config")?;
    if text.trim().is_empty() {
        return Ok(None);
    }
    let because = |reason: String| Rejection::of(Problem::at("hash_config", Refusal::Because { reason }));
    FirebaseHashes::parse(&text).map(Some).map_err(|problem| because(problem.0))
}

/// Shows what is wrong with the file at its field.
fn refused(error: Error) -> Rejection {
    match error {
        Error::Validation { field: "body", reason: Reason::Malformed, ref problem } => {
            let problem = Problem::at("file", Refusal::BadFile { reason: problem.clone() });
            Refused::of(error, problem)
        }
        Error::Refused(row) if row.name == FORMAT_UNKNOWN.name => {
            Refused::of(error, Problem::at("from", Fault::Required))
        }
        error => error.into(),
    }
}

fn too_large() -> Rejection {
    let error = ApiError::from(&codes::PAYLOAD_TOO_LARGE);
    Refused::of(error, Problem::at("file", Refusal::FileTooLarge))
}

impl Default for Typed {
    fn default() -> Self {
        Self {
            from: String::new(),
            policy: ConflictPolicy::Skip.as_str().to_owned(),
            is_dry_run: true,
            is_unverified: false,
            allow_weak: false,
            keep_rest: false,
        }
    }
}

impl Typed {
    fn of(fields: &Fields) -> Result<Self, Stop> {
        Ok(Self {
            from: fields.text("from")?,
            policy: fields.text("conflict")?,
            // What is not asked for is not written.
            is_dry_run: fields.text("mode")? != "import",
            is_unverified: fields.is_ticked("unverified")?,
            allow_weak: fields.is_ticked("weak")?,
            keep_rest: fields.is_ticked("rest")?,
        })
    }
}

fn view(visit: &ConsoleVisit, typed: &Typed) -> ImportNew {
    let is_recent = visit.service().console.has_recent_factor(visit.session());
    let policies = ConflictPolicy::ALL.iter().map(|policy| policy.as_str());
    let policy =
        |value: &str| Choice { value: value.to_owned(), label: None, is_chosen: value == typed.policy };
    let format = |(name, about): (&str, &str)| Choice {
        value: name.to_owned(),
        label: Some(format!("{name}: {about}")),
        is_chosen: name == typed.from,
    };
    ImportNew {
        form: visit.form(PATH),
        is_recent,
        formats: formats().map(format).collect(),
        policies: policies.map(policy).collect(),
        is_dry_run: typed.is_dry_run,
        is_unverified: typed.is_unverified,
        allow_weak: typed.allow_weak,
        keep_rest: typed.keep_rest,
        most: visit.console.settings.upload_limit as u64,
        cancel: super::PATH.to_owned(),
    }
}
