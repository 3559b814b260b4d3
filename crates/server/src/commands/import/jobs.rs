//! Commands about imports that were made.

use latchkey_domain::imports::ImportJob;
use latchkey_domain::operator::Party;
use latchkey_http::endpoints::auth::import::ImportBody;
use latchkey_service::imports::{ImportPosition, ReportPosition, UndoneImport};
use serde_json::json;

use super::{CommandError, report_of, summary};
use crate::cli::{ImportCommand, Sure};
use crate::commands::count::count;
use crate::commands::sure::confirm;
use crate::settings::Settings;
use crate::wiring::Assembly;

/// Most imports that are listed.
const NEWEST: u32 = 100;

pub(super) async fn run(
    assembly: &Assembly,
    settings: &Settings,
    command: ImportCommand,
) -> Result<(), CommandError> {
    let imports = &assembly.service.imports;
    match command {
        ImportCommand::List { json } => {
            let jobs = imports.list(ImportPosition::First, NEWEST).await?.jobs;
            if json {
                let jobs: Vec<_> = jobs.into_iter().map(ImportBody::from).collect();
                println!("{}", json!({"data": jobs}));
            } else {
                list(&jobs);
            }
        }
        ImportCommand::Show { id, json } => {
            let job = imports.find(id).await?;
            if json {
                println!("{}", json!({"job": ImportBody::from(job)}));
            } else {
                println!("{} {} of {} from {}", job.id, job.state, job.started_at, job.from);
                print!("{}", summary(&job, &job.source));
            }
            let mut position = ReportPosition::default();
            loop {
                let (lines, next) = imports.report_page(id, position).await?;
                if lines.is_empty() {
                    break;
                }
                for line in &lines {
                    println!("{line}");
                }
                position = next;
            }
        }
        ImportCommand::Undo { id, sure, json } => undo((assembly, settings), id, sure, json).await?,
    }
    Ok(())
}

fn list(jobs: &[ImportJob]) {
    println!(
        "{:<38}{:<26}{:<9}{:<12}{:>9}{:>9}{:>9}  SOURCE",
        "ID", "STARTED", "STATE", "FROM", "READ", "CREATED", "REFUSED"
    );
    for job in jobs {
        let (id, started, state) = (job.id.to_string(), job.started_at.to_string(), job.state.as_str());
        let (from, counts, source) = (&job.from, &job.counts, &job.source);
        println!(
            "{id:<38}{started:<26}{state:<9}{from:<12}{:>9}{:>9}{:>9}  {source}",
            counts.read, counts.created, counts.refused
        );
    }
    println!("{}", count(jobs.len(), "import"));
}

async fn undo(
    (assembly, settings): (&Assembly, &Settings),
    id: latchkey_domain::ids::ImportId,
    sure: Sure,
    json: bool,
) -> Result<(), CommandError> {
    let imports = &assembly.service.imports;
    let job = imports.find(id).await?;
    let question = async || {
        eprint!("{}{}", summary(&job, &job.source), report_of(&job, settings));
        Ok("Delete the accounts that this import created? It cannot be undone.".to_owned())
    };
    confirm(sure, "import undo", "deleted", question).await?;
    let undone = imports.undo(id, Party::System, None).await?;
    if json {
        let UndoneImport { deleted, signed_in, changed, gone } = undone;
        let document = json!({"deleted": deleted, "signedIn": signed_in, "changed": changed, "gone": gone});
        println!("{document}");
        return Ok(());
    }
    println!("{} deleted", count(undone.deleted, "account"));
    for (number, one, many) in [
        (undone.signed_in, "stays: it has signed in", "stay: they have signed in"),
        (
            undone.changed,
            "stays: it was changed since, or has a role in the console",
            "stay: they were changed since, or have a role in the console",
        ),
        (undone.gone, "was gone already", "were gone already"),
    ] {
        match number {
            0 => {}
            1 => println!("1 {one}"),
            _ => println!("{number} {many}"),
        }
    }
    Ok(())
}
