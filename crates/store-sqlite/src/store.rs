//! The open database: one file with its writer and readers. Scripts are executed in `executor`.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use latchkey_store::{Store, StoreResult};
use latchkey_store_operations::Engine;
use rusqlite::Connection;

use crate::errors::{Fallible, unavailable};
use crate::file_watch::{FileWatch, PeriodicCheck};
use crate::options::{LogAtClose, MissingFile, SqliteOptions};
use crate::readers::{Readers, Snapshot};
use crate::search::pending;
use crate::statements::execute;
use crate::wal_index::WalIndex;
use crate::writer::Writer;
use crate::{migrations, open};

/// Number of connections for long-running reads.
const LONG_READERS: usize = 2;

pub(crate) const BEAT: &str = "UPDATE health SET beat = beat + 1 WHERE id = 1";

/// Store on one SQLite file: the shared operations, executed by [`Sqlite`].
pub type SqliteStore = Engine<Sqlite>;

/// An open SQLite database. Other processes may have it open at the same time. Dropping it finishes the queued writes
/// and checkpoints. A crash at any time loses no acknowledged write.
pub struct Sqlite {
    // This field is dropped first, because the writer's last checkpoint needs all readers closed.
    readers: Readers,
    pub(crate) writer: Writer,
    pub(crate) files: Arc<FileWatch>,
    _patrol: PeriodicCheck,
    /// True while the writer has a queued request to add profiles to the search index.
    is_catching_up: Arc<AtomicBool>,
    /// Path of the file, and the patience of its connections with locks of other processes.
    path: PathBuf,
    patience: Duration,
    /// WAL index of the file. It is dropped last, after all connections.
    _index: Arc<WalIndex>,
}

impl Sqlite {
    /// Opens a file with the default options, and migrates its schema. A missing file is created (mode 600) in an
    /// existing folder. A file of a newer version or of another application is refused with a
    /// [`crate::MigrationError`] in [`latchkey_store::StoreError::Driver`].
    pub fn open(path: &Path) -> StoreResult<SqliteStore> {
        Self::open_with(path, SqliteOptions::default())
    }

    /// Opens a file with these options. With [`MissingFile::Refuse`], a missing or empty file is refused with a
    /// [`crate::NoDatabase`] in [`latchkey_store::StoreError::Driver`].
    pub fn open_with(path: &Path, options: SqliteOptions) -> StoreResult<SqliteStore> {
        match options.missing {
            MissingFile::Create => open::create_file(path)?,
            MissingFile::Refuse => open::refuse_missing(path)?,
        }
        let index = Arc::new(WalIndex::of(path).map_err(unavailable)?);
        let conn = open::writer(path, options.busy_timeout)?;
        if options.is_bulk {
            open::expect_many_writes(&conn)?;
        }
        if options.is_replicated {
            open::leave_log_alone(&conn)?;
            // Also if the start fails from here on.
            open::keep_log(&conn, true)?;
        }
        migrations::migrate(&conn, options.mark)?;
        if let Some(mark) = options.mark {
            migrations::give_mark(&conn, mark)?;
        }
        if options.reuse_snapshots {
            open::without_waiting(&conn, |conn| {
                index.prove(conn, |conn| execute(conn, BEAT, []).is_ok());
                Ok(())
            })?;
        }
        let files = Arc::new(FileWatch::of(path, &conn).map_err(unavailable)?);
        open::keep_log(&conn, true)?;
        let readers = |count: usize| -> Fallible<Vec<Connection>> {
            (0..count.max(1)).map(|_| open::reader(path, options.busy_timeout)).collect()
        };
        let (for_points, for_lists) = (readers(options.readers)?, readers(LONG_READERS)?);
        let readers = Readers::start(for_points, for_lists, Arc::clone(&index)).map_err(unavailable)?;
        let at_close = if options.is_replicated { LogAtClose::Kept } else { LogAtClose::Folded };
        let writer =
            Writer::start(conn, options.batch, readers.held_snapshots(), Arc::clone(&files), at_close)
                .map_err(unavailable)?;
        let patrol = PeriodicCheck::start(Arc::clone(&files)).map_err(unavailable)?;
        let is_catching_up = Arc::default();
        let (path, patience) = (path.to_owned(), options.busy_timeout);
        Ok(Engine::new(Self {
            readers,
            writer,
            files,
            path,
            patience,
            _patrol: patrol,
            is_catching_up,
            _index: index,
        }))
    }

    /// Begins a snapshot on a connection of its own, which ends when it is dropped.
    pub(crate) fn snapshot(&self) -> StoreResult<Snapshot> {
        let conn = open::reader(&self.path, self.patience)?;
        Ok(Snapshot::begin(conn)?)
    }

    /// Converts the store to a shared trait object. This function instantiates the generic operations in this crate,
    /// so that they are compiled with this crate's optimisation level instead of the caller's.
    #[must_use]
    pub fn share(store: SqliteStore) -> Arc<dyn Store> {
        Arc::new(store)
    }

    /// Fails if the file is missing or empty, as opening with [`MissingFile::Refuse`] does.
    pub fn refuse_missing(path: &Path) -> StoreResult<()> {
        open::refuse_missing(path)
    }

    /// Returns the number that tells a database from others; `None` if it has none yet. Copies of the file have it too. A
    /// service may have the file open.
    pub fn mark_of(path: &Path) -> StoreResult<Option<NonZeroU32>> {
        Ok(migrations::mark_of(&open::passive_reader(path)?)?)
    }

    /// Returns the names of a file's missing migrations, oldest first. Changes nothing and creates no file. Refuses
    /// the same files as [`Sqlite::open`].
    pub fn check_migrations(path: &Path) -> StoreResult<Vec<&'static str>> {
        let conn = if path.exists() {
            open::reader(path, SqliteOptions::default().busy_timeout)?
        } else {
            open::empty_in_memory()?
        };
        Ok(migrations::check(&conn)?)
    }

    /// Executes a write. It is atomic, and durable when this returns.
    pub(crate) async fn run<T, F>(&self, work: F) -> StoreResult<T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Fallible<T> + Send + 'static,
    {
        self.files.ensure()?;
        self.writer.run(work).await
    }

    /// Executes an operation of very many statements in a transaction of its own.
    pub(crate) async fn run_alone<T, F>(&self, work: F) -> StoreResult<T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Fallible<T> + Send + 'static,
    {
        self.files.ensure()?;
        self.writer.run_alone(work).await
    }

    /// Requests that the writer adds a batch of profiles to the search index, unless such a request is queued
    /// already.
    pub(crate) fn catch_up(&self) {
        if self.is_catching_up.swap(true, Ordering::Relaxed) {
            return;
        }
        let is_catching_up = Arc::clone(&self.is_catching_up);
        let is_asked = self.writer.run_later(move |conn| {
            is_catching_up.store(false, Ordering::Relaxed);
            pending::index_pending(conn, pending::BATCH)
        });
        if !is_asked {
            self.is_catching_up.store(false, Ordering::Relaxed);
        }
    }

    pub(crate) fn read_here<T>(&self, read: impl FnOnce(&Connection) -> Fallible<T>) -> StoreResult<T> {
        self.files.ensure()?;
        self.readers.run(read)
    }

    pub(crate) async fn read_elsewhere<T, F>(&self, read: F) -> StoreResult<T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Fallible<T> + Send + 'static,
    {
        self.files.ensure()?;
        self.readers.run_long(read).await
    }
}
