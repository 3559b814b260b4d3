//! Our own format, and tables with a header.

use latchkey_domain::imports::ProblemCode;
use latchkey_import::ImportOptions;
use serde_json::json;

use super::{codes, hash, identities, read, read_with, record};

const ID: &str = "0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b";
const ARGON2ID: &str =
    "$argon2id$v=19$m=19456,t=2,p=1$c2FsdHNhbHRzYWx0c2FsdA$cGFzc3dvcmRwYXNzd29yZHBhc3N3b3JkcGFzc3dvcmQ";

#[test]
fn record_of_ours_has_all_fields() {
    let text = json!({
        "id": ID, "email": "Ada@example.org", "emailVerified": true, "passwordHash": ARGON2ID, "name": "Ada",
        "username": "ada", "avatarUrl": "https://x.example/a.png", "bio": "Hi", "metadata": {"plan": "pro"},
        "profileMetadata": {"theme": "dark"}, "custom": {"team": "x"}, "locale": "de", "banned": true,
        "createdAt": "2020-01-02T03:04:05Z",
        "identities": [{"provider": "google", "subject": "1", "email": "ada@gmail.com"}],
        "totp": [{"secret": "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP", "name": "Phone"}],
    });
    let record = record("latchkey", text.to_string());

    assert_eq!(record.id.unwrap().to_string(), ID);
    assert_eq!((record.email.as_typed(), record.email_verified), ("Ada@example.org", true));
    assert_eq!(hash(&record), ARGON2ID);
    assert_eq!((record.name.as_str(), record.username.as_ref().unwrap().as_str()), ("Ada", "ada"));
    assert_eq!(record.avatar_url.as_ref().unwrap().as_str(), "https://x.example/a.png");
    assert_eq!(
        (record.bio.as_ref().unwrap().as_str(), record.locale.as_ref().unwrap().as_str()),
        ("Hi", "de")
    );
    assert_eq!(record.metadata.as_map()["plan"], "pro");
    assert_eq!(record.profile_metadata.as_map()["theme"], "dark");
    assert_eq!(record.custom["team"], "x");
    assert!(record.is_banned);
    assert_eq!(record.created_at.unwrap().to_string(), "2020-01-02T03:04:05.000Z");
    assert_eq!(identities(&record), ["google/1"]);
    assert_eq!((record.totp[0].secret.len(), record.totp[0].name.as_str()), (20, "Phone"));
}

#[test]
fn bad_optional_value_is_left_out_and_named() {
    let text = json!({
        "id": "user_1", "email": "ada@example.org", "username": "a b", "avatarUrl": "x", "bio": 7, "colour": "red",
        "name": "x".repeat(101), "passwordHash": "hunter2", "totp": [{"secret": "A"}], "custom": {"name": "x"},
        "metadata": {"big": "x".repeat(20_000)},
    });
    let entries = read("latchkey", text.to_string());

    let record = entries[0].read.as_ref().unwrap();
    assert!(record.username.is_none() && record.password.is_none() && record.totp.is_empty());
    let mut fields: Vec<_> =
        entries[0].problems.iter().map(|one| (one.field.as_deref().unwrap(), one.code)).collect();
    fields.sort();
    let dropped = |field| (field, ProblemCode::FieldDropped);
    assert_eq!(
        fields,
        [
            dropped("avatarUrl"),
            dropped("bio"),
            dropped("colour"),
            dropped("custom"),
            dropped("metadata"),
            dropped("name"),
            ("passwordHash", ProblemCode::HashUnknown),
            ("totp", ProblemCode::FactorNotCarried),
            dropped("username"),
        ]
    );
    assert!(entries[0].problems.iter().all(|one| !one.message.contains("hunter2")), "no value is quoted");
}

