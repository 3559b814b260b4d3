//! Every operation of the router, one table per group. The order here is the order of the document.

mod accounts;
mod admin;
mod email;
mod oauth;
mod profiles;
mod service;
mod sessions;

use super::operation::Operation;

/// All operations.
pub(super) fn all() -> Vec<Operation> {
    [
        accounts::operations(),
        sessions::operations(),
        email::operations(),
        oauth::operations(),
        profiles::operations(),
        admin::users(),
        admin::settings_and_audit(),
        oauth::configs(),
        service::operations(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
