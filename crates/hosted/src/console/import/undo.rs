//! `/console/import/{id}/undo`: the question before the accounts of an import are deleted again, which asks to type the name
//! of the service.

use axum::routing::get;
use latchkey_domain::ids::ImportId;
use latchkey_domain::operator::Act;
use latchkey_pages::console::views::{Irreversible, IrreversibleAct};
use latchkey_pages::console::{Notice, Problem, Refusal};
use latchkey_service::imports::UndoneImport;

use super::{below, find, job};
use crate::console::page::Page;
use crate::console::rejection::Rejection;
use crate::console::stop::Outcome;
use crate::console::submission::Sent;
use crate::console::visit::ConsoleVisit;

pub(crate) const PAGE: Page = Page::new("/console/import/{id}/undo", || get(show).post(act));

async fn show(mut visit: ConsoleVisit) -> Outcome {
    visit.must(Act::Import).await?;
    let import = find(&visit).await?;
    if !job::can_undo(&import, visit.now) {
        return visit.go_to(&super::address(import.id));
    }
    below(&mut visit, &import);
    visit.page(&view(&visit, import.id))
}

async fn act(sent: Sent) -> Outcome {
    let mut submission = sent.must(Act::Import).await?;
    let import = find(&submission.visit).await?;
    below(&mut submission.visit, &import);
    let visit = &submission.visit;
    if submission.fields.text("confirmation")?.trim() != visit.service().name() {
        let problem = Problem::at("confirmation", Refusal::NotConfirmed);
        return visit.refuse(Rejection::of(problem), &view(visit, import.id));
    }
    let imports = &visit.service().imports;
    match imports.undo_to_the_end(import.id, visit.party(), visit.to_client()).await {
        Ok(UndoneImport { deleted, signed_in, changed, .. }) => {
            let notice = Notice::ImportUndone { deleted, kept: signed_in + changed };
            visit.go_to_with(&super::address(import.id), notice)
        }
        Err(error) => visit.refuse(error.into(), &view(visit, import.id)),
    }
}

pub(super) fn address(id: ImportId) -> String {
    format!("{}/undo", super::address(id))
}

fn view(visit: &ConsoleVisit, id: ImportId) -> Irreversible {
    Irreversible {
        act: IrreversibleAct::UndoImport,
        form: visit.form(visit.path()),
        phrase: visit.service().name().to_owned(),
        cancel: super::address(id),
    }
}
