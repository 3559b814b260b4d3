//! Columns of values that are sealed under the server secret, and the statements that seal them anew. A replaced secret
//! opens only what is listed here.

use latchkey_store::{Resealed, SealedColumn, SealedRow, SealedValue, StoreResult};
use uuid::Uuid;

use crate::form::{Cells, Script, Slot, Sql, Value, statements};

/// Every sealed column, with its table and name. A test compares the list with all columns of bytes.
pub const SEALED: &[(SealedColumn, &str, &str)] = &[
    (SealedColumn::SigningKeys, "signing_keys", "sealed"),
    (SealedColumn::TotpSecrets, "totp_factors", "secret"),
    (SealedColumn::Providers, "oauth_providers", "sealed"),
    (SealedColumn::OAuthFlows, "oauth_flows", "sealed"),
    (SealedColumn::Mails, "outbox", "payload"),
    (SealedColumn::KeptKeys, "kept_keys", "sealed"),
    (SealedColumn::HashKeys, "hash_keys", "sealed"),
];

statements! {
    LIST_SIGNING_KEYS = "SELECT id, sealed FROM signing_keys WHERE id > $1 ORDER BY id LIMIT $2";
    LIST_TOTP_SECRETS = "SELECT id, secret, user_id FROM totp_factors WHERE id > $1 ORDER BY id LIMIT $2";
    LIST_PROVIDERS = "SELECT key, sealed FROM oauth_providers WHERE key > $1 ORDER BY key LIMIT $2";
    LIST_OAUTH_FLOWS = "
    SELECT state_hash, sealed FROM oauth_flows WHERE state_hash > $1 AND sealed IS NOT NULL ORDER BY state_hash LIMIT $2";
    LIST_MAILS = "SELECT id, payload FROM outbox WHERE id > $1 AND payload IS NOT NULL ORDER BY id LIMIT $2";
    LIST_KEPT_KEYS = "SELECT label, sealed FROM kept_keys WHERE label > $1 ORDER BY label LIMIT $2";
    LIST_HASH_KEYS = "SELECT id, sealed FROM hash_keys WHERE id > $1 ORDER BY id LIMIT $2";
    RESEAL_SIGNING_KEY = "UPDATE signing_keys SET sealed = $2 WHERE id = $1 AND sealed = $3";
    RESEAL_TOTP_SECRET = "UPDATE totp_factors SET secret = $2 WHERE id = $1 AND secret = $3";
    RESEAL_PROVIDER = "UPDATE oauth_providers SET sealed = $2 WHERE key = $1 AND sealed = $3";
    RESEAL_OAUTH_FLOW = "UPDATE oauth_flows SET sealed = $2 WHERE state_hash = $1 AND sealed = $3";
    RESEAL_MAIL = "UPDATE outbox SET payload = $2 WHERE id = $1 AND payload = $3";
    RESEAL_KEPT_KEY = "UPDATE kept_keys SET sealed = $2 WHERE label = $1 AND sealed = $3";
    RESEAL_HASH_KEY = "UPDATE hash_keys SET sealed = $2 WHERE id = $1 AND sealed = $3";
}

/// Reads values of a column after a row, in the order of the rows.
pub(crate) fn list(reads: &mut Script, column: SealedColumn, after: Option<&SealedRow>, limit: u32) -> Slot {
    let (sql, first): (&'static Sql, Value) = match column {
        SealedColumn::SigningKeys => (&LIST_SIGNING_KEYS, first_id()),
        SealedColumn::TotpSecrets => (&LIST_TOTP_SECRETS, first_id()),
        SealedColumn::Mails => (&LIST_MAILS, first_id()),
        SealedColumn::HashKeys => (&LIST_HASH_KEYS, first_id()),
        SealedColumn::OAuthFlows => (&LIST_OAUTH_FLOWS, Value::Bytes(Some(Vec::new()))),
        SealedColumn::Providers => (&LIST_PROVIDERS, Value::from("")),
        SealedColumn::KeptKeys => (&LIST_KEPT_KEYS, Value::from("")),
    };
    reads.read(sql, vec![after.map_or(first, key_of), limit.into()])
}

/// Replaces a value, unless it has changed.
pub(crate) fn reseal(writes: &mut Script, value: &Resealed) -> Slot {
    let sql = match value.row {
        SealedRow::SigningKey(_) => &RESEAL_SIGNING_KEY,
        SealedRow::Totp(..) => &RESEAL_TOTP_SECRET,
        SealedRow::Mail(_) => &RESEAL_MAIL,
        SealedRow::OAuthFlow(_) => &RESEAL_OAUTH_FLOW,
        SealedRow::Provider(_) => &RESEAL_PROVIDER,
        SealedRow::KeptKey(_) => &RESEAL_KEPT_KEY,
        SealedRow::HashKey(_) => &RESEAL_HASH_KEY,
    };
    let values = vec![key_of(&value.row), value.to.as_slice().into(), value.from.as_slice().into()];
    writes.change(sql, values)
}

