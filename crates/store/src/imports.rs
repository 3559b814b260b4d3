//! Contract for imports: accounts taken over from another service, in batches that are written with their place in the
//! file. The rules are in [`latchkey_domain::imports`].

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use latchkey_domain::audit::AuditEvent;
use latchkey_domain::factors::FactorName;
use latchkey_domain::identity::VerifiedIdentity;
use latchkey_domain::ids::{FactorId, ImportId, PasskeyId, UserId};
use latchkey_domain::imports::{
    ConflictPolicy, ImportCounts, ImportJob, ImportRecord, ImportState, Problem, RecordOutcome,
};
use latchkey_domain::password::PasswordHash;
use latchkey_domain::profile::{Profile, Username};
use latchkey_domain::search::SearchText;
use latchkey_domain::time::Timestamp;
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::error::StoreResult;

/// Time from the start of an import within which its accounts can be deleted again, and its report is kept.
pub const IMPORT_RETENTION: Duration = Duration::from_hours(24 * 30);

/// An import to begin, or to go on with.
#[derive(Debug, Clone)]
pub struct BeginImport {
    /// Id of the import if it is a new one.
    pub id: ImportId,
    /// Name of the format.
    pub from: String,
    /// Name of the file.
    pub source: String,
    /// SHA-256 of the file and of everything that decides what becomes of a record.
    pub digest: [u8; 32],
    /// True if nothing but the report is written.
    pub is_dry_run: bool,
    /// Treatment of records whose email address has an account.
    pub policy: ConflictPolicy,
    /// Random id of the process that writes the import.
    pub claim: Uuid,
    /// True if an import of the same file that another process still writes is taken over, and one of another content under
    /// its name is told. Otherwise the name says nothing: the same bytes go on once nobody writes them, and others begin anew.
    pub takes_over: bool,
    /// Time without a batch after which a running import counts as interrupted.
    pub idle: Duration,
    /// Audit event of kind `ImportStarted`.
    pub event: AuditEvent,
    /// Time of the request.
    pub now: Timestamp,
}

/// Outcome of [`Imports::begin_import`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BegunImport {
    /// A new import began.
    Begun(ImportJob),
    /// An import of the same file goes on at its place.
    Resumed(ImportJob),
    /// Another import is being written.
    Running(ImportId),
    /// An import of a file of this name is being written, or was killed a moment ago; the file or an option is another.
    OtherOfFile(ImportId),
    /// An import of a file of this name was interrupted, and the file has changed since.
    Changed(ImportId),
}

/// A record of a batch, with everything that the store needs to create an account of it.
#[derive(Debug, Clone)]
pub struct BatchRecord {
    /// Number of the record in the file, from 1.
    pub place: u64,
    /// Name of the file, if it is one of a folder.
    pub file: Option<Arc<str>>,
    /// Line of the file at which the record begins.
    pub line: u64,
    /// The account, or the reason why the record is refused.
    pub read: Result<Box<NewImported>, Problem>,
    /// Problems of fields that were left out.
    pub problems: Vec<Problem>,
}

/// An account to be created from a record.
#[derive(Debug, Clone)]
pub struct NewImported {
    /// Id of the account if it is created.
    pub id: UserId,
    /// Account as the file has it.
    pub record: ImportRecord,
    /// Password hash in the form in which it is stored.
    pub password: Option<PasswordHash>,
    /// Identities of the record, with the issuers of their providers. They have the positions of those of the record.
    pub identities: Vec<VerifiedIdentity>,
    /// TOTP factors.
    pub totp: Vec<NewImportedTotp>,
    /// Ids of the passkeys, in the positions of those of the record.
    pub passkey_ids: Vec<PasskeyId>,
    /// Profile of the account; `None` creates none.
    pub profile: Option<Profile>,
    /// Searchable text of the profile.
    pub text: SearchText,
    /// What earlier records of the file have too.
    pub seen: SeenBefore,
    /// Audit event of kind `UserImported`. The store fills in the user id.
    pub event: AuditEvent,
}

