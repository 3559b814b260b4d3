//! Optional values that cannot be read: each is left out, and its field is named.

use latchkey_domain::imports::{ImportRecord, ProblemCode};
use latchkey_domain::time::Timestamp;
use latchkey_import::ImportOptions;
use serde_json::{Value, json};

use super::read_with;

/// Reads a record, and returns the fields that were left out beside it.
fn read(format: &str, mut record: Value) -> (ImportRecord, Vec<String>) {
    record["email"] = json!("ada@example.org");
    let text = match format {
        "firebase" | "keycloak" => json!({"users": [record]}),
        "latchkey" => record,
        _ => json!([record]),
    };
    let options = ImportOptions { now: Timestamp::parse("2026-01-01").unwrap(), ..ImportOptions::default() };
    let entry = read_with(format, text.to_string(), options).remove(0).unwrap();
    assert!(entry.problems.iter().all(|problem| problem.code == ProblemCode::FieldDropped), "{entry:?}");
    let mut fields: Vec<_> = entry.problems.into_iter().map(|problem| problem.field.unwrap()).collect();
    fields.sort_unstable();
    (*entry.read.unwrap(), fields)
}

/// Asserts that each of these values is left out and named, and that no account is banned by it.
fn assert_dropped(format: &str, values: &[(&str, Value, &str)]) {
    for (key, value, field) in values {
        let mut record = json!({});
        record[key] = value.clone();
        let (record, fields) = read(format, record);
        assert_eq!(fields, [*field], "{format} {key}: {value}");
        assert!(!record.is_banned && !record.email_verified && record.created_at.is_none(), "{key}: {value}");
        assert!(record.identities.is_empty() && record.password.is_none(), "{key}: {value}");
    }
}

#[test]
fn bad_value_of_supabase_is_reported() {
    assert_dropped(
        "supabase",
        &[
            ("banned_until", json!("soon"), "banned_until"),
            ("email_confirmed_at", json!("yes"), "email_confirmed_at"),
            ("created_at", json!("garbage"), "created_at"),
            ("raw_user_meta_data", json!("{broken"), "raw_user_meta_data"),
            ("raw_app_meta_data", json!([1]), "raw_app_meta_data"),
            ("identities", json!("nope"), "identities"),
            ("identities", json!([{"provider": "google"}]), "identities"),
            ("identities", json!([7]), "identities"),
        ],
    );
}

#[test]
fn endless_ban_of_supabase_is_a_ban() {
    for (until, is_banned) in [("infinity", true), ("-infinity", false), ("2020-01-01 00:00:00+00", false)] {
        let (record, fields) = read("supabase", json!({"banned_until": until}));
        assert_eq!((record.is_banned, fields), (is_banned, vec![]), "{until}");
    }
}

#[test]
fn bad_value_of_auth0_is_reported() {
    assert_dropped(
        "auth0",
        &[
            ("blocked", json!("perhaps"), "blocked"),
            ("email_verified", json!("maybe"), "email_verified"),
            ("created_at", json!("garbage"), "created_at"),
            ("app_metadata", json!(7), "app_metadata"),
            ("user_metadata", json!([1]), "user_metadata"),
            ("name", json!({"first": "Ada"}), "name"),
            ("identities", json!([{"provider": "google-oauth2"}]), "identities"),
        ],
    );
}

#[test]
fn bad_value_of_firebase_is_reported() {
    assert_dropped(
        "firebase",
        &[
            ("disabled", json!("ja"), "disabled"),
            ("disabled", json!(2), "disabled"),
            ("emailVerified", json!([]), "emailVerified"),
            ("customAttributes", json!("{broken"), "customAttributes"),
            ("createdAt", json!("soon"), "createdAt"),
            ("createdAt", json!(0), "createdAt"),
            ("providerUserInfo", json!([{"providerId": "google.com"}]), "identities"),
        ],
    );
}

#[test]
fn bad_value_of_better_auth_is_reported() {
    assert_dropped(
        "better-auth",
        &[
            ("banned", json!("ja"), "banned"),
            ("createdAt", json!("soon"), "createdAt"),
            ("emailVerified", json!("ja"), "emailVerified"),
            ("account", json!([{"providerId": "google"}]), "identities"),
        ],
    );
}

#[test]
fn bad_value_of_keycloak_is_reported() {
    assert_dropped(
        "keycloak",
        &[
            ("enabled", json!("nein"), "enabled"),
            ("createdTimestamp", json!("soon"), "createdTimestamp"),
            ("attributes", json!("nope"), "attributes"),
            ("attributes", json!({"locale": ["de", "en"]}), "attributes.locale"),
            ("requiredActions", json!("nope"), "requiredActions"),
            ("federatedIdentities", json!([{"identityProvider": "google"}]), "identities"),
        ],
    );
}

#[test]
fn account_of_keycloak_that_is_disabled_in_words_is_banned() {
    for enabled in [json!(false), json!("false")] {
        let (record, fields) = read("keycloak", json!({"enabled": enabled}));
        assert_eq!((record.is_banned, fields), (true, vec![]), "{enabled}");
    }
}

