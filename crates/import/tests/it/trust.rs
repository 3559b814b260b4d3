//! What an import must not believe of a source, and what it must not pass over in silence.

use latchkey_domain::identity::Issuer;
use latchkey_domain::imports::{ImportRecord, Problem};
use latchkey_domain::time::Timestamp;
use latchkey_import::ImportOptions;
use serde_json::{Value, json};

use super::{identities, read, read_with, record};

const HASH: &str = "$2b$04$cECOmfMonDnXthabEWC6ZOZK4yAntDRBxZtm6obR2jvK4RE.7uG5u";

/// Reads a record of Ada on 2026-01-01, and returns the fields of its problems.
fn ada(format: &str, mut more: Value) -> (ImportRecord, Vec<String>) {
    more["email"] = json!("ada@example.org");
    let text = if format == "keycloak" { json!({"users": [more]}) } else { json!([more]) };
    let options = ImportOptions { now: Timestamp::parse("2026-01-01").unwrap(), ..ImportOptions::default() };
    let entry = read_with(format, text.to_string(), options).remove(0).unwrap();
    let field = |problem: Problem| problem.field.unwrap();
    (*entry.read.unwrap(), entry.problems.into_iter().map(field).collect())
}

#[test]
fn confirmed_phone_of_supabase_verifies_no_address() {
    let at = "2025-01-01 00:00:00+00";
    for (row, is_verified) in [
        (json!({"email_confirmed_at": at, "confirmed_at": at}), true),
        (json!({"email_confirmed_at": null, "phone_confirmed_at": at, "confirmed_at": at}), false),
        (json!({"email_confirmed_at": "", "confirmed_at": at}), false),
        (json!({"confirmed_at": at}), true),
        (json!({"phone": "4915550001", "phone_confirmed_at": at, "confirmed_at": at}), false),
    ] {
        assert_eq!(ada("supabase", row.clone()).0.email_verified, is_verified, "{row}");
    }
    let csv = format!("id,email,email_confirmed_at,confirmed_at\n1,ada@example.org,,{at}\n");
    assert!(!record("supabase", csv).email_verified);
}

#[test]
fn address_of_clerk_in_no_list_is_not_verified() {
    let header = "primary_email_address,verified_email_addresses,unverified_email_addresses";
    for (row, is_verified) in [(",,", false), (",ada@example.org,", true), (",,ada@example.org", false)] {
        let text = format!("{header}\nada@example.org{row}\n");
        assert_eq!(record("clerk", text).email_verified, is_verified, "{row}");
    }
}

#[test]
fn ban_that_is_over_is_none_and_one_with_an_end_is_told() {
    for (format, row, is_banned, told) in [
        ("better-auth", json!({"banned": true, "banExpires": "2025-12-31T00:00:00Z"}), false, vec![]),
        ("better-auth", json!({"banned": 1, "ban_expires": 1_767_139_200}), false, vec![]),
        (
            "better-auth",
            json!({"banned": true, "banExpires": "2026-01-02T00:00:00Z"}),
            true,
            vec!["banExpires"],
        ),
        ("better-auth", json!({"banned": false, "banExpires": "2026-01-02T00:00:00Z"}), false, vec![]),
        ("better-auth", json!({"banned": true, "banExpires": null}), true, vec![]),
        ("supabase", json!({"banned_until": "2026-01-02 00:00:00+00"}), true, vec!["banned_until"]),
        ("supabase", json!({"banned_until": "2025-12-31 00:00:00+00"}), false, vec![]),
        ("supabase", json!({"banned_until": "infinity"}), true, vec![]),
    ] {
        let (record, fields) = ada(format, row.clone());
        assert_eq!(
            (record.is_banned, fields.iter().map(String::as_str).collect()),
            (is_banned, told),
            "{row}"
        );
    }
}

#[test]
fn provider_with_the_name_of_another_format_for_its_password_is_kept_or_told() {
    for (name, is_kept) in [("auth0", true), ("phone", true), ("credential", true), ("email", false)] {
        let (keycloak, told) =
            ada("keycloak", json!({"federatedIdentities": [{"identityProvider": name, "userId": "1"}]}));
        assert_eq!(
            (keycloak.identities.len(), told.len()),
            (usize::from(is_kept), usize::from(!is_kept)),
            "{name}"
        );
    }
    let (better, told) = ada(
        "better-auth",
        json!({"account": [{"providerId": "auth0", "accountId": "1"}, {"providerId": "credential", "accountId": "2"}]}),
    );
    assert_eq!((identities(&better), told), (vec!["auth0/1".to_owned()], vec![]));
    let (better, told) = ada("better-auth", json!({"account": [{"providerId": "email", "accountId": "1"}]}));
    assert_eq!((better.identities.len(), told), (0, vec!["identities".to_owned()]));
    let of_table = json!({"user": [{"id": "u1", "email": "ada@example.org"}],
        "account": [{"providerId": "auth0", "accountId": "1", "userId": "u1"}]});
    assert_eq!(identities(&record("better-auth", of_table.to_string())), ["auth0/1"]);
    let (supabase, told) = ada(
        "supabase",
        json!({"identities": [{"provider": "email", "provider_id": "1"}, {"provider": "auth0", "provider_id": "2"}]}),
    );
    assert_eq!((identities(&supabase), told), (vec!["auth0/2".to_owned()], vec![]));
}

