//! `GET /auth/passkey-options`: new options of a sign-in by passkey as JSON, for the script of a page that stays open
//! longer than a ceremony lives. Nothing is written for them.

use axum::routing::get;

use crate::ceremony;
use crate::page::Page;
use crate::visit::{Outcome, Visit};

pub(super) const PATH: &str = "/auth/passkey-options";

pub(crate) const PAGE: Page = Page::of_reads(PATH, || get(send));

async fn send(visit: Visit) -> Outcome {
    let begun = visit.service().passkeys.begin_sign_in(None, &visit.to_client())?;
    Ok(visit.file(ceremony::renewed(begun)))
}
