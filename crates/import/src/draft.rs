//! A draft: what a format found in a row, as text. It becomes a record here, and nowhere else: each value passes the type
//! that the API uses. A bad email address refuses the record, another bad value is left out and reported.

mod identities;

use std::sync::Arc;
use std::time::Duration;

use latchkey_domain::email::Email;
use latchkey_domain::factors::FactorName;
use latchkey_domain::ids::UserId;
use latchkey_domain::imported_hash::{HashProblem, ImportedHash};
use latchkey_domain::imports::{ImportPasskey, ImportRecord, ImportTotp, Problem, ProblemCode, TOTP_SECRET};
use latchkey_domain::locale::Locale;
use latchkey_domain::passkey::{MAX_PASSKEYS, UserHandle};
use latchkey_domain::profile::{AvatarUrl, Bio, Metadata, Name, Username, check_object_size};
use latchkey_domain::time::Timestamp;
use latchkey_domain::user::AppMetadata;
use serde_json::{Map, Value};

use crate::base32;
use crate::options::ImportOptions;
use crate::problems::Problems;
use identities::DraftIdentity;

/// Key of the metadata for an id that is no UUID.
const IMPORTED_ID: &str = "importedId";
/// Maximum number of TOTP factors of a record.
const MOST_TOTP: usize = 2;
/// Maximum length of an id in bytes, which OpenID Connect sets for subjects too. A batch has 2,000 of them in memory.
const LONGEST_ID: usize = 255;

/// Least number that an integer of 64 bits with a sign has no room for.
const BEYOND_64_BITS: f64 = 9_223_372_036_854_775_808.0;

const DAY: Duration = Duration::from_hours(24);

/// A record of the file: its line, and the account or the reason why it is refused.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Name of the file, if it is one of a folder.
    pub file: Option<Arc<str>>,
    /// Line of the file at which the record begins.
    pub line: u64,
    /// Account, or the problem for which the record is refused.
    pub read: Result<Box<ImportRecord>, Problem>,
    /// Problems of values that were left out.
    pub problems: Vec<Problem>,
}

/// What a format found in a row.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
#[derive(Default)]
pub(crate) struct Draft {
    /// True for an account of an export of ours, which says itself whether there is a profile, and names providers as we do.
    pub(crate) is_exported: bool,
    pub(crate) id: Option<String>,
    pub(crate) email: Option<String>,
    pub(crate) email_verified: bool,
    /// Hash of the password in a text that [`ImportedHash::parse`] knows.
    pub(crate) password: Option<String>,
    /// True if the password is known to come from the mailbox's owner; `None` if the source does not tell.
    pub(crate) is_password_proven: Option<bool>,
    pub(crate) name: Option<String>,
    pub(crate) username: Option<String>,
    pub(crate) avatar_url: Option<String>,
    pub(crate) bio: Option<String>,
    pub(crate) metadata: Map<String, Value>,
    pub(crate) profile_metadata: Map<String, Value>,
    pub(crate) custom: Map<String, Value>,
    pub(crate) locale: Option<String>,
    pub(crate) is_banned: bool,
    pub(crate) deletes_at: Option<Timestamp>,
    pub(crate) first_verified_at: Option<Timestamp>,
    pub(crate) is_contested: bool,
    pub(crate) created_at: Option<Timestamp>,
    pub(crate) updated_at: Option<Timestamp>,
    pub(crate) last_sign_in_at: Option<Timestamp>,
    pub(crate) identities: Vec<DraftIdentity>,
    /// True if the source asks for a second factor. TOTP secrets say so too.
    pub(crate) has_two_step: bool,
    /// TOTP secrets in base32, each with its name.
    pub(crate) totp: Vec<(String, Option<String>)>,
    /// Passkeys, each with the user handle under which its authenticator stores it.
    pub(crate) passkeys: Vec<(UserHandle, ImportPasskey)>,
    pub(crate) problems: Problems,
    /// Reason why the record is refused.
    pub(crate) refused: Option<Problem>,
}

impl Draft {
    pub(crate) fn drop_field(&mut self, field: &str, message: impl std::fmt::Display) {
        self.problems.note(Problem::of(ProblemCode::FieldDropped, field, message));
    }

    pub(crate) fn drop_factor(&mut self, message: &str) {
        self.problems.push(Problem::of(ProblemCode::FactorNotCarried, "totp", message));
    }

    /// True if a ban that ends at a time is not over. An account has no ban with an end, so the end is reported.
    pub(crate) fn is_ban_on(&mut self, until: Timestamp, field: &str, options: &ImportOptions) -> bool {
        let is_on = until > options.now;
        if is_on {
            self.drop_field(field, "the ban has an end at the source, and none here: unban the account then");
        }
        is_on
    }

