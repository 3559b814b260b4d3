//! `/console/import`: the imports of accounts from other services, and in the folder beside it the form, the page of one
//! import, its report and its undo.

pub(crate) mod job;
pub(crate) mod new;
pub(crate) mod report;
pub(crate) mod undo;

use axum::routing::get;
use latchkey_domain::ids::ImportId;
use latchkey_domain::imports::ImportJob;
use latchkey_domain::time::Timestamp;
use latchkey_pages::When;
use latchkey_pages::console::CrumbText;
use latchkey_pages::console::views::{ImportRow, Imports, Listing};
use latchkey_service::Error;
use latchkey_service::imports::{ImportKey, ImportPage, ImportPosition};
use latchkey_service::refusal::NOT_FOUND;

use super::keyset::Place;
use super::page::Page;
use super::stop::{Outcome, Stop};
use super::visit::ConsoleVisit;

const PATH: &str = "/console/import";
/// Most imports on one page.
const MOST: u32 = 50;

pub(crate) const PAGE: Page = Page::of_reads(PATH, || get(show));

async fn show(visit: ConsoleVisit) -> Outcome {
    let place = Place::of(&visit, read_key)?;
    let page = read(&visit, &place).await?;
    let key = |job: &ImportJob| format!("{}.{}", job.started_at.as_millis(), job.id);
    let ends = (page.jobs.first().map(key), page.jobs.last().map(key));
    // The key needs no encoding.
    let around = place.around(page.has_more, ends, |name, key| format!("{PATH}?{name}={key}"));
    visit.page(&Imports {
        list: Listing {
            rows: page.jobs.iter().map(row).collect(),
            total: page.total,
            previous: around.previous,
            next: around.next,
        },
        new: new::PATH.to_owned(),
    })
}

async fn read(visit: &ConsoleVisit, place: &Place<ImportKey>) -> Result<ImportPage, Stop> {
    let imports = &visit.service().imports;
    let position = match place {
        Place::First => ImportPosition::First,
        Place::After(key) => ImportPosition::After(*key),
        Place::Before(key) => ImportPosition::Before(*key),
    };
    let page = imports.list(position, MOST).await?;
    if place.is_start(page.has_more) {
        let first = imports.list(ImportPosition::First, MOST).await?;
        return Ok(ImportPage { has_more: false, ..first });
    }
    Ok(page)
}

fn read_key(text: &str) -> Option<ImportKey> {
    let (millis, id) = text.split_once('.')?;
    Some(ImportKey { started_at: Timestamp::from_millis(millis.parse().ok()?), id: id.parse().ok()? })
}

fn row(job: &ImportJob) -> ImportRow {
    ImportRow {
        href: address(job.id),
        source: job.source.clone(),
        from: job.from.clone(),
        state: job.state,
        is_dry_run: job.is_dry_run,
        read: job.counts.read,
        created: job.counts.created,
        refused: job.counts.refused,
        started: When(job.started_at),
    }
}

/// Returns the address of the page of an import.
fn address(id: ImportId) -> String {
    format!("{PATH}/{id}")
}

/// Finds the import that the path names; the 404 page without one.
async fn find(visit: &ConsoleVisit) -> Result<ImportJob, Stop> {
    let id = visit.path().split('/').nth(3).and_then(|text| text.parse::<ImportId>().ok());
    let id = id.ok_or_else(|| visit.not_found())?;
    match visit.service().imports.find(id).await {
        Ok(job) => Ok(job),
        Err(Error::Refused(refusal)) if refusal.name == NOT_FOUND.name => Err(visit.not_found()),
        Err(error) => Err(error.into()),
    }
}

/// Names the import in the trail of a page below it.
fn below(visit: &mut ConsoleVisit, job: &ImportJob) {
    visit.below(CrumbText::Name(job.source.clone()), address(job.id));
}