/// Values of a record that a record of an earlier batch has taken. All but the address are of a dry run: another import finds
/// them in the database.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is about a value of its own")]
pub struct SeenBefore {
    /// True for the email address, which a skipped record has taken too.
    pub email: bool,
    /// True for the id.
    pub id: bool,
    /// True for the username.
    pub username: bool,
    /// Positions of the identities.
    pub identities: Vec<usize>,
    /// True for any passkey.
    pub passkey: bool,
}

/// A TOTP factor to be created.
#[derive(Clone)]
pub struct NewImportedTotp {
    /// Id of the factor.
    pub id: FactorId,
    /// Name of the factor.
    pub name: FactorName,
    /// Sealed secret.
    pub secret: Vec<u8>,
}

impl std::fmt::Debug for NewImportedTotp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("NewImportedTotp(…)")
    }
}

/// A batch of records.
#[derive(Debug, Clone)]
pub struct ImportBatch {
    /// Id of the import.
    pub id: ImportId,
    /// Random id of the process that writes the import.
    pub claim: Uuid,
    /// Outcomes before the batch. Its number of records is the place of the batch.
    pub before: ImportCounts,
    /// Treatment of records whose email address has an account.
    pub policy: ConflictPolicy,
    /// Records of the batch, in the order of the file.
    pub records: Vec<BatchRecord>,
    /// True if nothing is written but, for an upload, place and report.
    pub is_dry_run: bool,
    /// True if the import has a row, which a dry run of the command line has not.
    pub is_stored: bool,
    /// Time of the batch.
    pub now: Timestamp,
}

/// What became of one record of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordResult {
    /// Number of the record in the file.
    pub place: u64,
    /// Name of the file of the record, if it is one of a folder.
    pub file: Option<Arc<str>>,
    /// Line of the record.
    pub line: u64,
    /// Outcome of the record.
    pub outcome: RecordOutcome,
    /// Account that was created or updated.
    pub user_id: Option<UserId>,
    /// Problems of the record.
    pub problems: Vec<Problem>,
    /// Positions of the identities that an account got which was there.
    pub linked: Vec<usize>,
    /// Id at the source of an account that was created, if its metadata have no room for it.
    pub imported_id: Option<String>,
}

impl NewImported {
    /// Returns the username that the account is to get.
    #[must_use]
    pub fn username(&self) -> Option<&Username> {
        self.profile.as_ref().and_then(|profile| profile.username.as_ref())
    }
}

impl RecordResult {
    /// Returns the lines of the report about the record: one JSON object for each problem, and one for an id at the source
    /// that the account does not tell.
    #[must_use]
    pub fn report_lines(&self) -> Vec<String> {
        let line = |problem: &Problem| {
            let mut line = Map::new();
            if let Some(file) = &self.file {
                line.insert("file".to_owned(), file.as_ref().into());
            }
            line.insert("line".to_owned(), self.line.into());
            line.insert("outcome".to_owned(), self.outcome.as_str().into());
            line.extend(problem.to_json());
            Value::Object(line).to_string()
        };
        let id = |imported: &String| {
            let mut line = Map::new();
            line.insert("importedId".to_owned(), imported.as_str().into());
            line.insert("id".to_owned(), self.user_id?.to_string().into());
            Some(Value::Object(line).to_string())
        };
        self.problems.iter().map(line).chain(self.imported_id.as_ref().and_then(id)).collect()
    }
}

/// Outcome of [`Imports::write_import_batch`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BatchOutcome {
    /// The batch was written.
    Written {
        /// Outcomes of all records so far.
        counts: ImportCounts,
        /// Outcomes of the records of the batch, up to the one at which the import ended.
        results: Vec<RecordResult>,
        /// Record at which the import ended, with the clash.
        stopped: Option<(u64, Problem)>,
    },
    /// Another process has taken the import over, or undone it. Nothing was written.
    Superseded,
}

