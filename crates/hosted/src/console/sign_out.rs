//! `/console/sign-out`: ends the console session of this browser.

use axum::routing::post;

use super::page::Page;
use super::sign_in;
use super::stop::Outcome;
use super::submission::GuestSubmission;

pub(super) const PATH: &str = "/console/sign-out";

pub(crate) const PAGE: Page = Page::of_acts(PATH, || post(act));

async fn act(GuestSubmission { mut guest, .. }: GuestSubmission) -> Outcome {
    guest.leave().await?;
    guest.go_to(sign_in::PATH)
}
