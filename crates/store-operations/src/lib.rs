//! The operations of [`latchkey_store::Store`], written once for all engines. An operation consists of a script of
//! reads, a decision in plain Rust and a script of writes. An engine only executes scripts ([`form::Executor`]).
//!
//! **Locks.** PostgreSQL's transactions are READ COMMITTED, so a row that a decision depends on is locked first and
//! read by a later statement. The user's row is the lock of everything that belongs to the user except single
//! sessions. All operations lock in the same order: used ceremonies, token buckets, failure counters, the user,
//! challenges, codes, links, sessions, seen devices.
//! A missing row cannot be locked. It is inserted; if another transaction inserted it concurrently, the unique
//! violation restarts the operation. SQLite has a single writer, so these locks cost nothing there.
#![allow(unreachable_pub, reason = "the lists of statements are public where an engine uses one of them")]

pub mod bulk;
mod engine;
pub mod form;
mod operations;
pub mod tables;

pub use engine::{Engine, Own, seeding};
