//! Imports: accounts taken over from another service. A record is one account of a file, with valid values only; the crate
//! `latchkey-import` reads it. The decision what becomes of it is in [`judge`](judge()).

mod judge;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

pub use judge::{Clash, Filling, Occupant, Verdict, judge};

use crate::email::Email;
use crate::factors::FactorName;
use crate::id::id;
use crate::identity::{Issuer, ProviderKey, Subject};
use crate::imported_hash::{HashKeyId, ImportedHash};
use crate::locale::Locale;
use crate::passkey::{Aaguid, CredentialId, PasskeyState, RpId, Transports, UserHandle};
use crate::profile::{AvatarUrl, Bio, Metadata, Name, Username};
use crate::time::Timestamp;
use crate::user::{AppMetadata, UserId};
use crate::words;

id! {
    /// Id of an import.
    ImportId, "The id of the import."
}

/// Maximum length of the name of a field in a problem, in characters.
const LONGEST_FIELD: usize = 64;
/// Lengths that the secret of a TOTP factor may have in bytes: 80 bits, as many services make them, to 512 bits.
pub const TOTP_SECRET: std::ops::RangeInclusive<usize> = 10..=64;
/// Maximum size of a record in bytes.
pub const LARGEST_RECORD: usize = 1024 * 1024;

words! {
    /// Problem with a record. The string is its code in reports.
    pub enum ProblemCode {
        /// The record has no email address, or an invalid one.
        EmailInvalid = "email_invalid",
        /// An earlier record of the file has the email address.
        DuplicateInFile = "duplicate_in_file",
        /// An account has the email address, or the address is reserved for one.
        EmailTaken = "email_taken",
        /// A password or identity was left out, because the address is not verified on both sides.
        NotTrusted = "not_trusted",
        /// Another account, or an earlier record, has the id.
        IdTaken = "id_taken",
        /// An identity is linked to another account, or an earlier record has it.
        IdentityTaken = "identity_taken",
        /// Another account, or an earlier record, has the username.
        UsernameTaken = "username_taken",
        /// The scheme of the password hash is unknown, or the hash is malformed.
        HashUnknown = "hash_unknown",
        /// The password hash is of a weak scheme, which was not allowed.
        HashWeak = "hash_weak",
        /// The cost of the password hash is outside the bounds.
        HashOutOfBounds = "hash_out_of_bounds",
        /// An optional field was left out, because its value is invalid.
        FieldDropped = "field_dropped",
        /// The record exceeds [`LARGEST_RECORD`].
        RecordTooLarge = "record_too_large",
        /// The record is malformed.
        JsonInvalid = "json_invalid",
        /// The account has a grant as an operator, and is not changed.
        OperatorProtected = "operator_protected",
        /// A second factor was left out.
        FactorNotCarried = "factor_not_carried",
        /// The provider of an identity is not configured. The identity works once it is.
        ProviderNotConfigured = "provider_not_configured",
    }
}

words! {
    /// Treatment of a record whose email address has an account.
    pub enum ConflictPolicy {
        /// Leaves the account as it is.
        Skip = "skip",
        /// Fills what the account lacks.
        Update = "update",
        /// Ends the import.
        Fail = "fail",
    }
}

words! {
    /// State of an import.
    pub enum ImportState {
        /// Records are being read, or the process was killed; the same import goes on then.
        Running = "running",
        /// All records were read.
        Done = "done",
        /// The import ended early. One that was stopped goes on; one that a clash or its file ended is over.
        Failed = "failed",
        /// The accounts of the import were deleted again.
        Undone = "undone",
    }
}

/// A problem with a record: its code, the field concerned, and a sentence that quotes no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Code of the problem.
    pub code: ProblemCode,
    /// Field of the record, if the problem concerns one.
    pub field: Option<String>,
    /// Sentence about the problem; empty if the code says everything.
    pub message: String,
    /// Number of problems that it stands for, each of which is counted.
    pub count: u64,
}

impl Problem {
    /// Creates a problem of the record as a whole.
    #[must_use]
    pub const fn new(code: ProblemCode) -> Self {
        Self { code, field: None, message: String::new(), count: 1 }
    }

