//! The list of all pages of the console. The router is derived from it.

use super::page::Page;
use super::{
    activate, audit, confirm, mails, operators, overview, passkey_options, providers, settings, sign_in,
    sign_out, signing, system, user,
};

pub(crate) const PAGES: &[&Page] = &[
    &overview::PAGE,
    &sign_in::PAGE,
    &activate::PAGE,
    &confirm::PAGE,
    &passkey_options::PAGE,
    &sign_out::PAGE,
    &mails::PAGE,
    &audit::PAGE,
    &audit::EXPORT,
    &operators::PAGE,
    &operators::revoke::PAGE,
    &signing::PAGE,
    &signing::rotate::PAGE,
    &user::PAGE,
    &providers::PAGE,
    &settings::PAGE,
    &settings::change::PAGE,
    &settings::theme::PAGE,
    &system::PAGE,
];

/// True if there is a page at this path.
pub(crate) fn has(path: &str) -> bool {
    PAGES.iter().any(|page| page.path == path)
}