    /// Turns the draft into a record of domain types.
    pub(crate) fn finish(mut self, line: u64, options: &ImportOptions) -> Entry {
        let email = match self.refused.take().map_or_else(|| self.email(), Err) {
            Ok(email) => email,
            Err(problem) => {
                return Entry { file: None, line, read: Err(problem), problems: self.problems.into_told() };
            }
        };
        let (id, imported_id) = self.ids();
        let (metadata, imported_id) = self.metadata(imported_id);
        let password = self.password(options.allow_weak);
        let (totp, (user_handle, passkeys)) = (self.totp(), self.passkeys());
        let record = ImportRecord {
            id,
            imported_id,
            email,
            email_verified: self.email_verified && !options.is_unverified,
            password,
            // An export of ours says it of each password. One of an earlier release did not, and gets no trust for it.
            is_password_proven: self
                .is_password_proven
                .or(self.is_exported.then_some(false))
                .filter(|_| !options.is_unverified),
            hash_key: None,
            has_profile: self.is_exported.then_some(self.name.is_some()),
            name: self.name(),
            username: take(&mut self.problems, "username", self.username.take(), Username::parse),
            avatar_url: take(&mut self.problems, "avatarUrl", self.avatar_url.take(), AvatarUrl::parse),
            bio: take(&mut self.problems, "bio", self.bio.take(), Bio::parse),
            metadata,
            profile_metadata: self.profile_metadata(),
            custom: self.custom(),
            locale: take(&mut self.problems, "locale", self.locale.take(), Locale::parse),
            is_banned: self.is_banned,
            deletes_at: self.deletes_at,
            first_verified_at: self.first_verified_at.filter(|_| !options.is_unverified),
            is_contested: self.is_contested,
            created_at: self.created_at(options.now),
            updated_at: self.updated_at,
            last_sign_in_at: self.last_sign_in_at,
            identities: self.identities(),
            has_two_step: self.has_two_step(!totp.is_empty() || !passkeys.is_empty()) || !totp.is_empty(),
            totp,
            user_handle,
            passkeys,
        };
        Entry { file: None, line, read: Ok(Box::new(record)), problems: self.problems.into_told() }
    }

    fn email(&self) -> Result<Email, Problem> {
        let invalid = |message: String| Problem::of(ProblemCode::EmailInvalid, "email", message);
        let text = self.email.as_deref().ok_or_else(|| invalid("is missing".to_owned()))?;
        Email::parse(text).map_err(|error| invalid(error.to_string()))
    }

    /// Returns the id if it is a UUID, or else as another one, which goes to the metadata.
    fn ids(&mut self) -> (Option<UserId>, Option<String>) {
        let Some(text) = self.id.take() else { return (None, None) };
        let id = text.parse::<UserId>().ok().filter(|id| !id.as_uuid().is_nil());
        if id.is_none() && text.len() > LONGEST_ID {
            self.drop_field("id", "has more than 255 bytes");
            return (None, None);
        }
        (id, id.is_none().then_some(text))
    }

    fn password(&mut self, allow_weak: bool) -> Option<ImportedHash> {
        let text = self.password.take()?;
        match ImportedHash::parse(&text, allow_weak) {
            Ok(hash) => Some(hash),
            Err(problem) => {
                let code = match problem {
                    HashProblem::Unknown => ProblemCode::HashUnknown,
                    HashProblem::OutOfBounds => ProblemCode::HashOutOfBounds,
                    HashProblem::Weak => ProblemCode::HashWeak,
                };
                self.problems.push(Problem::of(code, "passwordHash", problem));
                None
            }
        }
    }

