//! The database of the settings: opened, waited for, migrated, checked. Which engine it is, is known here alone.

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
/// Mend of a missing file that may not be made.
const NO_FILE: &str = "there is no database in this file. If there should be one, find it first (is its disk mounted? \
                       is storage.url right?). To make a new one run `latchkey migrate`, or set storage.create = true";
/// How often it is said that the database is waited for.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// An open database.
#[derive(Clone)]
pub struct OpenStore {
    /// What the service keeps everything in.
    pub store: Arc<dyn Store>,
    /// The same, where other instances can be listened to.
    pub announcing: Option<(Arc<PostgresStore>, PostgresOptions)>,
}

/// Why a database cannot be worked with.
#[derive(Debug)]
pub enum StorageFault {
    /// It does not answer now; another try may go better.
    Passing(String),
    /// Somebody has to mend something.
    Lasting(String),
}

/// Whether a command waits for its database, or says that it is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    /// Until it comes: the running service.
    Endless,
    /// Not at all: a command at a terminal.
    None,
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
        StorageFault::Passing(reason) | StorageFault::Lasting(reason) => reason,
    })
}

/// Facts of a database that a start depends on.
pub(crate) struct Look {
    /// The names of the migrations that are missing, oldest first.
    pub(crate) missing: Vec<&'static str>,
    /// The signing keys in use; none while migrations are missing.
    pub(crate) signing_keys: Vec<StoredSigningKey>,
}

/// Looks at the database; changes nothing and makes none.
pub(crate) async fn look(settings: &Settings, now: Timestamp) -> Result<Look, WiringError> {
    refuse_missing(settings)?;
    let looked = match &settings.storage.url {
        StorageUrl::Sqlite(path) => look_at_sqlite(path, now),
        StorageUrl::Postgres(_) => look_at_postgres(settings, now).await,
    };
    looked.map_err(|fault| refuse(settings, fault))
}

fn look_at_sqlite(path: &Path, now: Timestamp) -> Result<Look, StorageFault> {
    let look = Sqlite::inspect(path, now).map_err(|error| of_sqlite(&error))?;
    Ok(Look { missing: look.missing, signing_keys: look.signing_keys })
}

async fn look_at_postgres(settings: &Settings, now: Timestamp) -> Result<Look, StorageFault> {
    let (store, _) = postgres(settings)?;
    let missing = store.check_migrations().await.map_err(|error| of_postgres(&error))?;
    let signing_keys = if missing.is_empty() {
        store.list_signing_keys(now).await.map_err(|error| of_postgres(&error))?
    } else {
        Vec::new()
    };
    Ok(Look { missing, signing_keys })
}

/// Opens the database; where it does not answer, waits for it and says so now and then.
pub(crate) async fn open_patiently(
    settings: &Settings,
    patience: Patience,
) -> Result<OpenStore, WiringError> {
    let (mut waiting, mut made) = (Waiting::default(), None);
    loop {
        match try_open(settings, missing_file(settings), &mut made).await {
            Err(StorageFault::Passing(reason)) if patience == Patience::Endless => {
                waiting.pause(settings, &reason).await;
            }
            Ok(open) => {
                if waiting.said_at.is_some() {
                    tracing::info!("the database is there");
                }
                return Ok(open);
            }
            Err(fault) => return Err(refuse(settings, fault)),
        }
    }
}

/// Waiting for the database, with a word about it now and then.
#[derive(Default)]
pub(crate) struct Waiting {
    said_at: Option<Instant>,
}

impl Waiting {
    /// One pause; a line in the log at the first, and then every ten seconds.
    pub(crate) async fn pause(&mut self, settings: &Settings, reason: &str) {
        if self.said_at.is_none_or(|said_at| said_at.elapsed() >= LINE_EVERY) {
            let database = settings.storage.url.shown();
            tracing::warn!(database, reason, "the database cannot be reached: waiting for it");
            self.said_at = Some(Instant::now());
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
        create_private(parent).map_err(|error| StorageFault::Lasting(error.to_string()))?;
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
        return Err(StorageFault::Lasting("it is no PostgreSQL database".to_owned()));
    };
    let options = settings.postgres.options(url.reveal());
    let store = Postgres::open(&options).map_err(|error| of_postgres(&error))?;
    Ok((store, options))
}

fn of_postgres(error: &StoreError) -> StorageFault {
    match PermanentFault::of(error) {
        Some(fault) => StorageFault::Lasting(fault.to_string()),
        None => StorageFault::Passing(PermanentFault::text_of(error)),
    }
}

/// A file is there or it is not: waiting does not mend it.
fn of_sqlite(error: &StoreError) -> StorageFault {
    let source = std::error::Error::source(error);
    let is_missing = source.is_some_and(<dyn std::error::Error>::is::<NoDatabase>);
    StorageFault::Lasting(if is_missing { NO_FILE.to_owned() } else { chain_of(error) })
}

pub(crate) fn refuse(settings: &Settings, fault: StorageFault) -> WiringError {
    let (StorageFault::Passing(reason) | StorageFault::Lasting(reason)) = fault;
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
