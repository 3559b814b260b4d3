//! Formats of services that do not run here, by their published documentation.

use latchkey_domain::imports::ProblemCode;
use latchkey_domain::time::Timestamp;
use latchkey_import::{FirebaseHashes, ImportOptions};
use serde_json::json;

use super::{codes, hash, identities, read, read_with, record};

const BCRYPT: &str = "$2a$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy";
const UUID: &str = "0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b";

fn supabase_json() -> String {
    json!({
        "identities": [
            {"id": "x", "user_id": UUID, "provider": "google", "provider_id": "1102",
                "identity_data": {"sub": "1102", "email": "ada@example.org"}},
            {"user_id": UUID, "provider": "email", "provider_id": UUID, "identity_data": {}},
        ],
        "mfa_factors": [{"user_id": UUID, "factor_type": "totp", "status": "verified",
            "secret": "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP", "friendly_name": "Phone"}],
        "users": [{"id": UUID, "email": "ada@example.org", "encrypted_password": BCRYPT,
            "email_confirmed_at": "2024-01-01T00:00:00Z", "created_at": "2023-12-31 23:00:00.123+00",
            "raw_app_meta_data": {"provider": "email", "providers": ["email"], "plan": "pro"},
            "raw_user_meta_data": {"full_name": "Ada", "admin": true}, "banned_until": null}],
    })
    .to_string()
}

fn supabase_dump() -> String {
    format!(
        "--\n-- PostgreSQL database dump\n--\n\nSET statement_timeout = 0;\n\n\
         COPY auth.identities (provider_id, user_id, identity_data, provider) FROM stdin;\n\
         1102\t{UUID}\t{{\"sub\": \"1102\", \"email\": \"ada@example.org\"}}\tgoogle\n\\.\n\n\
         COPY auth.mfa_factors (user_id, factor_type, status, secret, friendly_name) FROM stdin;\n\
         {UUID}\ttotp\tverified\tJBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP\tPhone\n\\.\n\n\
         COPY auth.users (id, email, encrypted_password, email_confirmed_at, created_at, raw_app_meta_data, \
         raw_user_meta_data, banned_until) FROM stdin;\n\
         {UUID}\tada@example.org\t{BCRYPT}\t2024-01-01 00:00:00+00\t2023-12-31 23:00:00.123+00\t\
         {{\"provider\": \"email\", \"plan\": \"pro\"}}\t{{\"full_name\": \"Ada\", \"admin\": true}}\t\\N\n\\.\n"
    )
}

fn supabase_csv() -> String {
    format!(
        "id,email,encrypted_password,email_confirmed_at,created_at,raw_app_meta_data,raw_user_meta_data,banned_until\n\
         {UUID},ada@example.org,{BCRYPT},2024-01-01 00:00:00+00,2023-12-31 23:00:00.123+00,\
         \"{{\"\"plan\"\": \"\"pro\"\"}}\",\"{{\"\"full_name\"\": \"\"Ada\"\", \"\"admin\"\": true}}\",\n"
    )
}

#[test]
fn supabase_is_read_as_json_dump_and_csv() {
    for (text, has_sides) in [(supabase_json(), true), (supabase_dump(), true), (supabase_csv(), false)] {
        let record = record("supabase", &text);
        assert_eq!((record.id.unwrap().to_string().as_str(), hash(&record)), (UUID, BCRYPT), "{text}");
        assert!(record.email_verified && !record.is_banned);
        assert_eq!(record.name.as_str(), "Ada");
        assert_eq!(
            json!(record.metadata.as_map()),
            json!({"plan": "pro"}),
            "a user's own data is no admin's"
        );
        assert_eq!(record.profile_metadata.as_map()["admin"], true);
        assert_eq!(record.created_at.unwrap().to_string(), "2023-12-31T23:00:00.123Z");
        let expected: &[&str] = if has_sides { &["google/1102"] } else { &[] };
        assert_eq!(identities(&record), expected);
        assert_eq!(record.totp.len(), usize::from(has_sides));
    }
}

#[test]
fn ban_of_supabase_ends() {
    let text = |until: &str| json!([{"email": "ada@example.org", "banned_until": until}]).to_string();
    let options = ImportOptions { now: Timestamp::parse("2026-01-01").unwrap(), ..ImportOptions::default() };
    let is_banned = |until: &str| {
        read_with("supabase", text(until), options.clone()).remove(0).unwrap().read.unwrap().is_banned
    };
    assert!(is_banned("2100-01-01T00:00:00Z") && !is_banned("2025-01-01T00:00:00Z"));
}

