//! The embedded engine: [`latchkey_store::Store`] on one SQLite file. One writer thread commits in groups, readers
//! are a small pool; the schema is in `migrations/`. What an operation means is said by the contract, and rules that
//! every engine keeps alike are in `latchkey_domain`; here is only how this engine keeps them.

mod accounts;
mod admin;
mod audit;
mod bulk;
mod challenges;
mod change_password;
mod code_attempts;
mod errors;
mod file_watch;
mod guards;
mod identities;
mod limits;
mod links;
mod look;
mod migrations;
mod oauth_flows;
mod oauth_providers;
mod open;
mod outbox;
mod point_reads;
mod profiles;
mod proof;
mod purge;
mod readers;
mod refresh;
mod reset;
mod rows;
mod search;
mod search_feed;
#[cfg(feature = "seed")]
mod seed;
mod sessions;
mod settings;
mod sign_up;
mod signing_keys;
mod statements;
mod store;
mod wal_index;
mod writer;

pub use bulk::{SourceError, SqliteSource};
pub use latchkey_store::migrations::MigrationError;
pub use look::Look;
pub use open::NoDatabase;
#[cfg(feature = "seed")]
pub use seed::seed;
pub use store::{MissingFile, SqliteOptions, SqliteStore};
