//! Every operation of the router, one table per group. The order here is the order of the document.

mod accounts;
mod admin;
mod email;
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
        profiles::operations(),
        admin::users(),
        admin::settings_and_audit(),
        service::operations(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
