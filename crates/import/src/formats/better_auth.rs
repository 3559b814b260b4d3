//! Better Auth: the tables `user` and `account`, as JSON or CSV, from the SQLite file or from PostgreSQL.

use serde_json::{Map, Value};

use super::{Format, Side};
use crate::draft::{Draft, is_own_provider};
use crate::values::Fields;

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
            owner: "userId",
            keeps: &["providerId", "accountId", "password"],
            slim: slim_account,
        },
        Side {
            field: "twoFactor",
            names: &["twoFactor"],
            postgres: "\"twoFactor\"",
            sqlite: "twoFactor",
            owner: "userId",
            keeps: &["id"],
            slim: Some,
        },
    ],
    map: |fields, _, _| map(fields),
    ..Format::DEFAULT
};

/// Leaves out rows that stand for the mailbox and have no password.
fn slim_account(row: Map<String, Value>) -> Option<Map<String, Value>> {
    let text = |key: &str| row.get(key).and_then(Value::as_str);
    let is_own = text("providerId").is_some_and(is_own_provider);
    let says_nothing = is_own && row.get("password").is_none_or(|hash| hash.is_null() || hash == "");
    (!says_nothing).then_some(row)
}

fn map(fields: Fields<'_>) -> Draft {
    let mut draft = Draft {
        id: fields.text(&["id"]),
        email: fields.text(&["email"]),
        email_verified: fields.flag(&["emailVerified", "email_verified"]).unwrap_or_default(),
        name: fields.text(&["name"]),
        username: fields.text(&["username"]),
        avatar_url: fields.text(&["image"]),
        is_banned: fields.flag(&["banned"]).unwrap_or_default(),
        created_at: fields.time(&["createdAt", "created_at"]),
        ..Draft::default()
    };
    if let Some(role) = fields.text(&["role"]) {
        draft.metadata.insert("role".to_owned(), role.into());
    }
    for account in fields.objects("account") {
        let account = fields.within("account", &account);
        if let Some(hash) = account.text(&["password"]) {
            draft.password = Some(hash);
        }
        draft.add_identity(account.text(&["providerId"]), account.text(&["accountId"]), None);
    }
    if !fields.objects("twoFactor").is_empty() {
        draft.drop_factor("Better Auth encrypts secrets of second factors under its own key");
    }
    draft
}
