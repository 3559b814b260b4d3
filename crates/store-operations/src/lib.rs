//! The operations of [`latchkey_store::Store`], written once for all engines. An operation consists of a script of
//! reads, a decision in plain Rust and a script of writes. An engine only executes scripts ([`form::Executor`]).
//!
//! **Locks.** PostgreSQL's transactions are READ COMMITTED, so a row that a decision depends on is locked
//! first and read by a later statement. The lock on the row in `users` protects all rows that belong to that
//! user; only operations on a single session lock the session's row instead. All operations lock rows in the
//! same order: imports, used WebAuthn ceremonies, token buckets, failure counters, users, grants of owners, challenges, email codes,
//! link tokens, sessions, seen devices. A row that does not exist cannot be locked. It is inserted; if another
//! transaction inserted it concurrently, the unique violation restarts the operation. SQLite has a single
//! writer, so it needs none of these locks.
#![allow(unreachable_pub, reason = "the lists of statements are public where an engine uses one of them")]

pub mod bulk;
mod engine;
pub mod form;
mod meter;
mod operations;
pub mod tables;

pub(crate) use latchkey_measured::measured;

pub use engine::{Engine, Own, seeding};
pub use form::NameQuery;
