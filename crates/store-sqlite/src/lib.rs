//! The embedded engine: [`latchkey_store::Store`] on one SQLite file, with one writer thread, group commit, and a
//! small pool of readers. The schema is in `migrations/`. The operations are in `latchkey_store_operations` and the
//! rules in `latchkey_domain`; this crate only executes scripts.

mod backup;
mod bulk;
mod errors;
mod executor;
mod file_watch;
mod foreign;
mod inspection;
mod many_rows;
mod metrics;
mod migrations;
mod open;
mod options;
mod own;
mod point_reads;
mod profile_writes;
mod purge;
mod readers;
mod rows;
mod search;
mod search_feed;
#[cfg(feature = "seed")]
mod seed;
mod statements;
mod store;
mod takes;
mod wal_index;
mod writer;

pub use backup::{CopyError, Examined};
pub use bulk::{SourceError, SqliteSource};
pub use foreign::foreign_rows;
pub use inspection::Inspection;
pub use latchkey_store::migrations::MigrationError;
pub use migrations::fresh::script as fresh_schema;
pub use open::NoDatabase;
pub use options::{LogAtClose, MissingFile, SqliteOptions};
#[cfg(feature = "seed")]
pub use seed::{SeededAccount, seed};
pub use store::{Sqlite, SqliteStore};
