//! Hashes of Clerk, of Auth0 and of Firebase's `auth:import`: each is taken in the meaning that its source documents, or refused.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use latchkey_domain::imports::ProblemCode;
use latchkey_import::{FirebaseHashes, ImportOptions};
use serde_json::{Value, json};

use super::{codes, hash, read_with};

const BCRYPT: &str = "$2a$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy";
/// MD5 of `password`.
const MD5: &str = "5f4dcc3b5aa765d61d8327deb882cf99";
/// `saltsalt` in base64 and in hex.
const SALT: &str = "c2FsdHNhbHQ=";
const SALT_HEX: &str = "73616c7473616c74";
const UNKNOWN: Result<String, ProblemCode> = Err(ProblemCode::HashUnknown);

/// Returns the stored hash of the first record, or the code of the only problem.
fn stored(format: &str, text: &str, options: ImportOptions) -> Result<String, ProblemCode> {
    let entry = read_with(format, text, options).remove(0).unwrap();
    match codes(&entry)[..] {
        [] => Ok(hash(entry.read.as_ref().unwrap()).to_owned()),
        [code] => Err(code),
        _ => panic!("{entry:?}"),
    }
}

fn weak() -> ImportOptions {
    ImportOptions { allow_weak: true, ..ImportOptions::default() }
}

fn clerk(hasher: &str, digest: &str, options: ImportOptions) -> Result<String, ProblemCode> {
    let header = "primary_email_address,password_digest,password_hasher";
    stored("clerk", &format!("{header}\nada@example.org,\"{digest}\",{hasher}\n"), options)
}

fn output(length: usize) -> (String, String) {
    let bytes = vec![0xfb; length];
    (STANDARD.encode(&bytes), hex::encode(&bytes))
}

#[test]
fn clerk_hash_is_read_in_the_form_of_its_hasher() {
    let (base64, hex) = output(32);
    let (bare, salt) = (base64.trim_end_matches('='), SALT.trim_end_matches('='));
    let argon2i = format!("$argon2i$v=19$m=4096,t=3,p=1${salt}${bare}");
    let phpass = format!("$P$B{}", "a".repeat(30));
    let of_sha256 = format!("bcrypt_sha256${BCRYPT}");
    let key = STANDARD.encode([1; 64]);
    for (hasher, digest, wanted) in [
        (
            "pbkdf2_sha256",
            format!("pbkdf2_sha256$1000${SALT}${base64}"),
            format!("$pbkdf2-sha256$i=1000${salt}${bare}"),
        ),
        (
            "pbkdf2_sha256_django",
            format!("pbkdf2_sha256$1000$saltsalt${base64}"),
            format!("$pbkdf2-sha256$i=1000${salt}${bare}"),
        ),
        (
            "pbkdf2_sha1",
            format!("pbkdf2_sha1$1000$saltsalt${hex}"),
            format!("$pbkdf2-sha1$i=1000${salt}${bare}"),
        ),
        (
            "pbkdf2_sha1",
            format!("pbkdf2_sha1$1000${SALT_HEX}${hex}$32"),
            format!("$pbkdf2-sha1$i=1000${salt}${bare}"),
        ),
        (
            "pbkdf2_sha512",
            format!("pbkdf2_sha512$1000$saltsalt${hex}"),
            format!("$pbkdf2-sha512$i=1000${salt}${bare}"),
        ),
        (
            "pbkdf2_sha512_hex",
            format!("pbkdf2_sha512_hex$1000${SALT_HEX}${hex}"),
            format!("$pbkdf2-sha512$i=1000${salt}${bare}"),
        ),
        (
            "scrypt_werkzeug",
            format!("scrypt:32768:8:1$saltsalt${hex}"),
            format!("$scrypt$ln=15,r=8,p=1${salt}${bare}"),
        ),
        (
            "scrypt_firebase",
            format!("{base64}${SALT}${key}$Bw==$8$14"),
            format!("$fbscrypt$ln=14,r=8,p=1,sk={}$c2FsdHNhbHQH${bare}", key.trim_end_matches('=')),
        ),
        ("bcrypt", BCRYPT.to_owned(), BCRYPT.to_owned()),
        ("bcrypt_sha256_django", of_sha256.clone(), of_sha256),
        ("phpass", phpass.clone(), phpass),
        ("argon2i", argon2i.clone(), argon2i),
    ] {
        assert_eq!(clerk(hasher, &digest, ImportOptions::default()), Ok(wanted), "{hasher} {digest}");
    }
}

