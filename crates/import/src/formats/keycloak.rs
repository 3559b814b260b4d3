//! Keycloak: the JSON of a realm, or the folder of an export. Secrets of credentials are JSON in texts.

use serde_json::{Map, Value};

use super::Format;
use super::hashes;
use crate::base32;
use crate::draft::Draft;
use crate::values::{Fields, text_of};

/// Member with the attributes that users may write, which are taken out of the others before.
pub(crate) const OF_USERS: &str = "userAttributes";

pub(super) const FORMAT: Format = Format {
    name: "keycloak",
    about: "realm JSON, or the folder of an export",
    names: &["users"],
    is_document: true,
    has_realms: true,
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
        email_verified: fields.flag(&["emailVerified"]).unwrap_or_default(),
        name: (!names.is_empty()).then(|| names.join(" ")),
        created_at: fields.time(&["createdTimestamp"]),
        is_banned: fields.flag(&["enabled"]) == Some(false),
        ..Draft::default()
    };
    // Keycloak lets the address be the username.
    draft.username = fields.text(&["username"]).filter(|name| !name.contains('@'));
    read_attributes(&mut draft, fields);
    for identity in fields.objects("federatedIdentities") {
        let identity = fields.within("federatedIdentities", &identity);
        draft.add_identity(identity.text(&["identityProvider"]), identity.text(&["userId"]), None);
    }
    for credential in fields.objects("credentials") {
        read_credential(&mut draft, fields.within("credentials", &credential));
    }
    let actions: Vec<String> = fields.list("requiredActions").iter().filter_map(text_of).collect();
    if !actions.is_empty() {
        draft.drop_field("requiredActions", format!("are not carried: {}", actions.join(", ")));
    }
    draft
}

/// Reads the attributes: those that users may write are theirs here too.
fn read_attributes(draft: &mut Draft, fields: Fields<'_>) {
    for (field, metadata) in [(OF_USERS, &mut draft.profile_metadata), ("attributes", &mut draft.metadata)] {
        let is_empty = |value: &Value| value.as_array().is_some_and(Vec::is_empty);
        let attributes = fields.object(&[field]).unwrap_or_default().into_iter();
        let attributes = attributes.filter(|(_, value)| !is_empty(value));
        let mut attributes: Map<String, Value> =
            attributes.map(|(key, value)| (key, single(value))).collect();
        let locale = fields.within("attributes", &attributes).text(&["locale"]);
        draft.locale = draft.locale.take().or(locale);
        attributes.remove("locale");
        if !attributes.is_empty() {
            metadata.insert("attributes".to_owned(), attributes.into());
        }
    }
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
        credential.object(&["secretData"]).unwrap_or_default(),
        credential.object(&["credentialData"]).unwrap_or_default(),
    );
    let secret = credential.within("secretData", &secret);
    let data = credential.within("credentialData", &data);
    match credential.text(&["type"]).as_deref() {
        Some("password") => hashes::set(draft, hash_text(secret, data)),
        Some("otp") => read_otp(draft, credential, secret, data),
        Some("password-history") => {} // for a rule about new passwords there
        _ => draft.drop_factor("a credential is neither password nor TOTP"),
    }
}

fn hash_text(secret: Fields<'_>, data: Fields<'_>) -> Option<String> {
    let (salt, value) = (secret.text(&["salt"])?, secret.text(&["value"])?);
    let iterations = data.text(&["hashIterations"])?;
    match data.text(&["algorithm"])?.as_str() {
        "pbkdf2" => Some(format!("$pbkdf2-sha1$i={iterations}${salt}${value}")),
        name @ ("pbkdf2-sha256" | "pbkdf2-sha512") => Some(format!("${name}$i={iterations}${salt}${value}")),
        "argon2" => {
            let more = data.object(&["additionalParameters"])?;
            let more: Map<String, Value> =
                more.into_iter().map(|(key, value)| (key, single(value))).collect();
            let parameter = |name: &str| more.get(name).and_then(text_of);
            let version = match parameter("version")?.as_str() {
                "1.0" => 16,
                "1.3" => 19,
                _ => return None,
            };
            let (kind, memory, lanes) = (parameter("type")?, parameter("memory")?, parameter("parallelism")?);
            let costs = format!("m={memory},t={iterations},p={lanes}");
            let (salt, value) = (salt.trim_end_matches('='), value.trim_end_matches('='));
            Some(format!("$argon2{kind}$v={version}${costs}${salt}${value}"))
        }
        _ => None,
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
            let value = if is_base32 { value } else { base32::encode(value.as_bytes()) };
            draft.totp.push((value, credential.text(&["userLabel"])));
        }
        None => draft.drop_factor("the factor is no TOTP of six digits, 30 seconds and SHA-1"),
    }
}
