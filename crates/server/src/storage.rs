//! The database of the settings: opened, waited for, migrated, checked. No other module knows its engine.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use latchkey_domain::time::Timestamp;
use latchkey_http::error::chain_of;
use latchkey_store::{SigningKeys, Store, StoreError, StoredSettings, StoredSigningKey};
use latchkey_store_postgres::{PermanentFault, Postgres, PostgresOptions, PostgresStore};
use latchkey_store_sqlite::{MissingFile, NoDatabase, Sqlite, SqliteOptions};
// A duration for the log: no decision hangs on it.
use tokio::time::Instant;

use crate::data_folder::create_private;
use crate::settings::{Settings, StorageUrl};
use crate::wiring::WiringError;

/// The pause between two tries to reach the database.
const PAUSE: Duration = Duration::from_millis(500);
/// Remedy of a missing file that may not be made.
const NO_FILE: &str = "there is no database in this file. If there should be one, find it first (is its disk mounted? \
                       is storage.url right?). To make a new one run `latchkey migrate`, or set storage.create = true";
/// Interval of log lines while waiting for the database.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// An open database.
#[derive(Clone)]
pub struct OpenStore {
    /// The store of the service.
    pub store: Arc<dyn Store>,
    /// The same store and its options, if it can listen to other instances.
    pub announcing: Option<(Arc<PostgresStore>, PostgresOptions)>,
}

/// The reason for which a database cannot be used.
#[derive(Debug)]
pub enum StorageFault {
    /// No response now; a retry may succeed.
    Transient(String),
    /// A retry fails as well; the sentence gives the remedy.
    Permanent(String),
}

/// The reaction of a command to a database that is not reachable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unreachable {
    /// Waits until it comes: the running service.
    Wait,
    /// Fails: a command at a terminal.
    Fail,
}

/// Opens the database and brings its schema up to date; makes a SQLite file that is missing, whatever the settings say.
pub async fn open(settings: &Settings) -> Result<OpenStore, WiringError> {
    let opened = try_open(settings, MissingFile::Create, &mut None).await;
    opened.map_err(|fault| refuse(settings, fault))
}

/// The names of the migrations that are missing, oldest first; changes nothing.
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

/// The settings that an admin changed, as the database holds them; it is neither created nor migrated. `None` where
/// there is no database yet. The error is a sentence without a password.
pub async fn stored_settings(settings: &Settings) -> Result<Option<StoredSettings>, String> {
    let stored = match &settings.storage.url {
        StorageUrl::Sqlite(path) => Sqlite::stored_settings(path).map_err(|error| of_sqlite(&error)),
        StorageUrl::Postgres(_) => match postgres(settings) {
            Ok((store, _)) => Postgres::stored_settings(&store).await.map_err(|error| of_postgres(&error)),
            Err(fault) => Err(fault),
        },
    };
    stored.map_err(|fault| match fault {
        StorageFault::Transient(reason) | StorageFault::Permanent(reason) => reason,
    })
}

/// Facts of a database that a start depends on.
pub(crate) struct Inspection {
    /// The names of the migrations that are missing, oldest first.
    pub(crate) missing: Vec<&'static str>,
    /// The signing keys in use; none while migrations are missing.
    pub(crate) signing_keys: Vec<StoredSigningKey>,
}

/// Inspects the database; changes nothing and makes none.
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
    Ok(Inspection { missing: look.missing, signing_keys: look.signing_keys })
}

async fn inspect_postgres(settings: &Settings, now: Timestamp) -> Result<Inspection, StorageFault> {
    let (store, _) = postgres(settings)?;
    let missing = store.check_migrations().await.map_err(|error| of_postgres(&error))?;
    let signing_keys = if missing.is_empty() {
        store.list_signing_keys(now).await.map_err(|error| of_postgres(&error))?
    } else {
        Vec::new()
    };
    Ok(Inspection { missing, signing_keys })
}

