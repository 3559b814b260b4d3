//! The list of tables.

use super::{Column, Kind, Table};

/// All tables but the bookkeeping of migrations, in an order in which each comes after those that it refers to.
pub const TABLES: &[Table] = &[
    table(
        "users",
        1,
        &[
            id("id"),
            text("email"),
            text("email_key"),
            flag("email_verified"),
            int("first_verified_at"),
            flag("pending"),
            flag("contested"),
            int("banned_at"),
            text("metadata"),
            text("locale"),
            text("pending_email"),
            int("created_at"),
            int("updated_at"),
            int("signed_up_at"),
        ],
    ),
    table(
        "credentials",
        2,
        &[id("user_id"), text("kind"), text("data"), int("created_at"), int("updated_at"), flag("proven")],
    ),
    table(
        "identities",
        3,
        &[
            text("provider"),
            text("issuer"),
            text("subject"),
            id("user_id"),
            int("created_at"),
            text("email"),
            text("vouched_email_key"),
        ],
    ),
    table(
        "profiles",
        1,
        &[
            id("id"),
            id("user_id"),
            int("created_at"),
            int("updated_at"),
            int("version"),
            flag("searchable"),
            text("folded_name"),
            text("folded_username"),
            text("folded_bio"),
            text("name"),
            text("username"),
            text("avatar_url"),
            text("bio"),
            text("metadata"),
            text("custom"),
        ],
    ),
    table(
        "sessions",
        1,
        &[
            id("id"),
            id("user_id"),
            bytes("family_hash"),
            bytes("current_hash"),
            bytes("retired"),
            bytes("sealed_successor"),
            int("sealed_until"),
            text("method"),
            text("address"),
            text("user_agent"),
            int("created_at"),
            int("last_seen_at"),
            int("idle_expires_at"),
            int("absolute_expires_at"),
            int("ended_at"),
            text("amr"),
            int("level"),
            int("auth_time"),
            text("identity_provider"),
            text("identity_issuer"),
            text("identity_subject"),
        ],
    ),
    table(
        "codes",
        3,
        &[
            text("email_key"),
            text("purpose"),
            int("lane"),
            id("user_id"),
            bytes("mac"),
            flag("long"),
            int("attempts"),
            int("other_attempts"),
            int("created_at"),
            int("expires_at"),
        ],
    ),
    table(
        "code_budgets",
        3,
        &[
            text("email_key"),
            text("purpose"),
            int("lane"),
            int("attempts"),
            int("since"),
            int("day_attempts"),
            int("day_since"),
            int("ends_at"),
        ],
    ),
    table(
        "link_tokens",
        1,
        &[
            bytes("hash"),
            text("purpose"),
            text("kind"),
            text("email_key"),
            id("user_id"),
            text("redirect_to"),
            int("created_at"),
            int("expires_at"),
            int("used_at"),
            int("superseded_at"),
        ],
    ),
    table(
        "outbox",
        1,
        &[
            id("id"),
            text("kind"),
            text("state"),
            id("user_id"),
            text("email"),
            bytes("payload"),
            int("attempts"),
            int("created_at"),
            int("next_attempt_at"),
            id("lease_id"),
            int("ended_at"),
            text("last_error"),
        ],
    ),
    table(
        "oauth_flows",
        1,
        &[
            bytes("state_hash"),
            text("provider"),
            bytes("code_challenge"),
            text("redirect_to"),
            bytes("sealed"),
            id("link_user_id"),
            id("link_session_id"),
            int("created_at"),
            int("expires_at"),
            int("used_at"),
        ],
    ),
    table(
        "oauth_codes",
        1,
        &[
            bytes("code_hash"),
            bytes("code_challenge"),
            text("provider"),
            text("subject"),
            text("email"),
            flag("email_verified"),
            text("name"),
            text("avatar_url"),
            id("link_user_id"),
            id("link_session_id"),
            int("created_at"),
            int("expires_at"),
            text("issuer"),
        ],
    ),
    table("oauth_used_tokens", 1, &[bytes("hash"), int("expires_at")]),
    table(
        "oauth_providers",
        1,
        &[text("key"), text("kind"), text("config"), bytes("sealed"), int("created_at"), int("updated_at")],
    ),
    table("limit_buckets", 1, &[bytes("key"), int("full_at")]),
    table(
        "limit_failures",
        1,
        &[bytes("key"), int("failures"), int("since"), int("blocked_until"), int("remembered_until")],
    ),
    table("sign_up_attempts", 1, &[id("user_id"), text("hash"), bytes("browser_hash"), int("created_at")]),
    table("known_clients", 1, &[bytes("key"), int("known_until")]),
    table("settings", 1, &[text("key"), text("value"), int("updated_at")]),
    seeded(table("shared_version", 1, &[int("id"), int("version")])),
    table(
        "signing_keys",
        1,
        &[id("id"), text("algorithm"), bytes("sealed"), int("created_at"), int("verify_until")],
    ),
    table(
        "audit_events",
        1,
        &[
            id("id"),
            int("happened_at"),
            text("kind"),
            text("actor"),
            id("user_id"),
            id("session_id"),
            text("address"),
            text("user_agent"),
            text("details"),
        ],
    ),
    seeded(table("health", 1, &[int("id"), int("beat")])),
];

const fn table(name: &'static str, key: usize, columns: &'static [Column]) -> Table {
    Table { name, key, columns, is_seeded: false }
}

const fn seeded(table: Table) -> Table {
    Table { is_seeded: true, ..table }
}

const fn id(name: &'static str) -> Column {
    Column { name, kind: Kind::Id }
}

const fn int(name: &'static str) -> Column {
    Column { name, kind: Kind::Int }
}

const fn flag(name: &'static str) -> Column {
    Column { name, kind: Kind::Flag }
}

const fn text(name: &'static str) -> Column {
    Column { name, kind: Kind::Text }
}

const fn bytes(name: &'static str) -> Column {
    Column { name, kind: Kind::Bytes }
}