/// A batch of accounts of an import to delete again.
#[derive(Debug, Clone)]
pub struct UndoImport {
    /// Id of the import.
    pub id: ImportId,
    /// Number of the record after which the batch begins.
    pub after: u64,
    /// Audit event of kind `UserDeleted`, one for each account of the batch at most. The store fills in the user ids.
    pub events: Vec<AuditEvent>,
    /// Time of the request.
    pub now: Timestamp,
}

/// Accounts of a batch of [`Imports::undo_import_batch`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UndoneBatch {
    /// Number of the last record of the batch; `None` if no account is left.
    pub last: Option<u64>,
    /// Accounts that were deleted.
    pub deleted: u64,
    /// Accounts that stay because they have signed in.
    pub signed_in: u64,
    /// Accounts that stay because they were changed since, or have a role in the console.
    pub changed: u64,
    /// Accounts that are gone already.
    pub gone: u64,
}

/// Place of an import in the list: its start and its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImportKey {
    /// Time at which the import began.
    pub started_at: Timestamp,
    /// Tie-break.
    pub id: ImportId,
}

/// Start of a page in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportPosition {
    /// The page begins with the newest import.
    First,
    /// The page begins after this import.
    After(ImportKey),
    /// The page ends before this import.
    Before(ImportKey),
}

/// A page of the list of imports. Page and total are read from one database snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportPage {
    /// Imports of the page, newest first, then by id descending.
    pub jobs: Vec<ImportJob>,
    /// Number of all imports.
    pub total: u64,
    /// True if the list goes on: after this page, or before it for [`ImportPosition::Before`].
    pub has_more: bool,
}

/// Imports of accounts from other services.
#[async_trait]
pub trait Imports {
    /// Begins an import, or finds the interrupted one of the same file.
    async fn begin_import(&self, begin: BeginImport) -> StoreResult<BegunImport>;

    /// Decides about the records of a batch, and writes accounts, audit events, report and the place in the file in one
    /// transaction. A dry run decides alike and writes no account.
    async fn write_import_batch(&self, batch: ImportBatch) -> StoreResult<BatchOutcome>;

    /// Says that an import is still alive. Returns false if another process has taken it over.
    async fn renew_import(&self, id: ImportId, claim: Uuid, now: Timestamp) -> StoreResult<bool>;

    /// Ends an import. `line` is the last line of the report, which says why the import ended early. Returns false if
    /// another process has taken it over.
    async fn end_import(
        &self,
        id: ImportId,
        claim: Uuid,
        state: ImportState,
        line: Option<String>,
        now: Timestamp,
    ) -> StoreResult<bool>;

    /// Finds an import.
    async fn find_import(&self, id: ImportId) -> StoreResult<Option<ImportJob>>;

    /// Lists one page of the imports.
    async fn list_imports(&self, position: ImportPosition, limit: u32) -> StoreResult<ImportPage>;

    /// Reads lines of the report, as JSON objects, after the record `after`. Ends with the last line of a record.
    async fn list_import_problems(
        &self,
        id: ImportId,
        after: u64,
        limit: u32,
    ) -> StoreResult<Vec<(u64, String)>>;

    /// Reads the accounts that an import created, after the record `after`: number of the record, id, and the id in the
    /// source if it was no UUID.
    async fn list_imported_ids(
        &self,
        id: ImportId,
        after: u64,
        limit: u32,
    ) -> StoreResult<Vec<(u64, UserId, Option<String>)>>;

    /// Deletes accounts of an import that never signed in and were not changed since. At most as many as there are events.
    async fn undo_import_batch(&self, undo: UndoImport) -> StoreResult<UndoneBatch>;

    /// Marks an import as undone, and writes the event. Returns false if it was undone already.
    async fn end_undo(&self, id: ImportId, event: AuditEvent, now: Timestamp) -> StoreResult<bool>;
}
