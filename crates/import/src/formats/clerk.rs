//! Clerk: the CSV of the dashboard's export.

use super::Format;
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
    let is_verified =
        |email: &String| verified.contains(email) || (verified.is_empty() && unverified.is_empty());
    let mut draft = Draft {
        id: fields.text(&["id"]),
        email_verified: email.as_ref().is_some_and(|email| is_verified(email) && !unverified.contains(email)),
        name: (!names.is_empty()).then(|| names.join(" ")),
        username: fields.text(&["username"]),
        avatar_url: fields.text(&["image_url", "profile_image_url"]),
        password: password(fields),
        created_at: fields.time(&["created_at"]),
        ..Draft::default()
    };
    draft.metadata = fields.object("public_metadata").unwrap_or_default();
    for (key, value) in fields.object("private_metadata").unwrap_or_default() {
        draft.metadata.entry(key).or_insert(value);
    }
    draft.profile_metadata = fields.object("unsafe_metadata").unwrap_or_default();
    let others = verified.iter().chain(&unverified).filter(|other| Some(*other) != email.as_ref()).count();
    if others > 0 {
        draft.drop_field("email", "has further addresses, which are not carried");
    }
    if fields.text(&["primary_phone_number"]).is_some() {
        draft.drop_field("primary_phone_number", "phone numbers are not carried");
    }
    if let Some(secret) = fields.text(&["totp_secret"]) {
        draft.totp.push((secret, None));
    }
    draft.email = email;
    draft
}

/// Returns the hash in a text that the domain knows, by the name of its algorithm.
fn password(fields: Fields<'_>) -> Option<String> {
    let digest = fields.text(&["password_digest"])?;
    let hasher = fields.text(&["password_hasher"]).unwrap_or_default();
    Some(match hasher.as_str() {
        "md5" | "sha256" | "sha512" | "sha1" => digest.to_ascii_lowercase(),
        // As in Clerk's documentation: scrypt of Firebase and of Werkzeug, both with their parameters in the text.
        "scrypt_firebase" => scrypt_firebase(&digest),
        _ => digest,
    })
}

/// Turns `HASH$SALT$SIGNER KEY$SEPARATOR$ROUNDS$MEMORY` into Supabase's text.
fn scrypt_firebase(digest: &str) -> String {
    match digest.split('$').collect::<Vec<_>>().as_slice() {
        [hash, salt, key, separator, rounds, memory] => {
            format!("$fbscrypt$v=1,n={memory},r={rounds},p=1,ss={separator},sk={key}${salt}${hash}")
        }
        _ => digest.to_owned(),
    }
}