#[test]
fn firebase_is_read_with_the_hashes_of_the_project() {
    // From Firebase's own reference implementation, https://github.com/firebase/scrypt.
    let config = "hash_config {\n  algorithm: SCRYPT,\n  base64_signer_key: jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==,\n  base64_salt_separator: Bw==,\n  rounds: 8,\n  mem_cost: 14,\n}";
    let users = json!({"users": [{
        "localId": "k1", "email": "ada@example.org", "emailVerified": true, "displayName": "Ada",
        "passwordHash": "lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ==",
        "salt": "42xEC+ixf3L2lw==", "createdAt": "1500000000000", "disabled": true,
        "customAttributes": "{\"role\":\"admin\"}", "mfaInfo": [{"phoneInfo": "+1"}],
        "providerUserInfo": [{"providerId": "google.com", "rawId": "1102", "email": "ada@example.org"},
            {"providerId": "password", "rawId": "ada@example.org"}],
    }]});
    let options =
        ImportOptions { firebase: Some(FirebaseHashes::parse(config).unwrap()), ..ImportOptions::default() };

    let entry = read_with("firebase", users.to_string(), options).remove(0).unwrap();

    assert_eq!(codes(&entry), [ProblemCode::FactorNotCarried]);
    let record = *entry.read.unwrap();
    assert!(hash(&record).starts_with("$fbscrypt$ln=14,r=8,p=1,"), "the signer key stays apart");
    assert!(record.password.as_ref().unwrap().signer_key().is_some());
    assert_eq!(identities(&record), ["google/1102"]);
    assert_eq!(json!(record.metadata.as_map()), json!({"role": "admin", "importedId": "k1"}));
    assert!(record.is_banned);
    assert_eq!(record.created_at.unwrap().to_date_text(), "2017-07-14");

    let without = read("firebase", users.to_string());
    assert!(codes(&without[0]).contains(&ProblemCode::HashUnknown));
    assert!(FirebaseHashes::parse("{}").is_err());
}

#[test]
fn auth0_is_read_as_array_and_as_lines() {
    let user = json!({
        "user_id": "auth0|5f7c8ec7", "email": "ada@example.org", "email_verified": true, "name": "ada@example.org",
        "nickname": "ada", "picture": "https://s.gravatar.com/avatar/x.png", "password_hash": BCRYPT,
        "app_metadata": {"plan": "pro"}, "user_metadata": {"theme": "dark"}, "blocked": false,
        "created_at": "2020-10-06T15:00:00.000Z",
        "identities": [{"provider": "auth0", "user_id": "5f7c8ec7"}, {"provider": "google-oauth2", "user_id": "1102"}],
    });
    for text in [json!([user]).to_string(), format!("{user}\n")] {
        let record = record("auth0", text);
        assert_eq!(
            (hash(&record), record.name.as_str()),
            (BCRYPT, "ada"),
            "the address never becomes a public name"
        );
        assert_eq!(identities(&record), ["google/1102"]);
        assert_eq!(record.metadata.as_map()["importedId"], "auth0|5f7c8ec7");
        assert_eq!(record.profile_metadata.as_map()["theme"], "dark");
    }
}

#[test]
fn custom_hashes_of_auth0_are_read() {
    let read = |custom: serde_json::Value| {
        let text = json!([{"email": "ada@example.org", "custom_password_hash": custom}]).to_string();
        let options = ImportOptions { allow_weak: true, ..ImportOptions::default() };
        let entry = read_with("auth0", text, options).remove(0).unwrap();
        assert!(entry.problems.is_empty(), "{:?}", entry.problems);
        hash(&entry.read.unwrap()).to_owned()
    };
    assert_eq!(read(json!({"algorithm": "bcrypt", "hash": {"value": BCRYPT}})), BCRYPT);
    let sha256 = json!({"algorithm": "sha256", "hash": {"value": "5e884898da28047151d0e56f8dc6292773603d0d6aabbdd62a11ef721d1542d8", "encoding": "hex"},
        "salt": {"value": "salt", "position": "suffix"}});
    assert!(read(sha256).starts_with("$digest$a=sha256,s=after$c2FsdA$"));
    let pbkdf2 = "$pbkdf2-sha512$i=100000,l=64$KNyFsA2rnoE1I5XB0c9YVg$xl5dBdl28QeARHjkLDDlbqBKyiJsBMqLwtZF0bVYwv6yO4cXO9hUnaPpZXMLMdLA5vBrpVS1r3b0IB6FXSAcmA";
    assert!(
        read(json!({"algorithm": "pbkdf2", "hash": {"value": pbkdf2, "encoding": "utf8"}}))
            .starts_with("$pbkdf2-sha512$")
    );
}

#[test]
fn clerk_is_read() {
    let text = format!(
        "id,first_name,last_name,username,primary_email_address,primary_phone_number,verified_email_addresses,unverified_email_addresses,verified_phone_numbers,unverified_phone_numbers,totp_secret,password_digest,password_hasher\n\
         user_2x,Ada,Lovelace,ada,ada@example.org,,\"ada@example.org|a@x.example\",,,,JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP,{BCRYPT},bcrypt\n\
         user_3x,,,,bob@example.org,,,bob@example.org,,,,,\n"
    );
    let entries = read("clerk", text);
    let ada = entries[0].read.as_ref().unwrap();
    assert_eq!((ada.name.as_str(), hash(ada), ada.email_verified), ("Ada Lovelace", BCRYPT, true));
    assert_eq!(
        (ada.totp.len(), codes(&entries[0])),
        (1, vec![ProblemCode::FieldDropped]),
        "a further address"
    );
    assert!(!entries[1].read.as_ref().unwrap().email_verified);
}

