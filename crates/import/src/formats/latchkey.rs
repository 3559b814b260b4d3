//! Our own format: one record per line, or the lines of an export. Keys that are unknown are reported. What surrounds the
//! accounts of an export is in [`crate::export`].

mod passkey;

use latchkey_domain::time::Timestamp;
use serde_json::{Map, Value};

use super::Format;
use crate::draft::Draft;
use crate::values::{Fields, time_of};

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
    // A line of an unknown kind is no row any more.
    is_skipped: |fields| fields.get("kind").is_some_and(|kind| kind != "user"),
    map: |fields, _, _| map(fields),
    ..Format::DEFAULT
};

fn map(fields: Fields<'_>) -> Draft {
    let mut draft = Draft::default();
    for (key, value) in fields.map().iter().filter(|(_, value)| !value.is_null()) {
        if !read(&mut draft, fields, key, value) && !read_exported(&mut draft, fields, key, value) {
            draft.drop_field(key, "is unknown, or its value has another type");
        }
    }
    draft
}

/// Reads a member; false if it is unknown or of a wrong type.
fn read(draft: &mut Draft, fields: Fields<'_>, key: &str, value: &Value) -> bool {
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
        ("createdAt", value) => return read_time(&mut draft.created_at, value),
        ("identities", Value::Array(_)) => {
            for one in fields.objects(key) {
                read_identity(draft, fields.within(key, &one));
            }
        }
        ("totp", Value::Array(_)) => {
            for one in fields.objects(key) {
                read_totp(draft, fields.within(key, &one));
            }
        }
        _ => return false,
    }
    true
}

/// Reads a member that an export has beyond a record; false if it is unknown or of a wrong type.
fn read_exported(draft: &mut Draft, fields: Fields<'_>, key: &str, value: &Value) -> bool {
    match (key, value) {
        ("kind", Value::String(_)) => draft.is_exported = true,
        ("twoStep", Value::Bool(flag)) => draft.has_two_step = *flag,
        ("passwordProven", Value::Bool(flag)) => draft.is_password_proven = Some(*flag),
        ("contested", Value::Bool(flag)) => draft.is_contested = *flag,
        ("deletesAt", value) => return read_time(&mut draft.deletes_at, value),
        ("firstVerifiedAt", value) => return read_time(&mut draft.first_verified_at, value),
        ("updatedAt", value) => return read_time(&mut draft.updated_at, value),
        ("lastSignInAt", value) => return read_time(&mut draft.last_sign_in_at, value),
        ("passkeys", Value::Array(list)) => list.iter().for_each(|one| passkey::read(draft, fields, one)),
        ("recoveryCodes", Value::Array(list)) => {
            if !list.is_empty() {
                draft.drop_factor("recovery codes are not carried");
            }
        }
        _ => return false,
    }
    true
}

fn read_time(field: &mut Option<Timestamp>, value: &Value) -> bool {
    *field = time_of(value);
    field.is_some()
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

/// Reads an identity. An empty issuer is that of a provider which has none; one that is absent follows from the provider.
fn read_identity(draft: &mut Draft, one: Fields<'_>) {
    let before = draft.identities.len();
    draft.add_identity(one.text(&["provider"]), one.text(&["subject"]), one.text(&["email"]));
    let issuer = match one.map().get("issuer") {
        Some(Value::String(text)) => Some(text.clone()),
        _ => one.text(&["issuer"]),
    };
    if let Some(added) = draft.identities.get_mut(before) {
        added.issuer = issuer;
    }
}

fn read_totp(draft: &mut Draft, factor: Fields<'_>) {
    match factor.text(&["secret"]) {
        Some(secret) => draft.totp.push((secret, factor.text(&["name"]))),
        None => draft.drop_factor("the factor lacks its secret"),
    }
}
