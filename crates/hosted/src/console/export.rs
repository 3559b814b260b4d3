//! `/console/export`: all accounts as JSON lines, with or without secrets. A recent proof of a factor comes before it, so that
//! the form is answered by the file alone.

use axum::routing::get;
use latchkey_domain::operator::Act;
use latchkey_http::endpoints::auth::export;
use latchkey_pages::console::views::Export;
use latchkey_service::exports::{ExportRequest, Secrets};

use super::page::Page;
use super::stop::Outcome;
use super::submission::Sent;
use super::visit::ConsoleVisit;

pub(super) const PATH: &str = "/console/export";
/// Field of the button that leads to the proof.
const BEGIN: &str = "begin";

pub(crate) const PAGE: Page = Page::new(PATH, || get(show).post(act));

async fn show(visit: ConsoleVisit) -> Outcome {
    visit.page(&view(&visit))
}

async fn act(sent: Sent) -> Outcome {
    let submission = sent.must(Act::ExportAll).await?;
    let has_secrets = submission.fields.text("content")? == "secrets";
    if has_secrets {
        submission.must(Act::RevealSecrets).await?;
    }
    let visit = submission.visit;
    if !submission.fields.text(BEGIN)?.is_empty() {
        return visit.go_to(PATH);
    }
    let secrets = if has_secrets { Secrets::Included } else { Secrets::Left };
    let request = ExportRequest { secrets, since: None };
    match export::file(visit.service(), request, visit.party(), &visit.to_client()).await {
        Ok(file) => Ok(visit.file(file)),
        Err(error) => visit.refuse(error.into(), &view(&visit)),
    }
}

fn view(visit: &ConsoleVisit) -> Export {
    Export { form: visit.form(PATH), is_recent: visit.service().console.has_recent_factor(visit.session()) }
}
