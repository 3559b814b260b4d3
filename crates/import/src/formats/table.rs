//! Tables with a header: Rauthy, Django and any other. A field of ours is the column that `--column` names, or the first of
//! the usual names. The other columns go to the metadata on demand.

use serde_json::{Map, Value};

use super::{Columns, Format};
use crate::draft::Draft;
use crate::options::{FIELDS, ImportOptions};
use crate::values::{Fields, flag_of, time_of};

/// Usual names of the columns, in lower case and without separators.
const USUAL: [(&str, &[&str]); 12] = [
    ("id", &["id", "uuid", "userid", "externalid"]),
    ("email", &["email", "emailaddress", "mail", "emailaddr"]),
    ("emailVerified", &["emailverified", "verified", "emailconfirmed", "isverified", "confirmed"]),
    ("passwordHash", &["passwordhash", "password", "encryptedpassword", "hash", "passworddigest"]),
    ("name", &["name", "fullname", "displayname"]),
    ("username", &["username", "login", "nickname", "preferredusername"]),
    ("avatarUrl", &["avatarurl", "avatar", "picture", "image", "photourl"]),
    ("bio", &["bio", "about"]),
    ("locale", &["locale", "language", "lang"]),
    ("banned", &["banned", "blocked", "disabled", "isbanned"]),
    ("createdAt", &["createdat", "created", "datejoined", "registeredat", "createdon"]),
    ("totpSecret", &["totpsecret", "otpsecret"]),
];

pub(super) const CSV: Format = Format {
    name: "csv",
    about: "CSV with a header, or JSON; columns by --column",
    guess: Some(guess),
    map: |fields, options, columns| map(fields, options, columns),
    ..Format::DEFAULT
};

/// Rauthy's users, exported from its database.
pub(super) const RAUTHY: Format = Format {
    name: "rauthy",
    about: "table users as CSV or JSON",
    names: &["users"],
    guess: Some(guess),
    map: |fields, options, columns| {
        let mut draft = map(fields, options, columns);
        join_names(&mut draft, fields, ["given_name", "family_name"]);
        draft.is_banned |= fields.get("enabled").and_then(flag_of) == Some(false);
        draft
    },
    ..Format::DEFAULT
};

/// Django's `auth_user`, or a model of the project.
pub(super) const DJANGO: Format = Format {
    name: "django",
    about: "table auth_user as CSV or JSON, or `dumpdata`",
    names: &["auth_user"],
    guess: Some(guess),
    map: |fields, options, columns| map_django(fields, options, columns),
    ..Format::DEFAULT
};

fn map_django(fields: Fields<'_>, options: &ImportOptions, columns: &Columns) -> Draft {
    // `dumpdata` writes {"model": …, "pk": …, "fields": {…}}.
    let mut inner = fields.object("fields").unwrap_or_default();
    if let Some(key) = fields.get("pk").filter(|_| !inner.is_empty()) {
        inner.entry("id").or_insert_with(|| key.clone());
    }
    let fields = if inner.is_empty() { fields } else { Fields(&inner) };
    let mut draft = map(fields, options, columns);
    join_names(&mut draft, fields, ["first_name", "last_name"]);
    draft.is_banned |= fields.get("is_active").and_then(flag_of) == Some(false);
    // Django marks accounts without a password so.
    draft.password = draft.password.filter(|hash| !hash.starts_with('!'));
    draft
}

fn join_names(draft: &mut Draft, fields: Fields<'_>, names: [&str; 2]) {
    let names: Vec<String> = names.iter().filter_map(|name| fields.text(&[name])).collect();
    if draft.name.is_none() && !names.is_empty() {
        draft.name = Some(names.join(" "));
    }
}

fn guess(header: &[String], options: &ImportOptions) -> Vec<(&'static str, String)> {
    let plain = |name: &str| -> String {
        name.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase()).collect()
    };
    let column = |ours: &'static str| {
        if let Some(theirs) = options.columns.get(ours) {
            return Some((ours, theirs.clone()));
        }
        let usual = USUAL.iter().find(|(name, _)| *name == ours).map_or(&[][..], |(_, usual)| usual);
        let found = usual.iter().find_map(|usual| header.iter().find(|theirs| plain(theirs) == *usual))?;
        Some((ours, found.clone()))
    };
    FIELDS.into_iter().filter_map(column).collect()
}

fn map(fields: Fields<'_>, options: &ImportOptions, columns: &Columns) -> Draft {
    let guessed;
    let columns = if columns.is_empty() {
        let names: Vec<String> = fields.0.keys().cloned().collect();
        guessed = guess(&names, options);
        &guessed
    } else {
        columns
    };
    let theirs =
        |ours: &str| columns.iter().find(|(name, _)| *name == ours).map(|(_, theirs)| theirs.as_str());
    let text = |ours: &str| theirs(ours).and_then(|name| fields.text(&[name]));
    let mut draft = Draft {
        id: text("id"),
        email: text("email"),
        password: text("passwordHash"),
        name: text("name"),
        username: text("username"),
        avatar_url: text("avatarUrl"),
        bio: text("bio"),
        locale: text("locale"),
        ..Draft::default()
    };
    for (ours, value) in columns.iter().filter_map(|(ours, theirs)| Some((*ours, fields.get(theirs)?))) {
        read_other(&mut draft, ours, value);
    }
    if options.keep_rest {
        let is_rest = |key: &&String| columns.iter().all(|(_, theirs)| theirs != *key);
        let rest: Map<String, Value> = fields
            .0
            .keys()
            .filter(is_rest)
            .filter_map(|key| Some((key.clone(), fields.get(key)?.clone())))
            .collect();
        if !rest.is_empty() {
            draft.metadata.insert("imported".to_owned(), rest.into());
        }
    }
    draft
}

/// Reads a value that is no text.
fn read_other(draft: &mut Draft, ours: &'static str, value: &Value) {
    let is_time = |value: &Value| time_of(value).is_some();
    match ours {
        // A column such as `email_verified_at` has the time of the verification.
        "emailVerified" => match flag_of(value) {
            Some(flag) => draft.email_verified = flag,
            None if is_time(value) => draft.email_verified = true,
            None => draft.drop_field(ours, "is neither a flag nor a time"),
        },
        "banned" => match flag_of(value) {
            Some(flag) => draft.is_banned = flag,
            None => draft.drop_field(ours, "is no flag"),
        },
        "createdAt" => match time_of(value) {
            Some(time) => draft.created_at = Some(time),
            None => draft.drop_field(ours, "is no time"),
        },
        "metadata" | "profileMetadata" => {
            let object = match value {
                Value::Object(object) => Some(object.clone()),
                Value::String(text) => {
                    latchkey_domain::strict_json::parse_object("field", text.as_bytes()).ok()
                }
                _ => None,
            };
            match object {
                Some(object) if ours == "metadata" => draft.metadata = object,
                Some(object) => draft.profile_metadata = object,
                None => draft.drop_field(ours, "is no JSON object"),
            }
        }
        "totpSecret" => draft.totp.extend(value.as_str().map(|secret| (secret.to_owned(), None))),
        _ => {}
    }
}
