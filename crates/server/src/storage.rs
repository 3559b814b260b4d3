//! Opening of the configured database: connection, migration, checks, and waiting until it is reachable. Other modules
//! do not depend on the engine (SQLite or PostgreSQL).

use std::borrow::Cow;
use std::io;
use std::num::NonZeroU32;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use latchkey_domain::time::Timestamp;
use latchkey_http::error::chain_of;
use latchkey_service::entropy::{Entropy, SystemEntropy};
use latchkey_store::{SealedValues, SigningKeys, Store, StoreError, StoredSettings, StoredSigningKey};
use latchkey_store_postgres::{PermanentFault, Postgres, PostgresOptions, PostgresStore};
use latchkey_store_sqlite::{Inspection as SqliteInspection, MissingFile, NoDatabase, Sqlite, SqliteOptions};
// Used only for the interval of log lines.
use tokio::time::Instant;

use crate::data_folder::create_private;
use crate::settings::{Settings, StorageUrl};
use crate::terminal::on_thread;
use crate::wiring::WiringError;

/// Pause between two attempts to reach the database.
const PAUSE: Duration = Duration::from_millis(500);
/// Minimum interval of log lines while the service waits for the database.
const LINE_EVERY: Duration = Duration::from_secs(10);

#[derive(Clone)]
pub struct OpenStore {
    pub store: Arc<dyn Store>,
    /// PostgreSQL only, if `storage.postgres.listen` is on: the same store and its options, to listen for notifications
    /// of other instances.
    pub announcing: Option<(Arc<PostgresStore>, PostgresOptions)>,
}

/// Reason for which the database cannot be used.
#[derive(Debug)]
pub enum StorageFault {
    /// The database does not respond now; a retry may succeed.
    Transient(String),
    /// A retry would fail too; the text gives the remedy.
    Permanent(String),
    /// There is no SQLite file, and the settings do not allow to create one.
    NoFile,
}

impl StorageFault {
    fn reason(self, settings: &Settings) -> String {
        match self {
            Self::Transient(reason) | Self::Permanent(reason) => reason,
            Self::NoFile => format!(
                "there is no database in this file. If there should be one, find it first (is its disk mounted? is \
                 storage.url right?). To make a new one run `{}`, or set storage.create = true",
                settings.command_line("migrate")
            ),
        }
    }
}

/// What opens the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenedBy {
    /// The running service. It waits until the database is reachable.
    Service,
    /// A command at a terminal. It fails if the database is not reachable.
    Command,
    /// A command that writes very much to a SQLite file that nobody else has open.
    Import,
}

/// Opens the database and applies missing migrations. Creates a missing SQLite file even if `storage.create` is off.
pub async fn open(settings: &Settings) -> Result<OpenStore, WiringError> {
    let opened = try_open(settings, (MissingFile::Create, OpenedBy::Command), &mut None).await;
    opened.map_err(|fault| refuse(settings, fault))
}

/// Returns the names of the missing migrations, oldest first. Changes nothing.
pub async fn check_migrations(settings: &Settings) -> Result<Vec<&'static str>, WiringError> {
    let checked = match &settings.storage.url {
        StorageUrl::Sqlite(path) => Sqlite::check_migrations(path).map_err(|error| of_sqlite(&error)),
        StorageUrl::Postgres(_) => match postgres(settings) {
            Ok((store, _)) => store.check_migrations().await.map_err(|error| of_postgres(&error)),
            Err(fault) => Err(fault),
        },
    };
    checked.map_err(|fault| refuse(settings, fault))
}

/// Reads the settings that an admin changed, as stored; `None` if the database does not exist yet. Nothing is created
/// or migrated. The error is a sentence without a password.
pub async fn stored_settings(settings: &Settings) -> Result<Option<StoredSettings>, String> {
    let stored = match &settings.storage.url {
        StorageUrl::Sqlite(path) => Sqlite::stored_settings(path).map_err(|error| of_sqlite(&error)),
        StorageUrl::Postgres(_) => match postgres(settings) {
            Ok((store, _)) => Postgres::stored_settings(&store).await.map_err(|error| of_postgres(&error)),
            Err(fault) => Err(fault),
        },
    };
    stored.map_err(|fault| fault.reason(settings))
}

