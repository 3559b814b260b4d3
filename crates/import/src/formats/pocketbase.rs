//! `PocketBase`: the collection `users` of `data.db`, or its records as JSON.

use super::{CollectionNames, Format, Side};
use crate::draft::Draft;
use crate::values::Fields;

pub(super) const FORMAT: Format = Format {
    name: "pocketbase",
    about: "data.db with --collection users, or JSON",
    names: &["users", "items"],
    sqlite: Some("users"),
    sides: &[Side {
        field: "externalAuths",
        names: &["_externalAuths", "externalAuths"],
        postgres: "",
        sqlite: "_externalAuths",
        // Releases before 0.23 had the id in `recordId`.
        owners: &["recordRef", "recordId"],
        collection: Some(COLLECTION),
        is_needed: true,
        keeps: &["provider", "providerId", "collectionRef", "collectionId"],
        slim: Some,
    }],
    map: |fields, _, _| map(fields),
    ..Format::DEFAULT
};

/// Several collections have accounts, and whoever makes one may choose its id. Releases before 0.23 named the collection in
/// `collectionId`, in which a row has its own one now.
const COLLECTION: CollectionNames = CollectionNames {
    columns: &["collectionRef", "collectionId"],
    table: "_collections",
    field: "collectionId",
};
/// Id of the collection `users`, which each instance begins with.
const USERS: &str = "_pb_users_auth_";

/// Columns that every collection of accounts has, and those that are read.
const KNOWN: [&str; 16] = [
    "id",
    "email",
    "emailVisibility",
    "verified",
    "password",
    "passwordHash",
    "tokenKey",
    "username",
    "name",
    "avatar",
    "created",
    "updated",
    "externalAuths",
    "lastResetSentAt",
    "lastVerificationSentAt",
    "lastLoginAlertSentAt",
];

fn map(fields: Fields<'_>) -> Draft {
    let mut draft = Draft {
        id: fields.text(&["id"]),
        email: fields.text(&["email"]),
        email_verified: fields.flag(&["verified"]).unwrap_or_default(),
        password: fields.text(&["password", "passwordHash"]),
        name: fields.text(&["name"]),
        username: fields.text(&["username"]),
        created_at: fields.time(&["created"]),
        ..Draft::default()
    };
    if fields.get("avatar").is_some_and(|files| files.as_array().is_none_or(|list| !list.is_empty())) {
        draft.drop_field("avatar", "is a file of PocketBase, which is not carried");
    }
    let collection = fields.text(&[COLLECTION.field]).unwrap_or_else(|| USERS.to_owned());
    for identity in fields.objects("externalAuths") {
        let identity = fields.within("externalAuths", &identity);
        if identity.text(COLLECTION.columns).is_some_and(|named| named != collection) {
            draft.drop_field("externalAuths", "an identity is of an account in another collection");
            continue;
        }
        draft.add_identity(identity.text(&["provider"]), identity.text(&["providerId"]), None);
    }
    let more: Vec<&String> = fields
        .map()
        .keys()
        .filter(|key| !KNOWN.contains(&key.as_str()) && !key.starts_with("collection"))
        .collect();
    for key in more {
        if let Some(value) = fields.get(key) {
            draft.profile_metadata.insert(key.clone(), value.clone());
        }
    }
    draft
}
