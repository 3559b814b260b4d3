//! Auth0: the bulk export, a JSON array or JSON lines, with the password hashes that Auth0's support adds, or a file of the
//! bulk import, with `custom_password_hash`.

use serde_json::Value;

use super::Format;
use crate::draft::Draft;
use crate::values::{Fields, text_of};

pub(super) const FORMAT: Format = Format {
    name: "auth0",
    about: "JSON array or JSON lines of the bulk export or import",
    map: |fields, _, _| map(fields),
    ..Format::DEFAULT
};

fn map(fields: Fields<'_>) -> Draft {
    let mut draft = Draft {
        id: fields.text(&["user_id", "_id"]),
        email: fields.text(&["email"]),
        email_verified: fields.flag(&["email_verified"]),
        password: fields.text(&["password_hash", "passwordHash"]),
        name: fields.text(&["name"]),
        username: fields.text(&["username"]),
        avatar_url: fields.text(&["picture"]),
        metadata: fields.object("app_metadata").unwrap_or_default(),
        profile_metadata: fields.object("user_metadata").unwrap_or_default(),
        is_banned: fields.flag(&["blocked"]),
        created_at: fields.time(&["created_at"]),
        ..Draft::default()
    };
    // Auth0 gives the address as the name of accounts without one, which would make it public.
    if draft.name == draft.email {
        draft.name = fields.text(&["nickname"]).filter(|name| !name.contains('@'));
    }
    if draft.password.is_none()
        && let Some(custom) = fields.object("custom_password_hash")
    {
        draft.password = Some(custom_hash(Fields(&custom)));
    }
    for identity in fields.objects("identities") {
        let identity = Fields(&identity);
        let provider = identity.text(&["provider", "connection"]);
        if let (Some(provider), Some(subject)) = (provider, identity.text(&["user_id"])) {
            let data = identity.object("profileData").unwrap_or_default();
            draft.add_identity(&provider, &subject, data.get("email").and_then(text_of));
        }
    }
    read_factors(&mut draft, fields);
    draft
}

fn read_factors(draft: &mut Draft, fields: Fields<'_>) {
    let mut has_other = false;
    for factor in fields.objects("mfa_factors") {
        match factor.get("totp").and_then(|totp| totp.get("secret")).and_then(Value::as_str) {
            Some(secret) => draft.totp.push((secret.to_owned(), None)),
            None => has_other = true,
        }
    }
    if has_other || !fields.objects("multifactor").is_empty() {
        draft.drop_factor("a factor is no TOTP, or has no secret");
    }
}

/// Returns a hash in a text that the domain knows; an unknown one is refused there.
fn custom_hash(custom: Fields<'_>) -> String {
    let part = |name: &str, key: &str| {
        let object = custom.object(name).unwrap_or_default();
        Fields(&object).text(&[key]).unwrap_or_default()
    };
    let (algorithm, value) = (custom.text(&["algorithm"]).unwrap_or_default(), part("hash", "value"));
    let place = match part("salt", "position").as_str() {
        "suffix" => "after",
        _ => "before",
    };
    match algorithm.as_str() {
        "md5" | "sha1" | "sha256" | "sha512" | "hmac" => digest(custom, &algorithm, &value, place),
        "ldap" | "argon2" | "bcrypt" | "pbkdf2" => value,
        "scrypt" => {
            let parameter = |names: &[&str]| custom.text(names).unwrap_or_default();
            let cost: u64 = parameter(&["cost", "N"]).parse().unwrap_or(16_384);
            let size = parameter(&["blockSize"]).parse().unwrap_or(8_u32);
            let lanes = parameter(&["parallelization"]).parse().unwrap_or(1_u32);
            let salt = base64_of(&part("salt", "value"), &part("salt", "encoding"));
            let output = base64_of(&value, &part("hash", "encoding"));
            format!("$scrypt$ln={},r={size},p={lanes}${salt}${output}", cost.trailing_zeros())
        }
        _ => "unknown".to_owned(),
    }
}

fn digest(custom: Fields<'_>, algorithm: &str, value: &str, place: &str) -> String {
    let object = |name: &str| custom.object(name).unwrap_or_default();
    let text = |name: &str, key: &str| Fields(&object(name)).text(&[key]);
    let output = base64_of(value, &text("hash", "encoding").unwrap_or_else(|| "hex".to_owned()));
    if algorithm == "hmac" {
        let name = text("hash", "digest").unwrap_or_default();
        let key = base64_of(
            &text("hash", "key")
                .or_else(|| {
                    Fields(&object("hash")).object("key").and_then(|key| Fields(&key).text(&["value"]))
                })
                .unwrap_or_default(),
            &Fields(&object("hash"))
                .object("key")
                .and_then(|key| Fields(&key).text(&["encoding"]))
                .unwrap_or_default(),
        );
        return format!("$digest$a={name},s=key${key}${output}");
    }
    match text("salt", "value") {
        Some(salt) => {
            let salt = base64_of(&salt, &text("salt", "encoding").unwrap_or_default());
            format!("$digest$a={algorithm},s={place}${salt}${output}")
        }
        None => format!("$digest$a={algorithm},s=none$${output}"),
    }
}

/// Writes bytes that are given in hex, base64 or as text in base64.
fn base64_of(text: &str, encoding: &str) -> String {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    match encoding {
        "hex" => {
            let pairs = text.as_bytes().chunks(2);
            let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
            let bytes: Option<Vec<u8>> = pairs.map(byte).collect();
            bytes.map_or_else(|| "?".to_owned(), |bytes| STANDARD.encode(bytes))
        }
        "base64" => text.to_owned(),
        _ => STANDARD.encode(text),
    }
}
