//! One file per table: columns, SQL statements, and decoding of rows.

pub(crate) mod audit_events;
pub(crate) mod challenges;
pub(crate) mod codes;
pub(crate) mod credentials;
pub(crate) mod email_changes;
pub(crate) mod exports;
pub(crate) mod hash_keys;
pub(crate) mod identities;
pub(crate) mod imported_accounts;
pub(crate) mod imports;
pub(crate) mod instances;
pub mod kept_keys;
pub(crate) mod known_clients;
pub(crate) mod limit_buckets;
pub(crate) mod limit_failures;
pub(crate) mod link_tokens;
pub(crate) mod oauth_codes;
pub(crate) mod oauth_flows;
pub(crate) mod oauth_providers;
pub(crate) mod operator_addresses;
pub(crate) mod operators;
pub(crate) mod outbox;
pub(crate) mod page_codes;
pub(crate) mod passkeys;
pub mod profiles;
pub mod purges;
pub(crate) mod recovery_codes;
pub mod sealed;
pub(crate) mod seen_devices;
pub mod sessions;
pub mod settings;
pub(crate) mod sign_up_attempts;
pub mod signing_keys;
pub(crate) mod statistics;
pub(crate) mod totp_factors;
pub(crate) mod undo_tokens;
pub(crate) mod used_ceremonies;
pub(crate) mod used_tokens;
pub(crate) mod users;

use std::time::Duration;

use latchkey_domain::seen_device::REMEMBERED;
use latchkey_store::{
    DECOY_RETENTION, FLOW_RETENTION, IMPORT_RETENTION, MAIL_RETENTION, RETENTION_AFTER_END,
    STATISTICS_RETENTION,
};
use purges::{PurgedRows, expired, rows};

use crate::bulk::{Table, columns};
use crate::form::Sql;
use audit_events::filters as audit_filters;
use sessions::{
    console as session_console, ends as session_ends, list as session_list, pages as session_pages,
};
use users::list::broad as user_search;
use users::list::statements as user_list;

macro_rules! lists {
    ($($table:ident)*) => {
        [$((stringify!($table), $table::ALL)),*]
    };
}

/// Returns all statements, each with its table and name. A test of each engine prepares them.
pub fn all_statements() -> impl Iterator<Item = (&'static str, &'static str, &'static Sql)> {
    let lists = lists!(
        audit_events audit_filters challenges codes credentials email_changes exports hash_keys identities imported_accounts imports instances kept_keys known_clients limit_buckets limit_failures link_tokens
        oauth_codes oauth_flows oauth_providers operator_addresses operators outbox page_codes passkeys profiles recovery_codes sealed seen_devices
        session_console session_ends session_list session_pages sessions
        settings sign_up_attempts signing_keys statistics totp_factors undo_tokens used_ceremonies used_tokens user_list user_search users
    );
    lists.into_iter().flat_map(|(table, all)| all.iter().map(move |&(name, sql)| (table, name, sql)))
}

/// All tables except the list of applied migrations. A table comes after the tables that it refers to, so that rows
/// can be copied in this order.
pub const TABLES: &[Table] = &[
    users::TABLE,
    users::CREDENTIALS,
    hash_keys::TABLE,
    operators::TABLE,
    operator_addresses::TABLE,
    identities::TABLE,
    profiles::TABLE,
    sessions::TABLE,
    seen_devices::TABLE,
    codes::TABLE,
    codes::CODE_BUDGETS,
    link_tokens::TABLE,
    passkeys::TABLE,
    totp_factors::TABLE,
    recovery_codes::TABLE,
    challenges::TABLE,
    undo_tokens::TABLE,
    email_changes::TABLE,
    outbox::TABLE,
    oauth_flows::TABLE,
    oauth_codes::TABLE,
    page_codes::TABLE,
    used_tokens::TABLE,
    used_ceremonies::TABLE,
    oauth_providers::TABLE,
    limit_buckets::TABLE,
    limit_failures::TABLE,
    sign_up_attempts::TABLE,
    known_clients::TABLE,
    settings::TABLE,
    settings::SHARED_VERSION,
    signing_keys::TABLE,
    kept_keys::TABLE,
    kept_keys::ROTATIONS,
    audit_events::TABLE,
    statistics::TABLE,
    statistics::DAYS,
    imports::TABLE,
    imported_accounts::TABLE,
    imports::PROBLEMS,
    instances::TABLE,
    HEALTH,
];

const NO_LONGER: Duration = Duration::ZERO;
const SESSION_END: &str = "coalesce(ended_at, least(idle_expires_at, absolute_expires_at))";
const SESSION_ENDED: &str = "coalesce(ended_at, least(idle_expires_at, absolute_expires_at)) <= $1";

const OF_OLD_IMPORT: &str = "import_id IN (SELECT id FROM imports WHERE started_at <= $1)";

/// All retention rules. A purge deletes at most a batch of rows per rule.
pub const PURGED: &[PurgedRows] = &[
    expired("codes", "email_key, purpose, lane", NO_LONGER),
    rows("code_budgets", "email_key, purpose, lane", "ends_at <= $1", "ends_at", NO_LONGER),
    expired("link_tokens", "hash", RETENTION_AFTER_END),
    expired("challenges", "hash", NO_LONGER),
    expired("undo_tokens", "hash", NO_LONGER),
    expired("email_changes", "user_id", NO_LONGER),
    expired("totp_factors", "id", NO_LONGER), // a confirmed factor has no expiry
    rows("outbox", "id", "state = 'sent' AND ended_at <= $1", "ended_at", MAIL_RETENTION),
    rows("outbox", "id", "state = 'decoy' AND created_at <= $1", "created_at", DECOY_RETENTION),
    rows("sessions", "id", SESSION_ENDED, SESSION_END, RETENTION_AFTER_END),
    rows("seen_devices", "user_id, device", "seen_at <= $1", "seen_at", REMEMBERED),
    expired("oauth_flows", "state_hash", FLOW_RETENTION),
    expired("oauth_codes", "code_hash", NO_LONGER),
    expired("page_codes", "code_hash", NO_LONGER),
    expired("oauth_used_tokens", "hash", NO_LONGER),
    expired("used_ceremonies", "hash", NO_LONGER),
    rows("statistics_days", "starts_at", "starts_at <= $1", "starts_at", STATISTICS_RETENTION),
    rows("imported_accounts", "import_id, place", OF_OLD_IMPORT, "import_id, place", IMPORT_RETENTION),
    rows(
        "import_problems",
        "import_id, place, number",
        OF_OLD_IMPORT,
        "import_id, place, number",
        IMPORT_RETENTION,
    ),
    rows("limit_buckets", "key", "full_at <= $1", "full_at", NO_LONGER),
    rows("limit_failures", "key", "remembered_until < $1", "remembered_until", NO_LONGER),
    rows("known_clients", "key", "known_until <= $1", "known_until", NO_LONGER),
];

/// Table `health`: a single row, which an engine's readiness check updates.
pub const HEALTH: Table = Table::new("health", 1, columns! { int id, int beat }).seeded();