    /// Creates a problem of a field. The name of the field may come from the file, and is cut.
    #[must_use]
    pub fn of(code: ProblemCode, field: &str, message: impl fmt::Display) -> Self {
        let field = field.chars().take(LONGEST_FIELD).collect();
        Self { field: Some(field), message: message.to_string(), ..Self::new(code) }
    }

    /// Returns the line of a report about the problem, without the number of the record.
    #[must_use]
    pub fn to_json(&self) -> Map<String, Value> {
        let mut line = Map::new();
        line.insert("code".to_owned(), self.code.as_str().into());
        if let Some(field) = &self.field {
            line.insert("field".to_owned(), field.as_str().into());
        }
        if !self.message.is_empty() {
            line.insert("message".to_owned(), self.message.as_str().into());
        }
        line
    }
}

/// One account of a file.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
#[derive(Debug, Clone, PartialEq)]
pub struct ImportRecord {
    /// Id that the account keeps; `None` if the source has none that is a UUID.
    pub id: Option<UserId>,
    /// Id at the source, if it is no UUID and the metadata have no room for it.
    pub imported_id: Option<String>,
    /// Email address.
    pub email: Email,
    /// True if the source verified the address.
    pub email_verified: bool,
    /// Password hash of the source.
    pub password: Option<ImportedHash>,
    /// True if the password is known to come from the mailbox's owner; `None` if the source does not tell.
    pub is_password_proven: Option<bool>,
    /// Signer key of the hash, if the file has it apart.
    pub hash_key: Option<ImportHashKey>,
    /// True if the account has a profile; `None` if its fields and the settings decide.
    pub has_profile: Option<bool>,
    /// Display name; empty if the source has none.
    pub name: Name,
    /// Handle of the profile.
    pub username: Option<Username>,
    /// Picture of the profile.
    pub avatar_url: Option<AvatarUrl>,
    /// Text about the user.
    pub bio: Option<Bio>,
    /// Application data, which only admins write.
    pub metadata: AppMetadata,
    /// Private metadata of the profile, which its owner writes.
    pub profile_metadata: Metadata,
    /// Public custom fields of the profile.
    pub custom: Map<String, Value>,
    /// Language of the account's mails.
    pub locale: Option<Locale>,
    /// True if the account may not sign in.
    pub is_banned: bool,
    /// Time from which the account is deleted for good, if its owner asked for that.
    pub deletes_at: Option<Timestamp>,
    /// Time at which an address of the account was first verified, if the source tells it.
    pub first_verified_at: Option<Timestamp>,
    /// True if no data in the account is known to be the mailbox owner's.
    pub is_contested: bool,
    /// Time at which the source created the account.
    pub created_at: Option<Timestamp>,
    /// Time at which the account was last changed at the source.
    pub updated_at: Option<Timestamp>,
    /// Time of the last sign-in at the source.
    pub last_sign_in_at: Option<Timestamp>,
    /// Identities of external providers.
    pub identities: Vec<ImportIdentity>,
    /// True if the source asks for a second factor.
    pub has_two_step: bool,
    /// TOTP factors.
    pub totp: Vec<ImportTotp>,
    /// User handle under which the authenticators store the passkeys; `None` without passkeys.
    pub user_handle: Option<UserHandle>,
    /// Passkeys.
    pub passkeys: Vec<ImportPasskey>,
}

impl ImportRecord {
    /// True if the password counts as that of the mailbox's owner. If the source does not tell, its verification of the
    /// address does.
    #[must_use]
    pub fn has_proven_password(&self) -> bool {
        self.is_password_proven.unwrap_or(self.email_verified)
    }
}

/// The signer key of a password hash, under the id by which the hash names it.
#[derive(Clone, PartialEq, Eq)]
pub struct ImportHashKey {
    /// Id in the text of the hash.
    pub id: HashKeyId,
    /// Bytes of the key. Many records share them.
    pub key: Arc<Zeroizing<Vec<u8>>>,
}

impl fmt::Debug for ImportHashKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ImportHashKey(…)")
    }
}

