//! The embedded engine: [`latchkey_store::Store`] on one SQLite file. One writer thread commits in groups, readers
//! are a small pool; the schema is in `migrations/`. What an operation means is said by the contract, and rules that
//! every engine keeps alike are in `latchkey_domain`; here is only how this engine keeps them.

mod bulk;
mod errors;
mod executor;
mod file_watch;
mod look;
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
pub use latchkey_store::migrations::MigrationError;
pub use look::Look;
pub use open::NoDatabase;
#[cfg(feature = "seed")]
pub use seed::seed;
pub use store::{MissingFile, Sqlite, SqliteOptions, SqliteStore};
