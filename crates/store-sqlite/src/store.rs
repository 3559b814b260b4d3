//! The store itself: one file, its writer and its readers. Scripts run on it in `executor.rs`.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::available_parallelism;
use std::time::Duration;

use latchkey_store::{Store, StoreResult};
use latchkey_store_operations::Engine;
use rusqlite::Connection;

use crate::errors::{Fallible, unavailable};
use crate::file_watch::{FileWatch, Patrol};
use crate::readers::Readers;
use crate::search::pending;
use crate::statements::execute;
use crate::wal_index::WalIndex;
use crate::writer::Writer;
use crate::{migrations, open};

/// Connections for reads that can take long.
const LONG_READERS: usize = 2;

pub(crate) const BEAT: &str = "UPDATE health SET beat = beat + 1 WHERE id = 1";

/// How a file is opened.
#[derive(Debug, Clone, Copy)]
pub struct SqliteOptions {
    /// Connections for point reads; as many as threads that ask is best. At least 1.
    pub readers: usize,
    /// Most operations that share a commit. At least 1.
    pub batch: usize,
    /// Whether a file that is missing is made.
    pub missing: MissingFile,
    /// How long to wait for another process that is writing, before an operation is
    /// [`latchkey_store::StoreError::Unavailable`].
    pub busy_timeout: Duration,
}

/// What to do where there is no database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MissingFile {
    /// Make it.
    Create,
    /// Refuse to open.
    Refuse,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        let threads = available_parallelism().map_or(2, usize::from);
        Self {
            readers: threads + 1,
            batch: 256,
            missing: MissingFile::Create,
            busy_timeout: Duration::from_secs(5),
        }
    }
}

/// The storage contract on one SQLite file.
pub type SqliteStore = Engine<Sqlite>;

/// One SQLite file. Other processes may have the file open at the same time. Dropping it
/// finishes what is queued and checkpoints; a crash at any time loses nothing that was answered.
pub struct Sqlite {
    // Dropped in this order: the writer's last checkpoint wants no readers.
    readers: Readers,
    writer: Writer,
    files: Arc<FileWatch>,
    _patrol: Patrol,
    /// The writer was asked to bring the index for searches up to date, and has not yet.
    is_catching_up: Arc<AtomicBool>,
    /// After all connections.
    _index: Arc<WalIndex>,
}

impl Sqlite {
    /// Opens a file with the default options; makes it (mode 600) where there is none, in a folder that exists, and
    /// brings its schema up to date. A file of a newer version or of something else is refused with
    /// [`latchkey_store::StoreError::Driver`] of a [`crate::MigrationError`].
    pub fn open(path: &Path) -> StoreResult<SqliteStore> {
        Self::open_with(path, SqliteOptions::default())
    }

    /// The same with other options. Where nothing may be made, a missing or empty file is
    /// [`latchkey_store::StoreError::Driver`] of a [`crate::NoDatabase`].
    pub fn open_with(path: &Path, options: SqliteOptions) -> StoreResult<SqliteStore> {
        match options.missing {
            MissingFile::Create => open::create_file(path)?,
            MissingFile::Refuse => open::refuse_missing(path)?,
        }
        let index = Arc::new(WalIndex::of(path).map_err(unavailable)?);
        let conn = open::writer(path, options.busy_timeout)?;
        migrations::migrate(&conn)?;
        index.open(&conn);
        prove(&index, &conn);
        let files = Arc::new(FileWatch::of(path, &conn).map_err(unavailable)?);
        open::keep_log(&conn, true)?;
        let readers = |count: usize| -> Fallible<Vec<Connection>> {
            (0..count.max(1)).map(|_| open::reader(path, options.busy_timeout)).collect()
        };
        let (for_points, for_lists) = (readers(options.readers)?, readers(LONG_READERS)?);
        let readers = Readers::start(for_points, for_lists, Arc::clone(&index)).map_err(unavailable)?;
        let writer =
            Writer::start(conn, options.batch, readers.kept(), Arc::clone(&files)).map_err(unavailable)?;
        let patrol = Patrol::start(Arc::clone(&files)).map_err(unavailable)?;
        let is_catching_up = Arc::default();
        Ok(Engine::new(Self { readers, writer, files, _patrol: patrol, is_catching_up, _index: index }))
    }

    /// Gives the store to a service. The contract is compiled here: where a caller did it, all of its operations would have
    /// the optimisation level of the caller's crate.
    #[must_use]
    pub fn share(store: SqliteStore) -> Arc<dyn Store> {
        Arc::new(store)
    }

    /// Refuses where there is no file, or an empty one, as opening with [`MissingFile::Refuse`] does.
    pub fn refuse_missing(path: &Path) -> StoreResult<()> {
        open::refuse_missing(path)
    }

    /// The names of the migrations that a file lacks, oldest first; changes nothing, and makes no file. Refuses what
    /// [`Sqlite::open`] refuses.
    pub fn check_migrations(path: &Path) -> StoreResult<Vec<&'static str>> {
        let conn = if path.exists() {
            open::reader(path, SqliteOptions::default().busy_timeout)?
        } else {
            open::nothing()?
        };
        Ok(migrations::check(&conn)?)
    }

    /// Runs an operation that writes: atomic, answered when durable.
    pub(crate) async fn run<T, F>(&self, work: F) -> StoreResult<T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Fallible<T> + Send + 'static,
    {
        self.files.ensure()?;
        self.writer.run(work).await
    }

    /// Asks the writer to bring the index for searches up to date for some more profiles, unless it has been asked.
    pub(crate) fn catch_up(&self) {
        if self.is_catching_up.swap(true, Ordering::Relaxed) {
            return;
        }
        let is_catching_up = Arc::clone(&self.is_catching_up);
        let is_asked = self.writer.run_later(move |conn| {
            is_catching_up.store(false, Ordering::Relaxed);
            pending::take_up(conn, pending::AT_ONCE)
        });
        if !is_asked {
            self.is_catching_up.store(false, Ordering::Relaxed);
        }
    }

    /// Runs a read of a few indexed rows, here and now.
    pub(crate) fn read_here<T>(&self, read: impl FnOnce(&Connection) -> Fallible<T>) -> StoreResult<T> {
        self.files.ensure()?;
        self.readers.run(read)
    }

    /// Runs a read that can take long, elsewhere.
    pub(crate) async fn read_elsewhere<T, F>(&self, read: F) -> StoreResult<T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Fallible<T> + Send + 'static,
    {
        self.files.ensure()?;
        self.readers.run_long(read).await
    }
}

/// Shows the index a commit that changes something. Where none is possible now, reads do without the index.
fn prove(index: &WalIndex, conn: &Connection) {
    let before = index.read();
    if execute(conn, BEAT, []).is_ok() {
        index.learn(before);
    }
}
