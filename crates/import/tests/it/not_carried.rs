//! What a source has and an account here has not: each is told.

use latchkey_domain::imports::ProblemCode;
use latchkey_domain::time::Timestamp;
use latchkey_import::ImportOptions;
use serde_json::{Value, json};

use super::{codes, hash, read, record};

/// Reads an account, and returns the fields that were left out.
fn dropped(format: &str, mut account: Value) -> Vec<String> {
    account["email"] = json!("ada@example.org");
    let text = if format == "keycloak" { json!({"users": [account]}) } else { json!([account]) };
    let entry = read(format, text.to_string()).remove(0);
    assert!(entry.read.is_ok());
    entry.problems.into_iter().map(|problem| problem.field.unwrap()).collect()
}

#[test]
fn phone_number_is_told() {
    assert_eq!(dropped("supabase", json!({"phone": "4930123"})), ["phone"]);
    assert_eq!(dropped("auth0", json!({"phone_number": "+4930123"})), ["phone_number"]);
    assert_eq!(dropped("better-auth", json!({"phoneNumber": "+4930123"})), ["phoneNumber"]);
}

#[test]
fn column_that_better_auth_has_not_itself_is_told() {
    let plain = json!({"id": "u1", "name": "Ada", "emailVerified": 1, "banReason": null, "role": "user", "isAnonymous": 0,
        "lastLoginMethod": "", "twoFactorEnabled": false});
    assert_eq!(dropped("better-auth", plain), [""; 0]);
    assert_eq!(dropped("better-auth", json!({"isAnonymous": 1, "team": "x"})), ["isAnonymous", "team"]);
}

#[test]
fn passkey_of_better_auth_is_told_as_a_factor() {
    let tables = json!({
        "user": [{"id": "u1", "email": "ada@example.org"}, {"id": "u2", "email": "bob@example.org"}],
        "passkey": [{"id": "p1", "userId": "u1", "publicKey": "x", "credentialID": "y"}],
    });
    let entries = read("better-auth", tables.to_string());
    assert_eq!(codes(&entries[0]), [ProblemCode::FactorNotCarried]);
    assert_eq!(entries[0].problems[0].field.as_deref(), Some("passkeys"));
    assert_eq!(codes(&entries[1]), []);
}

#[test]
fn account_of_rauthy_that_is_over_is_banned() {
    let (past, future) = (1_600_000_000, 4_000_000_000_u64); // the records are read in 2030
    for (expires, is_banned) in [(json!(past), true), (json!(future), false)] {
        let text = json!([{"email": "ada@example.org", "user_expires": expires}]).to_string();
        let entry = read("rauthy", text).remove(0);
        assert_eq!(codes(&entry), [ProblemCode::FieldDropped]);
        assert_eq!(entry.read.unwrap().is_banned, is_banned, "{expires}");
    }
    assert_eq!(dropped("rauthy", json!({"user_expires": null, "federation_uid": "77"})), ["federation_uid"]);
}

#[test]
fn claim_of_firebase_is_not_replaced_by_the_phone_number() {
    let claims = json!({"phoneNumber": "of an admin"}).to_string();
    let text = |account: Value| json!({"users": [account]}).to_string();
    let account = json!({"email": "ada@example.org", "phoneNumber": "+49", "customAttributes": claims});
    let entry = read("firebase", text(account)).remove(0);
    assert_eq!(codes(&entry), [ProblemCode::FieldDropped]);
    assert_eq!(entry.read.unwrap().metadata.as_map()["phoneNumber"], "of an admin");
    let plain = record("firebase", text(json!({"email": "ada@example.org", "phoneNumber": "+49"})));
    assert_eq!(plain.metadata.as_map()["phoneNumber"], "+49");
}

#[test]
fn earlier_password_of_keycloak_is_no_factor() {
    let secret =
        json!({"value": "SXzK/L0MV9dJBDPxcTPe/i9ZwmHTkgdnOaJd3WnQMjs=", "salt": "c2FsdHNhbHRzYWx0c2FsdA=="});
    let data = json!({"hashIterations": 27500, "algorithm": "pbkdf2-sha256"});
    let credential = |kind: &str| json!({"type": kind, "secretData": secret.to_string(), "credentialData": data.to_string()});
    let credentials =
        json!([credential("password"), credential("password-history"), credential("password-history")]);
    assert_eq!(dropped("keycloak", json!({"credentials": credentials})), [""; 0]);
}

#[test]
fn number_is_a_verified_address_only_if_it_is_a_flag_or_a_past_time() {
    for (value, is_verified) in [
        ("1", true),
        ("1700000000", true),
        ("1700000000000", true),
        ("2024-01-01 10:00:00", true),
        ("946684800", true),
        ("2", false),
        ("7", false),
        ("-1", false),
        ("946684799", false),
        ("4000000000", false),
        ("2040-01-01", false),
        ("1970-01-01 00:00:02", false),
    ] {
        for text in [
            format!("email,verified\na@example.org,{value}\n"),
            json!([{"email": "a@example.org", "verified": value}]).to_string(),
        ] {
            let entry = read("csv", text).remove(0);
            let expected = if is_verified { vec![] } else { vec![ProblemCode::FieldDropped] };
            assert_eq!(codes(&entry), expected, "{value}");
            assert_eq!(entry.read.unwrap().email_verified, is_verified, "{value}");
        }
    }
}

#[test]
fn digest_whose_salt_is_in_another_column_is_not_taken() {
    let digest = "60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752";
    let bcrypt = "$2a$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy";
    let options = || ImportOptions {
        allow_weak: true,
        now: Timestamp::parse("2030-01-01").unwrap(),
        ..ImportOptions::default()
    };
    for (password, column, salt, is_taken) in [
        (digest, "salt", "f00", false),
        (digest, "password_salt", "f00", false),
        (digest, "salt", "", true),
        (bcrypt, "salt", "f00", true),
    ] {
        let text = format!("email,password,{column}\na@example.org,{password},{salt}\n");
        let entry = super::read_with("csv", text, options()).remove(0).unwrap();
        let expected = if is_taken { vec![] } else { vec![ProblemCode::HashUnknown] };
        assert_eq!(codes(&entry), expected, "{column}={salt}");
        assert_eq!(hash(&entry.read.unwrap()).is_empty(), !is_taken);
    }
}

#[test]
fn id_in_the_metadata_that_gives_way_is_told() {
    let text =
        json!({"id": "user_7", "email": "ada@example.org", "metadata": {"importedId": "of an earlier move"}});
    let entry = read("latchkey", text.to_string()).remove(0);
    assert_eq!(codes(&entry), [ProblemCode::FieldDropped]);
    assert_eq!(entry.read.unwrap().metadata.as_map()["importedId"], "user_7");
}