/// Decodes a row of [`list`].
pub(crate) fn read(column: SealedColumn, cells: &mut Cells<'_>) -> StoreResult<SealedValue> {
    let (row, sealed) = match column {
        SealedColumn::SigningKeys => {
            (SealedRow::SigningKey(cells.of("signing_keys").id("id")?), cells.bytes("sealed")?)
        }
        SealedColumn::TotpSecrets => {
            let (id, sealed) = (cells.of("totp_factors").id("id")?, cells.bytes("secret")?);
            (SealedRow::Totp(id, cells.id("user_id")?), sealed)
        }
        SealedColumn::HashKeys => {
            (SealedRow::HashKey(cells.of("hash_keys").id("id")?), cells.bytes("sealed")?)
        }
        SealedColumn::Mails => (SealedRow::Mail(cells.of("outbox").id("id")?), cells.bytes("payload")?),
        SealedColumn::OAuthFlows => {
            (SealedRow::OAuthFlow(cells.of("oauth_flows").hash("state_hash")?), cells.bytes("sealed")?)
        }
        SealedColumn::Providers => {
            (SealedRow::Provider(cells.of("oauth_providers").text("key")?.to_owned()), cells.bytes("sealed")?)
        }
        SealedColumn::KeptKeys => {
            (SealedRow::KeptKey(cells.of("kept_keys").text("label")?.to_owned()), cells.bytes("sealed")?)
        }
    };
    Ok(SealedValue { row, sealed })
}

fn first_id() -> Value {
    Value::Id(Some(Uuid::nil()))
}

fn key_of(row: &SealedRow) -> Value {
    match row {
        SealedRow::SigningKey(id) => Value::Id(Some(id.as_uuid())),
        SealedRow::Totp(id, _) => Value::Id(Some(id.as_uuid())),
        SealedRow::Mail(id) => Value::Id(Some(id.as_uuid())),
        SealedRow::HashKey(id) => Value::Id(Some(id.as_uuid())),
        SealedRow::OAuthFlow(state) => state.into(),
        SealedRow::Provider(key) | SealedRow::KeptKey(key) => key.as_str().into(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::bulk::Kind;
    use crate::tables::TABLES;

    /// Columns of bytes that no key of the server secret seals: hashes, MACs, random ids and public keys. The sealed
    /// successor of a refresh token is there too: the token seals it, with a key that outlives the secret.
    const NOT_SEALED: &[(&str, &[&str])] = &[
        ("challenges", &["hash", "passkey_options", "token_hash"]),
        ("codes", &["mac"]),
        ("imports", &["digest"]),
        ("known_clients", &["key"]),
        ("limit_buckets", &["key"]),
        ("limit_failures", &["account_key", "key"]),
        ("link_tokens", &["code_challenge", "hash"]),
        ("oauth_codes", &["code_challenge", "code_hash"]),
        ("oauth_flows", &["code_challenge", "state_hash"]),
        ("oauth_used_tokens", &["hash"]),
        ("operator_addresses", &["activation_hash"]),
        ("operators", &["activation_hash"]),
        ("page_codes", &["code_challenge", "code_hash"]),
        ("passkeys", &["aaguid", "credential_id", "public_key"]),
        ("recovery_codes", &["mac"]),
        ("sessions", &["browser_hash", "current_hash", "family_hash", "retired", "sealed_successor"]),
        ("sign_up_attempts", &["browser_hash"]),
        ("totp_factors", &["challenge_hash"]),
        ("undo_tokens", &["hash"]),
        ("used_ceremonies", &["hash"]),
        ("users", &["user_handle"]),
    ];

    fn all_bytes() -> BTreeSet<(&'static str, &'static str)> {
        let columns = TABLES.iter().flat_map(|table| table.columns.iter().map(|column| (table.name, column)));
        columns
            .filter(|(_, column)| column.kind == Kind::Bytes)
            .map(|(table, one)| (table, one.name))
            .collect()
    }

    #[test]
    fn every_column_of_bytes_is_sealed_or_known_not_to_be() {
        let sealed: BTreeSet<_> = SEALED.iter().map(|(_, table, column)| (*table, *column)).collect();
        let not: BTreeSet<_> =
            NOT_SEALED.iter().flat_map(|(table, names)| names.iter().map(|name| (*table, *name))).collect();
        let listed: BTreeSet<_> = sealed.union(&not).copied().collect();

        let found = all_bytes();

        let new: Vec<_> = found.difference(&listed).collect();
        assert!(new.is_empty(), "list these in SEALED or in NOT_SEALED: {new:?}");
        let gone: Vec<_> = listed.difference(&found).collect();
        assert!(gone.is_empty(), "there is no column {gone:?}");
        assert!(sealed.is_disjoint(&not));
    }

    #[test]
    fn every_sealed_column_is_listed_once() {
        let listed: BTreeSet<_> = SEALED.iter().map(|(column, ..)| *column).collect();
        assert_eq!((listed.len(), SEALED.len()), (SealedColumn::ALL.len(), SealedColumn::ALL.len()));
        assert_eq!(listed, SealedColumn::ALL.into_iter().collect());
    }
}
