//! The engine for several instances: [`latchkey_store::Store`] on a PostgreSQL database. Each operation takes one
//! round trip or two: reads and locks, a decision, writes and the commit; the schema is in `migrations/`. What an
//! operation means is said by the contract, and rules that every engine keeps alike are in `latchkey_domain`; here is
//! only how this engine keeps them.
//!
//! **Locks.** Transactions are READ COMMITTED, so what is decided on is locked first and read by a later statement.
//! The row of a user stands for all that belongs to the user but single sessions. Everybody locks in the same order:
//! buckets, failures, the user, codes, links, sessions. What is not there cannot be locked: then it is inserted, and
//! where somebody else did so meanwhile, the unique key breaks and the operation begins anew.

mod bulk;
mod errors;
mod executor;
mod giving_up;
mod lasting;
mod link;
mod listen;
mod migrations;
mod options;
mod own;
mod pool;
mod profile_writes;
mod purge;
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
pub use lasting::LastingFault;
pub use latchkey_store::migrations::MigrationError;
pub use options::{OptionsError, PostgresOptions, Prepared};
pub use store::{Postgres, PostgresStore};