/// State of a database that decides whether a start can succeed.
pub(crate) struct Inspection {
    /// Missing migrations by name, oldest first.
    pub(crate) missing: Vec<&'static str>,
    /// Signing keys in use; empty while migrations are missing.
    pub(crate) signing_keys: Vec<StoredSigningKey>,
    /// True if a replacement of the server secret is not finished; false while migrations are missing.
    pub(crate) is_secret_replaced: bool,
}

/// Reads the state of the database. Changes and creates nothing.
pub(crate) async fn inspect(settings: &Settings, now: Timestamp) -> Result<Inspection, WiringError> {
    refuse_missing(settings)?;
    let inspected = match &settings.storage.url {
        StorageUrl::Sqlite(path) => inspect_sqlite(path, now),
        StorageUrl::Postgres(_) => inspect_postgres(settings, now).await,
    };
    inspected.map_err(|fault| refuse(settings, fault))
}

fn inspect_sqlite(path: &Path, now: Timestamp) -> Result<Inspection, StorageFault> {
    let look = Sqlite::inspect(path, now).map_err(|error| of_sqlite(&error))?;
    let SqliteInspection { missing, signing_keys, is_secret_replaced } = look;
    Ok(Inspection { missing, signing_keys, is_secret_replaced })
}

async fn inspect_postgres(settings: &Settings, now: Timestamp) -> Result<Inspection, StorageFault> {
    let (store, _) = postgres(settings)?;
    let missing = store.check_migrations().await.map_err(|error| of_postgres(&error))?;
    if !missing.is_empty() {
        return Ok(Inspection { missing, signing_keys: Vec::new(), is_secret_replaced: false });
    }
    store.check_rights().await.map_err(|error| of_postgres(&error))?;
    let signing_keys = store.list_signing_keys(now).await.map_err(|error| of_postgres(&error))?;
    let unfinished = store.unfinished_secret_rotation().await.map_err(|error| of_postgres(&error))?;
    Ok(Inspection { missing, signing_keys, is_secret_replaced: unfinished.is_some() })
}

/// Opens the database and applies missing migrations. With [`OpenedBy::Service`] it retries transient faults and logs
/// every ten seconds.
pub(crate) async fn open_or_wait(settings: &Settings, opened_by: OpenedBy) -> Result<OpenStore, WiringError> {
    let (mut waiting, mut made) = (Waiting::default(), None);
    loop {
        match try_open(settings, (missing_file(settings), opened_by), &mut made).await {
            Err(StorageFault::Transient(reason)) if opened_by == OpenedBy::Service => {
                waiting.pause(settings, &reason).await;
            }
            Ok(open) => {
                if waiting.logged_at.is_some() {
                    tracing::info!("the database is there");
                }
                return Ok(open);
            }
            Err(fault) => return Err(refuse(settings, fault)),
        }
    }
}

/// Pauses between attempts to reach the database, and the time of the last log line.
#[derive(Default)]
pub(crate) struct Waiting {
    logged_at: Option<Instant>,
}

