//! Clerk: the CSV of the dashboard's export.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::Format;
use super::hashes::{self, base64_of_hex, firebase, starting};
use crate::draft::Draft;
use crate::values::Fields;

pub(super) const FORMAT: Format = Format {
    name: "clerk",
    about: "CSV of the dashboard's export",
    map: |fields, _, _| map(fields),
    ..Format::DEFAULT
};

fn map(fields: Fields<'_>) -> Draft {
    let names: Vec<String> =
        ["first_name", "last_name"].iter().filter_map(|name| fields.text(&[name])).collect();
    let email = fields.text(&["primary_email_address", "email_address"]);
    let list = |name: &str| -> Vec<String> {
        let text = fields.text(&[name]).unwrap_or_default();
        let parts = text.split([',', '|', ';', ' ']).map(str::trim).filter(|part| !part.is_empty());
        parts.map(str::to_owned).collect()
    };
    let (verified, unverified) = (list("verified_email_addresses"), list("unverified_email_addresses"));
    let mut draft = Draft {
        id: fields.text(&["id"]),
        email_verified: email
            .as_ref()
            .is_some_and(|email| verified.contains(email) && !unverified.contains(email)),
        name: (!names.is_empty()).then(|| names.join(" ")),
        username: fields.text(&["username"]),
        avatar_url: fields.text(&["image_url", "profile_image_url"]),
        created_at: fields.time(&["created_at"]),
        ..Draft::default()
    };
    if let Some(digest) = fields.text(&["password_digest"]) {
        let hasher = fields.text(&["password_hasher"]).unwrap_or_default();
        hashes::set(&mut draft, hash_text(&hasher, digest));
    }
    draft.metadata = fields.object(&["public_metadata"]).unwrap_or_default();
    for (key, value) in fields.object(&["private_metadata"]).unwrap_or_default() {
        draft.metadata.entry(key).or_insert(value);
    }
    draft.profile_metadata = fields.object(&["unsafe_metadata"]).unwrap_or_default();
    let others = verified.iter().chain(&unverified).filter(|other| Some(*other) != email.as_ref()).count();
    if others > 0 {
        draft.drop_field("email", "has further addresses, which are not carried");
    }
    if fields.get("primary_phone_number").is_some() {
        draft.drop_field("primary_phone_number", "phone numbers are not carried");
    }
    if let Some(secret) = fields.text(&["totp_secret"]) {
        draft.totp.push((secret, None));
    }
    draft.email = email;
    draft
}

/// Returns the hash in a text that the domain knows. Clerk documents the form of each hasher's digest with `createUser`;
/// a hasher that is not here has no such form, or none that the domain can check.
fn hash_text(hasher: &str, digest: String) -> Option<String> {
    match hasher {
        "" | "bcrypt" => starting(digest, "$2"),
        "bcrypt_sha256_django" => starting(digest, "bcrypt_sha256$"),
        "argon2i" => starting(digest, "$argon2i$"),
        "argon2id" => starting(digest, "$argon2id$"),
        "phpass" => starting(digest, "$P$"),
        "pbkdf2_sha256_django" => starting(digest, "pbkdf2_sha256$"),
        "scrypt_werkzeug" => starting(digest, "scrypt:"),
        "ldap_ssha" => starting(digest, "{SSHA}"),
        "md5" | "sha256" => Some(format!("$digest$a={hasher},s=none$${}", base64_of_hex(&digest)?)),
        "scrypt_firebase" => match digest.split('$').collect::<Vec<_>>()[..] {
            [hash, salt, key, separator, rounds, memory] => {
                Some(firebase(rounds, memory, key, separator, salt, hash))
            }
            _ => None,
        },
        _ => pbkdf2(hasher, digest.strip_prefix(hasher)?.strip_prefix('$')?),
    }
}

/// Returns a hash of PBKDF2. Each hasher writes salt and output in its own way.
fn pbkdf2(hasher: &str, digest: &str) -> Option<String> {
    let parts: Vec<_> = digest.split('$').collect();
    let (&[iterations, salt, output], length) = parts.split_first_chunk::<3>()?;
    let text = |salt: &str| STANDARD.encode(salt);
    let (name, salt, output) = match hasher {
        "pbkdf2_sha1" => ("sha1", base64_of_hex(salt).unwrap_or_else(|| text(salt)), base64_of_hex(output)?),
        "pbkdf2_sha256" => ("sha256", salt.to_owned(), output.to_owned()),
        "pbkdf2_sha512" => ("sha512", text(salt), base64_of_hex(output)?),
        "pbkdf2_sha512_hex" => ("sha512", base64_of_hex(salt)?, base64_of_hex(output)?),
        _ => return None,
    };
    let length = match length {
        [] => String::new(),
        [length] if name == "sha1" => format!(",l={length}"),
        _ => return None,
    };
    Some(format!("$pbkdf2-{name}$i={iterations}{length}${salt}${output}"))
}
