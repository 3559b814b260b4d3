//! Our own format: one record per line, or the lines of an export. Keys that are unknown are reported.

use serde_json::{Map, Value};

use super::Format;
use crate::draft::{Draft, DraftIdentity};
use crate::values::{Fields, time_of};

/// Keys of an export that an import has no use for.
const LEFT_OUT: [&str; 4] = ["kind", "updatedAt", "lastSignInAt", "twoStep"];
/// Keys of the profile's fixed fields, which cannot be custom fields.
const FIXED: [&str; 13] = [
    "id",
    "auth_id",
    "profile",
    "createdAt",
    "updatedAt",
    "created_at",
    "updated_at",
    "metadata",
    "name",
    "username",
    "avatar_url",
    "bio",
    "auth",
];

pub(super) const FORMAT: Format = Format {
    name: "latchkey",
    about: "JSON lines: records of ours, or an export",
    is_lines: true,
    is_skipped: |fields| fields.get("kind").is_some_and(|kind| kind != "user"),
    map: |fields, _, _| map(fields),
    ..Format::DEFAULT
};

fn map(fields: Fields<'_>) -> Draft {
    let mut draft = Draft::default();
    for (key, value) in fields.0.iter().filter(|(_, value)| !value.is_null()) {
        if !read(&mut draft, key, value) && !LEFT_OUT.contains(&key.as_str()) {
            draft.drop_field(key, "is unknown, or its value has another type");
        }
    }
    draft
}

/// Reads a member; false if it is unknown or of a wrong type.
fn read(draft: &mut Draft, key: &str, value: &Value) -> bool {
    match (key, value) {
        ("id", Value::String(text)) => draft.id = Some(text.clone()),
        ("email", Value::String(text)) => draft.email = Some(text.clone()),
        ("emailVerified", Value::Bool(flag)) => draft.email_verified = *flag,
        ("passwordHash", Value::String(text)) => draft.password = Some(text.clone()),
        ("name", Value::String(text)) => draft.name = Some(text.clone()),
        ("username", Value::String(text)) => draft.username = Some(text.clone()),
        ("avatarUrl", Value::String(text)) => draft.avatar_url = Some(text.clone()),
        ("bio", Value::String(text)) => draft.bio = Some(text.clone()),
        ("locale", Value::String(text)) => draft.locale = Some(text.clone()),
        ("banned", Value::Bool(flag)) => draft.is_banned = *flag,
        ("metadata", Value::Object(object)) => draft.metadata.clone_from(object),
        ("profileMetadata", Value::Object(object)) => draft.profile_metadata.clone_from(object),
        ("custom", Value::Object(object)) => read_custom(draft, object),
        ("createdAt", value) => match time_of(value) {
            Some(time) => draft.created_at = Some(time),
            None => return false,
        },
        ("identities", Value::Array(list)) => list.iter().for_each(|one| read_identity(draft, one)),
        ("totp", Value::Array(list)) => list.iter().for_each(|one| read_totp(draft, one)),
        ("passkeys" | "recoveryCodes", Value::Array(list)) => {
            if !list.is_empty() {
                draft.drop_factor("passkeys and recovery codes are not carried");
            }
        }
        _ => return false,
    }
    true
}

fn read_custom(draft: &mut Draft, object: &Map<String, Value>) {
    for (key, value) in object {
        if FIXED.contains(&key.as_str()) {
            draft.drop_field("custom", "has the key of a fixed field");
        } else {
            draft.custom.insert(key.clone(), value.clone());
        }
    }
}

fn read_identity(draft: &mut Draft, value: &Value) {
    let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    match (text("provider"), text("subject")) {
        (Some(provider), Some(subject)) => {
            draft.identities.push(DraftIdentity { provider, subject, email: text("email") });
        }
        _ => draft.drop_field("identities", "an identity lacks provider or subject"),
    }
}

fn read_totp(draft: &mut Draft, value: &Value) {
    let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    match text("secret") {
        Some(secret) => draft.totp.push((secret, text("name"))),
        None => draft.drop_factor("the factor lacks its secret"),
    }
}
