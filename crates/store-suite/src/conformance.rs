//! The conformance suite: a table of named cases that every engine runs, without opt-outs. A name states a fact
//! of the contract; each case gets a new, empty store and supplies its own time and ids.
//!
//! An engine's `tests/conformance.rs` consists of a function that creates an empty store, and one line:
//!
//! ```ignore
//! latchkey_store_suite::conformance_tests!(empty_store);
//!
//! /// The store, and a guard that must live as long as it does.
//! async fn empty_store() -> (std::sync::Arc<dyn latchkey_store::Store>, impl Send) { … }
//! ```
//!
//! Then every case is a separate test: `cargo test -p … --test conformance codes::an_expired_code_is_refused`.
//! (The engine's crate needs `tokio` with `macros` and `rt-multi-thread` among its dev-dependencies.)
//!
//! Facts invisible through the contract (deletion of a sent mail's sealed part, rows of decoys) are in
//! [`hidden`]; guarantees of a single engine are in its own tests, which may take their rows from [`numbered`].
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod accounts;
mod acts;
mod audit;
mod cases;
mod code_lanes;
mod codes;
mod first_proof;
mod fixtures;
mod guards;
pub mod hidden;
mod identities;
mod identity_links;
mod issuers;
mod last_sign_up;
mod limits;
mod links;
pub mod numbered;
mod oauth_acts;
mod oauth_flows;
mod oauth_providers;
mod oauth_races;
mod outbox;
mod owner_mails;
mod profiles;
mod proof;
mod proven_passwords;
mod purge;
mod races;
mod random;
mod refresh;
mod refresh_model;
mod reset;
mod search;
mod search_feed;
mod search_oracle;
mod separation;
mod sessions;
mod settings;
mod sign_in;
mod sign_up;
mod signing_keys;
mod table;
mod user_changes;
mod users;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use latchkey_store::Store;

pub use cases::cases;

/// Future of a running case.
type Running = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A fact of the contract that every engine must satisfy.
#[derive(Clone, Copy)]
pub struct Case {
    /// Module and fact, for example `codes::an_expired_code_is_refused`.
    pub name: &'static str,
    run: fn(Arc<dyn Store>) -> Running,
}

impl Case {
    /// Runs the case on a new, empty store; panics if it fails.
    pub async fn run(&self, store: Arc<dyn Store>) {
        (self.run)(store).await;
    }
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Runs the case of this name on a new, empty store.
///
/// # Panics
///
/// If there is no such case, or it fails.
pub async fn run(name: &str, store: Arc<dyn Store>) {
    let case = cases().into_iter().find(|case| case.name == name).expect("a case of the table");
    case.run(store).await;
}