/// An identity of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportIdentity {
    /// Key of the provider.
    pub provider: ProviderKey,
    /// Issuer of the subject; `None` if it is that of the provider which has the key here.
    pub issuer: Option<Issuer>,
    /// Subject at the provider.
    pub subject: Subject,
    /// Email address at the provider.
    pub email: Option<Email>,
}

/// A TOTP factor of a record.
#[derive(Clone, PartialEq, Eq, Zeroize, ZeroizeOnDrop)]
pub struct ImportTotp {
    /// Bytes of the secret.
    pub secret: Vec<u8>,
    /// Name of the factor.
    #[zeroize(skip)]
    pub name: FactorName,
}

impl fmt::Debug for ImportTotp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ImportTotp(…)")
    }
}

/// A passkey of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportPasskey {
    /// Credential id.
    pub credential_id: CredentialId,
    /// Public key in COSE form.
    pub public_key: Vec<u8>,
    /// Relying party id, without which the passkey is not usable.
    pub rp_id: RpId,
    /// Name of the passkey.
    pub name: FactorName,
    /// Model of the authenticator.
    pub aaguid: Aaguid,
    /// Transports of the authenticator.
    pub transports: Transports,
    /// Signature counter and backup state.
    pub state: PasskeyState,
    /// True if the passkey may be synced.
    pub is_backup_eligible: bool,
    /// Time of the registration.
    pub created_at: Option<Timestamp>,
    /// Time of the last accepted assertion.
    pub last_used_at: Option<Timestamp>,
}

/// Outcomes of the records that were read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImportCounts {
    /// Records that were read, those below included. It is also the place in the file.
    pub read: u64,
    /// Accounts that were created.
    pub created: u64,
    /// Accounts that were updated.
    pub updated: u64,
    /// Records whose account stayed as it was.
    pub skipped: u64,
    /// Records that were refused.
    pub refused: u64,
    /// Number of problems, by code.
    pub problems: BTreeMap<ProblemCode, u64>,
}

impl ImportCounts {
    /// Counts a problem.
    pub fn note(&mut self, problem: &Problem) {
        *self.problems.entry(problem.code).or_default() += problem.count;
    }

    /// Counts the outcome of a record.
    pub const fn count(&mut self, outcome: RecordOutcome) {
        self.read += 1;
        match outcome {
            RecordOutcome::Created => self.created += 1,
            RecordOutcome::Updated => self.updated += 1,
            RecordOutcome::Skipped => self.skipped += 1,
            RecordOutcome::Refused => self.refused += 1,
        }
    }

    /// Returns the numbers of problems as a JSON object.
    #[must_use]
    pub fn problems_json(&self) -> Map<String, Value> {
        self.problems.iter().map(|(code, count)| (code.as_str().to_owned(), (*count).into())).collect()
    }

    /// Restores the numbers of problems from a JSON object. Codes of later versions are left out.
    #[must_use]
    pub fn problems_from(object: &Map<String, Value>) -> BTreeMap<ProblemCode, u64> {
        let known = |(code, count): (&String, &Value)| Some((ProblemCode::parse(code)?, count.as_u64()?));
        object.iter().filter_map(known).collect()
    }
}

words! {
    /// What became of a record.
    pub enum RecordOutcome {
        /// An account was created.
        Created = "created",
        /// The account with the address was updated.
        Updated = "updated",
        /// The account with the address stayed as it was.
        Skipped = "skipped",
        /// The record was refused.
        Refused = "refused",
    }
}

/// An import, as its list shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportJob {
    /// Id of the import.
    pub id: ImportId,
    /// State of the import.
    pub state: ImportState,
    /// Name of the format.
    pub from: String,
    /// Name of the file; `upload` for one that was sent over HTTP.
    pub source: String,
    /// True if nothing but the report is written.
    pub is_dry_run: bool,
    /// Treatment of records whose email address has an account.
    pub policy: ConflictPolicy,
    /// Outcomes so far.
    pub counts: ImportCounts,
    /// Time at which the import began.
    pub started_at: Timestamp,
    /// Time at which a batch was last written.
    pub active_at: Timestamp,
    /// Time at which the import ended.
    pub ended_at: Option<Timestamp>,
}
