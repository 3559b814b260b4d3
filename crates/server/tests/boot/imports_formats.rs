//! Accounts of each format of `latchkey import` keep their passwords.
//!
//! The files of Better Auth and Django are of their own software. The hashes of the others are by Python's hashlib, bcrypt,
//! argon2-cffi, passlib and Werkzeug; those of Firebase by hashlib's scrypt and AES of cryptography.

use latchkey_testkit::{Client, Value, json};

use crate::binary::{Binary, eventually};

/// Beginning of hashes by the settings of [`Binary::new`]. No file has such a hash.
const OURS: &str = "$argon2id$v=19$m=64,t=1,p=1$";

/// A file with accounts, in one of the formats.
struct Source {
    format: &'static str,
    file: &'static str,
    text: &'static str,
    options: &'static [&'static str],
    /// Accounts: `NAME@example.org` has the password that [`password`] returns.
    names: &'static [&'static str],
}

/// A file in `sources/formats`.
macro_rules! source {
    ($format:literal, $file:literal, $options:expr, $names:expr) => {
        Source {
            format: $format,
            file: $file,
            text: include_str!(concat!("sources/formats/", $file)),
            options: &$options,
            names: &$names,
        }
    };
}

const COLUMNS: [&str; 6] =
    ["--column", "email=address", "--column", "emailVerified=verified", "--column", "passwordHash=digest"];

/// Files with hashes that are taken.
const STRONG: [Source; 18] = [
    source!("latchkey", "latchkey.jsonl", [], ["latchkey"]),
    source!("supabase", "supabase.json", [], ["supabase-bcrypt", "supabase-argon2id", "supabase-firebase"]),
    source!("supabase", "supabase.csv", [], ["supabase-csv"]),
    source!("supabase", "supabase.sql", [], ["supabase-dump"]),
    source!(
        "firebase",
        "firebase-scrypt.json",
        ["--hash-config", "firebase-scrypt-config.txt"],
        ["firebase-scrypt"]
    ),
    source!(
        "firebase",
        "firebase-standard-scrypt.json",
        ["--hash-config", "firebase-standard-scrypt-config.json"],
        ["firebase-standard-scrypt"]
    ),
    source!(
        "firebase",
        "firebase-bcrypt.json",
        ["--hash-config", "firebase-bcrypt-config.json"],
        ["firebase-bcrypt"]
    ),
    source!(
        "firebase",
        "firebase-pbkdf2.json",
        ["--hash-config", "firebase-pbkdf2-config.json"],
        ["firebase-pbkdf2"]
    ),
    source!(
        "auth0",
        "auth0.json",
        [],
        ["auth0-bcrypt", "auth0-custom-bcrypt", "auth0-pbkdf2", "auth0-argon2", "auth0-scrypt"]
    ),
    source!("auth0", "auth0-hashes.jsonl", [], ["auth0-hashes", "auth0-alternative", "auth0-identifier"]),
    source!(
        "clerk",
        "clerk.csv",
        [],
        [
            "clerk-bcrypt",
            "clerk-argon2id",
            "clerk-argon2i",
            "clerk-pbkdf2-sha256",
            "clerk-pbkdf2-django",
            "clerk-pbkdf2-sha512",
            "clerk-pbkdf2-sha1",
            "clerk-werkzeug",
            "clerk-bcrypt-sha256",
            "clerk-phpass",
            "clerk-firebase",
        ]
    ),
    source!(
        "keycloak",
        "keycloak.json",
        [],
        ["keycloak-sha256", "keycloak-sha512", "keycloak-sha1", "keycloak-argon2"]
    ),
    Source {
        format: "better-auth",
        file: "better-auth.json",
        text: include_str!("sources/better-auth.json"),
        options: &[],
        names: &["ada", "zoe"],
    },
    source!("pocketbase", "pocketbase.json", [], ["pocketbase"]),
    source!("rauthy", "rauthy.csv", [], ["rauthy"]),
    source!("django", "django.csv", [], ["django-pbkdf2"]),
    source!(
        "django",
        "django.json",
        [],
        [
            "django-dump",
            "django-sha1",
            "django-argon2",
            "django-bcrypt-sha256",
            "django-scrypt",
            "django-bcrypt",
        ]
    ),
    source!(
        "csv",
        "table.csv",
        COLUMNS,
        [
            "csv-bcrypt",
            "csv-sha512-crypt",
            "csv-sha256-crypt",
            "csv-phpass",
            "csv-passlib",
            "csv-scrypt",
            "csv-argon2d",
            "csv-werkzeug",
        ]
    ),
];

/// Files with hashes that are taken on demand only.
const WEAK: [Source; 4] = [
    source!(
        "firebase",
        "firebase-hmac.json",
        ["--hash-config", "firebase-hmac-config.json"],
        ["firebase-hmac"]
    ),
    source!(
        "firebase",
        "firebase-sha256.json",
        ["--hash-config", "firebase-sha256-config.json"],
        ["firebase-sha256"]
    ),
    source!("auth0", "auth0-weak.json", [], ["auth0-sha256", "auth0-hmac-before", "auth0-hmac-after"]),
    source!("csv", "table-weak.csv", COLUMNS, ["csv-md5", "csv-ssha", "csv-sha512", "csv-sha256-base64"]),
];

