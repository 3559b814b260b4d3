//! The list of all pages of the console. The router is derived from it.

use super::page::Page;
use super::{
    activate, audit, confirm, export, import, mails, operators, overview, passkey_options, provider,
    providers, sessions, settings, sign_in, sign_out, signing, system, user, users,
};

pub(crate) const PAGES: &[&Page] = &[
    &overview::PAGE,
    &sign_in::PAGE,
    &activate::PAGE,
    &confirm::PAGE,
    &passkey_options::PAGE,
    &provider::BEGIN,
    &provider::RETURN,
    &sign_out::PAGE,
    &mails::PAGE,
    &audit::PAGE,
    &audit::EXPORT,
    &operators::PAGE,
    &operators::revoke::PAGE,
    &signing::PAGE,
    &signing::rotate::PAGE,
    &users::PAGE,
    &users::bulk::PAGE,
    &users::bulk::DONE,
    &users::csv::PAGE,
    &users::new::PAGE,
    &user::PAGE,
    &sessions::PAGE,
    &providers::PAGE,
    &settings::PAGE,
    &settings::change::PAGE,
    &settings::theme::PAGE,
    &system::PAGE,
    &import::PAGE,
    &import::new::PAGE,
    &import::job::PAGE,
    &import::report::PAGE,
    &import::undo::PAGE,
    &export::PAGE,
];

/// Lists the routes of all pages, each with a method.
pub(crate) fn routes() -> impl Iterator<Item = (&'static str, &'static str)> {
    PAGES.iter().flat_map(|page| page.routes())
}

/// True if there is a page at this path.
pub(crate) fn has(path: &str) -> bool {
    PAGES.iter().any(|page| page.path == path)
}
