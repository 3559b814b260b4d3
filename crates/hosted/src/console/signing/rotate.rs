//! `/console/signing/rotate`: the question before a new key replaces the current one, which asks to type the name of the
//! service.

use axum::routing::get;
use latchkey_domain::operator::Act;
use latchkey_pages::console::views::{Irreversible, IrreversibleAct};
use latchkey_pages::console::{Notice, Problem, Refusal};

use crate::console::page::Page;
use crate::console::rejection::Rejection;
use crate::console::stop::Outcome;
use crate::console::submission::Sent;
use crate::console::visit::ConsoleVisit;

pub(super) const PATH: &str = "/console/signing/rotate";

pub(crate) const PAGE: Page = Page::new(PATH, || get(show).post(act));

async fn show(visit: ConsoleVisit) -> Outcome {
    visit.must(Act::RotateKeys).await?;
    visit.page(&view(&visit))
}

async fn act(sent: Sent) -> Outcome {
    let submission = sent.must(Act::RotateKeys).await?;
    let visit = &submission.visit;
    if submission.fields.text("confirmation")?.trim() != visit.service().name() {
        let problem = Problem::at("confirmation", Refusal::NotConfirmed);
        return visit.refuse(Rejection::of(problem), &view(visit));
    }
    // Without a rotation another instance rotated at the same time: a new key signs either way.
    visit.service().sessions.rotate_signing_key(visit.party(), Some(&visit.to_client())).await?;
    visit.go_to_with(super::PATH, Notice::KeyReplaced)
}

fn view(visit: &ConsoleVisit) -> Irreversible {
    Irreversible {
        act: IrreversibleAct::RotateKey,
        form: visit.form(PATH),
        phrase: visit.service().name().to_owned(),
        cancel: super::PATH.to_owned(),
    }
}
