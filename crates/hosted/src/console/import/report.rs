//! `/console/import/{id}/report`: the whole report of an import as JSON lines.

use std::sync::Arc;

use axum::routing::get;
use latchkey_domain::ids::ImportId;
use latchkey_http::endpoints::auth::import::report;

use super::find;
use crate::console::page::Page;
use crate::console::stop::Outcome;
use crate::console::visit::ConsoleVisit;

pub(crate) const PAGE: Page = Page::of_reads("/console/import/{id}/report", || get(show));

async fn show(visit: ConsoleVisit) -> Outcome {
    let job = find(&visit).await?;
    let file = report::file(Arc::clone(&visit.service().imports), job.id).await?;
    Ok(visit.file(file))
}

pub(super) fn address(id: ImportId) -> String {
    format!("{}/report", super::address(id))
}