#[test]
fn id_that_is_no_uuid_goes_to_the_metadata() {
    let record = record("latchkey", r#"{"id": "user_1", "email": "ada@example.org"}"#);
    assert!(record.id.is_none());
    assert_eq!(record.metadata.as_map()["importedId"], "user_1");
}

#[test]
fn record_without_a_good_address_is_refused() {
    let entries = read("latchkey", "{}\n{\"email\": \"ada\"}\n\n{\"email\": 7}\n");
    assert_eq!(entries.iter().map(|entry| entry.line).collect::<Vec<_>>(), [1, 2, 4]);
    assert!(entries.iter().all(|entry| codes(entry).contains(&ProblemCode::EmailInvalid)));
}

#[test]
fn columns_are_guessed_or_given() {
    let text =
        "Mail,E-Mail Address,is_verified,Password,joined,Plan\r\nx,ada@example.org,yes,,2020-01-01,pro\r\n";
    let guessed = record("csv", text);
    assert_eq!((guessed.email.as_typed(), guessed.email_verified), ("ada@example.org", true));
    assert!(guessed.created_at.is_none() && guessed.metadata.as_map().is_empty());

    let mut options = ImportOptions { keep_rest: true, ..ImportOptions::default() };
    options.add_column("createdAt=joined").unwrap();
    let given = *read_with("csv", text, options).remove(0).unwrap().read.unwrap();
    assert_eq!(given.created_at.unwrap().to_date_text(), "2020-01-01");
    assert_eq!(given.metadata.as_map()["imported"], json!({"Mail": "x", "Plan": "pro"}));

    assert!(ImportOptions::default().add_column("colour=x").unwrap_err().to_string().contains("email"));
}

#[test]
fn quotes_commas_and_line_ends_are_those_of_rfc_4180() {
    let text =
        "email,name,bio\n\"ada@example.org\",\"Lovelace, \"\"Ada\"\"\",\"one\ntwo\"\nbob@example.org,Bob,\n";
    let entries = read("csv", text);
    let ada = entries[0].read.as_ref().unwrap();
    assert_eq!((ada.name.as_str(), ada.bio.as_ref().unwrap().as_str()), ("Lovelace, \"Ada\"", "one\ntwo"));
    assert_eq!((entries[0].line, entries[1].line), (2, 4));
    assert!(entries[1].read.as_ref().unwrap().bio.is_none());
}

#[test]
fn django_users_are_read_as_csv_and_as_dumpdata() {
    let pbkdf2 = "pbkdf2_sha256$600000$c2FsdA$SXzK/L0MV9dJBDPxcTPe/i9ZwmHTkgdnOaJd3WnQMjs=";
    let csv = format!(
        "id,password,last_login,is_superuser,username,first_name,last_name,email,is_staff,is_active,date_joined\n\
         7,{pbkdf2},,0,ada,Ada,Lovelace,ada@example.org,0,0,2020-01-01 10:00:00+00:00\n"
    );
    let dump = json!([{"model": "auth.user", "pk": 7, "fields": {
        "password": pbkdf2, "username": "ada", "first_name": "Ada", "last_name": "Lovelace",
        "email": "ada@example.org", "is_active": false, "date_joined": "2020-01-01T10:00:00Z"}}]);
    for text in [csv, dump.to_string()] {
        let record = record("django", text);
        assert_eq!(
            (record.name.as_str(), record.username.as_ref().unwrap().as_str()),
            ("Ada Lovelace", "ada")
        );
        assert!(
            record.is_banned && hash(&record).starts_with("$pbkdf2-sha256$i=600000$"),
            "{}",
            hash(&record)
        );
        assert_eq!(record.metadata.as_map()["importedId"], "7");
        assert_eq!(record.created_at.unwrap().to_string(), "2020-01-01T10:00:00.000Z");
    }
    let unusable = record("django", "email,password\nada@example.org,!abc\n");
    assert!(unusable.password.is_none());
}

#[test]
fn rauthy_users_are_read() {
    let text = format!(
        "id,email,given_name,family_name,password,enabled,email_verified,created_at\n\
         Cd8yQ,ada@example.org,Ada,Lovelace,{},1,1,1577836800\n",
        ARGON2ID
            .replace(',', "\",\"")
            .replace("\",\"", ",")
            .replace("$argon2id$v=19$m=19456,t=2,p=1", "\"$argon2id$v=19$m=19456,t=2,p=1")
            + "\""
    );
    let record = record("rauthy", text);
    assert_eq!((record.name.as_str(), hash(&record)), ("Ada Lovelace", ARGON2ID));
    assert!(record.email_verified && !record.is_banned);
    assert_eq!(record.created_at.unwrap().to_date_text(), "2020-01-01");
}

#[test]
fn weak_hash_is_taken_only_on_demand() {
    let text = "email,password\nada@example.org,5f4dcc3b5aa765d61d8327deb882cf99\n";
    assert_eq!(codes(&read("csv", text)[0]), [ProblemCode::HashWeak]);
    let options = ImportOptions { allow_weak: true, ..ImportOptions::default() };
    let taken = *read_with("csv", text, options).remove(0).unwrap().read.unwrap();
    assert!(hash(&taken).starts_with("$digest$a=md5"), "{}", hash(&taken));
}

#[test]
fn unverified_import_trusts_no_address() {
    let options = ImportOptions { is_unverified: true, ..ImportOptions::default() };
    let text = r#"{"email": "ada@example.org", "emailVerified": true}"#;
    assert!(!read_with("latchkey", text, options).remove(0).unwrap().read.unwrap().email_verified);
}