#[test]
fn better_auth_with_underscores_is_read_alike() {
    let tables = json!({
        "user": [{"id": "u1", "email": "ada@example.org", "email_verified": true, "created_at": "2025-01-01T00:00:00Z"}],
        "account": [
            {"user_id": "u1", "provider_id": "credential", "account_id": "u1", "password": HASH},
            {"user_id": "u1", "provider_id": "google", "account_id": "1102"},
            {"user_id": "u1", "provider_id": "credential", "account_id": "u1", "password": null},
        ],
        "two_factor": [{"id": "t1", "user_id": "u1", "secret": "x"}],
    });
    let entry = read("better-auth", tables.to_string()).remove(0);
    let record = entry.read.unwrap();
    assert!(record.email_verified && record.created_at.is_some());
    assert_eq!((super::hash(&record), identities(&record)), (HASH, vec!["google/1102".to_owned()]));
    assert_eq!(entry.problems.len(), 1, "the second factor: {:?}", entry.problems);

    let nested = json!([{"id": "u1", "email": "ada@example.org", "account": tables["account"]}]);
    let nested = super::record("better-auth", nested.to_string());
    assert_eq!((super::hash(&nested), identities(&nested)), (HASH, vec!["google/1102".to_owned()]));
}

#[test]
fn old_pocketbase_is_read_alike() {
    let tables = json!({
        "externalAuths": [{"recordId": "u1", "provider": "github", "providerId": "77"}],
        "users": [{"id": "u1", "email": "ada@example.org"}],
    });
    assert_eq!(identities(&record("pocketbase", tables.to_string())), ["github/77"]);
}

#[test]
fn number_beyond_64_bits_is_told() {
    let text = r#"{"email": "ada@example.org", "metadata": {"large": 123456789012345678901234567890, "n": 18446744073709551615},
        "profileMetadata": {"deep": [{"x": -9223372036854775809}]}, "custom": {"ok": 1.5, "also": -9223372036854775808}}"#;
    let entry = read("latchkey", text.replace('\n', " ")).remove(0);
    let fields: Vec<_> = entry.problems.iter().map(|problem| problem.field.as_deref().unwrap()).collect();
    assert_eq!(fields, ["metadata.large", "profileMetadata.deep"]);
}

#[test]
fn utf16_file_is_told_to_be_one() {
    let text = "id,email\n1,ada@example.org\n";
    let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
    for bytes in [[&[0xFF, 0xFE][..], &little].concat(), [&[0xFE, 0xFF][..], &big].concat(), little, big] {
        let error = read_with("csv", bytes, ImportOptions::default()).remove(0).unwrap_err().to_string();
        assert!(error.contains("UTF-16"), "{error}");
    }
}

#[test]
fn text_of_a_database_that_is_not_utf8_is_told() {
    // So the reader of SQLite files hands it over.
    let (record, fields) = ada("pocketbase", json!({"name": [195, 40], "verified": 1}));
    assert_eq!((record.name.as_str(), fields), ("", vec!["name".to_owned()]));
}

#[test]
fn password_is_as_proven_as_an_export_says() {
    let proven = |line: Value, is_unverified| {
        let options = ImportOptions { is_unverified, ..ImportOptions::default() };
        let record = read_with("latchkey", line.to_string(), options).remove(0).unwrap().read.unwrap();
        record.has_proven_password()
    };
    let of_ours = |more: Value| {
        let mut line =
            json!({"kind": "user", "email": "ada@example.org", "emailVerified": true, "passwordHash": HASH});
        line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        line
    };
    assert!(proven(of_ours(json!({"passwordProven": true})), false));
    assert!(proven(of_ours(json!({"passwordProven": true, "emailVerified": false})), false));
    assert!(!proven(of_ours(json!({"passwordProven": false})), false));
    assert!(!proven(of_ours(json!({})), false), "an export that says nothing");
    assert!(!proven(of_ours(json!({"passwordProven": true})), true), "--unverified");
    let record = json!({"email": "ada@example.org", "emailVerified": true, "passwordHash": HASH});
    assert!(proven(record, false), "a record by hand is as verified as its address");
}

#[test]
fn issuer_of_an_identity_is_read() {
    let issuers = |identity: Value| -> Vec<Option<Issuer>> {
        let line = json!({"email": "ada@example.org", "identities": [identity]});
        record("latchkey", line.to_string()).identities.into_iter().map(|one| one.issuer).collect()
    };
    let of = |issuer: Value| issuers(json!({"provider": "acme", "subject": "1", "issuer": issuer}));
    assert_eq!(issuers(json!({"provider": "acme", "subject": "1"})), [None]);
    assert_eq!(of(json!("https://id.example")), [Issuer::parse("https://id.example")]);
    assert_eq!(of(json!("")), [Issuer::parse("")]);
    assert_eq!(of(json!("?")), [Some(Issuer::unknown())]);
    assert_eq!(of(json!("no issuer")), [], "it would be somebody else's subject");
    let two = json!({"email": "ada@example.org", "identities": [
        {"provider": "acme", "subject": "1", "issuer": "https://a.example"},
        {"provider": "acme", "subject": "1", "issuer": "https://b.example"},
        {"provider": "acme", "subject": "1", "issuer": "https://b.example"},
    ]});
    assert_eq!(record("latchkey", two.to_string()).identities.len(), 2);
}