/// Opens the database; waits for one that is not reachable, with a line in the log every ten seconds.
pub(crate) async fn open_or_wait(
    settings: &Settings,
    unreachable: Unreachable,
) -> Result<OpenStore, WiringError> {
    let (mut waiting, mut made) = (Waiting::default(), None);
    loop {
        match try_open(settings, missing_file(settings), &mut made).await {
            Err(StorageFault::Transient(reason)) if unreachable == Unreachable::Wait => {
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

/// The log of waiting for the database.
#[derive(Default)]
pub(crate) struct Waiting {
    logged_at: Option<Instant>,
}

impl Waiting {
    /// One pause; a line in the log at the first, and then every ten seconds.
    pub(crate) async fn pause(&mut self, settings: &Settings, reason: &str) {
        if self.logged_at.is_none_or(|logged_at| logged_at.elapsed() >= LINE_EVERY) {
            let database = settings.storage.url.shown();
            tracing::warn!(database, reason, "the database cannot be reached: waiting for it");
            self.logged_at = Some(Instant::now());
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// One try, which ends in a write: what cannot be written is not ready. The engine that was made for one try is that of
/// the next: its pool and what it warns of are made once.
async fn try_open(
    settings: &Settings,
    missing: MissingFile,
    made: &mut Option<(Arc<PostgresStore>, PostgresOptions)>,
) -> Result<OpenStore, StorageFault> {
    if let StorageUrl::Sqlite(path) = &settings.storage.url {
        let reuse_snapshots = settings.storage.snapshot_reuse;
        let options = SqliteOptions { missing, reuse_snapshots, ..SqliteOptions::default() };
        return open_sqlite(path, options).await;
    }
    let (store, options) = match made.take() {
        Some(made) => made,
        None => postgres(settings).map(|(store, options)| (Arc::new(store), options))?,
    };
    let migrated = store.migrate().await.map_err(|error| of_postgres(&error));
    *made = Some((Arc::clone(&store), options.clone()));
    migrated?;
    store.check().await.map_err(|error| of_postgres(&error))?;
    let announcing = settings.postgres.listen.then(|| (Arc::clone(&store), options));
    Ok(OpenStore { store, announcing })
}

async fn open_sqlite(path: &Path, options: SqliteOptions) -> Result<OpenStore, StorageFault> {
    if let Some(parent) = path.parent().filter(|_| options.missing == MissingFile::Create)
        && parent != Path::new("")
    {
        create_private(parent).map_err(|error| StorageFault::Permanent(error.to_string()))?;
    }
    let store = Sqlite::share(Sqlite::open_with(path, options).map_err(|error| of_sqlite(&error))?);
    store.check().await.map_err(|error| of_sqlite(&error))?;
    Ok(OpenStore { store, announcing: None })
}

const fn missing_file(settings: &Settings) -> MissingFile {
    if settings.storage.create { MissingFile::Create } else { MissingFile::Refuse }
}

/// Refuses a SQLite file that is missing and may not be made, before anything else is made.
pub(crate) fn refuse_missing(settings: &Settings) -> Result<(), WiringError> {
    let StorageUrl::Sqlite(path) = &settings.storage.url else { return Ok(()) };
    if missing_file(settings) == MissingFile::Create {
        return Ok(());
    }
    Sqlite::refuse_missing(path).map_err(|error| refuse(settings, of_sqlite(&error)))
}

/// A fault of the database at the start, after it was opened.
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

/// A fault of SQLite is permanent: waiting does not bring a file.
fn of_sqlite(error: &StoreError) -> StorageFault {
    let source = std::error::Error::source(error);
    let is_missing = source.is_some_and(<dyn std::error::Error>::is::<NoDatabase>);
    StorageFault::Permanent(if is_missing { NO_FILE.to_owned() } else { chain_of(error) })
}

pub(crate) fn refuse(settings: &Settings, fault: StorageFault) -> WiringError {
    let (StorageFault::Transient(reason) | StorageFault::Permanent(reason)) = fault;
    let database = match &settings.storage.url {
        // The whole path: a relative one depends on where the service was started.
        StorageUrl::Sqlite(path) => {
            let whole = std::path::absolute(path).map_or(Cow::Borrowed(path.as_path()), Cow::Owned);
            whole.display().to_string()
        }
        url @ StorageUrl::Postgres(_) => url.shown(),
    };
    WiringError::Storage { database, reason }
}
