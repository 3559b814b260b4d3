//! `/console/signing`: the keys that sign access tokens.

pub(crate) mod rotate;

use axum::routing::get;
use latchkey_domain::operator::Act;
use latchkey_pages::When;
use latchkey_pages::console::views::{KeyState, Signing, SigningKey};

use super::page::Page;
use super::stop::Outcome;
use super::visit::ConsoleVisit;

const PATH: &str = "/console/signing";

pub(crate) const PAGE: Page = Page::of_reads(PATH, || get(show));

async fn show(visit: ConsoleVisit) -> Outcome {
    let keys = visit.service().sessions.list_signing_keys().await?;
    let keys = keys.into_iter().map(|key| SigningKey {
        id: key.id.to_string(),
        algorithm: key.algorithm,
        made: When(key.created_at),
        state: if key.verify_until.is_none() { KeyState::Current } else { KeyState::Retired },
        until: key.verify_until.map(When),
    });
    visit.page(&Signing {
        keys: keys.collect(),
        jwks: format!("{}/.well-known/jwks.json", visit.service().site().origin()),
        rotate: visit.may(Act::RotateKeys).then(|| rotate::PATH.to_owned()),
    })
}
