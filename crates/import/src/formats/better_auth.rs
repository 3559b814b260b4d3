//! Better Auth: the tables `user` and `account`, as JSON or CSV, from the SQLite file or from PostgreSQL.

use latchkey_domain::imports::{Problem, ProblemCode};
use serde_json::{Map, Value};

use super::{Format, Side};
use crate::draft::Draft;
use crate::options::ImportOptions;
use crate::values::{Fields, flag_of};

pub(super) const FORMAT: Format = Format {
    name: "better-auth",
    about: "tables user and account: SQLite file, --url-file, or JSON and CSV",
    names: &["user", "users"],
    postgres: Some("\"user\""),
    sqlite: Some("user"),
    sides: &[
        Side {
            field: "account",
            names: &["account", "accounts"],
            postgres: "account",
            sqlite: "account",
            owners: &OWNERS,
            collection: None,
            is_needed: true,
            keeps: &["providerId", "accountId", "password"],
            slim: slim_account,
        },
        Side {
            field: "twoFactor",
            names: &["twoFactor"],
            postgres: "\"twoFactor\"",
            sqlite: "twoFactor",
            owners: &OWNERS,
            collection: None,
            is_needed: false,
            keeps: &["id"],
            slim: Some,
        },
        Side {
            field: "passkey",
            names: &["passkey"],
            postgres: "passkey",
            sqlite: "passkey",
            owners: &OWNERS,
            collection: None,
            is_needed: false,
            keeps: &["id"],
            slim: Some,
        },
        // The name that Drizzle's schema gives the table.
        Side {
            field: "twoFactor",
            names: &["two_factor"],
            postgres: "two_factor",
            sqlite: "two_factor",
            owners: &OWNERS,
            collection: None,
            is_needed: false,
            keeps: &["id"],
            slim: Some,
        },
    ],
    map: |fields, options, _| map(fields, options),
    ..Format::DEFAULT
};

/// Columns that are read, those that say nothing here, and side tables. Plugins and applications add others.
const KNOWN: [&str; 22] = [
    "id",
    "name",
    "email",
    "emailVerified",
    "email_verified",
    "image",
    "createdAt",
    "created_at",
    "updatedAt",
    "updated_at",
    "username",
    "role",
    "banned",
    "banReason",
    "ban_reason",
    "banExpires",
    "ban_expires",
    "twoFactorEnabled",
    "two_factor_enabled",
    "account",
    "twoFactor",
    "passkey",
];

/// Columns with the id of the account. Drizzle's schema writes the names of columns with underscores.
const OWNERS: [&str; 2] = ["userId", "user_id"];
const PROVIDER: [&str; 2] = ["providerId", "provider_id"];
const SUBJECT: [&str; 2] = ["accountId", "account_id"];
/// Name under which Better Auth lists the password.
const OWN_PROVIDERS: [&str; 1] = ["credential"];

/// Leaves out rows that stand for the mailbox and have no password.
fn slim_account(mut row: Map<String, Value>) -> Option<Map<String, Value>> {
    for [ours, theirs] in [PROVIDER, SUBJECT] {
        if let Some(value) = row.remove(theirs) {
            row.entry(ours).or_insert(value);
        }
    }
    let text = |key: &str| row.get(key).and_then(Value::as_str);
    let is_own = text("providerId").is_some_and(|name| OWN_PROVIDERS.contains(&name));
    let says_nothing = is_own && row.get("password").is_none_or(|hash| hash.is_null() || hash == "");
    (!says_nothing).then_some(row)
}

fn map(fields: Fields<'_>, options: &ImportOptions) -> Draft {
    let mut draft = Draft {
        id: fields.text(&["id"]),
        email: fields.text(&["email"]),
        email_verified: fields.flag(&["emailVerified", "email_verified"]).unwrap_or_default(),
        name: fields.text(&["name"]),
        username: fields.text(&["username"]),
        avatar_url: fields.text(&["image"]),
        created_at: fields.time(&["createdAt", "created_at"]),
        ..Draft::default()
    };
    if fields.flag(&["banned"]).unwrap_or_default() {
        let until = fields.time(&["banExpires", "ban_expires"]);
        draft.is_banned = until.is_none_or(|until| draft.is_ban_on(until, "banExpires", options));
    }
    if let Some(role) = fields.text(&["role"]) {
        draft.metadata.insert("role".to_owned(), role.into());
    }
    for account in fields.objects("account") {
        let account = fields.within("account", &account);
        if let Some(hash) = account.text(&["password"]) {
            draft.password = Some(hash);
        }
        draft.add_identity_but(&OWN_PROVIDERS, account.text(&PROVIDER), account.text(&SUBJECT), None);
    }
    let is_two_step = fields.flag(&["twoFactorEnabled", "two_factor_enabled"]) == Some(true);
    if is_two_step || !fields.objects("twoFactor").is_empty() {
        draft.drop_factor("Better Auth encrypts secrets of second factors under its own key");
    }
    if !fields.objects("passkey").is_empty() {
        let message = "passkeys belong to the domain of the other service";
        draft.problems.push(Problem::of(ProblemCode::FactorNotCarried, "passkeys", message));
    }
    let says_something = |key: &&String| fields.get(key).is_some_and(|value| flag_of(value) != Some(false));
    for key in fields.map().keys().filter(|key| !KNOWN.contains(&key.as_str())).filter(says_something) {
        draft.drop_field(key, "is no column of Better Auth itself, and is not carried");
    }
    draft
}
