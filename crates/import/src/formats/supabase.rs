//! Supabase: the table `auth.users` with `auth.identities` and `auth.mfa_factors`, as CSV, JSON, a plain dump or from the
//! database. A user's own metadata stays private: an application must not take it for what an admin wrote.

use latchkey_domain::imports::{Problem, ProblemCode};
use latchkey_domain::strict_json::parse_object;
use latchkey_domain::time::Timestamp;
use serde_json::{Map, Value};

use super::{Format, Side};
use crate::draft::Draft;
use crate::options::ImportOptions;
use crate::values::{Fields, text_of};

pub(super) const FORMAT: Format = Format {
    name: "supabase",
    about: "auth.users as CSV, JSON, plain dump or from the database",
    names: &["auth.users", "users"],
    postgres: Some("auth.users"),
    sides: &[
        Side {
            field: "identities",
            names: &["auth.identities", "identities"],
            postgres: "auth.identities",
            sqlite: "",
            owners: &["user_id"],
            collection: None,
            is_needed: true,
            keeps: &["provider", "provider_id", "identity_data", "id"],
            slim: slim_identity,
        },
        Side {
            field: "mfa_factors",
            names: &["auth.mfa_factors", "mfa_factors"],
            postgres: "auth.mfa_factors",
            sqlite: "",
            owners: &["user_id"],
            collection: None,
            is_needed: true,
            keeps: &["factor_type", "status", "secret", "friendly_name"],
            slim: Some,
        },
    ],
    map: |fields, options, _| map(fields, options),
    ..Format::DEFAULT
};

/// Names under which Supabase lists a mailbox and a phone as identities.
const OWN_PROVIDERS: [&str; 2] = ["email", "phone"];

/// Leaves out identities that stand for the mailbox, which each account has, and what is not read of the others.
fn slim_identity(mut row: Map<String, Value>) -> Option<Map<String, Value>> {
    if row.get("provider").and_then(Value::as_str).is_some_and(|name| OWN_PROVIDERS.contains(&name)) {
        return None;
    }
    let data = match row.get_mut("identity_data") {
        Some(Value::String(text)) => parse_object("identity_data", text.as_bytes()).ok(),
        Some(Value::Object(data)) => Some(std::mem::take(data)),
        _ => None,
    };
    // One that cannot be read stays, and is reported with its account.
    if let Some(mut data) = data {
        data.retain(|key, _| matches!(key.as_str(), "sub" | "email"));
        row.insert("identity_data".to_owned(), data.into());
    }
    Some(row)
}

fn map(fields: Fields<'_>, options: &ImportOptions) -> Draft {
    let mut draft = Draft {
        id: fields.text(&["id"]),
        email: fields.text(&["email"]),
        email_verified: confirmed_at(fields).is_some(),
        password: fields.text(&["encrypted_password"]),
        metadata: fields.object(&["raw_app_meta_data", "app_metadata"]).unwrap_or_default(),
        profile_metadata: fields.object(&["raw_user_meta_data", "user_metadata"]).unwrap_or_default(),
        created_at: fields.time(&["created_at"]),
        ..Draft::default()
    };
    if fields.get("phone").is_some() {
        draft.drop_field("phone", "phone numbers are not carried");
    }
    read_ban(&mut draft, fields, options);
    // The names of the providers follow from the identities.
    draft.metadata.remove("provider");
    draft.metadata.remove("providers");
    let said = |key: &str| draft.profile_metadata.get(key).and_then(text_of).filter(|text| !text.is_empty());
    (draft.name, draft.avatar_url) = (said("full_name").or_else(|| said("name")), said("avatar_url"));
    if fields.get("deleted_at").is_some() {
        let message = "the account is deleted at the source";
        draft.refused = Some(Problem::of(ProblemCode::EmailInvalid, "deleted_at", message));
    }
    for identity in fields.objects("identities") {
        read_identity(&mut draft, fields.within("identities", &identity));
    }
    for factor in fields.objects("mfa_factors") {
        let factor = fields.within("mfa_factors", &factor);
        let is_totp = factor.text(&["factor_type"]).as_deref() == Some("totp");
        let is_verified = factor.text(&["status"]).as_deref() == Some("verified");
        match factor.text(&["secret"]) {
            Some(secret) if is_totp && is_verified => {
                draft.totp.push((secret, factor.text(&["friendly_name"])));
            }
            _ if is_verified => draft.drop_factor("a factor is no TOTP, or has no secret"),
            _ => {}
        }
    }
    draft
}

/// Returns the time at which the address was confirmed. `confirmed_at` is the earlier one of the times of address and phone,
/// so it says something of the address only in releases that knew no phones. JSON may leave out a time that is null, so a
/// phone tells a later release too.
fn confirmed_at(fields: Fields<'_>) -> Option<Timestamp> {
    let of_later = ["email_confirmed_at", "phone_confirmed_at", "phone"];
    let has_own = of_later.iter().any(|key| fields.map().contains_key(*key));
    fields.time(if has_own { &["email_confirmed_at"] } else { &["confirmed_at"] })
}

/// Reads a ban that is not over. PostgreSQL has times that never come, and one before all.
fn read_ban(draft: &mut Draft, fields: Fields<'_>, options: &ImportOptions) {
    draft.is_banned = match fields.get("banned_until").and_then(Value::as_str) {
        Some("infinity") => true,
        Some("-infinity") => false,
        _ => fields
            .time(&["banned_until"])
            .is_some_and(|until| draft.is_ban_on(until, "banned_until", options)),
    };
}

fn read_identity(draft: &mut Draft, identity: Fields<'_>) {
    let data = identity.object(&["identity_data"]).unwrap_or_default();
    let data = identity.within("identity_data", &data);
    let subject = identity.text(&["provider_id"]).or_else(|| data.text(&["sub"]));
    let subject = subject.or_else(|| identity.text(&["id"]));
    let email = data.text(&["email"]);
    draft.add_identity_but(&OWN_PROVIDERS, identity.text(&["provider"]), subject, email);
}
