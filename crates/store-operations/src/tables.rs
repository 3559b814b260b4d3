//! Tables: columns, statements, and row decoding.

pub(crate) mod audit_events;
pub(crate) mod codes;
pub(crate) mod identities;
pub(crate) mod known_clients;
pub(crate) mod limit_buckets;
pub(crate) mod limit_failures;
pub(crate) mod link_tokens;
pub(crate) mod oauth_codes;
pub(crate) mod oauth_flows;
pub(crate) mod oauth_providers;
pub(crate) mod outbox;
pub mod profiles;
pub mod purges;
pub mod sessions;
pub mod settings;
pub(crate) mod sign_up_attempts;
pub mod signing_keys;
pub(crate) mod used_tokens;
pub(crate) mod users;

use crate::bulk::{Table, columns};
use crate::form::Sql;

macro_rules! lists {
    ($($table:ident)*) => {
        [$((stringify!($table), $table::ALL)),*]
    };
}

/// All statements with their table and name; a test of each engine prepares them.
pub fn all_statements() -> impl Iterator<Item = (&'static str, &'static str, &'static Sql)> {
    let lists = lists!(
        audit_events codes identities known_clients limit_failures link_tokens oauth_codes oauth_flows
        oauth_providers outbox profiles sessions settings sign_up_attempts signing_keys used_tokens users
    );
    lists.into_iter().flat_map(|(table, all)| all.iter().map(move |&(name, sql)| (table, name, sql)))
}

/// All tables except migration bookkeeping, ordered by foreign keys (referenced tables first). A copy follows
/// this order.
pub const TABLES: &[Table] = &[
    users::TABLE,
    users::CREDENTIALS,
    identities::TABLE,
    profiles::TABLE,
    sessions::TABLE,
    codes::TABLE,
    codes::CODE_BUDGETS,
    link_tokens::TABLE,
    outbox::TABLE,
    oauth_flows::TABLE,
    oauth_codes::TABLE,
    used_tokens::TABLE,
    oauth_providers::TABLE,
    limit_buckets::TABLE,
    limit_failures::TABLE,
    sign_up_attempts::TABLE,
    known_clients::TABLE,
    settings::TABLE,
    settings::SHARED_VERSION,
    signing_keys::TABLE,
    audit_events::TABLE,
    HEALTH,
];

/// Columns of `health`, primary key first.
pub const HEALTH: Table = Table::new("health", 1, columns! { int id, int beat }).seeded();
