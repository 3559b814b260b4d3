//! The list of all pages. The router is derived from it.

use crate::auth::{
    account, challenge, continuing, error, forgot, mail_code, passkey_options, provider, reset, sign_in,
    sign_out, sign_up, verified, verify,
};
use crate::page::Page;

/// All pages except the start page and the files.
pub(crate) const PAGES: &[&Page] = &[
    &sign_in::PAGE,
    &continuing::PAGE,
    &sign_out::PAGE,
    &sign_up::PAGE,
    &verify::PAGE,
    &error::PAGE,
    &verified::PAGE,
    &forgot::PAGE,
    &reset::PAGE,
    &challenge::PAGE,
    &mail_code::PAGE,
    &passkey_options::PAGE,
    &provider::BEGIN,
    &provider::RETURN,
    &account::PAGE,
    &account::sessions::PAGE,
    &account::confirm::PAGE,
    &account::email::PAGE,
    &account::passkeys::PAGE,
    &account::password::PAGE,
    &account::profile::PAGE,
    &account::activity::PAGE,
    &account::data::PAGE,
    &account::providers::PAGE,
    &account::two_step::PAGE,
];
