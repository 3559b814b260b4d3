//! `GET /console/passkey-options`: new options of a sign-in by passkey as JSON, for the script of a page that stays open
//! longer than a ceremony lives. Nothing is written for them.

use axum::routing::get;

use super::guest::Guest;
use super::page::Page;
use super::stop::Outcome;
use crate::ceremony;

pub(super) const PATH: &str = "/console/passkey-options";

pub(crate) const PAGE: Page = Page::of_reads(PATH, || get(send));

async fn send(guest: Guest) -> Outcome {
    let begun = guest.service().passkeys.begin_sign_in(None, &guest.to_client())?;
    Ok(guest.file(ceremony::renewed(begun)))
}