    fn name(&mut self) -> Name {
        let text = self.name.take();
        let text = text.as_deref().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned);
        take(&mut self.problems, "name", text, Name::parse).unwrap_or_default()
    }

    /// Returns the metadata, with the id in them if they have room for it, and the id if they have none.
    fn metadata(&mut self, imported_id: Option<String>) -> (AppMetadata, Option<String>) {
        let metadata = std::mem::take(&mut self.metadata);
        self.note_rounded("metadata", &metadata);
        let Some(id) = imported_id else { return (self.checked(metadata), None) };
        let mut with_id = metadata.clone();
        let replaced = with_id.insert(IMPORTED_ID.to_owned(), id.as_str().into());
        if let Ok(metadata) = AppMetadata::new(with_id) {
            if replaced.is_some() {
                self.drop_field("metadata.importedId", "gives way to the id of the account at the source");
            }
            return (metadata, None);
        }
        match AppMetadata::new(metadata) {
            Ok(metadata) => {
                self.drop_field("metadata.importedId", "has no room in the metadata; the report has the id");
                (metadata, Some(id))
            }
            Err(error) => {
                self.drop_field("metadata", error);
                self.metadata(Some(id)) // without the others
            }
        }
    }

    fn checked(&mut self, metadata: Map<String, Value>) -> AppMetadata {
        AppMetadata::new(metadata).unwrap_or_else(|error| {
            self.drop_field("metadata", error);
            AppMetadata::default()
        })
    }

    /// Returns the time of the creation. Clocks differ, but not by more than a day.
    fn created_at(&mut self, now: Timestamp) -> Option<Timestamp> {
        let is_past = |time: &Timestamp| *time <= now.plus(DAY);
        let kept = self.created_at.filter(is_past);
        if kept.is_none() && self.created_at.is_some() {
            self.drop_field("createdAt", "lies in the future");
        }
        kept
    }

    /// Reports values with a number beyond 64 bits, which JSON readers keep as a floating-point number. In an export of ours
    /// it was one already.
    fn note_rounded(&mut self, field: &str, map: &Map<String, Value>) {
        if self.is_exported {
            return;
        }
        for key in map.iter().filter(|(_, value)| has_rounded(value)).map(|(key, _)| key) {
            let message = "has a number beyond 64 bits, which is kept with 15 digits at least";
            self.drop_field(&format!("{field}.{key}"), message);
        }
    }

    fn profile_metadata(&mut self) -> Metadata {
        let metadata = std::mem::take(&mut self.profile_metadata);
        self.note_rounded("profileMetadata", &metadata);
        Metadata::new(metadata).unwrap_or_else(|error| {
            self.drop_field("profileMetadata", error);
            Metadata::default()
        })
    }

    fn custom(&mut self) -> Map<String, Value> {
        let custom = std::mem::take(&mut self.custom);
        self.note_rounded("custom", &custom);
        if let Err(error) = check_object_size(&custom) {
            self.drop_field("custom", error);
            return Map::new();
        }
        custom
    }

    fn totp(&mut self) -> Vec<ImportTotp> {
        let mut found = Vec::new();
        for (text, name) in std::mem::take(&mut self.totp) {
            match base32::decode(&text) {
                Some(secret) if TOTP_SECRET.contains(&secret.len()) && found.len() < MOST_TOTP => {
                    let name =
                        take(&mut self.problems, "totp.name", name, |name| FactorName::parse(name.trim()));
                    let name = name.unwrap_or_else(FactorName::of_totp);
                    found.push(ImportTotp { secret, name });
                }
                _ => self
                    .drop_factor("the secret has not 80 to 512 bits in base32, or there are more than two"),
            }
        }
        found
    }

    /// Returns the passkeys and the user handle that they share.
    fn passkeys(&mut self) -> (Option<UserHandle>, Vec<ImportPasskey>) {
        let (mut handle, mut found) = (None, Vec::<ImportPasskey>::new());
        for (of, passkey) in std::mem::take(&mut self.passkeys) {
            let is_known = found.iter().any(|one| one.credential_id == passkey.credential_id);
            if is_known || handle.is_some_and(|handle| handle != of) || found.len() >= MAX_PASSKEYS as usize {
                let message =
                    "a passkey is there twice, or has another user handle, or there are more than 20";
                self.problems.push(Problem::of(ProblemCode::FactorNotCarried, "passkeys", message));
                continue;
            }
            handle = Some(of);
            found.push(passkey);
        }
        (handle, found)
    }

    /// True if two-step sign-in is on. Without a factor nobody could sign in, so it stays off then.
    fn has_two_step(&mut self, has_factor: bool) -> bool {
        if self.has_two_step && !has_factor {
            let message = "two-step sign-in is off, because the file has no second factor of the account";
            self.problems.push(Problem::of(ProblemCode::FactorNotCarried, "twoStep", message));
        }
        self.has_two_step && has_factor
    }
}

/// Parses an optional value. A bad one is left out and reported.
fn take<T, E: std::fmt::Display>(
    problems: &mut Problems,
    field: &str,
    text: Option<String>,
    parse: impl Fn(&str) -> Result<T, E>,
) -> Option<T> {
    let text = text.filter(|text| !text.is_empty())?;
    parse(&text).map_err(|error| problems.push(Problem::of(ProblemCode::FieldDropped, field, error))).ok()
}

/// True if a value has a floating-point number of more than 64 bits.
fn has_rounded(value: &Value) -> bool {
    match value {
        Value::Number(number) => {
            number.is_f64() && number.as_f64().is_some_and(|n| n.abs() >= BEYOND_64_BITS)
        }
        Value::Array(list) => list.iter().any(has_rounded),
        Value::Object(map) => map.values().any(has_rounded),
        Value::Null | Value::Bool(_) | Value::String(_) => false,
    }
}
