//! Keycloak: the JSON of a realm, or the folder of an export. Secrets of credentials are JSON in texts.

use serde_json::{Map, Value};

use super::Format;
use crate::draft::{Draft, to_base32};
use crate::values::{Fields, text_of};

pub(super) const FORMAT: Format = Format {
    name: "keycloak",
    about: "realm JSON, or the folder of an export",
    names: &["users"],
    is_document: true,
    is_skipped: |fields| fields.get("serviceAccountClientId").is_some(),
    map: |fields, _, _| map(fields),
    ..Format::DEFAULT
};

fn map(fields: Fields<'_>) -> Draft {
    let names: Vec<String> =
        ["firstName", "lastName"].iter().filter_map(|name| fields.text(&[name])).collect();
    let mut draft = Draft {
        id: fields.text(&["id"]),
        email: fields.text(&["email"]),
        email_verified: fields.flag(&["emailVerified"]),
        name: (!names.is_empty()).then(|| names.join(" ")),
        created_at: fields.time(&["createdTimestamp"]),
        is_banned: fields.get("enabled") == Some(&Value::Bool(false)),
        ..Draft::default()
    };
    // Keycloak lets the address be the username.
    draft.username = fields.text(&["username"]).filter(|name| !name.contains('@'));
    let attributes = fields.object("attributes").unwrap_or_default();
    draft.locale = attributes.get("locale").and_then(first);
    let kept: Map<String, Value> = attributes
        .into_iter()
        .filter(|(key, _)| key != "locale")
        .map(|(key, value)| (key, single(value)))
        .collect();
    if !kept.is_empty() {
        draft.metadata.insert("attributes".to_owned(), kept.into());
    }
    for identity in fields.objects("federatedIdentities") {
        let identity = Fields(&identity);
        if let (Some(provider), Some(subject)) =
            (identity.text(&["identityProvider"]), identity.text(&["userId"]))
        {
            draft.add_identity(&provider, &subject, None);
        }
    }
    for credential in fields.objects("credentials") {
        read_credential(&mut draft, Fields(&credential));
    }
    if let Some(Value::Array(actions)) = fields.get("requiredActions")
        && !actions.is_empty()
    {
        let actions: Vec<String> = actions.iter().filter_map(text_of).collect();
        draft.drop_field("requiredActions", format!("are not carried: {}", actions.join(", ")));
    }
    draft
}

/// Returns the first text of a list of texts, as attributes are.
fn first(value: &Value) -> Option<String> {
    value.as_array().map_or(Some(value), |list| list.first()).and_then(text_of)
}

/// Returns the only element of a list instead of the list.
fn single(value: Value) -> Value {
    match value {
        Value::Array(mut list) if list.len() == 1 => list.remove(0),
        other => other,
    }
}

fn read_credential(draft: &mut Draft, credential: Fields<'_>) {
    let (secret, data) = (
        credential.object("secretData").unwrap_or_default(),
        credential.object("credentialData").unwrap_or_default(),
    );
    let (secret, data) = (Fields(&secret), Fields(&data));
    match credential.text(&["type"]).as_deref() {
        Some("password") => draft.password = Some(hash_text(secret, data)),
        Some("otp") => read_otp(draft, credential, secret, data),
        _ => draft.drop_factor("a credential is neither password nor TOTP"),
    }
}

fn hash_text(secret: Fields<'_>, data: Fields<'_>) -> String {
    let text = |fields: Fields<'_>, key: &str| fields.text(&[key]).unwrap_or_default();
    let (salt, value, iterations) =
        (text(secret, "salt"), text(secret, "value"), text(data, "hashIterations"));
    let more = data.object("additionalParameters").unwrap_or_default();
    let parameter = |name: &str| more.get(name).and_then(first);
    match text(data, "algorithm").as_str() {
        "pbkdf2" => format!("$pbkdf2-sha1$i={iterations}${salt}${value}"),
        "pbkdf2-sha256" => format!("$pbkdf2-sha256$i={iterations}${salt}${value}"),
        "pbkdf2-sha512" => format!("$pbkdf2-sha512$i={iterations}${salt}${value}"),
        "argon2" => {
            let kind = parameter("type").unwrap_or_else(|| "id".to_owned());
            let version = if parameter("version").as_deref() == Some("1.0") { 16 } else { 19 };
            let (memory, lanes) = (parameter("memory"), parameter("parallelism"));
            let (memory, lanes) = (memory.unwrap_or_default(), lanes.unwrap_or_else(|| "1".to_owned()));
            let trim = |text: &str| text.trim_end_matches('=').to_owned();
            format!(
                "$argon2{kind}$v={version}$m={memory},t={iterations},p={lanes}${}${}",
                trim(&salt),
                trim(&value)
            )
        }
        _ => "unknown".to_owned(),
    }
}

fn read_otp(draft: &mut Draft, credential: Fields<'_>, secret: Fields<'_>, data: Fields<'_>) {
    let is = |key: &str, usual: &str| data.text(&[key]).is_none_or(|value| value == usual);
    let is_usual =
        is("subType", "totp") && is("digits", "6") && is("period", "30") && is("algorithm", "HmacSHA1");
    match secret.text(&["value"]).filter(|_| is_usual) {
        // The secret is a text, whose bytes are the key, unless the encoding says base32.
        Some(value) => {
            let is_base32 = data.text(&["secretEncoding"]).as_deref() == Some("BASE32");
            let value = if is_base32 { value } else { to_base32(value.as_bytes()) };
            draft.totp.push((value, credential.text(&["userLabel"])));
        }
        None => draft.drop_factor("the factor is no TOTP of six digits, 30 seconds and SHA-1"),
    }
}
