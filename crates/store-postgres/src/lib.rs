//! The engine for several instances: [`latchkey_store::Store`] on a PostgreSQL database. Each operation takes one or
//! two round trips: reads with locks, then, after a decision, writes with the commit. The schema is in `migrations/`.
//! The operations and their lock order are in `latchkey_store_operations`, the rules in `latchkey_domain`; this crate
//! only executes scripts.

mod backend;
mod bulk;
mod columns;
mod connection;
mod drain;
mod errors;
mod executor;
mod foreign;
mod link;
mod listen;
mod metrics;
mod migrations;
mod opening;
mod options;
mod own;
mod permanent;
mod pool;
mod profile_writes;
mod purge;
mod rights;
mod rows;
mod script;
mod search;
mod search_feed;
mod store;
mod takes;
mod transact;
mod trigrams;
mod values;

pub use bulk::{CopyPlan, CopyStart, CopyTarget, TargetError};
pub use foreign::foreign_rows;
pub use latchkey_store::migrations::MigrationError;
pub use options::{OptionsError, PostgresOptions, Prepared};
pub use permanent::PermanentFault;
pub use store::{Postgres, PostgresStore};
