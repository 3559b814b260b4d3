//! The database of the settings: opened, waited for, migrated, checked. Which engine it is, is known here alone.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use latchkey_store::{Store, StoreError};
use latchkey_store_postgres::{LastingFault, PostgresOptions, PostgresStore};
use latchkey_store_sqlite::SqliteStore;
// A duration for the log: no decision hangs on it.
use tokio::time::Instant;

use crate::data_folder::create_private;
use crate::settings::{Settings, StorageUrl};
use crate::wiring::WiringError;

/// The pause between two tries to reach the database.
const PAUSE: Duration = Duration::from_millis(500);
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

/// Opens the database and brings its schema up to date.
pub async fn open(settings: &Settings) -> Result<OpenStore, WiringError> {
    try_open(settings, &mut None).await.map_err(|fault| refuse(settings, fault))
}

/// The names of the migrations that are missing, oldest first; changes nothing.
pub async fn check_migrations(settings: &Settings) -> Result<Vec<&'static str>, WiringError> {
    let checked = match &settings.storage.url {
        StorageUrl::Sqlite(path) => SqliteStore::check_migrations(path).map_err(of_sqlite),
        StorageUrl::Postgres(_) => match postgres(settings) {
            Ok((store, _)) => store.check_migrations().await.map_err(|error| of_postgres(&error)),
            Err(fault) => Err(fault),
        },
    };
    checked.map_err(|fault| refuse(settings, fault))
}

/// Opens the database; where it does not answer, waits for it and says so now and then.
pub(crate) async fn open_patiently(
    settings: &Settings,
    patience: Patience,
) -> Result<OpenStore, WiringError> {
    let (mut waiting, mut made) = (Waiting::default(), None);
    loop {
        match try_open(settings, &mut made).await {
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

/// One try. The engine that was made for one is that of the next: its pool and what it warns of are made once.
async fn try_open(
    settings: &Settings,
    made: &mut Option<(Arc<PostgresStore>, PostgresOptions)>,
) -> Result<OpenStore, StorageFault> {
    if let StorageUrl::Sqlite(path) = &settings.storage.url {
        return open_sqlite(path);
    }
    let (store, options) = match made.take() {
        Some(made) => made,
        None => postgres(settings).map(|(store, options)| (Arc::new(store), options))?,
    };
    let migrated = store.migrate().await.map_err(|error| of_postgres(&error));
    *made = Some((Arc::clone(&store), options.clone()));
    migrated?;
    let announcing = settings.storage.postgres.listen.then(|| (Arc::clone(&store), options));
    Ok(OpenStore { store, announcing })
}

fn open_sqlite(path: &Path) -> Result<OpenStore, StorageFault> {
    if let Some(parent) = path.parent().filter(|parent| *parent != Path::new("")) {
        create_private(parent).map_err(|error| StorageFault::Lasting(error.to_string()))?;
    }
    let store = SqliteStore::open(path).map_err(of_sqlite)?;
    Ok(OpenStore { store: Arc::new(store), announcing: None })
}

fn postgres(settings: &Settings) -> Result<(PostgresStore, PostgresOptions), StorageFault> {
    let StorageUrl::Postgres(url) = &settings.storage.url else {
        return Err(StorageFault::Lasting("it is no PostgreSQL database".to_owned()));
    };
    let options = settings.storage.postgres.options(url.reveal());
    let store = PostgresStore::open(&options).map_err(|error| of_postgres(&error))?;
    Ok((store, options))
}

fn of_postgres(error: &StoreError) -> StorageFault {
    match LastingFault::of(error) {
        Some(fault) => StorageFault::Lasting(fault.to_string()),
        None => StorageFault::Passing(LastingFault::text_of(error)),
    }
}

/// A file is there or it is not: nobody waits for it.
#[expect(clippy::needless_pass_by_value, reason = "reads as a conversion")]
fn of_sqlite(error: StoreError) -> StorageFault {
    StorageFault::Lasting(latchkey_http::error::chain_of(&error))
}

fn refuse(settings: &Settings, fault: StorageFault) -> WiringError {
    let (StorageFault::Passing(reason) | StorageFault::Lasting(reason)) = fault;
    WiringError::Storage { database: settings.storage.url.shown(), reason }
}