#[test]
fn weak_hash_of_clerk_is_taken_only_on_demand() {
    let sha256 = output(32).1;
    for (hasher, digest, start) in
        [("md5", MD5, "$digest$a=md5,s=none$"), ("sha256", &sha256, "$digest$a=sha256,s=none$")]
    {
        assert_eq!(clerk(hasher, digest, ImportOptions::default()), Err(ProblemCode::HashWeak));
        let taken = clerk(hasher, digest, weak()).unwrap();
        assert!(taken.starts_with(start), "{taken}");
    }
    let ldap = format!("{{SSHA}}{}", STANDARD.encode([9; 28]));
    assert!(clerk("ldap_ssha", &ldap, weak()).unwrap().starts_with("$digest$a=sha1,s=after$"));
}

#[test]
fn clerk_hash_without_a_documented_form_is_unknown() {
    let (base64, hex) = output(32);
    for (hasher, digest) in [
        // Clerk does not say on which side of the password the salt is.
        ("md5_salted", format!("salt${MD5}")),
        ("sha256_salted", format!("salt${hex}")),
        // Rounds over digest and password, a pepper, MD5 before phpass: none has a text here.
        ("sha512_symfony", format!("sha512_symfony$5000$salt${}", output(64).0)),
        ("bcrypt_peppered", format!("{BCRYPT}$pepper")),
        ("md5_phpass", format!("$P$B{}", "a".repeat(30))),
        ("awscognito", "awscognito#pool#client#ada".to_owned()),
        ("hmac_sha256_utf16_b64", base64.clone()),
        ("a_new_one", BCRYPT.to_owned()),
        // The text is not of the form that the hasher has.
        ("bcrypt", MD5.to_owned()),
        ("md5", hex.clone()),
        ("pbkdf2_sha1", format!("pbkdf2_sha256$1000${SALT}${base64}")),
        ("pbkdf2_sha256", format!("pbkdf2_sha256$1000$not base64${base64}")),
        ("pbkdf2_sha512", format!("pbkdf2_sha512$1000$salt${base64}")),
        ("scrypt_werkzeug", format!("$scrypt:32768:8:1$salt${base64}")),
        ("scrypt_firebase", BCRYPT.to_owned()),
        ("", MD5.to_owned()),
    ] {
        assert_eq!(clerk(hasher, &digest, weak()), UNKNOWN, "{hasher} {digest}");
    }
}

/// Reads a record of Firebase with these parameters.
fn firebase(parameters: &Value, digest: &[u8], salt: &str) -> Result<String, ProblemCode> {
    let options =
        ImportOptions { firebase: Some(FirebaseHashes::parse(&parameters.to_string()).unwrap()), ..weak() };
    let user = json!({"email": "ada@example.org", "passwordHash": STANDARD.encode(digest), "salt": salt});
    stored("firebase", &json!({"users": [user]}).to_string(), options)
}

#[test]
fn parameters_of_standard_scrypt_are_those_of_the_hash() {
    let parameters = json!({"algorithm": "STANDARD_SCRYPT", "memCost": 1024, "parallelization": 2, "blockSize": 4,
        "dkLen": 64});
    let digest = [3; 64];
    let text = STANDARD.encode(digest);
    assert_eq!(
        firebase(&parameters, &digest, SALT),
        Ok(format!("$scrypt$ln=10,r=4,p=2$c2FsdHNhbHQ${}", text.trim_end_matches('=')))
    );
    assert_eq!(firebase(&parameters, &digest[..32], SALT), UNKNOWN, "another length than dkLen");
    let mut no_power = parameters.clone();
    no_power["memCost"] = json!(1000);
    assert_eq!(firebase(&no_power, &digest, SALT), UNKNOWN);
}