/// Parameters of Firebase's hashes, each in a file beside the users.
const HASH_CONFIGS: [(&str, &str); 6] = [
    ("firebase-scrypt-config.txt", include_str!("sources/formats/firebase-scrypt-config.txt")),
    (
        "firebase-standard-scrypt-config.json",
        include_str!("sources/formats/firebase-standard-scrypt-config.json"),
    ),
    ("firebase-bcrypt-config.json", include_str!("sources/formats/firebase-bcrypt-config.json")),
    ("firebase-pbkdf2-config.json", include_str!("sources/formats/firebase-pbkdf2-config.json")),
    ("firebase-hmac-config.json", include_str!("sources/formats/firebase-hmac-config.json")),
    ("firebase-sha256-config.json", include_str!("sources/formats/firebase-sha256-config.json")),
];

/// Password of an account at its source.
fn password(name: &str) -> String {
    match name {
        "ada" => "correct horse battery".to_owned(),
        "zoe" => "ﬁne Pässwörd ①".to_owned(),
        _ => format!("Pässwörd of {name}"),
    }
}

fn email(name: &str) -> String {
    format!("{name}@example.org")
}

/// Binary in a new folder with the parameters of Firebase's hashes.
fn binary() -> Binary {
    let binary = Binary::new();
    for (name, text) in HASH_CONFIGS {
        std::fs::write(binary.path(name), text).unwrap();
    }
    binary
}

/// Imports a file, whose accounts are created without any problem.
async fn import(binary: &Binary, source: &Source, more: &[&str]) {
    std::fs::write(binary.path(source.file), source.text).unwrap();
    let command = ["import", source.file, "--from", source.format, "--json"];
    let output = binary.run(&[&command, source.options, more].concat()).await;
    let last: Value = output.good().lines().last().unwrap().parse().unwrap();
    let job = &last["job"];
    let counts = (&job["created"], &job["refused"], &job["skipped"], &job["problems"]);
    let wanted = (&json!(source.names.len()), &json!(0), &json!(0), &json!({}));
    assert_eq!(counts, wanted, "{}: {}", source.file, binary.run(&["import", "list"]).await.out);
}

/// Hash that is stored for an account.
fn stored_hash(binary: &Binary, name: &str) -> String {
    let conn = rusqlite::Connection::open(binary.path("latchkey-data/latchkey.db")).unwrap();
    let sql =
        "SELECT c.data FROM credentials AS c JOIN users AS u ON u.id = c.user_id WHERE u.email_key = ?1";
    conn.query_row(sql, [email(name)], |row| row.get(0)).unwrap()
}

/// Asserts that an account signs in with its old password only, and has a hash of ours from then on.
async fn assert_signs_in(binary: &Binary, client: &Client, name: &str) {
    let (email, password) = (email(name), password(name));
    let imported = stored_hash(binary, name);
    assert!(!imported.starts_with(OURS), "{name}: {imported}");
    let wrong = client.sign_in(&email, &format!("{password}!")).send().await;
    assert_eq!(wrong.status, 401, "{name}: {wrong:?}");
    assert!(!stored_hash(binary, name).starts_with(OURS), "{name}: a wrong password makes no hash");

    let first = client.sign_in(&email, &password).send().await;

    assert_eq!(first.status, 200, "{name} by {imported}: {first:?}");
    let ours = stored_hash(binary, name);
    assert!(ours.starts_with(OURS), "{name}: {ours}");
    let wrong = client.sign_in(&email, &format!("{password}!")).send().await;
    assert_eq!(wrong.status, 401, "{name} after the rehash: {wrong:?}");
    let second = client.sign_in(&email, &password).send().await;
    assert_eq!(second.status, 200, "{name} after the rehash: {second:?}");
    assert_eq!(stored_hash(binary, name), ours, "{name}: a hash of ours stays");
}

/// Imports files into one folder, and returns the names of their accounts.
async fn import_all(binary: &Binary, sources: &'static [Source], more: &[&str]) -> Vec<&'static str> {
    for source in sources {
        import(binary, source, more).await;
    }
    sources.iter().flat_map(|source| source.names).copied().collect()
}

#[tokio::test]
async fn account_of_each_format_signs_in_with_its_old_password_and_again_after_the_rehash() {
    let binary = binary();
    let names = import_all(&binary, &STRONG, &[]).await;

    let running = binary.serve().await;

    for name in names {
        assert_signs_in(&binary, &running.anon(), name).await;
    }
}

#[tokio::test]
async fn account_with_a_weak_hash_signs_in_with_its_old_password_and_again_after_the_rehash() {
    let binary = binary();
    let names = import_all(&binary, &WEAK, &["--allow-weak"]).await;

    let running = binary.serve().await;

    for name in names {
        eventually("the bare digest is wrapped", async || {
            stored_hash(&binary, name).starts_with("$wrapped$").then_some(())
        })
        .await;
        assert_signs_in(&binary, &running.anon(), name).await;
    }
}

#[tokio::test]
async fn weak_hash_is_not_taken_unasked() {
    let binary = binary();
    for source in &WEAK {
        std::fs::write(binary.path(source.file), source.text).unwrap();
        let command = ["import", source.file, "--from", source.format];
        let output = binary.run(&[&command, source.options].concat()).await;
        let count = source.names.len();
        assert!(output.good().contains(&format!("{count} created")), "{}", output.out);
        assert!(output.out.contains(&format!("{count} hash_weak")), "{}", output.out);
    }
}
