//! Exports of ours: what surrounds the accounts, and what an account has beyond a record.

use latchkey_domain::imports::ProblemCode;
use latchkey_import::{Entry, ImportOptions, ReadError};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{codes, hash, identities, read_with};

const HEAD: &str = "{\"kind\":\"latchkey-export\",\"format\":1}\n";
const KEY_ID: &str = "0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b";

/// Writes an export with these lines between head and end.
fn export(lines: &[Value]) -> String {
    let text: String = lines.iter().flat_map(|line| [line.to_string(), "\n".to_owned()]).collect();
    let users = lines.iter().filter(|line| line["kind"] == "user").count();
    end(&format!("{HEAD}{text}"), users)
}

fn end(text: &str, users: usize) -> String {
    let sha256 = hex::encode(Sha256::digest(text.as_bytes()));
    format!("{text}{}\n", json!({"kind": "end", "users": users, "sha256": sha256}))
}

fn read(text: &str) -> Vec<Result<Entry, ReadError>> {
    read_with("latchkey", text, ImportOptions::default())
}

/// Reads an export with a single account.
fn account(more: &Value) -> Entry {
    let mut line = json!({"kind": "user", "email": "ada@example.org", "emailVerified": true});
    line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let mut entries = read(&export(&[line]));
    assert_eq!(entries.len(), 1, "{entries:?}");
    entries.remove(0).unwrap()
}

/// Asserts that a file is read up to its end, which is refused.
fn assert_refused(text: &str, told: &str) {
    let last = read(text).pop().unwrap();
    let error = last.expect_err("a refusal").to_string();
    assert!(error.contains(told), "{error}");
}

fn ada() -> Value {
    json!({"kind": "user", "email": "ada@example.org"})
}

fn passkey() -> Value {
    json!({
        "credentialId": "AQID", "publicKey": "BAUG", "userHandle": "AAAAAAAAAAAAAAAAAAAAAA", "rpId": "example.org",
        "name": "Phone", "aaguid": "00112233445566778899aabbccddeeff", "transports": ["internal"], "counter": 7,
        "backupEligible": true, "backedUp": true, "createdAt": "2026-01-02T03:04:05Z",
    })
}

#[test]
fn only_users_of_an_export_are_read() {
    let lines = [ada(), json!({"kind": "provider", "key": "x"}), json!({"kind": "settings"})];
    let entries = read(&export(&lines));
    assert_eq!(entries.len(), 1);
    assert!(entries[0].as_ref().unwrap().problems.is_empty());
}

#[test]
fn torn_export_is_told() {
    let whole = export(&[ada(), ada()]);
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    for kept in 1..lines.len() {
        assert_refused(&lines[..kept].concat(), "torn");
    }
}

#[test]
fn altered_export_is_told() {
    let whole = export(&[ada(), json!({"kind": "settings"})]);
    assert_eq!(read(&whole).len(), 1);
    for (from, to) in [
        ("ada@", "eve@"),
        ("\"kind\":\"latchkey-export\"", "\"kind\": \"latchkey-export\""),
        ("{\"kind\":\"settings\"}\n", ""),
        ("{\"kind\":\"settings\"}\n", "{\"kind\":\"settings\"}\r\n"),
        ("\"users\":1", "\"users\":2"),
    ] {
        let altered = whole.replace(from, to);
        assert_ne!(altered, whole, "{from}");
        assert_refused(&altered, "altered");
    }
    assert_refused(&format!("{whole}{}\n", ada()), "altered");
    let without_sha256 = format!("{HEAD}{}\n{{\"kind\":\"end\",\"users\":1}}\n", ada());
    assert_refused(&without_sha256, "altered");
}

#[test]
fn export_of_a_later_format_is_refused() {
    let text =
        "{\"kind\":\"latchkey-export\",\"format\":2}\n{\"kind\":\"user\",\"email\":\"ada@example.org\"}\n";
    let entries = read(text);
    assert_eq!(entries.len(), 1, "no account of it is read");
    assert_refused(text, "another format");
}

#[test]
fn records_of_ours_have_no_end() {
    let entries = read("{\"email\":\"ada@example.org\"}\n{\"email\":\"bob@example.org\"}\n");
    assert!(entries.len() == 2 && entries.iter().all(Result::is_ok), "{entries:?}");
}

#[test]
fn times_profile_and_providers_are_those_of_the_export() {
    let entry = account(&json!({
        "name": "", "updatedAt": "2026-01-02T03:04:05.678Z", "lastSignInAt": "2026-01-01T00:00:00Z",
        "identities": [{"provider": "azure", "subject": "1"}],
    }));

    assert!(entry.problems.is_empty(), "{:?}", entry.problems);
    let record = entry.read.unwrap();
    assert_eq!(record.updated_at.unwrap().to_string(), "2026-01-02T03:04:05.678Z");
    assert_eq!(record.last_sign_in_at.unwrap().to_string(), "2026-01-01T00:00:00.000Z");
    assert_eq!(record.has_profile, Some(true));
    assert_eq!(identities(&record), ["azure/1"], "a provider of an export has our name already");
    let without = account(&json!({})).read.unwrap();
    assert_eq!(without.has_profile, Some(false));
}