#[test]
fn digest_of_firebase_has_its_salt_on_the_side_that_the_order_says() {
    let digest = [3; 20];
    let text = STANDARD.encode(digest);
    let bare = text.trim_end_matches('=');
    for (order, salt, wanted) in [
        // The integration tests of Firebase's own library have the salt first without an order.
        (json!(null), SALT, format!("$digest$a=sha1,s=before$c2FsdHNhbHQ${bare}")),
        (json!("SALT_FIRST"), SALT, format!("$digest$a=sha1,s=before$c2FsdHNhbHQ${bare}")),
        (json!("password_first"), SALT, format!("$digest$a=sha1,s=after$c2FsdHNhbHQ${bare}")),
        (json!("PASSWORD_FIRST"), "", format!("$digest$a=sha1,s=none$${bare}")),
    ] {
        let parameters = json!({"algorithm": "SHA1", "rounds": 1, "hash-input-order": order});
        assert_eq!(firebase(&parameters, &digest, salt), Ok(wanted));
    }
    // MD5 comes as its digits in hex, and its rounds count from zero.
    let md5 = firebase(&json!({"algorithm": "MD5", "rounds": 0}), MD5.as_bytes(), "");
    assert_eq!(md5, Ok("$digest$a=md5,s=none$$X03MO1qnZdYdgyfeuILPmQ".to_owned()));
    let hmac = firebase(&json!({"algorithm": "HMAC_SHA1", "hashKey": "c2VjcmV0"}), &digest, "");
    assert_eq!(hmac, Ok(format!("$digest$a=sha1,s=key$c2VjcmV0${bare}")));
}

/// The length of `secret`, `secret`, and `saltsalt`, in base64.
const KEY_AND_SALT: &str = "BnNlY3JldHNhbHRzYWx0";

#[test]
fn hmac_of_firebase_has_its_salt_on_the_side_that_the_order_says() {
    let text = STANDARD.encode([3; 20]);
    // The integration tests of Firebase's own library have the salt last without an order.
    for (order, place) in
        [(json!(null), "after"), (json!("SALT_FIRST"), "before"), (json!("PASSWORD_FIRST"), "after")]
    {
        let parameters = json!({"algorithm": "HMAC_SHA1", "hashKey": "c2VjcmV0", "hashInputOrder": order});
        let wanted = format!("$digest$a=sha1,s=key{place}${KEY_AND_SALT}${}", text.trim_end_matches('='));
        assert_eq!(firebase(&parameters, &[3; 20], SALT), Ok(wanted));
    }
}

#[test]
fn hmac_of_auth0_has_its_salt_on_the_side_that_it_says() {
    let (_, hex) = output(32);
    for (position, place) in [("prefix", Some("before")), ("suffix", Some("after")), ("middle", None)] {
        let custom = json!({"algorithm": "hmac", "hash": {"value": hex, "encoding": "hex", "digest": "sha256", "key": "secret"},
            "salt": {"value": "saltsalt", "position": position}});
        let text = json!([{"email": "ada@example.org", "custom_password_hash": custom}]).to_string();
        let read = stored("auth0", &text, weak());
        match place {
            Some(place) => {
                let start = format!("$digest$a=sha256,s=key{place}${KEY_AND_SALT}$");
                assert!(read.as_ref().is_ok_and(|text| text.starts_with(&start)), "{read:?}");
            }
            None => assert_eq!(read, UNKNOWN),
        }
    }
}