impl Waiting {
    /// Logs the reason, at most every ten seconds, and sleeps for one pause.
    pub(crate) async fn pause(&mut self, settings: &Settings, reason: &str) {
        if self.logged_at.is_none_or(|logged_at| logged_at.elapsed() >= LINE_EVERY) {
            let database = settings.storage.url.shown();
            tracing::warn!(database, reason, "the database cannot be reached: waiting for it");
            self.logged_at = Some(Instant::now());
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Attempts once to open and migrate the database. The attempt ends with a test write, because a database that cannot
/// be written is not ready. `made` keeps the PostgreSQL connection pool for the next attempt, so that only the first
/// one creates a pool.
async fn try_open(
    settings: &Settings,
    (missing, opened_by): (MissingFile, OpenedBy),
    made: &mut Option<(Arc<PostgresStore>, PostgresOptions)>,
) -> Result<OpenStore, StorageFault> {
    if let StorageUrl::Sqlite(path) = &settings.storage.url {
        let reuse_snapshots = settings.storage.snapshot_reuse;
        let is_replicated = settings.storage.is_replicated;
        // A replicated log is kept at the end, so nothing would wait for the disk then.
        let is_bulk = opened_by == OpenedBy::Import && !is_replicated;
        let options = SqliteOptions {
            missing,
            reuse_snapshots,
            is_replicated,
            is_bulk,
            mark: new_mark(),
            ..SqliteOptions::default()
        };
        return open_sqlite(path, options).await;
    }
    let (store, options) = match made.take() {
        Some(made) => made,
        None => postgres(settings).map(|(store, options)| (Arc::new(store), options))?,
    };
    let migrated = store.migrate().await.map_err(|error| of_postgres(&error));
    *made = Some((Arc::clone(&store), options.clone()));
    migrated?;
    store.check_rights().await.map_err(|error| of_postgres(&error))?;
    store.check().await.map_err(|error| of_postgres(&error))?;
    let announcing = settings.postgres.listen.then(|| (Arc::clone(&store), options));
    Ok(OpenStore { store, announcing })
}

/// Makes a number that tells a database without one from others.
fn new_mark() -> Option<NonZeroU32> {
    let entropy: &dyn Entropy = &SystemEntropy;
    NonZeroU32::new(u32::from_be_bytes(entropy.bytes()))
}

async fn open_sqlite(path: &Path, options: SqliteOptions) -> Result<OpenStore, StorageFault> {
    if let Some(parent) = path.parent().filter(|_| options.missing == MissingFile::Create)
        && parent != Path::new("")
    {
        create_private(parent).map_err(|error| StorageFault::Permanent(error.to_string()))?;
    }
    // A migration can take minutes, in which signals and health checks are answered.
    let file = path.to_owned();
    let opened = on_thread(move || Ok::<_, io::Error>(Sqlite::open_with(&file, options))).await;
    let opened =
        opened.map_err(|error| StorageFault::Permanent(format!("no thread can open it: {error}")))?;
    let store = Sqlite::share(opened.map_err(|error| of_sqlite(&error))?);
    store.check().await.map_err(|error| of_sqlite(&error))?;
    Ok(OpenStore { store, announcing: None })
}

const fn missing_file(settings: &Settings) -> MissingFile {
    if settings.storage.create { MissingFile::Create } else { MissingFile::Refuse }
}

/// Refuses a missing SQLite file whatever `storage.create` is, for commands that need the contents of the database.
pub(crate) fn refuse_missing_database(settings: &Settings) -> Result<(), WiringError> {
    let StorageUrl::Sqlite(path) = &settings.storage.url else { return Ok(()) };
    Sqlite::refuse_missing(path).map_err(|error| refuse(settings, of_sqlite(&error)))
}

/// Refuses a missing SQLite file that must not be created, before the start creates other files.
pub(crate) fn refuse_missing(settings: &Settings) -> Result<(), WiringError> {
    if missing_file(settings) == MissingFile::Create { Ok(()) } else { refuse_missing_database(settings) }
}

/// Classifies an error of the opened database during the start.
pub(crate) fn fault_of(settings: &Settings, error: &StoreError) -> StorageFault {
    match settings.storage.url {
        StorageUrl::Sqlite(_) => of_sqlite(error),
        StorageUrl::Postgres(_) => of_postgres(error),
    }
}

fn postgres(settings: &Settings) -> Result<(PostgresStore, PostgresOptions), StorageFault> {
    let StorageUrl::Postgres(url) = &settings.storage.url else {
        return Err(StorageFault::Permanent("it is no PostgreSQL database".to_owned()));
    };
    let options = settings.postgres.options(url.reveal());
    let store = Postgres::open(&options).map_err(|error| of_postgres(&error))?;
    Ok((store, options))
}

fn of_postgres(error: &StoreError) -> StorageFault {
    match PermanentFault::of(error) {
        Some(fault) => StorageFault::Permanent(fault.to_string()),
        None => StorageFault::Transient(PermanentFault::text_of(error)),
    }
}

/// Classifies every fault of SQLite as permanent: a retry would not, for example, create a missing file.
fn of_sqlite(error: &StoreError) -> StorageFault {
    let source = std::error::Error::source(error);
    let is_missing = source.is_some_and(<dyn std::error::Error>::is::<NoDatabase>);
    if is_missing { StorageFault::NoFile } else { StorageFault::Permanent(chain_of(error)) }
}

pub(crate) fn refuse(settings: &Settings, fault: StorageFault) -> WiringError {
    let reason = fault.reason(settings);
    let database = match &settings.storage.url {
        // Shown as an absolute path, because a relative one depends on the working directory.
        StorageUrl::Sqlite(path) => {
            let whole = std::path::absolute(path).map_or(Cow::Borrowed(path.as_path()), Cow::Owned);
            whole.display().to_string()
        }
        url @ StorageUrl::Postgres(_) => url.shown(),
    };
    WiringError::Storage { database, reason }
}