#[test]
fn passkeys_are_read() {
    let entry = account(&json!({"twoStep": true, "passkeys": [passkey()]}));

    assert!(entry.problems.is_empty(), "{:?}", entry.problems);
    let record = entry.read.unwrap();
    assert!(record.has_two_step && record.user_handle.unwrap().as_bytes() == &[0; 16]);
    let [read] = record.passkeys.as_slice() else { panic!("{record:?}") };
    assert_eq!((read.credential_id.as_bytes(), read.public_key.as_slice()), (&[1, 2, 3][..], &[4, 5, 6][..]));
    assert_eq!((read.rp_id.as_str(), read.name.as_str(), read.state.counter), ("example.org", "Phone", 7));
    assert_eq!((read.aaguid.as_bytes()[0], read.aaguid.as_bytes()[15]), (0x00, 0xff));
    assert!(read.is_backup_eligible && read.state.is_backed_up && read.last_used_at.is_none());
}

#[test]
fn malformed_passkey_is_left_out_and_named() {
    let with = |key: &str, value: Value| {
        let mut passkey = passkey();
        passkey[key] = value;
        passkey
    };
    for bad in [
        json!(7),
        with("credentialId", json!("")),
        with("credentialId", json!("a b")),
        with("publicKey", json!(null)),
        with("userHandle", json!("AAAA")),
        with("rpId", json!("Example.org/x")),
        with("name", json!("")),
        with("aaguid", json!("+0112233445566778899aabbccddeeff")),
        with("counter", json!(4_294_967_296_u64)),
    ] {
        let entry = account(&json!({"passkeys": [bad]}));
        assert_eq!(codes(&entry), [ProblemCode::FactorNotCarried], "{bad}");
        assert_eq!(entry.problems[0].field.as_deref(), Some("passkeys"));
        assert!(entry.read.unwrap().passkeys.is_empty());
    }
    let other_handle = with("userHandle", json!("AQAAAAAAAAAAAAAAAAAAAA"));
    let entry = account(&json!({"passkeys": [passkey(), passkey(), other_handle]}));
    assert_eq!(codes(&entry), [ProblemCode::FactorNotCarried; 2]);
    assert_eq!(entry.read.unwrap().passkeys.len(), 1);
}

#[test]
fn two_step_sign_in_without_a_factor_stays_off_and_is_told() {
    let entry = account(&json!({"twoStep": true}));
    assert_eq!(codes(&entry), [ProblemCode::FactorNotCarried]);
    assert!(!entry.read.unwrap().has_two_step);
}

#[test]
fn signer_key_joins_the_hashes_that_name_it() {
    let text = format!("$fbscrypt$ln=14,r=8,p=1,k={KEY_ID}$c2FsdHNhbHQ$b3V0cHV0b3V0cHV0b3V0cHV0b3V0cHV0");
    let key = json!({"kind": "hashKey", "id": KEY_ID, "key": "MDEyMzQ1Njc4OTAxMjM0NQ=="});
    let user = json!({"kind": "user", "email": "ada@example.org", "passwordHash": text});

    let mut entries = read(&export(&[key, user.clone()]));
    let record = entries.remove(0).unwrap().read.unwrap();
    assert_eq!(hash(&record), text);
    let found = record.hash_key.as_ref().unwrap();
    assert_eq!(
        (found.id.to_string().as_str(), found.key.as_slice()),
        (KEY_ID, b"0123456789012345".as_slice())
    );
    assert!(!format!("{record:?}").contains("0123456789"));

    let record = read(&export(&[user])).remove(0).unwrap().read.unwrap();
    assert!(record.hash_key.is_none() && record.password.is_some());
}

#[test]
fn malformed_signer_key_is_a_refused_record() {
    for key in
        [json!({}), json!({"id": KEY_ID, "key": "AAAA"}), json!({"id": "x", "key": "MDEyMzQ1Njc4OTAxMjM0NQ"})]
    {
        let mut line = json!({"kind": "hashKey"});
        line.as_object_mut().unwrap().extend(key.as_object().unwrap().clone());
        let entries = read(&export(&[line, ada()]));
        assert_eq!(entries.len(), 2);
        let problem = entries[0].as_ref().unwrap().read.as_ref().unwrap_err();
        assert_eq!((problem.code, problem.field.as_deref()), (ProblemCode::HashUnknown, Some("key")));
    }
}
