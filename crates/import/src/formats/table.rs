//! Tables with a header: Rauthy, Django and any other. A field of ours is the column that `--column` names, or the first of
//! the usual names. The other columns go to the metadata on demand.

use latchkey_domain::time::Timestamp;
use serde_json::{Map, Value};

use super::hashes::UNKNOWN;
use super::{Columns, Format};
use crate::draft::Draft;
use crate::options::{FIELDS, ImportOptions, plain};
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

/// 2000-01-01, before which no address was verified.
const FIRST_VERIFIED: i64 = 946_684_800_000;

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
        draft.is_banned |= fields.flag(&["enabled"]) == Some(false);
        read_rauthy(&mut draft, fields, options);
        draft
    },
    ..Format::DEFAULT
};

fn read_rauthy(draft: &mut Draft, fields: Fields<'_>, options: &ImportOptions) {
    if let Some(expires) = fields.time(&["user_expires"]) {
        draft.is_banned |= expires <= options.now;
        draft.drop_field("user_expires", "an account has no end here: it is banned if the end is over");
    }
    if fields.get("federation_uid").is_some() {
        draft.drop_field(
            "federation_uid",
            "the identity is not carried: the name of its provider is not in the table",
        );
    }
}

/// Django's `auth_user`, or a model of the project.
pub(super) const DJANGO: Format = Format {
    name: "django",
    about: "table auth_user as CSV or JSON, or `dumpdata`",
    names: &["auth_user"],
    guess: Some(guess),
    prepare: unwrapped,
    map: |fields, options, columns| map_django(fields, options, columns),
    ..Format::DEFAULT
};

/// Takes the fields out of a row of `dumpdata`: {"model": …, "pk": …, "fields": {…}}.
fn unwrapped(mut row: Map<String, Value>) -> Map<String, Value> {
    match row.get_mut("fields") {
        Some(Value::Object(fields)) => {
            let mut fields = std::mem::take(fields);
            if let Some(key) = row.remove("pk") {
                fields.entry("id").or_insert(key);
            }
            fields
        }
        _ => row,
    }
}

fn map_django(fields: Fields<'_>, options: &ImportOptions, columns: &Columns) -> Draft {
    let mut draft = map(fields, options, columns);
    join_names(&mut draft, fields, ["first_name", "last_name"]);
    draft.is_banned |= fields.flag(&["is_active"]) == Some(false);
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

fn guess(names: &[&str], options: &ImportOptions, columns: &mut Vec<(&'static str, String)>) {
    let plain: Vec<String> = names.iter().map(|name| plain(name)).collect();
    for ours in FIELDS {
        let usual = USUAL.iter().find(|(name, _)| *name == ours).map_or(&[][..], |(_, usual)| usual);
        let place = || usual.iter().find_map(|usual| plain.iter().position(|name| name == usual));
        let given = options.columns.get(ours).map(String::as_str);
        if let Some(theirs) = given.or_else(|| place().map(|at| names[at])) {
            columns.push((ours, theirs.to_owned()));
        }
    }
}

fn map(fields: Fields<'_>, options: &ImportOptions, columns: &Columns) -> Draft {
    let theirs =
        |ours: &str| columns.iter().find(|(name, _)| *name == ours).map(|(_, theirs)| theirs.as_str());
    let text = |ours: &str| theirs(ours).and_then(|name| fields.text(&[name]));
    let mut draft = Draft {
        id: text("id"),
        email: text("email"),
        password: text("passwordHash")
            .map(|hash| if is_salted(fields, &hash) { UNKNOWN.to_owned() } else { hash }),
        name: text("name"),
        username: text("username"),
        avatar_url: text("avatarUrl"),
        bio: text("bio"),
        locale: text("locale"),
        ..Draft::default()
    };
    for (ours, theirs) in columns {
        read_other(&mut draft, fields, ours, &[theirs.as_str()], options.now);
    }
    if options.keep_rest {
        let is_rest = |key: &&String| columns.iter().all(|(_, theirs)| theirs != *key);
        let rest: Map<String, Value> = fields
            .map()
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

/// True if a digest has its salt in another column. Where in the digest it was is not known.
fn is_salted(fields: Fields<'_>, hash: &str) -> bool {
    let has_salt = |name: &String| plain(name).ends_with("salt") && fields.get(name).is_some();
    hash.bytes().all(|byte| byte.is_ascii_hexdigit()) && fields.map().keys().any(has_salt)
}

/// Reads a value that is no text.
fn read_other(draft: &mut Draft, fields: Fields<'_>, ours: &str, theirs: &[&str], now: Timestamp) {
    match ours {
        // A column such as `email_verified_at` has the time of the verification. Another number, which each one is a time
        // of, may be a state such as `bounced`, and a time to come the end of a link.
        "emailVerified" => {
            let is_past = |time: &Timestamp| (Timestamp::from_millis(FIRST_VERIFIED)..=now).contains(time);
            let flag = |value| flag_of(value).or_else(|| time_of(value).filter(is_past).map(|_| true));
            let flag = fields.read(theirs, "is neither a flag nor a time from 2000 until now", flag);
            draft.email_verified = flag.unwrap_or_default();
        }
        "banned" => draft.is_banned = fields.flag(theirs).unwrap_or_default(),
        "createdAt" => draft.created_at = fields.time(theirs),
        "metadata" => draft.metadata = fields.object(theirs).unwrap_or_default(),
        "profileMetadata" => draft.profile_metadata = fields.object(theirs).unwrap_or_default(),
        "totpSecret" => draft.totp.extend(fields.text(theirs).map(|secret| (secret, None))),
        _ => {}
    }
}