#[test]
fn other_strong_hashes_of_firebase_are_read() {
    let output = STANDARD.encode([3; 64]);
    assert_eq!(
        firebase(&json!({"algorithm": "PBKDF2_SHA256", "rounds": 100_000}), &[3; 64], SALT),
        Ok(format!("$pbkdf2-sha256$i=100000$c2FsdHNhbHQ${}", output.trim_end_matches('=')))
    );
    assert_eq!(firebase(&json!({"algorithm": "BCRYPT"}), BCRYPT.as_bytes(), ""), Ok(BCRYPT.to_owned()));
}

#[test]
fn firebase_hash_that_no_text_expresses_is_unknown() {
    for (parameters, length, salt) in [
        (json!({"algorithm": "SHA256", "rounds": 2}), 32, SALT),
        (json!({"algorithm": "SHA256", "rounds": 1, "saltSeparator": "Bw=="}), 32, SALT),
        (json!({"algorithm": "MD5", "rounds": 1}), 16, ""),
        // Nothing says which function this is.
        (json!({"algorithm": "PBKDF_SHA1", "rounds": 1000}), 20, SALT),
        (json!({"algorithm": "BCRYPT"}), 16, ""),
    ] {
        assert_eq!(firebase(&parameters, &vec![3; length], salt), UNKNOWN, "{parameters}");
    }
}

#[test]
fn parameter_of_firebase_that_is_missing_or_bad_is_named() {
    for (parameters, word) in [
        (json!({"base64_signer_key": "c2VjcmV0", "mem_cost": 14}), "rounds"),
        (json!({"base64_signer_key": "c2VjcmV0", "rounds": 8}), "mem_cost"),
        (json!({"algorithm": "STANDARD_SCRYPT", "memCost": 1024, "parallelization": 1}), "block_size"),
        (json!({"algorithm": "SHA256"}), "rounds"),
        (json!({"algorithm": "SHA256", "rounds": "many"}), "rounds"),
        (json!({"algorithm": "SHA256", "rounds": 1, "hashInputOrder": "first"}), "PASSWORD_FIRST"),
        (json!({"algorithm": "HMAC_MD5"}), "base64_signer_key"),
        (json!({"algorithm": "ROT13"}), "ROT13"),
    ] {
        let error = FirebaseHashes::parse(&parameters.to_string()).err().map(|error| error.to_string());
        assert!(error.as_ref().is_some_and(|error| error.contains(word)), "{parameters} {error:?}");
    }
}

#[test]
fn custom_hash_of_auth0_that_is_not_certain_is_unknown() {
    let (base64, hex) = output(32);
    let digest = |more: Value| {
        let mut custom = json!({"algorithm": "sha256", "hash": {"value": hex, "encoding": "hex"}});
        custom.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        custom
    };
    let scrypt = |cost: u32| {
        json!({"algorithm": "scrypt", "cost": cost, "hash": {"value": base64, "encoding": "base64"},
            "salt": {"value": "salt"}})
    };
    let read = |custom: &Value| {
        let text = json!([{"email": "ada@example.org", "custom_password_hash": custom}]).to_string();
        stored("auth0", &text, weak())
    };
    for custom in [
        digest(json!({"salt": {"value": "salt"}})),
        digest(json!({"salt": {"value": "salt", "position": "middle"}})),
        digest(json!({"password": {"encoding": "utf16le"}})),
        digest(json!({"algorithm": "md4"})),
        json!({"algorithm": "bcrypt", "hash": {"value": MD5}}),
        scrypt(1000),
    ] {
        assert_eq!(read(&custom), UNKNOWN, "{custom}");
    }
    assert!(read(&scrypt(1024)).unwrap().starts_with("$scrypt$ln=10,r=8,p=1$c2FsdA$"));
    let salted = digest(json!({"salt": {"value": "salt", "position": "prefix"}}));
    assert!(read(&salted).unwrap().starts_with("$digest$a=sha256,s=before$c2FsdA$"));
}
