//! Auth0: the bulk export, a JSON array or JSON lines, the file of password hashes that Auth0's support makes, or a file of
//! the bulk import, with `custom_password_hash`.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::Format;
use super::hashes::{self, base64_of_hex, starting};
use crate::draft::Draft;
use crate::values::Fields;

pub(super) const FORMAT: Format = Format {
    name: "auth0",
    about: "JSON array or JSON lines of the bulk export or import",
    map: |fields, _, _| map(fields),
    ..Format::DEFAULT
};

/// Names under which Auth0 lists its own passwords, and a mailbox to which it sent codes.
const OWN_PROVIDERS: [&str; 2] = ["auth0", "email"];

fn map(fields: Fields<'_>) -> Draft {
    let mut draft = Draft {
        id: id(fields),
        email: fields.text(&["email"]),
        email_verified: fields.flag(&["email_verified"]).unwrap_or_default(),
        password: fields.text(&["password_hash", "passwordHash"]),
        name: fields.text(&["name"]),
        username: fields.text(&["username"]),
        avatar_url: fields.text(&["picture"]),
        metadata: fields.object(&["app_metadata"]).unwrap_or_default(),
        profile_metadata: fields.object(&["user_metadata"]).unwrap_or_default(),
        is_banned: fields.flag(&["blocked"]).unwrap_or_default(),
        created_at: fields.time(&["created_at"]),
        ..Draft::default()
    };
    // Auth0 gives the address as the name of accounts without one, which would make it public.
    if draft.name == draft.email {
        draft.name = fields.text(&["nickname"]).filter(|name| !name.contains('@'));
    }
    if draft.password.is_none()
        && let Some(custom) = fields.object(&["custom_password_hash"])
    {
        hashes::set(&mut draft, custom_hash(fields.within("custom_password_hash", &custom)));
    }
    for identity in fields.objects("identities") {
        let identity = fields.within("identities", &identity);
        let data = identity.object(&["profileData"]).unwrap_or_default();
        let email = identity.within("profileData", &data).text(&["email"]);
        let provider = identity.text(&["provider", "connection"]);
        draft.add_identity_but(&OWN_PROVIDERS, provider, identity.text(&["user_id"]), email);
    }
    if draft.email.is_none() {
        read_identifiers(&mut draft, fields);
    }
    if fields.get("phone_number").is_some() {
        draft.drop_field("phone_number", "phone numbers are not carried");
    }
    read_factors(&mut draft, fields);
    draft
}

/// Returns the id. The file of password hashes has that of `auth0|ID` alone: `alt_id` if the account was given one, else
/// `_id`, as `MongoDB` exports it.
fn id(fields: Fields<'_>) -> Option<String> {
    if fields.get("user_id").is_some() {
        return fields.text(&["user_id"]);
    }
    let object_id = fields.get("_id").and_then(|id| id.get("$oid")).and_then(Value::as_str);
    match fields.text(&["alt_id"]).or_else(|| object_id.map(str::to_owned)) {
        Some(id) => Some(format!("auth0|{id}")),
        None => fields.text(&["_id"]),
    }
}

/// Reads the address of a record that has it among its identifiers only, as some have in the file of password hashes.
fn read_identifiers(draft: &mut Draft, fields: Fields<'_>) {
    for identifier in fields.objects("identifiers") {
        let identifier = fields.within("identifiers", &identifier);
        if draft.email.is_none() && identifier.text(&["type"]).as_deref() == Some("email") {
            draft.email = identifier.text(&["value"]);
            draft.email_verified = identifier.flag(&["verified"]).unwrap_or_default();
        }
    }
}

fn read_factors(draft: &mut Draft, fields: Fields<'_>) {
    let mut has_other = false;
    for factor in fields.objects("mfa_factors") {
        match factor.get("totp").and_then(|totp| totp.get("secret")).and_then(Value::as_str) {
            Some(secret) => draft.totp.push((secret.to_owned(), None)),
            None => has_other = true,
        }
    }
    if has_other || !fields.list("multifactor").is_empty() {
        draft.drop_factor("a factor is no TOTP, or has no secret");
    }
}

/// Returns a hash in a text that the domain knows.
fn custom_hash(custom: Fields<'_>) -> Option<String> {
    let part = |name: &str| custom.object(&[name]).unwrap_or_default();
    let (hash, salt, password) = (part("hash"), part("salt"), part("password"));
    let (hash, salt) = (custom.within("hash", &hash), custom.within("salt", &salt));
    // The domain hashes passwords in UTF-8.
    let encoding = custom.within("password", &password).text(&["encoding"]);
    if encoding.is_some_and(|encoding| encoding != "utf8") {
        return None;
    }
    let value = hash.text(&["value"])?;
    match custom.text(&["algorithm"])?.as_str() {
        "bcrypt" => starting(value, "$2"),
        "argon2" => starting(value, "$argon2"),
        "pbkdf2" => starting(value, "$pbkdf2-"),
        "ldap" => starting(value, "{"),
        "scrypt" => {
            let output = output(hash, &value)?;
            let number = |names: &[&str], usual: u32| match custom.text(names) {
                Some(text) => text.parse::<u32>().ok(),
                None => Some(usual),
            };
            let (n, r) = (number(&["cost", "N"], 16_384)?, number(&["blockSize"], 8)?);
            hashes::scrypt(n.into(), r, number(&["parallelization"], 1)?, &bytes(salt)?, &output)
        }
        "hmac" => {
            let key = match hash.get("key")? {
                Value::Object(key) => bytes(hash.within("key", key))?,
                _ => STANDARD.encode(hash.text(&["key"])?),
            };
            let (name, output) = (hash.text(&["digest"])?, output(hash, &value)?);
            match salt.text(&["position"]).as_deref() {
                _ if salt.get("value").is_none() => Some(format!("$digest$a={name},s=key${key}${output}")),
                Some("prefix") => hashes::salted_hmac(&name, &key, &bytes(salt)?, true, &output),
                Some("suffix") => hashes::salted_hmac(&name, &key, &bytes(salt)?, false, &output),
                _ => None,
            }
        }
        name @ ("md5" | "sha1" | "sha256" | "sha512") => {
            let (place, salt) = match salt.text(&["position"]).as_deref() {
                _ if salt.get("value").is_none() => ("none", String::new()),
                Some("prefix") => ("before", bytes(salt)?),
                Some("suffix") => ("after", bytes(salt)?),
                _ => return None,
            };
            Some(format!("$digest$a={name},s={place}${salt}${}", output(hash, &value)?))
        }
        _ => None,
    }
}

/// Returns the output of a hash in base64.
fn output(hash: Fields<'_>, value: &str) -> Option<String> {
    match hash.text(&["encoding"]).as_deref() {
        None | Some("hex") => base64_of_hex(value),
        Some("base64") => Some(value.to_owned()),
        _ => None,
    }
}

/// Returns a salt or a key in base64.
fn bytes(part: Fields<'_>) -> Option<String> {
    let value = part.text(&["value"])?;
    match part.text(&["encoding"]).as_deref() {
        None | Some("utf8") => Some(STANDARD.encode(value)),
        Some("hex") => base64_of_hex(&value),
        Some("base64") => Some(value),
        _ => None,
    }
}
