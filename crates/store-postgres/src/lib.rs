//! The engine for several instances: [`latchkey_store::Store`] on a PostgreSQL database. Each operation takes one
//! round trip or two: reads and locks, a decision, writes and the commit; the schema is in `migrations/`. What an
//! operation means is said by the contract, and rules that every engine keeps alike are in `latchkey_domain`; here is
//! only how this engine keeps them.
//!
//! **Locks.** Transactions are READ COMMITTED, so what is decided on is locked first and read by a later statement.
//! The row of a user stands for all that belongs to the user but single sessions. Everybody locks in the same order:
//! buckets, failures, the user, codes, links, sessions. What is not there cannot be locked: then it is inserted, and
//! where somebody else did so meanwhile, the unique key breaks and the operation begins anew.

mod accounts;
mod admin;
mod audit;
mod bulk;
mod challenges;
mod change_password;
mod code_attempts;
mod errors;
mod giving_up;
mod guards;
mod identities;
mod lasting;
mod limits;
mod link;
mod links;
mod listen;
mod migrations;
mod oauth_flows;
mod oauth_providers;
mod options;
mod outbox;
mod pool;
mod profiles;
mod proof;
mod purge;
mod refresh;
mod reset;
mod rows;
mod script;
mod search;
mod search_feed;
mod sessions;
mod settings;
mod sign_in;
mod sign_up;
mod signing_keys;
mod store;
#[cfg(feature = "test-cluster")]
pub mod test_cluster;
mod transact;
mod trigrams;
mod values;

pub use bulk::{CopyPlan, CopyStart, CopyTarget, TargetError};
pub use lasting::LastingFault;
pub use latchkey_store::migrations::MigrationError;
pub use options::{OptionsError, PostgresOptions, Prepared};
pub use store::PostgresStore;