fn keycloak_user() -> serde_json::Value {
    json!({
        "id": UUID, "username": "ada", "email": "ada@example.org", "emailVerified": true, "enabled": false,
        "firstName": "Ada", "lastName": "Lovelace", "createdTimestamp": 1_577_836_800_000_i64,
        "attributes": {"locale": ["de"], "department": ["maths"], "tags": ["a", "b"]},
        "requiredActions": ["UPDATE_PROFILE"],
        "federatedIdentities": [{"identityProvider": "google", "userId": "1102", "userName": "ada@gmail.com"}],
        "credentials": [
            {"type": "password", "secretData": "{\"value\":\"SXzK/L0MV9dJBDPxcTPe/i9ZwmHTkgdnOaJd3WnQMjs=\",\"salt\":\"c2FsdHNhbHRzYWx0c2FsdA==\",\"additionalParameters\":{}}",
                "credentialData": "{\"hashIterations\":27500,\"algorithm\":\"pbkdf2-sha256\",\"additionalParameters\":{}}"},
            {"type": "otp", "userLabel": "Phone", "secretData": "{\"value\":\"Hello!Hello!Hello!20\"}",
                "credentialData": "{\"subType\":\"totp\",\"digits\":6,\"counter\":0,\"period\":30,\"algorithm\":\"HmacSHA1\"}"},
            {"type": "webauthn", "secretData": "{}", "credentialData": "{}"},
        ],
    })
}

#[test]
fn keycloak_realm_is_read() {
    let realm = json!({"id": "r", "realm": "demo", "roles": {"realm": [{"name": "x"}]},
        "users": [keycloak_user(), {"username": "service-account-x", "serviceAccountClientId": "x"}], "clients": []});
    let entries = read("keycloak", serde_json::to_string_pretty(&realm).unwrap());
    assert_eq!(entries.len(), 1, "accounts of clients are left out");
    assert_eq!(codes(&entries[0]), [ProblemCode::FactorNotCarried, ProblemCode::FieldDropped]);
    let record = entries[0].read.as_ref().unwrap();
    assert_eq!(
        hash(record),
        "$pbkdf2-sha256$i=27500$c2FsdHNhbHRzYWx0c2FsdA$SXzK/L0MV9dJBDPxcTPe/i9ZwmHTkgdnOaJd3WnQMjs"
    );
    assert_eq!(
        (record.totp[0].secret.as_slice(), record.totp[0].name.as_str()),
        (&b"Hello!Hello!Hello!20"[..], "Phone")
    );
    assert_eq!(
        json!(record.metadata.as_map()),
        json!({"attributes": {"department": "maths", "tags": ["a", "b"]}})
    );
    assert_eq!((record.locale.as_ref().unwrap().as_str(), record.is_banned), ("de", true));
    assert_eq!(identities(record), ["google/1102"]);
}

#[test]
fn argon2_of_keycloak_is_read() {
    let mut user = keycloak_user();
    user["credentials"] = json!([{"type": "password",
        "secretData": "{\"value\":\"cGFzc3dvcmRwYXNzd29yZHBhc3N3b3JkcGFzc3dvcmQ=\",\"salt\":\"c2FsdHNhbHRzYWx0c2FsdA==\"}",
        "credentialData": "{\"hashIterations\":5,\"algorithm\":\"argon2\",\"additionalParameters\":{\"hashLength\":[\"32\"],\"memory\":[\"7168\"],\"type\":[\"id\"],\"version\":[\"1.3\"],\"parallelism\":[\"1\"]}}"}]);
    let record = record("keycloak", json!({"users": [user]}).to_string());
    assert_eq!(
        hash(&record),
        "$argon2id$v=19$m=7168,t=5,p=1$c2FsdHNhbHRzYWx0c2FsdA$cGFzc3dvcmRwYXNzd29yZHBhc3N3b3JkcGFzc3dvcmQ"
    );
}

#[test]
fn folder_of_a_keycloak_export_is_read_without_its_links() {
    use latchkey_import::{Format, Input, Records};
    let folder = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    let user = |email: &str| json!({"users": [{"username": email, "email": email}]}).to_string();
    std::fs::write(folder.path().join("demo-realm.json"), json!({"realm": "demo"}).to_string()).unwrap();
    std::fs::write(folder.path().join("demo-users-0.json"), user("ada@example.org")).unwrap();
    std::fs::write(folder.path().join("demo-users-1.json"), user("bob@example.org")).unwrap();
    std::fs::write(outside.path().join("secret.json"), user("eve@example.org")).unwrap();
    std::os::unix::fs::symlink(outside.path().join("secret.json"), folder.path().join("demo-users-2.json"))
        .unwrap();

    let input = Input::Folder(folder.path().to_owned());
    let records = Records::open(Format::find("keycloak").unwrap(), input, ImportOptions::default()).unwrap();

    let emails: Vec<_> =
        records.map(|entry| entry.unwrap().read.unwrap().email.as_typed().to_owned()).collect();
    assert_eq!(emails, ["ada@example.org", "bob@example.org"]);
}
