//! Formats of software that runs here: rows as its database has them. Files that the software itself made are imported by
//! the tests of the binary.

use latchkey_domain::imports::ProblemCode;
use latchkey_import::{Format, ImportOptions, Input, Records};
use serde_json::json;

use super::{codes, hash, identities, read, record};

const SCRYPT: &str = "9f2c1b8e7d6a5f4e3d2c1b0a99887766:\
    000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f";

#[test]
fn better_auth_is_read_from_rows_and_from_json() {
    let user = json!({"id": "u1", "name": "Ada", "email": "ada@example.org", "emailVerified": 1, "image": null,
        "createdAt": "2026-01-01T00:00:00.000Z", "updatedAt": "2026-01-01T00:00:00.000Z", "banned": 0});
    let accounts = json!([
        {"id": "a1", "accountId": "u1", "providerId": "credential", "userId": "u1", "password": SCRYPT},
        {"id": "a2", "accountId": "1102", "providerId": "google", "userId": "u1", "password": null},
    ]);
    let mut row = user.clone();
    row["account"] = accounts.clone();
    let rows = Input::Rows(Box::new(std::iter::once(Ok(row.to_string()))));
    let records =
        Records::open(Format::find("better-auth").unwrap(), rows, ImportOptions::default()).unwrap();
    let of_rows = *records.map(Result::unwrap).next().unwrap().read.unwrap();
    let of_json = record("better-auth", json!({"user": [user], "account": accounts}).to_string());

    for record in [of_rows, of_json] {
        assert!(hash(&record).starts_with("$scrypt$ln=14,r=16,p=1,f=nfkc$"), "{}", hash(&record));
        assert_eq!(identities(&record), ["google/1102"]);
        assert!(record.email_verified && !record.is_banned);
        assert_eq!(record.metadata.as_map()["importedId"], "u1");
    }
}

#[test]
fn better_auth_is_read_from_a_folder_of_tables() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("user.csv"), "id,name,email,emailVerified\nu1,Ada,ada@example.org,t\n")
        .unwrap();
    let account = format!("id,accountId,providerId,userId,password\na1,u1,credential,u1,{SCRYPT}\n");
    std::fs::write(folder.path().join("account.csv"), account).unwrap();

    let input = Input::Folder(folder.path().to_owned());
    let records =
        Records::open(Format::find("better-auth").unwrap(), input, ImportOptions::default()).unwrap();

    let records: Vec<_> = records.map(|entry| entry.unwrap().read.unwrap()).collect();
    assert_eq!(records.len(), 1);
    assert!(hash(&records[0]).starts_with("$scrypt$"));
}

#[test]
fn pocketbase_is_read() {
    let bcrypt = "$2a$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy";
    let row = json!({"id": "abcdefghijklmno", "email": "ada@example.org", "emailVisibility": 0, "verified": 1,
        "password": bcrypt, "tokenKey": "x", "name": "Ada", "avatar": "me.png", "created": "2026-01-01 10:00:00.123Z",
        "updated": "2026-01-01 10:00:00.123Z", "city": "London",
        "externalAuths": [{"provider": "github", "providerId": "77"}]});
    let entries = read("pocketbase", json!([row]).to_string());
    assert_eq!(codes(&entries[0]), [ProblemCode::FieldDropped], "the avatar is a file");
    let record = entries[0].read.as_ref().unwrap();
    assert_eq!((hash(record), identities(record)), (bcrypt, vec!["github/77".to_owned()]));
    assert_eq!(json!(record.profile_metadata.as_map()), json!({"city": "London"}));
    assert_eq!(record.created_at.unwrap().to_string(), "2026-01-01T10:00:00.123Z");
}

#[test]
fn identity_of_another_collection_of_pocketbase_is_left_out() {
    let user = |collection: Option<&str>| json!({"id": "u1", "collectionId": collection, "email": "ada@example.org"});
    let link = |key: &str, collection: &str| json!({"recordRef": "u1", key: collection, "provider": "google", "providerId": collection});
    let links = json!([
        link("collectionRef", "members_id"),
        link("collectionId", "members_id"),
        link("collectionRef", "_pb_users_auth_"),
        link("collectionId", "_pb_users_auth_"),
    ]);
    for (user, own) in [
        (user(None), "_pb_users_auth_"),
        (user(Some("_pb_users_auth_")), "_pb_users_auth_"),
        (user(Some("members_id")), "members_id"),
    ] {
        let mut nested = user.clone();
        nested["externalAuths"] = links.clone();
        for text in [json!({"users": [user], "_externalAuths": links}), json!([nested])] {
            let entry = read("pocketbase", text.to_string()).remove(0);
            assert_eq!(identities(entry.read.as_ref().unwrap()), [format!("google/{own}")], "{text}");
            assert_eq!(codes(&entry), [ProblemCode::FieldDropped], "{text}");
        }
    }
}

/// Reads an account that names no collection, beside which there are identities of these ones.
fn of_collections(collections: &[&str]) -> (Vec<String>, Vec<ProblemCode>) {
    let link = |(at, collection): (usize, &&str)| {
        json!({"recordRef": "u1", "collectionRef": collection, "provider": "google",
        "providerId": at.to_string()})
    };
    let links: Vec<_> = collections.iter().enumerate().map(link).collect();
    let user = json!({"id": "u1", "email": "ada@example.org"});
    let entry = read("pocketbase", json!({"users": [user], "_externalAuths": links}).to_string()).remove(0);
    (identities(entry.read.as_ref().unwrap()), codes(&entry))
}

#[test]
fn account_of_pocketbase_that_names_no_collection_is_of_users() {
    for (collections, own) in [
        (["members_id", "_pb_users_auth_"], vec!["google/1".to_owned()]),
        (["members_id", "members_id"], vec![]),
    ] {
        assert_eq!(of_collections(&collections), (own, vec![ProblemCode::FieldDropped]), "{collections:?}");
    }
}

#[test]
fn account_of_a_database_with_very_many_rows_beside_it_has_the_first_100() {
    let accounts: Vec<_> = (0..101)
        .map(|at| json!({"providerId": "google", "accountId": at.to_string(), "userId": "u1"}))
        .collect();
    let row = json!({"id": "u1", "email": "ada@example.org", "account": accounts}).to_string();
    let rows = Input::Rows(Box::new(std::iter::once(Ok(row))));
    let format = Format::find("better-auth").unwrap();

    let entry = Records::open(format, rows, ImportOptions::default()).unwrap().next().unwrap().unwrap();

    assert_eq!(codes(&entry), [ProblemCode::RecordTooLarge]);
    assert_eq!(identities(&entry.read.unwrap()).len(), 100);
}