#[test]
fn bad_value_of_pocketbase_is_reported() {
    assert_dropped(
        "pocketbase",
        &[
            ("verified", json!("ja"), "verified"),
            ("created", json!("soon"), "created"),
            ("externalAuths", json!([{"provider": "github"}]), "identities"),
        ],
    );
}

#[test]
fn bad_value_of_a_table_is_reported() {
    for (format, key) in [("csv", "banned"), ("rauthy", "enabled"), ("django", "is_active")] {
        let (record, fields) = read(format, json!({key: "perhaps"}));
        assert_eq!((record.is_banned, fields), (false, vec![key.to_owned()]));
    }
    assert_dropped(
        "csv",
        &[
            ("is_verified", json!("perhaps"), "is_verified"),
            ("created", json!("soon"), "created"),
            ("totpSecret", json!([1]), "totpSecret"),
        ],
    );
}

#[test]
fn bad_metadata_of_clerk_is_reported() {
    let text = "primary_email_address,public_metadata,private_metadata,created_at\nada@example.org,{broken,{broken,soon\n";
    let entry = read_with("clerk", text, ImportOptions::default()).remove(0).unwrap();
    let mut fields: Vec<_> = entry.problems.iter().map(|problem| problem.field.as_deref().unwrap()).collect();
    fields.sort_unstable();
    assert_eq!(fields, ["created_at", "private_metadata", "public_metadata"]);
}

#[test]
fn bad_value_inside_of_a_record_of_ours_is_reported() {
    let (record, fields) = read(
        "latchkey",
        json!({
            "identities": [{"provider": "google", "subject": "1", "email": "nobody"},
                {"provider": "github", "subject": "2", "email": [7]}],
            "totp": [{"secret": "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP", "name": "x".repeat(500)}],
            "createdAt": "soon",
        }),
    );
    assert_eq!(fields, ["createdAt", "identities.email", "identities.email", "totp.name"]);
    assert!(record.identities.len() == 2 && record.identities.iter().all(|one| one.email.is_none()));
    assert_eq!(record.totp.len(), 1, "the factor is there under the default name");
}

#[test]
fn bad_time_of_a_passkey_is_reported() {
    let (record, fields) = read(
        "latchkey",
        json!({"passkeys": [{
            "credentialId": "AQID", "publicKey": "BAUG", "userHandle": "AAAAAAAAAAAAAAAAAAAAAA", "rpId": "example.org",
            "name": "Phone", "aaguid": "00112233445566778899aabbccddeeff", "counter": 7, "createdAt": "soon",
        }]}),
    );
    assert_eq!((record.passkeys.len(), fields), (1, vec!["passkeys.createdAt".to_owned()]));
}

#[test]
fn creation_in_the_future_is_reported() {
    // The records are read on 2026-01-01.
    for (created, is_kept) in [
        (json!("2026-01-01T12:00:00Z"), true),
        (json!("2026-01-03T00:00:00Z"), false),
        (json!(i64::MAX), false),
        (json!(253_402_300_800_000_i64), false),
    ] {
        for (format, key) in [("latchkey", "createdAt"), ("supabase", "created_at")] {
            let (record, fields) = read(format, json!({key: created}));
            assert_eq!((record.created_at.is_some(), fields.is_empty()), (is_kept, is_kept), "{created}");
        }
    }
}

#[test]
fn id_that_the_metadata_have_no_room_for_leaves_them_as_they_are() {
    let large = "x".repeat(16 * 1024 - 20);
    let (record, fields) = read("latchkey", json!({"id": "user_7", "metadata": {"note": large}}));
    assert_eq!(fields, ["metadata.importedId"]);
    assert_eq!(record.metadata.as_map()["note"], *large);
    assert_eq!(record.imported_id.as_deref(), Some("user_7"));

    let (record, fields) =
        read("latchkey", json!({"id": "user_7", "metadata": {"note": "x".repeat(17_000)}}));
    assert_eq!(fields, ["metadata"]);
    assert_eq!((&record.metadata.as_map()["importedId"], record.imported_id), (&json!("user_7"), None));
}

#[test]
fn id_of_more_than_255_bytes_is_reported() {
    let (record, fields) = read("latchkey", json!({"id": "x".repeat(255)}));
    assert!(fields.is_empty() && record.metadata.as_map().contains_key("importedId"), "{fields:?}");

    let (record, fields) = read("latchkey", json!({"id": "x".repeat(256)}));
    assert_eq!(fields, ["id"]);
    assert!(!record.metadata.as_map().contains_key("importedId") && record.imported_id.is_none());
}

#[test]
fn secret_of_80_to_512_bits_is_carried() {
    for (length, is_carried) in [(10, true), (16, true), (32, true), (64, true), (9, false), (65, false)] {
        let secret = base32(length);
        let text = json!({"email": "ada@example.org", "totp": [{"secret": secret}]}).to_string();
        let record = super::record("latchkey", text);
        assert_eq!((record.totp.len() == 1, record.has_two_step), (is_carried, is_carried), "{length}");
    }
}

/// Base32 of this many zeros.
fn base32(bytes: usize) -> String {
    "A".repeat((bytes * 8).div_ceil(5))
}
