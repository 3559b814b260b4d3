//! The embedded engine: [`latchkey_store::Store`] on one SQLite file. One writer thread with group commit, and a
//! small pool of readers; the schema is in `migrations/`. The contract defines the operations,
//! `latchkey_store_operations` implements them, and `latchkey_domain` holds the rules; this crate only executes
//! scripts.

mod bulk;
mod errors;
mod executor;
mod file_watch;
mod inspection;
mod migrations;
mod open;
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

pub use bulk::{SourceError, SqliteSource};
pub use inspection::Inspection;
pub use latchkey_store::migrations::MigrationError;
pub use open::NoDatabase;
#[cfg(feature = "seed")]
pub use seed::seed;
pub use store::{MissingFile, Sqlite, SqliteOptions, SqliteStore};
